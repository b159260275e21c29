"""The one training loop, for runs in folders and for cells of a benchmark."""

from collections.abc import Iterator
from typing import Any

import jax
import numpy as np

from vigor.evaluation import evaluation, policies
from vigor.evaluation.evaluation import Evaluation
from vigor.evaluation.policies import Learned
from vigor.learning.invariants import Invariants
from vigor.learning.problem import Problem
from vigor.runs.methods import Method, method
from vigor.runs.setup import Prepared, problems
from vigor.tasks import Task

EVERY = 10
"""Steps from one evaluation and checkpoint to the next."""


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
        and an interrupt is heard after it.
        """
        done = int(states.iteration[0])
        while done < self.steps:
            stop = min(self.steps, done - done % EVERY + EVERY)
            count = 1 if jax.default_backend() == "cpu" else stop - done
            states, networks = self.method.advance(self.task, self.settings, self.data, states, count)
            done = int(states.iteration[0])
            yield done, states, networks

    def common(self, run: int = 0) -> Invariants:
        """What the demonstrations of a run have in common."""
        return jax.tree.map(lambda leaf: leaf[run], self.problems.invariants)

    def evaluate(self, states: Any) -> list[Evaluation]:
        """Evaluations of every run's policies."""
        learned = self.policies(states)
        return [evaluation.evaluate(self.task, own, common=self.common(run)) for run, own in enumerate(learned)]

    def policies(self, states: Any) -> list[Learned]:
        """Policies of every run."""
        learned = jax.block_until_ready(self.method.policies(self.task, self.settings, self.data, states))
        found = []
        for i, (*_, split) in enumerate(self.prepared):
            contexts = np.concatenate([split.train_contexts, split.test_contexts])
            own = jax.tree.map(lambda leaf, i=i: leaf[i], learned)
            found.append(policies.of(contexts, len(split.train_contexts), own))
        return found
