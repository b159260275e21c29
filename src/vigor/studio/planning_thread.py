"""A thread that plans, so that the page stays responsive; the latest question wins."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from vigor.learning import invariants
from vigor.planning import constraints, suggestions
from vigor.planning.planner import Planner
from vigor.planning.plans import Plan, Plans
from vigor.planning.suggestions import Suggestion
from vigor.studio import messages
from vigor.studio.obstacles import Obstacle
from vigor.tasks.task import Task

ROUGHLY = 12
"""Ensembles that a rough plan uses, which its time goes with: ways are there, but some are not at their targets yet."""
ESSENTIALS = 4
"""Quantities that are shown of what demonstrations have in common, at most."""


@dataclass(frozen=True, eq=False)
class Question:
    """A context to plan for, with a run that has come to an iteration."""

    run: Path
    """Folder of the run."""
    iteration: int
    context: np.ndarray
    """[C]"""
    obstacles: tuple[Obstacle, ...] = ()
    samples: int = 0
    """Movements to draw beside the solutions."""
    suggest: int = 0
    """Contexts to suggest instead of planning."""
    rough: bool = False
    """Plan with few of the run's ensembles, since the context or an obstacle is on its way."""

    def same(self, other: "Question | None") -> bool:
        """Whether another asks for the same."""
        if other is None or not np.array_equal(self.context, other.context):
            return False
        return all(getattr(self, name) == getattr(other, name) for name in self.__dict__ if name != "context")


@dataclass(frozen=True)
class Essential:
    """A quantity that demonstrations agree in, and its value in each solution of a plan."""

    name: str
    shown: float
    deviation: float
    """Deviation among demonstrations."""
    values: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class Answer:
    """Plans for a context, or the reason why there are none."""

    question: Question
    plans: Plans | None
    seconds: float
    """Time that it took."""
    problem: str | None = None
    suggested: tuple[Suggestion, ...] = ()
    essentials: tuple[Essential, ...] = ()
    """Quantities that all demonstrations have in common, the most constant first, and how the solutions have it."""


class PlanningThread:
    """Plans with a run, for one context after the other.

    answer: called in the thread with each answer. load: gives the planner of a run's folder.
    """

    def __init__(self, answer: Callable[[Answer], None], load: Callable[[Path], Planner]) -> None:
        self._answer, self._load = answer, load
        self._wake = threading.Condition()
        self._request: Question | None = None
        self._busy = self._closed = False
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    @property
    def busy(self) -> bool:
        return self._busy or self._request is not None

    def ask(self, question: Question) -> None:
        """Answer a question; one that was asked before and has not begun is dropped."""
        with self._wake:
            self._request = question
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
                question, self._request, self._busy = self._request, None, True
            begun = time.perf_counter()
            try:
                if loaded is None or known != (question.run, question.iteration):
                    loaded, known = self._load(question.run), (question.run, question.iteration)
                answer = _answered(loaded, question, begun)
            except Exception as error:  # Whatever it is, the next context is planned for.
                messages.print_unexpected(error)
                answer = Answer(question, None, time.perf_counter() - begun, messages.sentence(error))
            self._answer(answer)


def _answered(planner: Planner, question: Question, begun: float) -> Answer:
    """The answer to a question that was begun at a time."""
    if question.suggest:
        suggested = suggestions.suggest(planner, question.suggest)
        return Answer(question, None, time.perf_counter() - begun, suggested=suggested)
    if question.rough:
        planner = replace(planner, every=max(1, planner.stored // ROUGHLY))
    limits = constraints.of_task(planner.task, question.obstacles) if question.obstacles else None
    plans = planner.plan(question.context, limits, question.samples)
    common = essentials(planner, plans.plans[0])
    return Answer(question, plans, time.perf_counter() - begun, essentials=common)


def essentials(planner: Planner, plan: Plan) -> tuple[Essential, ...]:
    """Common features of demonstrations, and how a plan's solutions have it."""
    names, context = planner.task.feature_names, jnp.asarray(plan.context, jnp.float32)
    rows = invariants.in_words(planner.common, names)[:ESSENTIALS]
    own = [_statistics(planner.task, jnp.asarray(part.movement), context) for part in plan.solutions]
    values, labels = np.array(own), invariants.labels(names)
    return tuple(
        Essential(row["quantity"], row["value"], row["deviation"], tuple(values[:, labels.index(row["quantity"])]))
        for row in rows
    )


@partial(jax.jit, static_argnums=0)
def _statistics(task: Task, movement: jax.Array, context: jax.Array) -> jax.Array:
    """Statistics [statistic] of a movement [D] in a context [C]."""
    return invariants.statistics(task.describe_weights(movement, context))
