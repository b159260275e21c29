"""Robots: names of joints and their limits and, where they are known, kinematics and capsules around the links."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from cattrs.gen import override

from vigor.basics.errors import UserError
from vigor.basics.serialisation import CONVERTER, changed, is_plain
from vigor.motion.kinematics import Chain
from vigor.motion.screws import Vector
from vigor.motion.shapes import Capsule

LARGEST = 1e6
"""No limit may be beyond, but for what has none: margins are computed in single precision."""


@dataclass(frozen=True)
class LinkCapsule:
    """A capsule around a link, or around a part of it."""

    link: str
    capsule: Capsule
    """In the link's frame."""


@dataclass(frozen=True, repr=False)
class Robot:
    """An arm: limits by joint, in radians or, of joints that slide, in metres; perhaps kinematics and capsules."""

    name: str
    joints: tuple[str, ...]
    """Names of the joints, as a controller knows them."""
    position: tuple[tuple[float, float], ...]
    """Lower and upper limit of each joint; infinite for one that turns without end."""
    velocity: tuple[float, ...]
    """Largest speed of each joint, per second; infinite where it is not known."""
    acceleration: tuple[float, ...] | None = None
    """Largest acceleration of each joint, per second squared; None if it is not known."""
    thickness: float = 0.0
    """Radius of the links around the line from joint to joint, in metres."""
    kinematics: Chain | None = None
    """Points and frames of the links by the joints; None if limits alone are known."""
    capsules: tuple[LinkCapsule, ...] = ()
    """Capsules around the links, to look for collisions with; none if they are not known."""
    pairs: tuple[tuple[int, int], ...] = ()
    """Numbers of the capsules that could touch each other."""
    missing: tuple[str, ...] = ()
    """Limits that its file leaves open, in words."""
    unread: tuple[str, ...] = ()
    """Links whose meshes cannot be read, so that they have no capsule, in words."""

    def __post_init__(self) -> None:
        count = len(self.joints)
        if not all(is_plain(name) for name in (self.name, *self.joints)) or any("," in name for name in self.joints):
            raise UserError("names of robots and joints must be one line of characters that can be shown, no commas")
        if not count or len(set(self.joints)) < count:
            raise UserError(f"the robot {self.name} needs joints with names of their own")
        if not len(self.position) == len(self.velocity) == len(self.acceleration or self.velocity) == count:
            raise UserError(f"the robot {self.name} needs limits for each of its {count} joints")
        for joint, (low, high), speed, most in zip(
            self.joints, self.position, self.velocity, self.acceleration or (1.0,) * count, strict=True
        ):
            bounded = all(abs(end) <= LARGEST or math.isinf(end) for end in (low, high))
            fast = 0 < speed <= LARGEST or speed == math.inf
            if not (low < high and bounded and fast and 0 < most <= LARGEST):
                raise UserError(
                    f"{joint} of {self.name} needs a lower limit below the upper one, and a positive largest speed "
                    "and acceleration"
                )
        if not 0 <= self.thickness <= LARGEST:
            raise UserError(f"the links of {self.name} cannot have the radius {self.thickness}")
        self._check_geometry()

    def _check_geometry(self) -> None:
        if self.kinematics is not None and self.kinematics.coordinates != len(self.joints):
            raise UserError(
                f"the kinematics of {self.name} have {self.kinematics.coordinates} joints, "
                f"its limits {len(self.joints)}"
            )
        if self.capsules and self.kinematics is None:
            raise UserError(f"the robot {self.name} has capsules, but no kinematics that say where they are")
        for item in self.capsules:
            self.kinematics.link(item.link)  # type: ignore[union-attr]
        if not all(0 <= one < two < len(self.capsules) for one, two in self.pairs):
            raise UserError(f"the robot {self.name} has pairs of capsules that are not there")

    @property
    def slides(self) -> tuple[bool, ...]:
        """Whether each joint slides instead of turning; all turn where no kinematics are known."""
        chain = self.kinematics.joints if self.kinematics is not None else ()
        sliding = {joint.coordinate for joint in chain if joint.slides}
        return tuple(number in sliding for number in range(len(self.joints)))

    def random_poses(self, count: int, seed: int = 0) -> np.ndarray:
        """Poses [count, joint] drawn evenly within the limits; joints without limits within half a turn or a metre."""
        low, high = np.array(self.position).T
        widest = np.where(self.slides, 1.0, np.pi)
        low, high = np.where(np.isinf(low), -widest, low), np.where(np.isinf(high), widest, high)
        return np.random.default_rng(seed).uniform(low, high, (count, len(self.joints)))

    def reach(
        self,
        position: Sequence[float] | np.ndarray,
        rotation: np.ndarray | None = None,
        near: Sequence[float] | np.ndarray | None = None,
    ) -> np.ndarray:
        """Joints [joint] that bring the tool to a position [3], by inverse kinematics from a pose near by.

        rotation: [3, 3], whose columns are the tool's axes then; near: [joint], zeros by default. What the arm cannot
        reach so is refused.
        """
        from vigor.motion import inverse_kinematics

        return inverse_kinematics.reach(self, position, rotation, near)

    @staticmethod
    def load(
        name: str | Path,
        base: str | None = None,
        tool: str | None = None,
        tool_offset: Vector = (0.0, 0.0, 0.0),
        *,
        velocity: float | None = None,
        acceleration: float | None = None,
        thickness: float = 0.0,
        capsules: bool = False,
    ) -> "Robot":
        """The arm from base to tool of a robot: a name such as "ur5", or the path of a URDF or MJCF file.

        base, tool: links; by default those of the named robot, or the root and the only end. tool_offset: end effector
        in the frame of the tool's link. velocity, acceleration: largest of every joint whose file does not say; a
        velocity of math.inf if it is not known. capsules: also enclose the links in capsules, from their meshes.
        """
        from vigor.motion import loading

        return loading.load(name, base, tool, tool_offset, velocity, acceleration, thickness, capsules)

    @staticmethod
    def from_urdf(
        path: str | Path, joints: Sequence[str] = (), acceleration: float | None = None, thickness: float = 0.0
    ) -> "Robot":
        """The limits alone that a URDF file gives, of the named joints or of all that move by themselves.

        acceleration: largest of every joint, which a URDF file cannot say; thickness: radius of the links around the
        line from joint to joint, in metres; with 0, keep-outs are checked against bare lines.
        """
        from vigor.motion import loading

        return loading.limits(Path(path), joints, acceleration, thickness)

    def __repr__(self) -> str:
        return f"Robot({self.name}, {len(self.joints)} joints)"


# Files have null where there is no limit.


def _limits_to_json(limits: tuple[tuple[float, float], ...]) -> list[Any]:
    """Limits of joints; where there is none, null."""
    return [_speeds_to_json(pair) for pair in limits]


def _limits_from_json(value: Any, kind: Any) -> tuple[tuple[float, float], ...]:
    pairs = CONVERTER.structure(value, tuple[tuple[float | None, float | None], ...])
    return tuple((-math.inf if low is None else low, math.inf if high is None else high) for low, high in pairs)


def _speeds_to_json(speeds: tuple[float, ...]) -> list[Any]:
    return [value if math.isfinite(value) else None for value in speeds]


def _speeds_from_json(value: Any, kind: Any) -> tuple[float, ...]:
    return tuple(math.inf if speed is None else speed for speed in CONVERTER.structure(value, tuple[float | None, ...]))


changed(
    Robot,
    position=override(unstruct_hook=_limits_to_json, struct_hook=lambda value, kind: _limits_from_json(value, kind)),
    velocity=override(unstruct_hook=_speeds_to_json, struct_hook=lambda value, kind: _speeds_from_json(value, kind)),
)
