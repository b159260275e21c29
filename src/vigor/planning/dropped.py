"""Ways that were demonstrated and that no solution of a plan goes, in words."""

from functools import partial

import jax
import numpy as np
import scipy  # Its parts are loaded when they are used.

from vigor.demonstrations.repertoire import APART
from vigor.learning import starts
from vigor.learning.starts import Starts
from vigor.motion.trajectories import apart, distinct_solutions
from vigor.tasks.task import Task


@partial(jax.jit, static_argnums=(0, 3))
def demonstrated(task: Task, at: Starts, contexts: jax.Array, components: int) -> jax.Array:
    """Movements [context, demonstration, T, dimensions] that were demonstrated, carried into contexts [context, C]: as
    many as there are components; all of them, and once, [1, ...], if the task does not say how they are carried."""
    if task.transfer.carry is None:
        contexts = contexts[:1]

    def one(context: jax.Array) -> jax.Array:
        return task.promp.rollout(starts.in_context(task, at, context, components).weights)

    return jax.vmap(one)(contexts)


def in_words(distinct: float, movements: np.ndarray, joints: np.ndarray, holds: np.ndarray) -> str | None:
    """Number of ways that are left out in a context, as a sentence; None if all are there, or nothing holds.

    distinct: smallest difference of two ways; movements: [demonstration, T, dimensions], those that were demonstrated;
    joints: [component, T, dimensions], means of all components; holds: [component].
    """
    if not np.any(holds):
        return None
    way = distinct_solutions(movements, APART * distinct)
    between = scipy.spatial.distance.cdist(apart(movements), apart(joints[holds]))
    near = between.min(axis=0) < APART * distinct
    lost = ~np.isin(way, way[between.argmin(axis=0)[near]])
    if not np.any(lost):
        return None
    count, ways = len(np.unique(way[lost])), len(np.unique(way))
    are = "is" if count == 1 else "are"
    return f"{count} of {ways} ways that were demonstrated {are} left out here ({np.mean(lost):.0%} of demonstrations)"
