"""Ways of mixtures: of components that go the same way the likeliest stands for all, where ways are shown or tried."""

import jax
import numpy as np
from scipy.cluster import hierarchy

from vigor.evaluation.policies import Policies
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
    group = hierarchy.cut_tree(hierarchy.linkage(apart(joints), "average"), count)[:, 0]
    kept = [int(np.argmax(np.where(group == i, weights, -1.0))) for i in range(count)]
    shares = np.bincount(group, weights) / weights.sum()
    return np.array(kept), np.maximum(shares, np.finfo(np.float32).tiny).astype(np.float32)
