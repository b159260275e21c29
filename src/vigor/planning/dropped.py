"""Ways that were demonstrated and that no solution of a plan goes, in words."""

import jax.numpy as jnp
import numpy as np
import scipy  # Its parts are loaded when they are used.

from vigor.demonstrations.repertoire import APART
from vigor.learning import starts
from vigor.learning.starts import Starts
from vigor.motion.promp import rollout
from vigor.motion.trajectories import apart, distinct_solutions
from vigor.tasks.task import Task


def in_words(
    task: Task, at: Starts, context: np.ndarray, distinct: float, joints: np.ndarray, holds: np.ndarray
) -> str | None:
    """Number of ways that are left out in a context [C], as a sentence; None if all are there, or nothing holds.

    joints: [component, T, dimensions], means of all components; holds: [component].
    """
    if not np.any(holds):
        return None
    shown = starts.in_context(task, at, jnp.asarray(context, jnp.float32), len(joints))
    movements = np.asarray(rollout(task.promp, shown.weights))
    way = distinct_solutions(movements, APART * distinct)
    between = scipy.spatial.distance.cdist(apart(movements), apart(joints[holds]))
    near = between.min(axis=0) < APART * distinct
    lost = ~np.isin(way, way[between.argmin(axis=0)[near]])
    if not np.any(lost):
        return None
    count, ways = len(np.unique(way[lost])), len(np.unique(way))
    are = "is" if count == 1 else "are"
    return f"{count} of {ways} ways that were demonstrated {are} left out here ({np.mean(lost):.0%} of demonstrations)"
