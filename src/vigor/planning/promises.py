"""Promises of movements: where they bring the arm, which margins they keep, and how likely they are to succeed."""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import jax
import numpy as np

from vigor.basics.errors import UserError
from vigor.learning import prediction
from vigor.learning.invariants import Invariants
from vigor.planning import constraints as constraint
from vigor.planning import violations
from vigor.planning.constraints import Bounds, Constraints, Margins
from vigor.planning.plans import Approach
from vigor.planning.violations import Violation
from vigor.tasks.task import Task


class Promise(NamedTuple):
    """Promise of one movement."""

    joints: np.ndarray
    """[T, dimensions]"""
    predicted: float
    """Probability that it solves the context, by what demonstrations have in common."""
    distance: float | None
    """Distance from solving the context; None if nothing can judge it here."""
    targets: dict[str, Approach]
    margins: dict[str, float]
    violated: Violation | None


class Rolled(NamedTuple):
    """Movements of contexts, rolled out."""

    joints: jax.Array
    """[context, n, T, dimensions]"""
    effector: jax.Array
    """[context, n, T, 2 or 3]"""
    margins: Margins
    """[context, n, ...]"""


@partial(jax.jit, static_argnums=0)
def rolled(task: Task, limits: Bounds, weights: jax.Array) -> Rolled:
    """Movements [context, n, D], rolled out: one program, since every further one takes time to begin with."""
    joints, (count, each, size) = task.promp.rollout(weights), weights.shape
    margins = constraint.margins(task, limits, weights.reshape(-1, size))
    by_context = jax.tree.map(lambda leaf: leaf.reshape(count, each, *leaf.shape[1:]), margins)
    return Rolled(joints, task.kinematics(joints)[..., -1, :], by_context)


def of(
    task: Task, contexts: np.ndarray, movements: Rolled, common: Invariants, constraints: Constraints
) -> list[list[Promise]]:
    """Promises of movements in contexts [context, C]."""
    count, each = movements.joints.shape[:2]
    flat = jax.tree.map(lambda leaf: np.asarray(leaf).reshape(count * each, *leaf.shape[2:]), movements)
    joints, effector, found = flat
    owners = np.repeat(contexts, each, axis=0).astype(np.float32)
    predicted = prediction.movement_success(task, common, joints, owners)
    distances = _distances(task, joints, owners)
    rows = []
    for i in range(count * each):
        targets = {}
        for region in task.display.regions(contexts[i // each]):
            away = np.linalg.norm(effector[i] - np.asarray(region.centre), axis=-1) - region.radius
            targets[region.label] = Approach(float(away.min()), float(away[-1]))
        own = jax.tree.map(lambda leaf, i=i: leaf[i], found)
        margins, violated = violations.smallest(constraints, own), violations.violation(constraints, own)
        rows.append(Promise(joints[i], float(predicted[i]), distances[i], targets, margins, violated))
    return [rows[i : i + each] for i in range(0, len(rows), each)]


def _distances(task: Task, joints: np.ndarray, contexts: np.ndarray) -> Sequence[float | None]:
    """Distances of movements from solving their contexts; None where nothing can judge them here."""
    try:
        return task.distances(joints, contexts).tolist() if task.judged else [None] * len(joints)
    except UserError:
        if task.judge.simulate is None:
            raise
        return [None] * len(joints)
