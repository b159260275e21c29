"""The repertoire of whoever demonstrates a task: ways, which are groups among all demonstrations, found once.

Two movements are alike if they differ by less than `distinct`. A way is a group of demonstrations that is on average
more than twice as far from every other group: hardly a movement is like demonstrations of two ways.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import jax
import jax.numpy as jnp
import numpy as np
import scipy  # Its parts are loaded when they are used.

from vigor.demonstrations.dataset import Demonstrations, trajectories
from vigor.motion.trajectories import apart, distinct_solutions, usual_difference
from vigor.tasks.task import Task

APART = 2.0
"""Least difference of two ways, as a multiple of `distinct`."""
FEW = 3
"""Fewest demonstrations of a way that is described in words."""


@dataclass(frozen=True, eq=False)
class Repertoire:
    """All demonstrations of a task, and the ways among them."""

    movements: np.ndarray
    """[n, T, dimensions]: each as its movement primitive makes it."""
    contexts: np.ndarray
    """[n, C]: context of each."""
    shown: np.ndarray
    """[n]: whether it is learned from; others are held out."""
    way: np.ndarray
    """[n]: number of the way that each goes, the most usual first, from 0."""
    names: tuple[str, ...]
    """Ways in words, by number."""
    distinct: float
    """Difference of two movements from which on they are not alike."""

    def shares(self, rows: np.ndarray) -> np.ndarray:
        """Share of each way [way] among some of the demonstrations."""
        return np.bincount(self.way[rows], minlength=len(self.names)) / max(1, len(rows))

    def of(self, context: np.ndarray) -> np.ndarray:
        """Indices of a context's demonstrations."""
        return np.flatnonzero(np.all(np.abs(self.contexts - context) < 1e-6, axis=1))

    @cached_property
    def points(self) -> np.ndarray:
        """Points [n, T * dimensions] whose distances are the differences of movements."""
        return apart(self.movements)

    def went(self, between: np.ndarray) -> np.ndarray:
        """Way [m] that movements go which are `between` [m, n] from the demonstrations: that of the nearest.

        One that is farther from all than ways are apart goes none of them, which has the number after the last.
        """
        near = between.min(axis=1) < APART * self.distinct
        return np.where(near, self.way[between.argmin(axis=1)], len(self.names))

    def between(self, joints: np.ndarray) -> np.ndarray:
        """Differences [m, n] of movements [m, T, dimensions] from the demonstrations."""
        return scipy.spatial.distance.cdist(apart(joints), self.points)

    def alike(self, rows: np.ndarray) -> np.ndarray:
        """Whether each of some demonstrations is like another of them."""
        between = scipy.spatial.distance.cdist(self.points[rows], self.points[rows])
        np.fill_diagonal(between, np.inf)
        return np.any(between < self.distinct, axis=1)


def repertoire(
    task: Task, demonstrations: Demonstrations, shown: np.ndarray | None = None, distinct: float | None = None
) -> Repertoire:
    """All demonstrations of a set with their ways.

    shown: indices of those that are learned from; distinct: the task's own by default, or half of how much
    demonstrations usually differ.
    """
    movements = trajectories(task, demonstrations)
    if distinct is None:
        distinct = 0.5 * usual_difference(movements) if task.judge.distinct is None else task.judge.distinct
    found = distinct_solutions(movements, APART * distinct)
    order = np.argsort(-np.bincount(found), kind="stable")
    way = np.argsort(order)[found]
    seen = np.isin(np.arange(len(movements)), [] if shown is None else shown)
    contexts = demonstrations.contexts[demonstrations.context_of]
    return Repertoire(movements, contexts, seen, way, _names(task, movements, way), distinct)


# Words

_PLANE, _SPACE = (("left", "right"), ("low", "high")), (("back", "front"), ("right", "left"), ("low", "high"))
"""Words for the lesser and the greater values of each coordinate: as figures have it, and as a robot sees it."""


def _names(task: Task, movements: np.ndarray, way: np.ndarray) -> tuple[str, ...]:
    """Ways in words: which point of the arm is where, compared with all other ways."""
    count = int(way.max()) + 1
    points = np.asarray(jax.jit(task.kinematics)(jnp.asarray(movements))).mean(axis=1, dtype=np.float64)
    names: list[str] = []
    for number in range(count):
        own = way == number
        words = _contrasts(points[own], points[~own]) if FEW <= own.sum() < len(way) else iter(())
        said = next((word for word in words if not any(word in name for name in names)), "")
        names.append(f"way {number + 1}" + (f", {said}" if said else ""))
    return tuple(names)


def _contrasts(own: np.ndarray, others: np.ndarray) -> Iterator[str]:
    """Words for what tells points [n, point, 2 or 3] from others, the clearest first, by Cohen's d."""
    away = own.mean(axis=0) - others.mean(axis=0)
    spread = np.sqrt((own.var(axis=0) + others.var(axis=0)) / 2)
    effect = away / np.maximum(spread, 1e-3 * np.abs(away).max() + 1e-12)
    sides, last = _PLANE if own.shape[-1] == 2 else _SPACE, own.shape[1] - 1
    for flat in np.argsort(-np.abs(effect), axis=None):
        point, axis = divmod(int(flat), own.shape[-1])
        yield f"{'tool' if point == last else f'link {point}'} {sides[axis][int(effect[point, axis] > 0)]}"
