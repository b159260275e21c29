"""Ways of mixtures, where they are shown or tried.

Of components that go the same way the likeliest stands for all. For reports, ways are in one order in all contexts, and
those that are alike are of one kind.
"""

from dataclasses import replace

import jax
import numpy as np
import scipy  # Its parts are loaded when they are used.

from vigor.evaluation.policies import Movements, Policies
from vigor.motion.promp import rollout
from vigor.motion.trajectories import apart, distinct_solutions
from vigor.tasks.task import Task


def likeliest(task: Task, learned: Policies, distinct: float) -> tuple[Policies, np.ndarray]:
    """Policies with a component for every way, the likeliest of those that go it, and with the weight of all of them.

    Also which of the components [context, way] these are. distinct: smallest difference of two ways, see
    `vigor.motion.trajectories.distinct_solutions`. All contexts have as many components, so that where some have fewer
    ways than others the components that differ most are kept apart.
    """
    joints = np.asarray(rollout(task.promp, learned.mixtures.means))
    count = max(len(np.unique(distinct_solutions(own, distinct))) for own in joints)
    weights = np.exp(np.asarray(learned.mixtures.log_weights, np.float64))
    found, shares = zip(*(_likeliest(*own, count) for own in zip(joints, weights, strict=True)), strict=True)
    rows, kept = np.arange(len(joints))[:, None], np.stack(found)
    mixtures = jax.tree.map(lambda leaf: np.asarray(leaf)[rows, kept], learned.mixtures)
    weighed = mixtures._replace(log_weights=np.log(np.stack(shares)))
    return Policies(learned.contexts, learned.training, weighed), kept


def _likeliest(joints: np.ndarray, weights: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Movement [count] that is likeliest in each of so many groups of [n, T, dimensions], and the groups' weights."""
    if count == 1 or len(joints) == 1:
        return np.array([np.argmax(weights)]), np.array([1.0], np.float32)
    hierarchy = scipy.cluster.hierarchy
    group = hierarchy.cut_tree(hierarchy.linkage(apart(joints), "average"), count)[:, 0]
    kept = [int(np.argmax(np.where(group == i, weights, -1.0))) for i in range(count)]
    shares = np.bincount(group, weights) / weights.sum()
    return np.array(kept), np.maximum(shares, np.finfo(np.float32).tiny).astype(np.float32)


def aligned(task: Task, learned: Policies) -> tuple[Policies, np.ndarray]:
    """Policies whose components with one number go alike in all contexts, the likeliest over all contexts first.

    Also which of the components [context, component] these are. Those of a context are matched to those of the first so
    that the sum of squared differences is least; how far the context shifts all its movements does not matter for that.
    """
    ways = np.stack([apart(own) for own in np.asarray(rollout(task.promp, learned.mixtures.means))])
    distance, assignment = scipy.spatial.distance, scipy.optimize.linear_sum_assignment
    order = np.stack([assignment(distance.cdist(ways[0], own, "sqeuclidean"))[1] for own in ways])
    rows = np.arange(len(ways))[:, None]
    order = order[:, np.argsort(-np.exp(learned.mixtures.log_weights)[rows, order].mean(axis=0), stable=True)]
    return replace(learned, mixtures=jax.tree.map(lambda leaf: np.asarray(leaf)[rows, order], learned.mixtures)), order


def kinds(moved: Movements, most: int) -> np.ndarray:
    """Kind [component] of components that are aligned: each its own where there are at most so many.

    Else those that differ least on average over contexts are of one kind. Kind 0 is the likeliest over all contexts.
    """
    count = moved.means.shape[1]
    if count <= most:
        return np.arange(count)
    between = np.mean([scipy.spatial.distance.pdist(apart(own)) for own in moved.means], axis=0)
    hierarchy = scipy.cluster.hierarchy
    group = hierarchy.cut_tree(hierarchy.linkage(between, "average"), most)[:, 0]
    return np.argsort(np.argsort(-np.bincount(group, moved.weights.mean(axis=0)), stable=True))[group]
