"""Predicted success of movements and of components, without ground truth. Beyond the paper."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from vigor.basics.batching import in_blocks
from vigor.learning import invariants, mixture
from vigor.learning.invariants import Invariants
from vigor.learning.mixture import Mixture
from vigor.tasks.task import Task

BLOCK = 256
"""Movements that are described at a time."""
SAMPLES = 20
"""Samples of each component that are looked at."""


def distinct_of(task: Task, common: Invariants) -> float:
    """Smallest difference of two ways: the task's own, or half of how much demonstrations usually differ."""
    return float(common.distinct) if task.judge.distinct is None else task.judge.distinct


def movement_success(
    task: Task,
    common: Invariants,
    joints: Float[np.ndarray, "movement time dimension"],
    contexts: Float[np.ndarray, "movement coordinate"],
) -> Float[np.ndarray, " movement"]:
    """Predicted success of movements in their contexts."""
    return in_blocks(BLOCK, partial(_movement_success, task, common), joints, contexts)


@partial(jax.jit, static_argnums=0)
def _movement_success(
    task: Task,
    common: Invariants,
    joints: Float[Array, "movement time dimension"],
    contexts: Float[Array, "movement coordinate"],
) -> Float[Array, " movement"]:
    described = jax.vmap(task.describe)(joints, contexts)
    return invariants.predicted_success(common, described, invariants.stretch(common, contexts))


def component_success(
    key: PRNGKeyArray, task: Task, common: Invariants, contexts: Float[Array, "context coordinate"], mixtures: Mixture
) -> Float[Array, "context component"]:
    """Predicted success of the components of mixtures [context, ...]; all contexts share their random numbers."""
    drawn = jax.vmap(partial(mixture.sample_components, key, samples=SAMPLES))(mixtures)

    def one(context: Float[Array, " coordinate"], weights: Float[Array, "component sample weight"]) -> Array:
        described = jax.vmap(jax.vmap(lambda w: task.describe_weights(w, context)))(weights)
        stretched = invariants.stretch(common, context)
        return jnp.mean(invariants.predicted_success(common, described, stretched), axis=-1)

    return jax.vmap(one)(contexts, drawn)
