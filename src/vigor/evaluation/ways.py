"""Components of mixtures that became the same are one, drawn as often as all of them together."""

import jax
import jax.numpy as jnp
import numpy as np
from scipy.cluster import hierarchy

from vigor.evaluation.policies import Policies
from vigor.learning.mixture import Mixture
from vigor.motion.promp import rollout
from vigor.motion.trajectories import apart
from vigor.tasks.task import Task

SAMPLES_APART = float(np.sqrt(2))
"""Usual difference of two samples of a component, in spreads."""


def merged(task: Task, learned: Policies, distinct: float) -> Policies:
    """Policies in which components that became the same are one: the likeliest of them, with the weight of all.

    Components are the same if the means of no two of them are farther apart than two samples of one component usually
    are in their context, which is what `spread` says, or than `distinct`, the smallest difference of two ways. All
    contexts have as many components, so that where fewer differ those that differ most are kept apart.
    """
    joints = np.asarray(rollout(task.promp, learned.mixtures.means))
    reach = np.minimum(SAMPLES_APART * spread(task, learned.mixtures), distinct)
    trees = [_tree(own) for own in joints]
    count = max(1 + int(np.sum(tree[:, 2] > near)) for tree, near in zip(trees, reach, strict=True))
    weights = np.exp(np.asarray(learned.mixtures.log_weights, np.float64))
    kept, shares = zip(*(_likeliest(*own, count) for own in zip(trees, weights, strict=True)), strict=True)
    rows = np.arange(len(joints))[:, None]
    mixtures = jax.tree.map(lambda leaf: np.asarray(leaf)[rows, np.stack(kept)], learned.mixtures)
    return Policies(learned.contexts, learned.training, mixtures._replace(log_weights=np.log(np.stack(shares))))


def spread(task: Task, mixtures: Mixture) -> np.ndarray:
    """Root mean square [context] of how far samples are from the mean of their component.

    A movement is linear in its weights: the columns of a root are what one deviation along each of its axes changes.
    """
    still = rollout(task.promp, jnp.zeros(task.promp.weights))
    columns = rollout(task.promp, jnp.swapaxes(jnp.asarray(mixtures.roots), -1, -2)) - still
    squares = jnp.sum(jnp.mean(jnp.sum(columns**2, axis=-1), axis=-1), axis=-1)
    return np.sqrt(np.asarray(jnp.mean(squares, axis=-1), np.float64))


def _tree(joints: np.ndarray) -> np.ndarray:
    """Tree of movements [n, T, dimensions]: which groups become one at which largest difference within [n - 1, 4]."""
    return hierarchy.linkage(apart(joints), "complete") if len(joints) > 1 else np.zeros((0, 4))


def _likeliest(tree: np.ndarray, weights: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Component [count] that is likeliest in each of so many groups of a tree, and the groups' weights."""
    group = hierarchy.cut_tree(tree, count)[:, 0] if len(tree) else np.zeros(1, int)
    kept = [int(np.argmax(np.where(group == i, weights, -1.0))) for i in range(count)]
    shares = np.bincount(group, weights) / weights.sum()
    return np.array(kept), np.maximum(shares, np.finfo(np.float32).tiny).astype(np.float32)
