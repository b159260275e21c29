"""A scene: who moves, among which objects, and what demonstrations have decided of it.

What a person writes of it is in `files`, and what becomes of it, a task, in `building`.
"""

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from vigor.basics.errors import UserError
from vigor.motion import rotations
from vigor.motion.robots import Robot
from vigor.tasks.task import Gripper

Pose = Literal["position", "position and heading", "pose"]
NUMBERS: dict[str, tuple[str, ...]] = {
    "position": ("x", "y", "z"),
    "position and heading": ("x", "y", "z", "heading"),
    "pose": ("x", "y", "z", "qx", "qy", "qz", "qw"),
}
"""Numbers of an object in a context: metres, radians about z, a quaternion."""


@dataclass(frozen=True)
class SceneObject:
    """A thing that is elsewhere from context to context."""

    name: str
    pose: Pose = "position"
    """Everything of its pose that is known, and varies."""

    @property
    def turns(self) -> bool:
        """Whether it has an orientation."""
        return self.pose != "position"


@dataclass(frozen=True)
class Criterion:
    """A condition of success: a movement must come near an object on its way, or end there, perhaps at an angle."""

    when: Literal["pass", "end"]
    object: str
    within: float
    """Largest distance of the tool from the object's origin, in metres."""
    degrees: float | None = None
    """Largest angle between the tool's z axis and the opposite of the object's: the tool points into it."""


@dataclass(frozen=True)
class Decided:
    """Decisions that demonstrations make for a scene."""

    bases: int
    """Basis functions of the movement primitive, for each dimension."""
    start: tuple[float, ...] | None
    """Pose [dimension] that all movements start from; None if each has its own."""
    seconds: float
    """Duration of a movement."""
    contexts: tuple[tuple[float, ...], ...]
    """Contexts [m, C] with demonstrations: others are drawn among and between them."""


@dataclass(frozen=True)
class Scene:
    """A robot and the objects around it."""

    name: str
    robot: Robot
    objects: tuple[SceneObject, ...]
    gripper: Gripper | None = None
    success: tuple[Criterion, ...] = ()
    seconds: float | None = None
    """Duration of a movement; None to be decided by demonstrations."""
    start: tuple[float, ...] | None = None
    """Joints from which all movements start; None to be decided by demonstrations."""
    decided: Decided | None = None

    def __post_init__(self) -> None:
        if self.robot.kinematics is None:
            raise UserError("its robot has no kinematics")
        names = [item.name for item in self.objects]
        if not names or len(set(names)) < len(names) or not all(name.isprintable() and name.strip() for name in names):
            raise UserError("it needs at least one object, such as [objects.cup], with names of their own")
        for criterion in self.success:
            if criterion.object not in names:
                raise UserError(f"success names {criterion.object!r:.80}; the objects are {', '.join(names)}")
            if not 0 < criterion.within < math.inf or not 0 < (criterion.degrees or 1.0) <= 180:
                raise UserError("success needs a positive distance, and an angle of at most 180 degrees")
        if self.seconds is not None and not 0 < self.seconds < math.inf:
            raise UserError(f"seconds must be a positive number, not {self.seconds!r}")
        if self.start is not None and len(self.start) != len(self.robot.joints):
            raise UserError(f"start has {len(self.start)} numbers where {self.robot.name} has {len(self.robot.joints)}")

    @property
    def dimensions(self) -> int:
        """Dimensions of a movement: the joints, then the gripper if there is one."""
        return len(self.robot.joints) + (self.gripper is not None)

    @property
    def context_names(self) -> tuple[str, ...]:
        """A name for every number of a context."""
        return tuple(f"{item.name} {number}" for item in self.objects for number in NUMBERS[item.pose])

    def part(self, name: str) -> slice:
        """The numbers of an object in a context."""
        begin = 0
        for item in self.objects:
            count = len(NUMBERS[item.pose])
            if item.name == name:
                return slice(begin, begin + count)
            begin += count
        raise KeyError(name)


class Place(NamedTuple):
    """Frame of an object."""

    position: Float[Array, " 3"]
    rotation: Float[Array, "3 3"]
    """The columns are the object's axes."""


def as_near(scene: Scene, context: Float[Array, " coordinate"], other: Float[Array, " coordinate"]) -> Array:
    """The same context [C] in numbers near another's: headings by other full turns, quaternions or their negatives."""
    for item in scene.objects:
        part = scene.part(item.name)
        if item.pose == "position and heading":
            turn = context[part.stop - 1] - other[part.stop - 1]
            context = context.at[part.stop - 1].add(-2 * jnp.pi * jnp.round(turn / (2 * jnp.pi)))
        elif item.pose == "pose":
            own = slice(part.start + 3, part.stop)
            context = context.at[own].multiply(jnp.where(jnp.dot(context[own], other[own]) < 0, -1, 1))
    return context


def place(scene: Scene, item: SceneObject, context: Float[Array, " coordinate"]) -> Place:
    """Frame of an object in a context; upright and not turned where no more is known."""
    own = context[scene.part(item.name)]
    match item.pose:
        case "position":
            return Place(own, jnp.eye(3, dtype=own.dtype))
        case "position and heading":
            return Place(own[:3], rotations.about_z(own[3]))
        case _:
            return Place(own[:3], rotations.of_quaternion(own[3:]))
