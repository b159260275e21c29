"""From a file's columns to a task's movements: which column is which joint, in which unit, and which is the gripper."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import get_args

import jax
import numpy as np

from vigor.basics.errors import UserError, near_misses
from vigor.demonstrations.dataset import LARGEST
from vigor.demonstrations.formats.episodes import Episodes, Reading
from vigor.motion.units import Unit, to_radians
from vigor.tasks.task import Task

SLACK = 0.1
"""Part of a joint's range that recordings may be beyond its limits: sensors are not perfect."""
GRIPPER = re.compile("gripper|finger|jaw", re.IGNORECASE)


@dataclass(frozen=True)
class Moved:
    """A dimension of a task's movements: a joint of its robot, if it is one."""

    joint: str
    low: float
    high: float


@dataclass(frozen=True)
class Columns:
    """Columns of a file that are of use."""

    joints: tuple[int, ...]
    """Column of every dimension of the task's movements."""
    gripper: int | None
    notes: tuple[str, ...]


def moved(task: Task) -> tuple[Moved, ...] | None:
    """Joints of the robot that the dimensions of a task's movements are; None if it has none, or they are not."""
    robot = task.arm.robot
    if robot is None:
        return None
    at = np.linspace(-0.3, 0.4, task.promp.dimensions)
    slopes = np.asarray(_slopes(task, at))
    if task.arm.gripper is not None:
        at, slopes = at[:-1], slopes[:, :-1]
    if slopes.shape != (len(robot.joints), len(at)) or not np.all((slopes == 0) | (slopes == 1)):
        return None
    of = [int(np.argmax(column)) for column in slopes.T]
    if len(set(of)) < len(of) or not np.allclose(slopes[of] @ at, at, atol=1e-6):
        return None
    return tuple(Moved(robot.joints[i], *robot.position[i]) for i in of)


@partial(jax.jit, static_argnums=0)
def _slopes(task: Task, at: jax.Array) -> jax.Array:
    """Slopes [joint, dimension] of the robot's joints by the dimensions of a task's movements."""
    return jax.jacfwd(task.arm.joints)(at)


def names(task: Task) -> list[str]:
    """Names of the dimensions of a task's movements: of joints, then of the gripper."""
    known, gripper = moved(task), task.arm.gripper
    if known is None:
        return [f"dimension {number + 1}" for number in range(task.promp.dimensions)]
    return [item.joint for item in known] + ([] if gripper is None else [gripper.channel])


def columns(task: Task, episodes: Episodes, reading: Reading) -> Columns:
    """Columns of a file that a task moves: those that are named, those of the same names, or all in their order."""
    names, own, gripper = episodes.columns, moved(task), _gripper(task, episodes, reading)
    dimensions = task.promp.dimensions - (task.arm.gripper is not None)
    if reading.joints:
        if len(reading.joints) != dimensions:
            raise UserError(f"{task.name} moves {dimensions} joints, and --joints names {len(reading.joints)}")
        return _said(task, episodes, [_column(episodes, name) for name in reading.joints], gripper)
    robot = task.arm.robot
    if own is not None and robot is not None and not episodes.named:
        bare = [i for i in range(len(names)) if i != gripper]
        if len(bare) == len(robot.joints):  # All joints of the robot, in its order.
            return _said(task, episodes, [bare[robot.joints.index(item.joint)] for item in own], gripper)
    if own is not None and episodes.named:
        known = {_bare(name): i for i, name in enumerate(names)}
        if all(_bare(item.joint) in known for item in own):
            return _said(task, episodes, [known[_bare(item.joint)] for item in own], gripper)
        asked = " ".join(item.joint for item in own)
        raise UserError(
            f"{episodes.path} has the joints {', '.join(names)} where {task.name} moves {asked}; "
            "give --joints with the file's names in that order"
        )
    rest = [i for i in range(len(names)) if i != gripper or len(names) == dimensions]
    if len(rest) != dimensions or not episodes.ordered:
        raise UserError(
            f"{episodes.path} has {len(rest)} columns ({', '.join(names)}) where {task.name} moves {dimensions} "
            "joints; give --joints with the file's names in the task's order"
        )
    return _said(task, episodes, rest, None if gripper in rest else gripper)


def _said(task: Task, episodes: Episodes, joints: Sequence[int], gripper: int | None) -> Columns:
    """Columns, with a sentence about those that are left out."""
    used = [*joints, gripper] if task.arm.gripper is not None else joints
    left = [name for i, name in enumerate(episodes.columns) if i not in used]
    notes = [f"{', '.join(left)} {'is' if len(left) == 1 else 'are'} no part of the task's movement"] if left else []
    return Columns(tuple(joints), gripper, tuple(notes))


def _bare(name: str) -> str:
    """A joint's name without what formats add to it."""
    return re.sub(r"[._](pos|position)$", "", name.rpartition("/")[2]).lower()


def _column(episodes: Episodes, name: str) -> int:
    if name not in episodes.columns:
        known = ", ".join(episodes.columns)
        said = near_misses(name, episodes.columns)
        raise UserError(f"{episodes.path} has no column {name!r}{said}; it has {known}")
    return episodes.columns.index(name)


def _gripper(task: Task, episodes: Episodes, reading: Reading) -> int | None:
    """Column of the gripper: the one that is named, or the first that is called so.

    For a task that has a gripper it must be there: by its channel's name, or as the last of columns without names.
    """
    if reading.gripper:
        return _column(episodes, reading.gripper)
    own = task.arm.gripper
    if own is not None:
        bare = {_bare(name): i for i, name in enumerate(episodes.columns)}
        if _bare(own.channel) in bare:
            return bare[_bare(own.channel)]
        return _column(episodes, own.channel) if episodes.named else len(episodes.columns) - 1
    return next((i for i, name in enumerate(episodes.columns) if GRIPPER.search(name)), None)


def with_gripper(
    task: Task, recordings: Sequence[np.ndarray], grippers: Sequence[np.ndarray | None]
) -> Sequence[np.ndarray]:
    """Recordings [T, joint] with the gripper [T] as their last dimension, from 0 to 1, if the task has one."""
    own = task.arm.gripper
    if own is None:
        return recordings
    low, high = own.range
    found = [np.asarray(values) for values in grippers if values is not None]
    if len(found) != len(recordings):
        raise UserError(f"the recordings have no gripper {own.channel!r}; name it with --gripper")
    lowest, highest = min(values.min() for values in found), max(values.max() for values in found)
    room = SLACK * (high - low)
    if lowest < low - room or highest > high + room:
        raise UserError(
            f"the gripper goes from {lowest:.3g} to {highest:.3g} where {task.name} has it from {low:g} to {high:g}; "
            "give its range"
        )
    return [
        np.column_stack([item, np.clip((values - low) / (high - low), 0.0, 1.0)])
        for item, values in zip(recordings, found, strict=True)
    ]


# Units


def in_radians(task: Task, recordings: Sequence[np.ndarray], unit: Unit | None) -> tuple[list[np.ndarray], list[str]]:
    """Recordings [T, dimensions] in the robot's unit, and sentences about it; checked against its limits."""
    own = moved(task)
    limits = [(item.low, item.high) for item in own or ()]
    if any(np.max(np.abs(item)) > LARGEST for item in recordings):
        raise UserError(f"recordings hold numbers beyond {LARGEST:g}; check the columns and their unit")
    if own is None:
        said = [] if unit else ["the joints are taken as they are: the task has no robot with limits to check them by"]
        return [to_radians(item, unit or "rad") for item in recordings], said
    low = np.min([item.min(axis=0) for item in recordings], axis=0)
    high = np.max([item.max(axis=0) for item in recordings], axis=0)
    given: Unit = unit or "rad"
    extremes = np.stack([low, high])
    beyond = _beyond(own, to_radians(extremes, given, limits))
    if beyond is not None:
        others = [other for other in get_args(Unit) if other != given and _allows(own, extremes, other)]
        hint = f"--unit {others[0]} would fit" if others else "check --unit and --joints"
        raise UserError(f"in {given}, {beyond}; {hint}")
    name = task.arm.robot.name if task.arm.robot else ""
    said = [] if unit else [f"the joints are taken as radians, which the limits of {name} allow"]
    return [to_radians(item, given, limits) for item in recordings], said


def _allows(own: Sequence[Moved], extremes: np.ndarray, unit: Unit) -> bool:
    try:
        return _beyond(own, to_radians(extremes, unit, [(item.low, item.high) for item in own])) is None
    except UserError:
        return False


def _beyond(own: Sequence[Moved], extremes: np.ndarray) -> str | None:
    """The joint that is farthest beyond its limits, in words; extremes: [2, dimensions]. None if all are within."""
    low, high = np.array([[item.low, item.high] for item in own]).T
    room = np.where(np.isfinite(high - low), high - low, 2 * np.pi)
    away = np.max(np.stack([low - extremes[0], extremes[1] - high]), axis=0) / room
    worst = int(np.argmax(away))
    if away[worst] <= SLACK:
        return None
    item = own[worst]
    reaches = f"{extremes[0, worst]:.3g} to {extremes[1, worst]:.3g}"
    return f"{item.joint} goes from {reaches} rad where the robot has it from {item.low:.3g} to {item.high:.3g}"
