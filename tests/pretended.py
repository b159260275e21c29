"""A method that only pretends to learn, for tests of everything around it: nothing has to be compiled."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from vigor.learning.mixture import Mixture
from vigor.learning.problem import Problem
from vigor.runs.methods import METHODS, Method
from vigor.tasks import Task

NAME = "pretended"


@dataclass(frozen=True)
class PretendedSettings:
    """Settings of nothing."""

    iterations: int = 12
    stall: int = 0


class PretendedState(NamedTuple):
    """Everything a step changes."""

    iteration: jax.Array
    """[run]"""
    mixtures: Mixture
    """[run, context, ...]"""


@dataclass
class Calls:
    """Counts of calls of a method."""

    prepared: int
    """Times that the data was prepared."""
    steps: list[int]
    """Steps, each time that it was advanced."""


def _start(task: Task, settings: PretendedSettings, problems: Problem) -> PretendedState:
    runs, weights = problems.key.shape[0], task.promp.weights
    contexts = problems.train_contexts.shape[1] + problems.test_contexts.shape[1]
    roots = jnp.broadcast_to(0.1 * jnp.eye(weights), (runs, contexts, 2, weights, weights))
    mixtures = Mixture(jnp.full((runs, contexts, 2), jnp.log(0.5)), jnp.zeros((runs, contexts, 2, weights)), roots)
    return PretendedState(jnp.zeros(runs, jnp.int32), mixtures)


@contextmanager
def pretended() -> Iterator[Calls]:
    """Runs know the method meanwhile; what it is asked for is counted."""
    calls = Calls(0, [])

    def prepare(task: Task, settings: PretendedSettings, problems: Problem) -> Problem:
        calls.prepared += 1
        return problems

    def advance(task: Task, settings: Any, data: Problem, states: PretendedState, count: int) -> tuple[Any, None]:
        calls.steps.append(count)
        mixtures = states.mixtures._replace(means=states.mixtures.means + 0.01 * count)
        return PretendedState(states.iteration + count, mixtures), None

    METHODS[NAME] = Method(
        PretendedSettings,
        lambda settings: settings.iterations,
        prepare,
        _start,
        advance,
        lambda task, settings, data, states: states.mixtures,
    )
    yield calls
    del METHODS[NAME]
