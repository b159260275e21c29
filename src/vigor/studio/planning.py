"""The part of a session that plans: in a thread, so that the page stays responsive; the latest context wins."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from vigor.basics.errors import UserError
from vigor.planning import planner
from vigor.planning.planner import Planner
from vigor.planning.plans import Plan, Plans, Solution
from vigor.studio import messages
from vigor.studio.shared import Shared, Trace


@dataclass(frozen=True, eq=False)
class Answer:
    """Plans for a context, or the reason why there are none."""

    run: Path
    """Folder of the run that was planned with."""
    context: np.ndarray
    """[C]"""
    plans: Plans | None
    seconds: float
    """Time that it took."""
    problem: str | None = None


class PlanningThread:
    """Plans with a run, for one context after the other.

    answer: called in the thread with each answer. load: gives the planner of a run's folder.
    """

    def __init__(self, answer: Callable[[Answer], None], load: Callable[[Path], Planner]) -> None:
        self._answer, self._load = answer, load
        self._wake = threading.Condition()
        self._request: tuple[Path, np.ndarray] | None = None
        self._busy = self._closed = False
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    @property
    def busy(self) -> bool:
        return self._busy or self._request is not None

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
        loaded: tuple[Path, Planner] | None = None
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
                if loaded is None or loaded[0] != run:
                    loaded = run, self._load(run)
                answer = Answer(run, context, loaded[1].plan(context), time.perf_counter() - begun)
            except Exception as error:  # Whatever it is, the next context is planned for.
                messages.print_unexpected(error)
                answer = Answer(run, context, None, time.perf_counter() - begun, messages.sentence(error))
            self._answer(answer)


class Planning:
    """Plans for the context on the screen, with the latest run."""

    def __init__(self, shared: Shared) -> None:
        self._shared = shared
        self._asked: tuple[Path, np.ndarray] | None = None
        self._answer: Answer | None = None
        self._thread = PlanningThread(self._receive, lambda run: planner.load(run, task=shared.task))

    def close(self) -> None:
        self._thread.close()

    def ask(self, run: Path) -> None:
        """Plan for the context with a finished run, unless that was asked for already."""
        context = self._shared.context
        if self._asked is None or self._asked[0] != run or not np.array_equal(self._asked[1], context):
            self._asked = run, context
            self._thread.ask(run, context)

    def forget(self) -> None:
        """Show no plans until there is a new run."""
        self._asked = self._answer = None

    def _receive(self, answer: Answer) -> None:
        with self._shared.lock:
            if self._asked is not None and self._asked[0] == answer.run:
                self._answer = answer
                self._shared.changes += 1

    @property
    def answer(self) -> Answer | None:
        """The answer for the context; None as long as there is none."""
        answer = self._answer
        return answer if answer is not None and np.array_equal(answer.context, self._shared.context) else None

    @property
    def plan(self) -> Plan | None:
        """The plan for the context."""
        answer = self.answer
        return None if answer is None or answer.plans is None else answer.plans.plans[0]

    def traces(self) -> tuple[Trace, ...]:
        """Traces of the plan's solutions, in the order of their rank."""
        with self._shared.lock:
            solutions = () if self.plan is None else self.plan.solutions
            return tuple(
                self._shared.trace(np.array(solution.movement), solution.component, solution.weight)
                for solution in solutions
            )

    def play(self, rank: int) -> None:
        """Play one of the plan's solutions."""
        with self._shared.lock:
            _, _, solution = self._choose(rank)
        self._shared.play(np.array(solution.movement))

    def export(self, rank: int) -> tuple[Path, bool]:
        """Write a solution as a table for a robot, and the plan that it is of.

        Returns the table's path, and whether the solution is predicted to solve its context within the limits.
        """
        with self._shared.lock:
            run, plans, solution = self._choose(rank)
        trajectory = solution.trajectory()
        path = planner.keep(plans, run)
        table = path.with_name(f"{path.stem}_1_{rank + 1}.csv")
        trajectory.save(table)
        return table, solution.holds

    def _choose(self, rank: int) -> tuple[Path, Plans, Solution]:
        """The run, its plans and one of their solutions for the context."""
        answer, plan = self.answer, self.plan
        if answer is None or answer.plans is None or plan is None or not 0 <= rank < len(plan.solutions):
            raise UserError("there is no such plan; learn first, then drag a target")
        return answer.run, answer.plans, plan.solutions[rank]
