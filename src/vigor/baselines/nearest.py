"""Floors without learning: in every context the demonstrations of the nearest training context.

`copied` leaves them as they are; `carried` moves them into the context, where the task says how. A method is worth its
training by how far it is above them.
"""

import math
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from vigor.basics.errors import UserError
from vigor.learning import starts
from vigor.learning.mixture import Mixture
from vigor.learning.problem import Problem
from vigor.tasks.task import Task


@dataclass(frozen=True)
class NearestSettings:
    """Settings of `copied` and `carried`: there is nothing to set."""


class NearestState(NamedTuple):
    """States of a batch of runs: nothing is learned."""

    iteration: Int[Array, " run"]
    """Steps done; one is all."""


def prepare_carried(task: Task, settings: NearestSettings, problems: Problem) -> Problem:
    """Problems as they are, if the task says how movements are carried."""
    if task.transfer.carry is None:
        raise UserError(f"{task.name} does not say how movements are carried to other contexts; try --method copied")
    return problems


def start(task: Task, settings: NearestSettings, problems: Problem) -> NearestState:
    """A batch of runs before the one step."""
    return NearestState(jnp.zeros(problems.train_contexts.shape[0], jnp.int32))


def advance(
    task: Task, settings: NearestSettings, problems: Problem, states: NearestState, steps: int | Array
) -> NearestState:
    """Count steps."""
    return NearestState(states.iteration + steps)


@partial(jax.jit, static_argnums=(0, 1))
def copied(task: Task, settings: NearestSettings, problems: Problem, states: NearestState) -> Mixture:
    """Mixtures [run, context, ...] of the nearest contexts' demonstrations, as they are."""

    def one(problem: Problem, to: Float[Array, " coordinate"]) -> Mixture:
        return _mixture(_nearest(problem, starts.apart(task, problem.shown_contexts, to))[0])

    return jax.vmap(lambda problem: jax.vmap(lambda to: one(problem, to))(problem.contexts))(problems)


@partial(jax.jit, static_argnums=(0, 1))
def carried(task: Task, settings: NearestSettings, problems: Problem, states: NearestState) -> Mixture:
    """Mixtures [run, context, ...] of demonstrations carried into each context from that which carries best to it."""

    def one(problem: Problem, to: Float[Array, " coordinate"]) -> Mixture:
        nearest = _nearest(problem, starts.away(task, problem.shown_contexts, to))
        return _mixture(starts.carried(task, *nearest, to))

    return jax.vmap(lambda problem: jax.vmap(lambda to: one(problem, to))(problem.contexts))(problems)


def _nearest(
    problem: Problem, distances: Float[Array, " shown"]
) -> tuple[Float[Array, "demonstration weight"], Float[Array, "demonstration coordinate"]]:
    """Weights and contexts of the demonstrations of the shown context with the smallest distance."""
    count, at, which = problem.shown_contexts.shape[0], problem.starts, jnp.argmin(distances)
    return at.weights.reshape(count, -1, at.weights.shape[-1])[which], at.contexts.reshape(
        count, -1, at.contexts.shape[-1]
    )[which]


def _mixture(weights: Float[Array, "demonstration weight"]) -> Mixture:
    """Equally likely components that do exactly what demonstrations do."""
    count, dimension = weights.shape
    return Mixture(jnp.full(count, -math.log(count)), weights, jnp.zeros((count, dimension, dimension)))
