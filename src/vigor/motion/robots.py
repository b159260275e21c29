"""Robots: names of joints and their limits, also from a URDF file."""

import math
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from vigor.basics.errors import UserError

LARGEST = 1e6
"""No limit may be beyond, but for joints that turn without end: margins are computed in single precision."""


@dataclass(frozen=True, repr=False)
class Robot:
    """Limits of an arm, by joint."""

    name: str
    joints: tuple[str, ...]
    """Names of the joints, as a controller knows them."""
    position: tuple[tuple[float, float], ...]
    """Lower and upper limit of each joint, in radians; infinite for one that turns without end."""
    velocity: tuple[float, ...]
    """Largest speed of each joint, in radians per second."""
    acceleration: tuple[float, ...] | None = None
    """Largest acceleration of each joint, in radians per second squared; None if it is not known."""
    thickness: float = 0.0
    """Radius of the links around the line from joint to joint, in metres."""

    def __post_init__(self) -> None:
        count = len(self.joints)
        if not count or len(set(self.joints)) < count:
            raise UserError(f"the robot {self.name} needs joints with names of their own")
        if not len(self.position) == len(self.velocity) == len(self.acceleration or self.velocity) == count:
            raise UserError(f"the robot {self.name} needs limits for each of its {count} joints")
        for joint, (low, high), speed, most in zip(
            self.joints, self.position, self.velocity, self.acceleration or self.velocity, strict=True
        ):
            bounded = all(abs(end) <= LARGEST or math.isinf(end) for end in (low, high))
            if not (low < high and bounded and 0 < speed <= LARGEST and 0 < most <= LARGEST):
                raise UserError(
                    f"{joint} of {self.name} needs a lower limit below the upper one, and a positive largest speed "
                    "and acceleration"
                )
        if not 0 <= self.thickness <= LARGEST:
            raise UserError(f"the links of {self.name} cannot have the radius {self.thickness}")

    @staticmethod
    def from_urdf(
        path: str | Path, joints: Sequence[str] = (), acceleration: float | None = None, thickness: float = 0.0
    ) -> "Robot":
        """The limits that a URDF file gives, of the named joints or of all that move by themselves.

        acceleration: largest of every joint, which a URDF file cannot say; thickness: radius of the links, in metres.
        """
        return from_urdf(Path(path), joints, acceleration, thickness)

    def __repr__(self) -> str:
        return f"Robot({self.name}, {len(self.joints)} joints)"


def from_urdf(
    path: Path, joints: Sequence[str] = (), acceleration: float | None = None, thickness: float = 0.0
) -> Robot:
    """The limits that a URDF file gives, of the named joints or of all that move by themselves, in the file's order.

    A URDF file says neither of these two. acceleration: largest of every joint. thickness: radius of the links around
    the line from joint to joint, in metres; with 0, keep-outs are checked against bare lines.
    """
    try:
        root = ElementTree.parse(path).getroot()
    except FileNotFoundError:
        raise UserError(f"{path} does not exist") from None
    except (OSError, LookupError, ValueError, ElementTree.ParseError) as error:
        raise UserError(f"{path} is not a readable URDF file: {error}") from None
    if root.tag != "robot":
        raise UserError(f"{path} is not a URDF file: it describes a {root.tag!r} instead of a robot")
    moving = {
        joint.get("name", ""): joint
        for joint in root.iter("joint")
        if joint.get("type") in ("revolute", "continuous", "prismatic") and joint.find("mimic") is None
    }
    missing = [name for name in joints if name not in moving]
    if missing:
        raise UserError(f"{path} has no moving joint {missing[0]!r}; it has {', '.join(moving)}")
    names = tuple(joints) or tuple(moving)
    if not names:
        raise UserError(f"{path} has no moving joints")
    limits = [_limits(path, name, moving[name]) for name in names]
    return Robot(
        name=root.get("name", path.stem),
        joints=names,
        position=tuple((low, high) for low, high, _ in limits),
        velocity=tuple(speed for _, _, speed in limits),
        acceleration=None if acceleration is None else (acceleration,) * len(names),
        thickness=thickness,
    )


def _limits(path: Path, name: str, joint: ElementTree.Element) -> tuple[float, float, float]:
    """Lower and upper limit and largest speed of a URDF's joint."""
    limit = joint.find("limit")
    if limit is None or limit.get("velocity") is None:
        raise UserError(f"{path} gives {name} no velocity limit; add one to its <limit>")
    try:
        speed = float(limit.get("velocity", ""))
        if joint.get("type") == "continuous":
            return -math.inf, math.inf, speed
        # A bound that is left out is 0.
        return float(limit.get("lower", "0")), float(limit.get("upper", "0")), speed
    except ValueError:
        raise UserError(f"{path} gives {name} limits that are not numbers") from None
