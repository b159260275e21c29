"""Plans in a thread of their own: the latest context that was asked for wins, and the page stays responsive."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from vigor.planning import planner as plan
from vigor.planning.plans import Plans
from vigor.studio import problems


@dataclass(frozen=True, eq=False)
class Answer:
    """What became of a request."""

    context: np.ndarray
    plans: Plans | None
    seconds: float
    problem: str | None = None


class PlanningThread:
    """Plans with a run, for one context after the other."""

    def __init__(self, answer: Callable[[Answer], None]) -> None:
        self._answer = answer
        self._wake = threading.Condition()
        self._request: tuple[Path, np.ndarray] | None = None
        self._closed = False
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    @property
    def busy(self) -> bool:
        return self._busy or self._request is not None

    _busy = False

    def ask(self, run: Path, context: np.ndarray) -> None:
        """Plan for a context [C] with a finished run; what was asked for before and has not begun is dropped."""
        with self._wake:
            self._request = run, context
            self._wake.notify()

    def close(self) -> None:
        """End after the plan in hand."""
        with self._wake:
            self._closed = True
            self._wake.notify()
        self._thread.join()

    def _work(self) -> None:
        planner: plan.Planner | None = None
        while True:
            with self._wake:
                self._busy = False
                self._wake.wait_for(lambda: self._closed or self._request is not None)
                if self._closed:
                    return
                assert self._request is not None
                (run, context), self._request, self._busy = self._request, None, True
            begun = time.perf_counter()
            try:
                if planner is None or planner.folder != run:
                    planner = plan.load(run)
                answer = Answer(context, planner.plan(context), time.perf_counter() - begun)
            except Exception as error:  # Whatever it is, the next context is planned for.
                problems.print_unexpected(error)
                answer = Answer(context, None, time.perf_counter() - begun, problems.sentence(error))
            self._answer(answer)
