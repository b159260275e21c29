"""Kinematics: the places of a robot's links, as batched, differentiable functions of its joints.

A chain maps joints to points of a plane or of space, base first and end effector last, and to frames of its links.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from vigor.basics.errors import UserError, near_misses
from vigor.motion.screws import Fixture, Matrix, Screws, Vector, posture


@dataclass(frozen=True)
class PlanarChain:
    """A chain of straight links in the plane; every joint angle is relative to the link before."""

    links: tuple[float, ...]
    """Length of each link."""

    def __call__(self, joints: Float[Array, "*batch joint"]) -> Float[Array, "*batch joint+1 2"]:
        """Points of joint angles."""
        if joints.shape[-1] != len(self.links):
            raise UserError(f"a planar chain of {len(self.links)} links cannot have {joints.shape[-1]} joint angles")
        angles = jnp.cumsum(joints, axis=-1)
        lengths = jnp.asarray(self.links, joints.dtype)
        points = jnp.cumsum(jnp.stack([lengths * jnp.cos(angles), lengths * jnp.sin(angles)], axis=-1), axis=-2)
        return jnp.concatenate([jnp.zeros_like(points[..., :1, :]), points], axis=-2)


@dataclass(frozen=True)
class Frame:
    """A place and an orientation in another frame."""

    position: Vector = (0.0, 0.0, 0.0)
    rotation: Matrix = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    """Rows of the matrix [3, 3] whose columns are the frame's axes."""

    @staticmethod
    def of(matrix: np.ndarray) -> "Frame":
        """The frame of a homogeneous matrix [4, 4]."""
        first, second, third = (tuple(row) for row in matrix[:3, :3].tolist())
        return Frame(tuple(matrix[:3, 3].tolist()), (first, second, third))

    @property
    def matrix(self) -> np.ndarray:
        """The frame as a homogeneous matrix [4, 4]."""
        return _homogeneous(np.array(self.rotation), self.position)


@dataclass(frozen=True)
class Joint:
    """A joint of a chain, which turns about an axis or slides along it."""

    origin: Frame = Frame()
    """Frame of the joint at zero, in the frame that the joint before has moved."""
    axis: Vector = (0.0, 0.0, 1.0)
    """Direction in the joint's frame, of length 1."""
    slides: bool = False
    coordinate: int = 0
    """Number of the coordinate that moves it; one that mimics another has the other's."""
    factor: float = 1.0
    offset: float = 0.0
    """The joint is at factor * coordinate + offset."""


@dataclass(frozen=True)
class Link:
    """A frame that a joint carries."""

    name: str
    joint: int
    """Number of the joint, counted from 1; 0 for what stands on the base."""
    frame: Frame = Frame()
    """In the frame that the joint has moved."""


class Frames(NamedTuple):
    """Frames of links."""

    position: Float[Array, "*batch link 3"]
    rotation: Float[Array, "*batch link 3 3"]
    """The columns are the frame's axes."""


class Posture(NamedTuple):
    """Everything that a chain says of its joints."""

    points: Float[Array, "*batch point 3"]
    frames: Frames


@dataclass(frozen=True)
class Chain:
    """A chain of joints that turn or slide, with the links that they carry.

    Coordinates beyond those given to a call stay at zero.
    """

    joints: tuple[Joint, ...]
    tool: Link
    """The end effector."""
    links: tuple[Link, ...] = ()
    base: str = "base"
    """Name of the frame that everything is in."""

    @staticmethod
    def from_dh(parameters: Sequence[Sequence[float]], tool: float = 0.0) -> "Chain":
        """A chain of revolute joints in modified Denavit-Hartenberg parameters, (a, alpha, d) per joint.

        The end effector lies `tool` along the last joint's axis. Links are named link0, which is the base, link1, ...
        """
        joints = []
        for number, (a, alpha, d) in enumerate(parameters):
            turn = _about_x(alpha)
            joints.append(Joint(Frame.of(_homogeneous(turn, turn @ [a, 0.0, d])), coordinate=number))
        links = tuple(Link(f"link{number}", number) for number in range(len(joints) + 1))
        return Chain(tuple(joints), Link("tool", len(joints), Frame((0.0, 0.0, tool))), links, "link0")

    @property
    def coordinates(self) -> int:
        """Largest number of joints that a call takes."""
        return max(joint.coordinate for joint in self.joints) + 1 if self.joints else 0

    def __call__(self, joints: Float[Array, "*batch moved"]) -> Float[Array, "*batch point 3"]:
        """Points of the joints: the base, every joint's origin, the end effector."""
        return posture(_screws(self)[0], (), self._values(joints))[0]

    def frames(self, joints: Float[Array, "*batch moved"], links: Sequence[str] | None = None) -> Frames:
        """Frames of the named links, or of the end effector alone [..., 1, 3] and [..., 1, 3, 3]."""
        return self.posture(joints, links).frames

    def posture(self, joints: Float[Array, "*batch moved"], links: Sequence[str] | None = None) -> Posture:
        """Points, and frames of the named links or of the end effector, for little more than either."""
        chosen = (self.tool,) if links is None else tuple(self.link(name) for name in links)
        screws, turns = _screws(self)
        fixtures = tuple(_fixture(link, turns) for link in chosen)
        points, position, rotation = posture(screws, fixtures, self._values(joints))
        return Posture(points, Frames(position, rotation))

    def link(self, name: str) -> Link:
        """The link of that name."""
        named = {link.name: link for link in self.links}
        if name not in named:
            raise UserError(f"there is no link {name!r}{near_misses(name, named)}")
        return named[name]

    def _values(self, joints: Float[Array, "*batch moved"]) -> Float[Array, "*batch joint"]:
        """Values of the joints from those of the coordinates; of the first ones alone if others do not move."""
        given, needed = joints.shape[-1], self.coordinates
        if given > needed:
            raise UserError(f"a chain of {needed} joints cannot have {given} joint angles")
        if all((joint.coordinate, joint.factor, joint.offset) == (i, 1.0, 0.0) for i, joint in enumerate(self.joints)):
            return joints
        padded = jnp.concatenate([joints, jnp.zeros((*joints.shape[:-1], needed - given), joints.dtype)], axis=-1)
        factors, offsets = np.array([(joint.factor, joint.offset) for joint in self.joints], joints.dtype).T
        return padded[..., np.array([joint.coordinate for joint in self.joints])] * factors + offsets


@cache
def _screws(chain: Chain) -> tuple[Screws, tuple[np.ndarray, ...]]:
    """A chain as screws, and the turn [3, 3] of every joint's own frame in the one carried along, the base first."""
    origins = [joint.origin.matrix for joint in chain.joints]
    # In each joint's own frame one whose z is the joint's axis.
    upright = [np.eye(3)] + [_towards(np.array(joint.axis)) for joint in chain.joints]
    between = zip(upright, origins, upright[1:], strict=False)
    angles = [_zxz(before.T @ origin[:3, :3] @ own) for before, origin, own in between]
    ahead = [first for first, _, _ in angles] + [0.0]
    turns = tuple(_about_z(-angle) @ own.T for angle, own in zip(ahead, upright, strict=True))
    shifts = [
        _about_x(-tilt) @ turn @ origin[:3, 3]
        for (_, tilt, _), turn, origin in zip(angles, turns, origins, strict=False)
    ]
    tool = _fixture(chain.tool, turns).position
    return Screws(
        begin=ahead[0],
        tilts=tuple(tilt for _, tilt, _ in angles),
        shifts=tuple(tuple(shift.tolist()) for shift in shifts),
        angles=tuple(last + first for (_, _, last), first in zip(angles, ahead[1:], strict=True)),
        slides=tuple(joint.slides for joint in chain.joints),
        tool=tool,
    ), turns


def _fixture(link: Link, turns: Sequence[np.ndarray]) -> Fixture:
    """A link in the frame that is carried along with its joint."""
    placed = Frame.of(_homogeneous(turns[link.joint]) @ link.frame.matrix)
    return Fixture(link.joint, placed.position, placed.rotation)


def _zxz(rotation: np.ndarray) -> tuple[float, float, float]:
    """Angles about z, x and z of a rotation [3, 3]; the first within a quarter turn, and 0 where any would do."""
    x, y = rotation[0, 2], -rotation[1, 2]
    first = 0.0 if math.hypot(x, y) < 1e-12 else math.atan2(x, y)
    first -= math.pi * round(first / math.pi)
    rest = _about_z(-first) @ rotation
    return first, math.atan2(-rest[1, 2], rest[2, 2]), math.atan2(-rest[0, 1], rest[0, 0])


def _towards(axis: np.ndarray) -> np.ndarray:
    """A rotation [3, 3] that turns z into an axis [3]."""
    x, y, z = axis
    across = math.hypot(x, y)
    return _about_z(math.atan2(x, -y) if across else 0.0) @ _about_x(math.atan2(across, z))


def _about_x(angle: float) -> np.ndarray:
    cos, sin = math.cos(angle), math.sin(angle)
    return np.array([[1.0, 0.0, 0.0], [0.0, cos, -sin], [0.0, sin, cos]])


def _about_z(angle: float) -> np.ndarray:
    cos, sin = math.cos(angle), math.sin(angle)
    return np.array([[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]])


def _homogeneous(rotation: np.ndarray, position: np.ndarray | Vector = (0.0, 0.0, 0.0)) -> np.ndarray:
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = rotation, position
    return matrix


def path(coordinates: Float[Array, "*batch space"]) -> Float[Array, "*batch 1 space"]:
    """The kinematics of a point that is moved directly."""
    return coordinates[..., None, :]
