"""Behavioural cloning of whole trajectories (paper, appendix B.3): BC(T), and BC-GMM(T) with several components.

An MLP maps a context to a Gaussian mixture over movement-primitive weights.
"""

from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp

from vigor.baselines import cloning
from vigor.baselines.cloning import CloningSettings, CloningState
from vigor.learning.mixture import Mixture
from vigor.learning.problem import Problem
from vigor.tasks.task import Task

Array = jax.Array


@dataclass(frozen=True)
class TrajectoryCloningSettings:
    """Settings of BC(T) and BC-GMM(T)."""

    cloning: CloningSettings = CloningSettings(layers=4, batch=4, epochs=30_000)


def _centred(problem: Problem, contexts: Array) -> Array:
    """Contexts [n, C] relative to the mean of the demonstrated contexts, in their own units.

    Divided by their spread, so few contexts lie far apart for the network, and it is lost between them.
    """
    return contexts - jnp.mean(problem.shown_contexts, axis=0)


@partial(jax.jit, static_argnums=(0, 1))
def start(task: Task, settings: TrajectoryCloningSettings, problems: Problem) -> CloningState:
    """A batch of runs [run, ...] before the first step."""
    return jax.vmap(lambda key: cloning.start(key, settings.cloning, task.context_dimension, task.promp.weights))(
        problems.key
    )


@partial(jax.jit, static_argnums=(0, 1), donate_argnums=(3,))
def advance(
    task: Task, settings: TrajectoryCloningSettings, problems: Problem, states: CloningState, steps: int | Array
) -> CloningState:
    """Take a batch of runs [run, ...] through some steps."""

    def step(problem: Problem, state: CloningState) -> CloningState:
        owner = _centred(problem, problem.starts.contexts)
        return cloning.step(problem.key, settings.cloning, owner, problem.starts.weights, state)

    return jax.lax.fori_loop(0, steps, lambda _, states: jax.vmap(step)(problems, states), states)


@partial(jax.jit, static_argnums=(0, 1))
def mixtures(task: Task, settings: TrajectoryCloningSettings, problems: Problem, states: CloningState) -> Mixture:
    """The policies of all contexts of a batch of runs, [run, context, ...]."""

    def one(problem: Problem, state: CloningState) -> Mixture:
        found = cloning.policy(state.best, settings.cloning, _centred(problem, problem.contexts))
        return Mixture(found.log_weights, found.means, jax.vmap(jax.vmap(jnp.diag))(jnp.exp(found.log_deviations)))

    return jax.vmap(one)(problems, states)
