"""Layouts: the regions of a task as marks that can be dragged, whatever the task.

Where a task says in which order its regions are to be reached, words name the one that is missed; otherwise the task's
own judge says how far a movement is from solving its context.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from vigor.motion.trajectories import resample
from vigor.tasks.stage import Body, Mark, Missing, Picture
from vigor.tasks.task import Task

STEP = 1e-3
"""Change of a context's number by which it is found out what it moves."""


@dataclass(frozen=True)
class Aim:
    """A mark that a movement has to reach."""

    when: Literal["pass", "end"]
    """On its way, or at its end."""
    mark: int
    """Number of the mark."""


class Regions:
    """The regions of a task; those that its contexts move can be dragged.

    aims: what a movement has to reach, if the task says so.
    """

    def __init__(self, task: Task, aims: Sequence[Aim] = ()) -> None:
        self._task, self._aims = task, tuple(aims)
        self.instruction = task.display.instruction or _instruction(task)

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        return self._task.sample_contexts(rng, 1)[0]

    def marks(self, context: np.ndarray) -> tuple[Mark, ...]:
        return tuple(
            Mark(part.label, in_space(np.array(part.centre)), part.radius, moves=bool(np.any(slope)))
            for part, slope in zip(self._task.display.regions(context), self._slopes(context), strict=True)
        )

    def _centres(self, context: np.ndarray) -> np.ndarray:
        """Centres [region, 3]."""
        return np.array([in_space(np.array(part.centre)) for part in self._task.display.regions(context)])

    def _slopes(self, context: np.ndarray) -> np.ndarray:
        """Movement [region, 3, C] of each centre by each number of the context."""
        now = self._centres(context)
        moved = [self._centres(context + step) - now for step in STEP * np.eye(len(context))]
        return np.round(np.moveaxis(np.array(moved), 0, -1).reshape(*now.shape, len(context)) / STEP, 6)

    def dragged(self, context: np.ndarray, mark: int, aim: np.ndarray) -> np.ndarray:
        # Centres are nearly always numbers of the context themselves: one step of Newton's method is enough.
        away = aim - self._centres(context)[mark]
        return context + np.linalg.pinv(self._slopes(context)[mark]) @ away

    def turned(self, context: np.ndarray, mark: int, rotation: np.ndarray) -> np.ndarray:
        return context

    def reached(self, context: np.ndarray, seen: Sequence[Picture]) -> tuple[bool, ...]:
        marks, path = self.marks(context), effector(seen)
        if not self._aims:  # What a region is for nobody says: an obstacle may be one.
            return (self._task.judged and judged(self._task, context, seen) is None,) * len(marks)
        there = {aim.mark: _miss(aim, path, marks[aim.mark]) is None for aim in self._aims}
        return tuple(there.get(number, False) for number in range(len(marks)))

    def missing(self, context: np.ndarray, seen: Sequence[Picture]) -> Missing | None:
        if self._aims:
            marks, path = self.marks(context), effector(seen)
            missed = (_miss(aim, path, marks[aim.mark]) for aim in self._aims)
            return next((part for part in missed if part is not None), None)
        return judged(self._task, context, seen)


def judged(task: Task, context: np.ndarray, seen: Sequence[Picture]) -> Missing | None:
    """The distance of a movement from solving its context, by the task's own measure."""
    if not task.judged:
        return None
    poses = np.array([picture.pose for picture in seen])
    away = float(task.distances(resample(poses, task.promp.steps)[None].astype(np.float32), context[None])[0])
    return None if away <= task.judge.success_distance else Missing(f"{away:.2f} away from solving it")


def effector(seen: Sequence[Picture]) -> np.ndarray:
    """Path [n, 3] of the end effector."""
    return np.array([picture.points[-1] for picture in seen])


def length(metres: float) -> str:
    """A length in words: centimetres below a metre."""
    return f"{metres:.1f} m" if abs(metres) >= 1 else f"{100 * metres:.{0 if abs(metres) >= 0.1 else 1}f} cm"


def off(body: Body, goal: Mark) -> str:
    """Distance of a body from its goal, in words."""
    degrees = abs(np.rad2deg((body.pose[2] - goal.angle + np.pi) % (2 * np.pi) - np.pi))
    return f"{length(float(np.linalg.norm(body.pose[:2] - goal.position[:2])))} and {degrees:.0f} degrees off the goal"


def _closest(path: np.ndarray, mark: Mark) -> tuple[float, int]:
    """Least distance of a path [n, 3] from a mark's boundary, negative inside, and where."""
    away = np.linalg.norm(path - mark.position, axis=1)
    step = int(np.argmin(away))
    return float(away[step]) - mark.radius, step


def _miss(aim: Aim, path: np.ndarray, mark: Mark) -> Missing | None:
    """Way in which a path [n, 3] misses a mark; None if it does not."""
    away, step = _closest(path if aim.when == "pass" else path[-1:], mark)
    place = path[step] if aim.when == "pass" else path[-1]
    said = f"target {aim.mark + 1}"
    return None if away <= 0 else Missing(f"{length(away)} from {said}", np.array([place, mark.position]))


def _instruction(task: Task) -> str:
    """A sentence about the regions of a task that says nothing of itself."""
    labels = [part.label for part in task.display.regions(np.zeros(task.context_dimension))]
    among = f" among {', '.join(labels[:-1])} and {labels[-1]}" if len(labels) > 1 else "".join(labels[:1])
    return f"Drag the orange ball as the robot should move{among}."


def in_space(points: np.ndarray) -> np.ndarray:
    """Points [..., 2 or 3] as [..., 3]."""
    return np.pad(points, [(0, 0)] * (points.ndim - 1) + [(0, 3 - points.shape[-1])])
