"""The part of a session that plans: in a thread, so that the page stays responsive; the latest context wins."""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

import numpy as np
from scipy.optimize import linear_sum_assignment

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
        self._request: tuple[Path, int, np.ndarray] | None = None
        self._busy = self._closed = False
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    @property
    def busy(self) -> bool:
        return self._busy or self._request is not None

    def ask(self, run: Path, iteration: int, context: np.ndarray) -> None:
        """Plan for a context [C] with a run that has come to an iteration.

        What was asked for before and has not begun is dropped.
        """
        with self._wake:
            self._request = run, iteration, context
            self._wake.notify()

    def close(self) -> None:
        """End after the plan in hand."""
        with self._wake:
            self._closed = True
            self._wake.notify()
        self._thread.join()

    def _work(self) -> None:
        known: tuple[Path, int] | None = None
        loaded: Planner | None = None
        while True:
            with self._wake:
                self._busy = False
                self._wake.wait_for(lambda: self._closed or self._request is not None)
                if self._closed:
                    return
                assert self._request is not None
                (run, iteration, context), self._request, self._busy = self._request, None, True
            begun = time.perf_counter()
            try:
                if loaded is None or known != (run, iteration):
                    loaded, known = self._load(run), (run, iteration)
                answer = Answer(run, context, loaded.plan(context), time.perf_counter() - begun)
            except Exception as error:  # Whatever it is, the next context is planned for.
                messages.print_unexpected(error)
                answer = Answer(run, context, None, time.perf_counter() - begun, messages.sentence(error))
            self._answer(answer)


class Planning:
    """Plans for the context on the screen, with the latest run."""

    def __init__(self, shared: Shared) -> None:
        self._shared = shared
        self._asked: tuple[Path, int, np.ndarray] | None = None
        self._answer: Answer | None = None
        self._traces: tuple[Trace, ...] = ()
        """Traces of the answer's solutions, in the order of their rank."""
        self._exported: Answer | None = None
        self._thread = PlanningThread(self._receive, lambda run: planner.load(run, task=shared.task, stopped=True))

    def close(self) -> None:
        self._thread.close()

    def ask(self, run: Path, iteration: int) -> None:
        """Plan for the context with a run that has come to an iteration, unless that was asked for already."""
        context = self._shared.context
        if self._asked is None or self._asked[:2] != (run, iteration) or not np.array_equal(self._asked[2], context):
            self._asked = run, iteration, context
            self._thread.ask(run, iteration, context)

    def forget(self) -> None:
        """Show no plans until a run has ended."""
        self._asked = self._answer = None
        self._traces = ()

    def _receive(self, answer: Answer) -> None:
        with self._shared.lock:
            if self._asked is not None and self._asked[0] == answer.run:
                self._answer, self._traces = answer, self._coloured(answer)
                self._shared.changes += 1

    def _coloured(self, answer: Answer) -> tuple[Trace, ...]:
        """Traces of an answer's solutions; each has the colour of the one before that it is most like."""
        solutions = () if answer.plans is None else answer.plans.plans[0].solutions
        new = [
            self._shared.trace(np.array(solution.movement), solution.component, solution.weight)
            for solution in solutions
        ]
        if not self._traces or not new:
            return tuple(new) or self._traces
        old = [trace.colour or 0 for trace in self._traces]
        kept = alike([trace.points for trace in self._traces], old, [trace.points for trace in new])
        return tuple(replace(trace, colour=colour) for trace, colour in zip(new, kept, strict=True))

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
            return () if self.plan is None else self._traces

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
        table = path.with_name(f"{self._shared.task.name}_plan{path.stem}_way{rank + 1}.csv")
        trajectory.save(table)
        with self._shared.lock:
            self._exported = self.answer
            self._shared.changes += 1
        return table, solution.holds

    @property
    def exported(self) -> bool:
        """Whether the plan for the context was written."""
        return self._exported is not None and self._exported is self.answer

    def _choose(self, rank: int) -> tuple[Path, Plans, Solution]:
        """The run, its plans and one of their solutions for the context."""
        answer, plan = self.answer, self.plan
        if answer is None or answer.plans is None or plan is None or not 0 <= rank < len(plan.solutions):
            raise UserError("there is no such plan; learn first, then drag a target")
        return answer.run, answer.plans, plan.solutions[rank]


def alike(old: Sequence[np.ndarray], colours: Sequence[int], new: Sequence[np.ndarray]) -> list[int]:
    """Colours of new paths [T, 3]: those of the old paths that they are most like, so that a way keeps its colour."""
    apart = np.array([[np.linalg.norm(one - other, axis=-1).mean() for other in old] for one in new])
    kept = {int(row): colours[column] for row, column in zip(*linear_sum_assignment(apart), strict=True)}
    free = (colour for colour in count() if colour not in kept.values())
    return [kept[i] if i in kept else next(free) for i in range(len(new))]
