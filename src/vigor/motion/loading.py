"""Robots from files: limits, kinematics between two links, and capsules around the links."""

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from vigor.basics.errors import UserError, near_misses
from vigor.motion import capsules as fitting
from vigor.motion.catalogue import find
from vigor.motion.collisions import touching
from vigor.motion.description import DescribedJoint, Description
from vigor.motion.description.arm import arm
from vigor.motion.description.reading import read
from vigor.motion.robots import LinkCapsule, Robot
from vigor.motion.screws import Vector

ALWAYS = 0.5
"""Part of random poses from which on two capsules count as always touching: they say nothing of the links then."""


def load(
    name: str | Path,
    base: str | None,
    tool: str | None,
    tool_offset: Vector,
    velocity: float | None,
    acceleration: float | None,
    thickness: float,
    capsules: bool,
) -> Robot:
    """The arm of a robot by its name or file; see `Robot.load`."""
    if len(tool_offset) != 3 or not all(math.isfinite(value) for value in tool_offset):
        raise UserError(f"a tool offset has 3 finite numbers, not {tool_offset!s:.80}")
    known = find(name)
    description = read(known.path)
    found = arm(description, base or known.base, tool or known.tool, tool_offset)
    speeds = tuple(_speed(description, joint, velocity) for joint in found.joints)
    enclosed, unread = _capsules(description) if capsules else ((), ())
    robot = Robot(
        name=known.name or description.name,
        joints=tuple(joint.name for joint in found.joints),
        position=tuple((joint.lower, joint.upper) for joint in found.joints),
        velocity=speeds,
        acceleration=None if acceleration is None else (acceleration,) * len(found.joints),
        thickness=thickness,
        kinematics=found.chain,
        capsules=enclosed,
        missing=_unlimited(found.joints, speeds, acceleration),
        unread=unread,
    )
    return with_pairs(robot) if enclosed else robot


robot = Robot.load
"""A robot by its name or file: `vigor.robot("ur5")`."""


def with_pairs(robot: Robot) -> Robot:
    """A robot with the pairs of its capsules that do not always touch."""
    return replace(robot, pairs=tuple(pair for pair, part in touching(robot).items() if part < ALWAYS))


def _speed(description: Description, joint: DescribedJoint, otherwise: float | None) -> float:
    """Largest speed of a joint, by its file or otherwise."""
    if joint.velocity is not None and joint.velocity > 0:
        return joint.velocity
    if otherwise is None:
        raise UserError(
            f"{description.path} gives {joint.name} no velocity limit; say how fast such joints are, such as "
            "velocity = 2"
        )
    return otherwise


def _unlimited(
    joints: Sequence[DescribedJoint], speeds: Sequence[float], acceleration: float | None
) -> tuple[str, ...]:
    """Limits that are not known, in words."""
    free = [joint.name for joint in joints if joint.kind != "continuous" and math.isinf(joint.upper - joint.lower)]
    fast = [joint.name for joint, speed in zip(joints, speeds, strict=True) if math.isinf(speed)]
    said = [f"limits of {', '.join(free)}"] if free else []
    said += [f"largest velocity of {', '.join(fast)}"] if fast else []
    return (*said, "largest accelerations") if acceleration is None else tuple(said)


def _capsules(description: Description) -> tuple[tuple[LinkCapsule, ...], tuple[str, ...]]:
    """Capsules of all links that have a solid, and what could not be read, in words."""
    found, unread = list[LinkCapsule](), []
    for link in description.links:
        if link.solids:
            try:
                found += [LinkCapsule(link.name, part) for part in fitting.around(link.solids, description.path)]
            except UserError as error:
                unread.append(f"capsule of {link.name}: {error}")
    return tuple(found), tuple(unread)


def limits(path: Path, joints: Sequence[str], acceleration: float | None, thickness: float) -> Robot:
    """The limits alone of named joints, or of all that move by themselves, in the file's order."""
    description = read(path)
    moving = {joint.name: joint for joint in description.joints if joint.moves and joint.leader is None}
    for name in joints:
        if name not in moving:
            near = near_misses(name, moving) or f"; it has {', '.join(moving)}"
            raise UserError(f"{path} has no moving joint {name!r}{near}")
    chosen = [moving[name] for name in joints] or list(moving.values())
    if not chosen:
        raise UserError(f"{path} has no moving joints")
    return Robot(
        name=description.name,
        joints=tuple(joint.name for joint in chosen),
        position=tuple((joint.lower, joint.upper) for joint in chosen),
        velocity=tuple(_speed(description, joint, None) for joint in chosen),
        acceleration=None if acceleration is None else (acceleration,) * len(chosen),
        thickness=thickness,
    )
