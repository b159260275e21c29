"""Descriptions of robots: what a URDF or MJCF file says of links, joints and geometry, in one form.

Nothing that a file names is run or fetched, files are read up to a size, and everything in them is checked.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

from vigor.basics.errors import UserError
from vigor.motion.description.elements import LARGEST
from vigor.motion.kinematics import Frame
from vigor.motion.screws import Vector

MAX_LINKS = 2000
"""Most links of a robot; those of known ones are below 150."""

Kind = Literal["revolute", "continuous", "prismatic", "fixed", "floating", "planar", "ball"]


@dataclass(frozen=True)
class Solid:
    """A solid in a link's frame: a mesh, or a shape around its middle."""

    kind: Literal["mesh", "box", "cylinder", "sphere", "capsule"]
    frame: Frame = Frame()
    size: tuple[float, ...] = ()
    """Edges of a box; radius of a sphere; radius and length along z of a cylinder or, without its caps, of a capsule;
    factors [3] of a mesh."""
    mesh: str = ""
    """The file of a mesh, as the description names it."""


@dataclass(frozen=True)
class DescribedLink:
    """A link, or a point of interest on one."""

    name: str
    solids: tuple[Solid, ...] = ()


@dataclass(frozen=True)
class DescribedJoint:
    """A joint between two links."""

    name: str
    kind: Kind
    parent: str
    child: str
    origin: Frame = Frame()
    """The child's frame in the parent's, when the joint is at `zero`."""
    axis: Vector = (0.0, 0.0, 1.0)
    """In the child's frame, of length 1."""
    lower: float = -math.inf
    upper: float = math.inf
    velocity: float | None = None
    """Largest speed; None if the file does not say."""
    zero: float = 0.0
    leader: str | None = None
    """Joint that it mimics: beyond their zeros it is at factor * leader + offset."""
    factor: float = 1.0
    offset: float = 0.0

    @property
    def moves(self) -> bool:
        return self.kind in ("revolute", "continuous", "prismatic")

    @property
    def still(self) -> float:
        """Position nearest to zero within the limits: where a joint stays that nothing moves."""
        return min(max(0.0, self.lower), self.upper)


def _sensible(frame: Frame, *numbers: float) -> bool:
    """Whether all numbers, and those of a frame, are finite and not beyond `LARGEST`."""
    turned = (value for row in frame.rotation for value in row)
    return all(abs(value) <= LARGEST for value in (*frame.position, *turned, *numbers))


@dataclass(frozen=True, repr=False)
class Description:
    """Everything that a file says of a robot; a tree of links."""

    path: Path
    name: str
    links: tuple[DescribedLink, ...]
    joints: tuple[DescribedJoint, ...]
    ties: tuple[tuple[str, str], ...] = ()
    """Pairs of links that are held together beside the tree: where they close a loop, one of its joints follows."""

    def __post_init__(self) -> None:
        if not self.links:
            raise UserError(f"{self.path} has no links")
        if len(self.links) > MAX_LINKS or len(self.joints) > MAX_LINKS:
            raise UserError(f"{self.path} has more than {MAX_LINKS} links or joints")
        for kind, names in (("link", [link.name for link in self.links]), ("joint", [j.name for j in self.joints])):
            for name in names:
                if not name or not name.isprintable() or len(name) > 200:
                    raise UserError(f"{self.path} has a {kind} whose name is empty or not printable: {name[:40]!r}")
            twice = {name for name in names if names.count(name) > 1} if len(set(names)) < len(names) else ()
            if twice:
                raise UserError(f"{self.path} has several {kind}s named {min(twice)!r}")
        self._check_numbers()
        self._check_joints()

    def _check_numbers(self) -> None:
        for joint in self.joints:
            if not _sensible(joint.origin, *joint.axis, joint.zero, joint.factor, joint.offset):
                raise UserError(f"{self.path}: {joint.name} is at no place of a sensible size")
        for link in self.links:
            if not all(_sensible(solid.frame, *solid.size) for solid in link.solids):
                raise UserError(f"{self.path}: {link.name} has a geometry of no sensible size")

    def _check_joints(self) -> None:
        links = {link.name for link in self.links}
        for joint in self.joints:
            for end in (joint.parent, joint.child):
                if end not in links:
                    raise UserError(f"{self.path}: {joint.name} is at a link {end!r} that is not there")
        if len(self.parents) < len(self.joints):
            children = [joint.child for joint in self.joints]
            twice = next(name for name in children if children.count(name) > 1)
            raise UserError(f"{self.path} has a loop: several joints lead to {twice}; cut it open at one of them")
        for link in self.links:
            self.way_to(link.name)

    @cached_property
    def parents(self) -> dict[str, DescribedJoint]:
        """The joint that leads to each link, by the link's name."""
        return {joint.child: joint for joint in self.joints}

    def way_to(self, link: str) -> list[DescribedJoint]:
        """All joints from the root to a link."""
        parents, way = self.parents, list[DescribedJoint]()
        while link in parents:
            way.append(parents[link])
            link = parents[link].parent
            if len(way) > len(self.joints):
                raise UserError(f"{self.path} has a loop through {link}; cut it open at one of its joints")
        return way[::-1]

    def __repr__(self) -> str:
        return f"Description({self.name}, {len(self.links)} links, {len(self.joints)} joints)"
