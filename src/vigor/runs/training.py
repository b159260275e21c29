"""The one training loop, for runs in folders and for cells of a benchmark."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from vigor.demonstrations.repertoire import Repertoire
from vigor.evaluation import evaluation, policies
from vigor.evaluation.evaluation import Evaluation
from vigor.evaluation.policies import Learned
from vigor.learning.invariants import Invariants
from vigor.learning.prediction import distinct_of
from vigor.learning.problem import Problem
from vigor.learning.starts import Starts
from vigor.runs.methods import Method, method
from vigor.runs.setup import Prepared, held_out, problems
from vigor.tasks import Task
from vigor.tasks.task import Judge

EVERY = 10
"""Steps from one evaluation and checkpoint to the next."""
RISE = 0.3
"""Rise of predicted success, in log odds, that makes it worth to go on."""


class Training:
    """A batch of runs that differ in their seeds alone, on its way through the steps of a method."""

    def __init__(self, prepared: list[Prepared]) -> None:
        """Prepare the data, once; settings that do not fit together show here."""
        first = prepared[0]
        self.prepared = prepared
        self.task: Task = first.task
        self.method: Method = method(first.setup.method)
        self.settings: Any = first.setup.settings
        self.problems: Problem = problems(prepared)
        self.course: list[list[float]] = []
        """Predicted success at every multiple of EVERY, in log odds [evaluation, run]."""
        self.data: Any = self.method.prepare(self.task, self.settings, self.problems)
        jax.eval_shape(lambda data: self.method.start(self.task, self.settings, data), self.data)

    @property
    def steps(self) -> int:
        """Steps of the whole training."""
        return self.method.steps(self.settings)

    def start(self) -> Any:
        """States before the first step, [run, ...]."""
        return self.method.start(self.task, self.settings, self.data)

    def advance(self, states: Any) -> Iterator[tuple[int, Any, Any]]:
        """Steps done so far, states, and the networks of each step since [step, run, ...] or None, to the end.

        A GPU does all steps up to the next multiple of EVERY at once. On a CPU a step takes long enough to be shown,
        and an interrupt is heard after it. Runs whose predicted success has stalled keep their states.
        """
        done = int(np.max(states.iteration))
        while done < self.steps and not all(stalled := self.stalled()):
            stop = min(self.steps, done - done % EVERY + EVERY)
            count = 1 if jax.default_backend() == "cpu" else stop - done
            kept = jax.tree.map(jnp.copy, states) if any(stalled) else None
            states, networks = self.method.advance(self.task, self.settings, self.data, states, count)
            done = int(np.max(states.iteration))
            if kept is not None:
                states = jax.tree.map(partial(_where, np.array(stalled)), kept, states)
            if done % EVERY == 0 and self.method.promise is not None and self.settings.stall:
                promises = self.method.promise(self.task, self.settings, self.data, states)
                self.course.append(np.asarray(promises).tolist())
            yield done, states, networks

    def stalled(self) -> list[bool]:
        """Whether each run's predicted success has stopped to rise."""
        if not self.course:
            return [False] * len(self.prepared)
        return [_stalled(course, self.settings.stall // EVERY) for course in zip(*self.course, strict=True)]

    def why_stopped(self) -> str:
        """Reason in words why the first run has ended."""
        if not self.stalled()[0]:
            return "all iterations are done"
        return f"predicted success has hardly risen in the last {self.settings.stall} iterations"

    def starts(self, run: int = 0) -> Starts:
        """Where the mixtures of a run begin."""
        return _of(run, self.problems.starts)

    def common(self, run: int = 0) -> Invariants:
        """Invariants of a run: what its demonstrations have in common."""
        return _of(run, self.problems.invariants)

    def evaluate(self, states: Any, simulated: bool = True) -> list[Evaluation]:
        """Evaluations of every run's policies; those of a simulation can be left out, for time."""
        task = self.task
        if not simulated and task.judge.simulate is not None:
            task = replace(task, judge=Judge(distinct=task.judge.distinct, samples=task.judge.samples))
        return [
            evaluation.evaluate(task, own, common=self.common(run), known=known)
            for run, (own, known) in enumerate(zip(self.policies(states), self.known, strict=True))
        ]

    @cached_property
    def known(self) -> list[Repertoire | None]:
        """Repertoire of each run's demonstrations, those held out among them; None where it learns from all."""
        return [held_out(own, distinct_of(self.task, self.common(i))) for i, own in enumerate(self.prepared)]

    def policies(self, states: Any) -> list[Learned]:
        """Policies of every run."""
        learned = jax.block_until_ready(self.method.policies(self.task, self.settings, self.data, states))
        found = []
        for i, (*_, split) in enumerate(self.prepared):
            contexts = np.concatenate([split.train_contexts, split.test_contexts])
            found.append(policies.of(contexts, len(split.train_contexts), _of(i, learned)))
        return found


def _of(run: int, tree: Any) -> Any:
    """One of a batch of runs [run, ...], as arrays in memory: on the device every shape would need a program."""
    return jax.tree.map(lambda leaf: np.asarray(leaf)[run], tree)


def _stalled(course: Sequence[float], looks: int) -> bool:
    """Whether predicted success at the last so many looks is hardly above all before."""
    return 0 < looks < len(course) and max(course[-looks:]) < max(course[:-looks]) + RISE


def _where(stalled: np.ndarray, kept: Any, fresh: Any) -> Any:
    """Leaves [run, ...] of stalled runs as they were, of others as they are."""
    if jnp.issubdtype(fresh.dtype, jax.dtypes.prng_key):
        return fresh
    return jnp.where(stalled.reshape(-1, *[1] * (fresh.ndim - 1)), kept, fresh)
