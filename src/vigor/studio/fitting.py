"""From a recording to a movement primitive that solves what the recording solves."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from vigor.demonstrations import preprocessing as recordings
from vigor.tasks.task import Task

STEPS = 30
"""Most steps by which a primitive is moved."""
BEYOND = 1.2
"""How much further each goes than to where the distance seems to vanish."""


def fit(task: Task, recording: np.ndarray, context: np.ndarray) -> tuple[np.ndarray, float]:
    """Weights [1, D] of a recording [T, dimensions], and how far they are from solving its context [C].

    A primitive rounds off corners, and so can miss by a little what the recording has hit. Then it is moved, by steps
    along the gradient of the distance d, each as long as would bring it to zero if it were linear: d / |grad|. A task
    that only a simulation can judge has no gradient, and keeps its least squares.
    """
    weights = recordings.fit(task, [recording])
    away = float(recordings.distances(task, weights, context[None])[0])
    for _ in range(STEPS if task.judge.distance is not None else 0):
        if task.succeeds(np.asarray(away)):
            break
        distance, slope = jax.tree.map(np.asarray, _distance(task, jnp.asarray(weights[0]), jnp.asarray(context)))
        if not np.any(slope):
            break
        weights = weights - BEYOND * distance * slope / np.sum(slope**2)
        away = float(recordings.distances(task, weights, context[None])[0])
    return weights, away


@partial(jax.jit, static_argnums=0)
def _distance(task: Task, weights: jax.Array, context: jax.Array) -> tuple[jax.Array, jax.Array]:
    """How far weights [D] are from solving a context [C], and the gradient."""
    judge = task.judge.distance
    assert judge is not None
    return jax.value_and_grad(lambda own: judge(task.motion(task.promp.rollout(own), context)))(weights)
