"""A task as a scene that can be used by mouse: a robot that is dragged, and the parts of a context that can be."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from vigor.basics.errors import UserError
from vigor.tasks.task import Task


@dataclass(frozen=True)
class Block:
    """Part of a body: a cuboid along the body's own axes."""

    size: tuple[float, float, float]
    centre: tuple[float, float, float]
    """Centre in the body's frame."""


@dataclass(frozen=True, eq=False)
class Body:
    """An object on the ground that the robot moves."""

    blocks: tuple[Block, ...]
    """Shape, the same at every moment."""
    pose: np.ndarray
    """[3]: place on the ground and angle about the upright axis."""


@dataclass(frozen=True, eq=False)
class Picture:
    """The scene at a moment."""

    points: np.ndarray
    """[n, 3]: ends of the robot's links, end effector last."""
    bodies: tuple[Body, ...] = ()
    """Objects that the robot moves, always the same in the same order."""


@dataclass(frozen=True, eq=False)
class Mark:
    """Part of a context that can be dragged: a target, the goal of a body, or a knob if it has neither radius nor
    size."""

    label: str
    position: np.ndarray
    """[3]"""
    radius: float = 0.0
    """Radius of a target, a circle or sphere."""
    size: tuple[float, float] | None = None
    """Sides of a goal, the rectangle on the ground that a body is to cover."""
    angle: float = 0.0
    """Angle of a goal about the upright axis."""


@dataclass(frozen=True)
class View:
    """Camera of a scene, sizes in it, and the space in which things can be dragged."""

    camera: tuple[float, float, float]
    look_at: tuple[float, float, float]
    up: tuple[float, float, float]
    field: float
    """Field of view, in radians."""
    flat: bool
    """Things are dragged in horizontal planes; else across the view."""
    link: float
    """Radius of the robot's links."""
    ball: float
    """Radius of the ball that the robot is dragged by."""
    low: tuple[float, float, float]
    """Least coordinates that things are dragged to."""
    high: tuple[float, float, float]
    """Largest coordinates that things are dragged to."""
    tool: float = 0.0
    """Radius of the links that are a tool."""
    tool_links: int = 0
    """Links at the end of the robot that are a tool."""

    @property
    def from_above(self) -> bool:
        return self.up[2] == 0


class Stage(Protocol):
    """A robot that can be dragged, in the scene of its task."""

    task: Task
    view: View
    instruction: str
    """A sentence that says what to do."""

    @property
    def grips(self) -> Sequence[int]:
        """Numbers of the picture's points that can be grabbed; the last of them is shown as a ball."""

    @property
    def pose(self) -> np.ndarray:
        """[dimensions]: this moment as a recording holds it."""

    def reset(self) -> None:
        """Go where a movement starts."""

    def advance(self, seconds: float, grip: int, aim: np.ndarray | None, recording: bool) -> None:
        """Let time pass while a point is pulled towards an aim [3], if there is one."""

    def picture(self) -> Picture: ...

    def aim(self, eye: np.ndarray, through: np.ndarray, context: np.ndarray) -> np.ndarray:
        """Aim [3] of a robot that is pulled by a pointer on the ray from an eye [3] through a place [3]."""

    def frames(self, trajectory: np.ndarray) -> tuple[list[Picture], float]:
        """Pictures of a movement [T, dimensions], and how many of them make a second."""

    def lift(self, trajectory: np.ndarray) -> np.ndarray:
        """Path [T, 3] of the end effector along a movement [T, dimensions]."""

    def marks(self, context: np.ndarray) -> tuple[Mark, ...]: ...

    def dragged(self, context: np.ndarray, mark: int, aim: np.ndarray) -> np.ndarray:
        """Context [C] after one of its marks was dragged to an aim [3]."""

    def reached(self, context: np.ndarray, path: np.ndarray, picture: Picture) -> tuple[bool, ...]:
        """Whether each of the marks is reached, after the end effector went along a path [n, 3]."""

    def missing(self, context: np.ndarray, path: np.ndarray, picture: Picture) -> str:
        """Words for how far the context is from being solved: "0.39 m from target 2"; empty once it is solved.

        path: [n, 3], along which the end effector went.
        """


def load_stage(task: Task) -> Stage:
    """The stage of a task; one sentence if it has none."""
    if task.display.stage is None:
        raise UserError(f"{task.name} has no stage to be shown on; give its Display one, see vigor.tasks.stage")
    return task.display.stage(task)


def on_plane(eye: np.ndarray, through: np.ndarray, height: float) -> np.ndarray:
    """Point [3] where the ray from an eye [3] through a place [3] meets a horizontal plane; else the place itself."""
    down = through[2] - eye[2]
    share = (height - eye[2]) / down if abs(down) > 1e-9 else -1.0
    return eye + share * (through - eye) if share > 0 else through
