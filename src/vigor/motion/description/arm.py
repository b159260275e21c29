"""The arm between two links of a description: its kinematics, and the joints that move it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy  # Its parts are loaded when they are used.

from vigor.basics.errors import UserError, near_misses
from vigor.motion.description import DescribedJoint, Description
from vigor.motion.kinematics import Chain, Frame, Joint, Link
from vigor.motion.screws import Vector

_NAMED = 8
"""Most names that a sentence lists."""


@dataclass(frozen=True)
class Arm:
    """The kinematics from a base to a tool, and the joint of every coordinate."""

    chain: Chain
    joints: tuple[DescribedJoint, ...]


def arm(
    description: Description, base: str | None = None, tool: str | None = None, offset: Vector = (0.0, 0.0, 0.0)
) -> Arm:
    """The arm from base to tool, by default from the root to the only end.

    Coordinates are the joints on the way in their order; for one that mimics another the other. The tool point lies
    `offset` from the tool link's origin, in its frame. Links off the way stand still where they are fixed.
    """
    base = _root(description) if base is None else _link(description, base)
    tool = _end(description, base) if tool is None else _link(description, tool)
    moving = _moving(description, base, tool)
    leaders = [_leader(description, joint) for joint in moving]
    coordinates = list(dict.fromkeys(leader for leader, _, _ in leaders))
    frames = _frames(description, moving)
    anchors = [frames[base]] + [frames[joint.child] for joint in moving]
    joints = tuple(
        Joint(
            origin=Frame.of(np.linalg.inv(before) @ after),
            axis=joint.axis,
            slides=joint.kind == "prismatic",
            coordinate=coordinates.index(leader),
            factor=factor,
            offset=shift,
        )
        for before, after, joint, (leader, factor, shift) in zip(anchors, anchors[1:], moving, leaders, strict=False)
    )
    links = {}
    numbers = {joint.name: number for number, joint in enumerate(moving, start=1)}
    for link in description.links:
        carrier = max((numbers.get(joint.name, 0) for joint in description.way_to(link.name)), default=0)
        links[link.name] = Link(link.name, carrier, Frame.of(np.linalg.inv(anchors[carrier]) @ frames[link.name]))
    point = links[tool].frame.matrix
    point[:3, 3] += point[:3, :3] @ offset
    chain = Chain(joints, Link(tool, len(joints), Frame.of(point)), tuple(links.values()), base)
    return Arm(chain, tuple(coordinates))


def _moving(description: Description, base: str, tool: str) -> list[DescribedJoint]:
    """Joints that move, from base to tool."""
    path, way = description.path, description.way_to(tool)
    parents = [joint.parent for joint in way]
    if base != tool and base not in parents:
        raise UserError(f"{path}: no way leads from {base} outwards to {tool}; name a base that {tool} hangs on")
    way = way[parents.index(base) :] if base != tool else []
    for joint in way:
        _check_moves(description, joint, f"between {base} and {tool}")
    moving = [joint for joint in way if joint.moves]
    if not moving:
        raise UserError(f"{path}: no joint moves between {base} and {tool}")
    for one, two in description.ties:
        around = set(description.way_to(one)) ^ set(description.way_to(two))
        if (bound := next((joint for joint in moving if joint in around), None)) is not None:
            raise UserError(f"{path} has a loop: {bound.name} is bound by what holds {one} to {two}; cut it open there")
    return moving


def _check_moves(description: Description, joint: DescribedJoint, where: str) -> None:
    """Refuse a joint that is not moved by one number."""
    if joint.kind in ("floating", "planar", "ball"):
        raise UserError(
            f"{description.path}: {joint.name} {where} is {joint.kind}, which no single number moves; name a base "
            f"beyond it, such as {joint.child}"
        )


def _link(description: Description, name: str) -> str:
    names = [link.name for link in description.links]
    if name not in names:
        near = near_misses(name, names) or f"; it has {_listed(names)}"
        raise UserError(f"{description.path} has no link {name!r:.80}{near}")
    return name


def _root(description: Description) -> str:
    """The link that nothing leads to."""
    roots = [link.name for link in description.links if link.name not in description.parents]
    if len(roots) > 1:
        raise UserError(f"{description.path} has parts that are not connected; name a base: {_listed(roots)}")
    return roots[0]


def _end(description: Description, base: str) -> str:
    """The only end that a joint moves."""
    inner = {joint.parent for joint in description.joints}
    ends = []
    for link in description.links:
        way = [joint.parent for joint in description.way_to(link.name)]
        if link.name not in inner and base in way:
            beyond = description.way_to(link.name)[way.index(base) :]
            if any(joint.moves for joint in beyond):
                ends.append(link.name)
    if not ends:
        for joint in description.joints:
            _check_moves(description, joint, f"beyond {base}")
    if len(ends) != 1:
        listed = f"it has several ends: {_listed(ends)}" if ends else f"no joint moves anything beyond {base}"
        raise UserError(f"{description.path}: name the tool's link; {listed}")
    return ends[0]


def _leader(description: Description, joint: DescribedJoint) -> tuple[DescribedJoint, float, float]:
    """The joint whose position moves another, the factor and the offset of the latter's way from its zero."""
    joints, factor, offset, first = {item.name: item for item in description.joints}, 1.0, 0.0, joint
    for _ in joints:
        if joint.leader is None:
            return joint, factor, offset - factor * joint.zero
        if joint.leader not in joints or not joints[joint.leader].moves:
            near = near_misses(joint.leader, joints)
            raise UserError(
                f"{description.path}: {joint.name} mimics {joint.leader!r:.80}, which is no joint that moves{near}"
            )
        factor, offset, joint = factor * joint.factor, offset + factor * joint.offset, joints[joint.leader]
    raise UserError(f"{description.path}: {first.name} mimics a joint that mimics it")


def _frames(description: Description, moving: list[DescribedJoint]) -> dict[str, np.ndarray]:
    """Frames [4, 4] of all links in that of their root; joints that move are at their zeros, others stay still."""
    frames: dict[str, np.ndarray] = {}
    for link in description.links:
        frame = np.eye(4)
        for joint in description.way_to(link.name):
            if joint.child not in frames:
                stays = joint.moves and joint not in moving
                frames[joint.child] = frame @ joint.origin.matrix @ (_stay(joint) if stays else np.eye(4))
            frame = frames[joint.child]
        frames.setdefault(link.name, frame)
    return frames


def _stay(joint: DescribedJoint) -> np.ndarray:
    """The motion [4, 4] of a joint to where it stays."""
    way, moved = (joint.still - joint.zero) * np.array(joint.axis), np.eye(4)
    if joint.kind == "prismatic":
        moved[:3, 3] = way
    else:
        moved[:3, :3] = scipy.spatial.transform.Rotation.from_rotvec(way).as_matrix()
    return moved


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more
