"""Demonstrations at a glance: how many each context has, how good and how different they are."""

from dataclasses import dataclass

import numpy as np

from vigor.demonstrations.dataset import Demonstrations, trajectories
from vigor.motion.trajectories import distinct_solutions, usual_difference
from vigor.tasks.task import Task


@dataclass(frozen=True, eq=False)
class Summary:
    """A set at a glance, by demonstrated context."""

    contexts: np.ndarray
    """[c]: indices of the demonstrated contexts."""
    counts: np.ndarray
    """[c]: demonstrations."""
    success: np.ndarray
    """[c]: share of the demonstrations whose ProMP succeeds; all of them if the task is not judged."""
    distance: np.ndarray
    """[c]: mean distance of the ProMPs from solving the context."""
    solutions: np.ndarray
    """[c]: distinct solutions among them (see `distinct_solutions`)."""
    spread: np.ndarray
    """[c]: mean difference between two demonstrations (root mean square over steps of the joints' distance)."""


def summarise(task: Task, demonstrations: Demonstrations) -> Summary:
    """Numbers of demonstrations of each context, how good and how different they are."""
    movements = trajectories(task, demonstrations)
    distances = task.distances(movements, demonstrations.contexts[demonstrations.context_of])
    least = 0.5 * usual_difference(movements) if task.judge.distinct is None else task.judge.distinct
    rows = []
    for context in demonstrations.demonstrated:
        of = demonstrations.of(context)
        apart = movements[of, None] - movements[None, of]
        differences = np.sqrt(np.sum(apart**2, axis=-1).mean(axis=-1))
        distinct = np.unique(distinct_solutions(movements[of], least))
        spread = differences.sum() / max(1, len(of) * (len(of) - 1))
        success = np.mean(task.succeeds(distances[of]))
        rows.append((context, len(of), success, distances[of].mean(), len(distinct), spread))
    return Summary(*map(np.array, zip(*rows, strict=True)))
