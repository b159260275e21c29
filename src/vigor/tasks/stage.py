"""A task as a scene that can be used by mouse: a robot that is dragged, and the parts of a context that can be."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np

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
class Surface:
    """The surface of a link, in the link's frame."""

    vertices: np.ndarray
    """[n, 3]"""
    faces: np.ndarray
    """[m, 3], numbers of vertices"""


@dataclass(frozen=True, eq=False)
class Picture:
    """The scene at a moment."""

    points: np.ndarray
    """[n, 3]: ends of the robot's links, end effector last."""
    pose: np.ndarray
    """[dimensions]: the robot as a recording holds it."""
    bodies: tuple[Body, ...] = ()
    """Objects that the robot moves, always the same in the same order."""
    tool: np.ndarray | None = None
    """[3, 3], whose columns are the tool's axes; None where its orientation does not matter."""
    places: np.ndarray = field(default_factory=lambda: np.zeros((0, 3)))
    """[surface, 3]: positions of the stage's surfaces."""
    turns: np.ndarray = field(default_factory=lambda: np.zeros((0, 3, 3)))
    """[surface, 3, 3]: rotations of the stage's surfaces."""


@dataclass(frozen=True, eq=False)
class Mark:
    """Part of a context that is shown: a target, the goal of a body, or a knob if it has neither radius nor size."""

    label: str
    position: np.ndarray
    """[3]"""
    radius: float = 0.0
    """Radius of a target, a circle or sphere."""
    size: tuple[float, float] | None = None
    """Sides of a goal, the rectangle on the ground that a body is to cover."""
    angle: float = 0.0
    """Angle of a goal about the upright axis."""
    moves: bool = True
    """Whether it can be dragged; one that is the same in all contexts cannot."""
    turns: Literal["", "heading", "pose"] = ""
    """Ways in which it can be turned: not at all, about the upright axis, or in any way."""
    rotation: np.ndarray = field(default_factory=lambda: np.eye(3))
    """[3, 3]: its orientation, if it has one."""


@dataclass(frozen=True, eq=False)
class Missing:
    """Something that a movement lacks to solve its context."""

    words: str
    """For instance "0.39 m from target 2"."""
    line: np.ndarray | None = None
    """[2, 3]: from the movement to what it misses, if that is a place."""


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


class Layout(Protocol):
    """The parts of a context as marks that can be dragged, and what a movement has to do with them."""

    instruction: str
    """A sentence that says what to do."""

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        """A context [C] to show something in."""

    def marks(self, context: np.ndarray) -> tuple[Mark, ...]: ...

    def dragged(self, context: np.ndarray, mark: int, aim: np.ndarray) -> np.ndarray:
        """Context [C] after one of its marks was dragged to an aim [3]."""

    def turned(self, context: np.ndarray, mark: int, rotation: np.ndarray) -> np.ndarray:
        """Context [C] after one of its marks was turned to a rotation [3, 3]."""

    def reached(self, context: np.ndarray, seen: Sequence[Picture]) -> tuple[bool, ...]:
        """Whether each of the marks is reached, after these pictures."""

    def missing(self, context: np.ndarray, seen: Sequence[Picture]) -> Missing | None:
        """Something that a movement with these pictures lacks to solve the context; None if it solves it."""


class Stage(Protocol):
    """A robot that can be dragged, in the scene of its task."""

    task: Task
    view: View
    layout: Layout
    surfaces: Sequence[Surface]
    """Surfaces of the robot's links; none to draw it from point to point."""
    turns: bool
    """Whether the tool's orientation matters, and can be chosen."""
    gripper: float | None
    """Opening of the gripper, from 0 to 1; None if there is none."""

    @property
    def grips(self) -> Sequence[int]:
        """Numbers of the picture's points that can be grabbed; the last of them is shown as a ball."""

    @property
    def placing(self) -> Sequence[int]:
        """Grips that set the robot down where a movement starts, before there is one."""

    @property
    def busy(self) -> bool:
        """Whether something moves though nobody pulls: the gripper."""

    def reset(self) -> None:
        """Go where a movement starts."""

    def advance(self, seconds: float, grip: int, aim: np.ndarray | None, recording: bool) -> None:
        """Let time pass while a point is pulled towards an aim [3], if there is one."""

    def turn(self, rotation: np.ndarray) -> None:
        """Let the tool have an orientation [3, 3] from now on, as far as the robot can."""

    def grasp(self, opening: float) -> None:
        """Open or close the gripper from now on, from 0 to 1."""

    def picture(self) -> Picture: ...

    def aim(self, eye: np.ndarray, through: np.ndarray, context: np.ndarray) -> np.ndarray:
        """Aim [3] of a robot that is pulled by a pointer on the ray from an eye [3] through a place [3]."""

    def frames(self, trajectory: np.ndarray) -> tuple[list[Picture], float]:
        """Pictures of a movement [T, dimensions], and how many of them make a second."""

    def lift(self, trajectory: np.ndarray) -> np.ndarray:
        """Path [T, 3] of the end effector along a movement [T, dimensions]."""


def load_stage(task: Task) -> Stage:
    """The stage of a task: its own, or one made of its regions and kinematics."""
    from vigor.tasks import arms

    return arms.stage_of(task) if task.display.stage is None else task.display.stage(task)


def on_plane(eye: np.ndarray, through: np.ndarray, height: float) -> np.ndarray:
    """Point [3] where the ray from an eye [3] through a place [3] meets a horizontal plane; else the place itself."""
    down = through[2] - eye[2]
    share = (height - eye[2]) / down if abs(down) > 1e-9 else -1.0
    return eye + share * (through - eye) if share > 0 else through
