"""A robot in the scene of a task: how it looks, how it is dragged, and what of the context can be dragged."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from vigor.basics.errors import UserError
from vigor.tasks import TASKS, Task


@dataclass(frozen=True, eq=False)
class Picture:
    """What is seen of the robot at a moment."""

    points: np.ndarray
    """[n, 3]: where its links meet, end effector last."""
    box: np.ndarray | None = None
    """[3]: pose of the pushed box."""


@dataclass(frozen=True, eq=False)
class Mark:
    """A part of the context that can be dragged."""

    label: str
    position: np.ndarray
    """[3]"""
    radius: float = 0.0
    """Of a target's circle or sphere; 0 for a goal, and for the knob that turns it."""
    angle: float | None = None
    """Of the goal of a box."""


@dataclass(frozen=True)
class View:
    """How a scene is looked at, and how far things can be dragged in it."""

    camera: tuple[float, float, float]
    look_at: tuple[float, float, float]
    up: tuple[float, float, float]
    field: float
    """Of view, in radians."""
    flat: bool
    """Things are dragged in horizontal planes; else across the view."""
    link: float
    """Radius of the robot's links."""
    ball: float
    """Radius of the ball that the robot is dragged by."""
    low: tuple[float, float, float]
    high: tuple[float, float, float]
    """Where things can be dragged to."""

    @property
    def from_above(self) -> bool:
        return self.up[2] == 0


def on_plane(eye: np.ndarray, through: np.ndarray, height: float) -> np.ndarray:
    """Where the ray from an eye [3] through a place [3] meets a horizontal plane; the place itself if it does not."""
    down = through[2] - eye[2]
    share = (height - eye[2]) / down if abs(down) > 1e-9 else -1.0
    return eye + share * (through - eye) if share > 0 else through


class Stage(Protocol):
    """A robot that can be dragged."""

    task: Task
    view: View

    @property
    def grips(self) -> Sequence[int]:
        """Which of the picture's points can be grabbed."""

    @property
    def pose(self) -> np.ndarray:
        """[dimensions]: what a recording holds of this moment."""

    def reset(self) -> None:
        """Go where a movement starts."""

    def advance(self, seconds: float, grip: int, aim: np.ndarray | None, recording: bool) -> None:
        """Let time pass while a point is pulled towards an aim [3], if there is one."""

    def picture(self) -> Picture: ...

    def aim(self, eye: np.ndarray, through: np.ndarray, context: np.ndarray) -> np.ndarray:
        """Where the robot is pulled to [3] by a pointer on the ray from an eye [3] through a place [3]."""

    def frames(self, trajectory: np.ndarray) -> tuple[list[Picture], float]:
        """A movement [T, dimensions] as pictures, and how many of them make a second."""

    def lift(self, trajectory: np.ndarray) -> np.ndarray:
        """Path [T, 3] of the end effector along a movement [T, dimensions]."""

    def marks(self, context: np.ndarray) -> tuple[Mark, ...]: ...

    def dragged(self, context: np.ndarray, mark: int, aim: np.ndarray) -> np.ndarray:
        """The context [C] after one of its marks was dragged to an aim [3]."""

    def reached(self, context: np.ndarray, path: np.ndarray, picture: Picture) -> tuple[bool, ...]:
        """Which of the marks are reached, after the end effector went along a path [n, 3]."""

    def miss(self, context: np.ndarray, path: np.ndarray, picture: Picture) -> float:
        """How far this is from solving the context."""


def check(task: Task) -> None:
    """Refuse a task that has no stage."""
    if task.name not in TASKS:
        raise UserError(f"the studio shows planar-reacher, panda-reacher and box-pusher, not {task.name}")


def load(task: Task) -> Stage:
    """The stage of a task."""
    from vigor.studio import arm

    check(task)
    match task.name:
        case "planar-reacher":
            return arm.planar(task)
        case "panda-reacher":
            return arm.panda(task)
        case _:
            from vigor.studio import pusher

            return pusher.Pusher(task)
