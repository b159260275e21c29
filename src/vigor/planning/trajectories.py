"""Trajectories for a robot's controller: planned movements over time, sampled, within every limit.

A ProMP knows no time and its movements do not quite end at rest. So the phase runs at a pace from rest to rest, that
takes as many seconds as were asked for, or as many more as speeds and accelerations need: see `pacing`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from vigor.basics.errors import UserError
from vigor.motion.robots import Robot
from vigor.planning import constraints
from vigor.planning import pacing as paces
from vigor.planning.constraints import Constraints
from vigor.planning.moments import FINE, Moments, check_way, sample
from vigor.planning.pacing import Pace, Pacing
from vigor.tasks.task import Task

Array = jax.Array

TOLERANCE = 0.02
"""Most radians that a joint may be away from where a movement starts."""
BEGIN = 0.5
"""Least seconds for the way there."""
MIN_RATE, MAX_RATE = 0.1, 10**4
"""Bounds of a rate that can be meant."""

BETWEEN = 1e-4
"""Share by which a limit may be passed between the moments at which an optimal pace is looked at."""


class GripperPath(NamedTuple):
    """A gripper over time."""

    channel: str
    positions: np.ndarray
    """[T], in the unit that recordings have it in."""


@dataclass(frozen=True, eq=False, repr=False)
class Trajectory:
    """Joints over time, from rest to rest."""

    joints: tuple[str, ...]
    """Names."""
    times: np.ndarray
    """[T], in seconds"""
    positions: np.ndarray
    """[T, joint], in radians"""
    velocities: np.ndarray
    """[T, joint]"""
    accelerations: np.ndarray
    """[T, joint]"""
    points: np.ndarray
    """[T, points, 2 or 3]: the robot's links from base to end effector."""
    gripper: GripperPath | None = None
    """The gripper beside the joints, if the task has one."""
    slowed_by: str | None = None
    """The limit that makes it take longer than asked for, in words."""

    @property
    def seconds(self) -> float:
        """Duration."""
        return float(self.times[-1])

    @property
    def jerk(self) -> np.ndarray:
        """[joint]: largest change of the acceleration from one sample to the next, by the time between them."""
        return np.max(np.abs(np.diff(self.accelerations, axis=0)), axis=0) / (self.times[1] - self.times[0])

    def __repr__(self) -> str:
        slowed = f", slowed by {self.slowed_by}" if self.slowed_by else ""
        return f"Trajectory({len(self.times)} samples, {self.seconds:.2f} s, {len(self.joints)} joints{slowed})"

    def save(self, path: str | Path, format: Any = None) -> None:
        """Write a new file: .csv, .json, .yaml (ROS 2), or a rosbag2 folder for a path without ending.

        format: csv, json, ros2, mcap or lerobot, if the ending does not say it.
        """
        from vigor.planning import export

        export.write(Path(path), self, format)

    def begun_at(self, pose: Sequence[float], robot: Robot | None) -> "Trajectory":
        """The same after a short way from a pose [joint] nearby, from rest to rest and within the robot's limits.

        For controllers that jump to the first sample. What is farther away than a start may be is refused.
        """
        start, step = self.positions[0], self.times[1] - self.times[0]
        _check_start(self.joints, start, np.asarray(pose, float))
        way = start - np.asarray(pose, float)
        seconds = BEGIN
        if robot is not None:  # The largest speed and acceleration of a smooth step.
            velocity, acceleration = paces.check_limits(robot)
            needs = 1.5 * np.abs(way) / velocity, np.sqrt(6 * np.abs(way) / acceleration)
            seconds = max(BEGIN, float(np.max(needs)))
        count = int(np.ceil(seconds / step))
        share, seconds = np.linspace(0.0, 1.0, count + 1)[:-1, None], count * step
        way = way[None]
        return replace(
            self,
            times=np.concatenate([np.arange(count) * step, self.times + seconds]),
            positions=np.concatenate([np.asarray(pose) + (3 * share**2 - 2 * share**3) * way, self.positions]),
            velocities=np.concatenate([6 * (share - share**2) * way / seconds, self.velocities]),
            accelerations=np.concatenate([(6 - 12 * share) * way / seconds**2, self.accelerations]),
            points=np.concatenate([np.repeat(self.points[:1], count, axis=0), self.points]),
            gripper=self.gripper
            and self.gripper._replace(positions=np.pad(self.gripper.positions, (count, 0), mode="edge")),
        )


def trajectory(
    task: Task,
    weights: Sequence[float],
    limits: Constraints,
    rate: float = 100.0,
    start_pose: Sequence[float] | None = None,
    pacing: Pacing = "uniform",
) -> Trajectory:
    """A movement [D] sampled `rate` times a second, from rest to rest, slowed down as far as the robot needs.

    limits: whose joints, how many seconds it takes at least, and where no link may be; start_pose: [joint], where the
    robot is now; pacing: whether all of it is slowed down, or only where a limit is hit. Everything is worked out anew
    from the movement; what violates a limit other than speed is refused.
    """
    if not MIN_RATE <= rate <= MAX_RATE:
        raise UserError(f"the rate must be from {MIN_RATE:g} to {MAX_RATE:,} samples a second, not {rate:g}")
    if len(weights) != task.promp.weights or not np.all(np.isfinite(weights)):
        raise UserError(f"a movement of {task.name} has {task.promp.weights} finite weights")
    robot = limits.robot
    # Limits of joints are checked apart, so that the program is the same for every robot.
    bounds = constraints.bounds(task, limits)._replace(position=jnp.zeros((0, 2)), speed=jnp.zeros(0))
    with jax.enable_x64(True):
        at = partial(sample, task, bounds, jnp.asarray(weights, jnp.float64))
        even = paces.uniform(np.linspace(0.0, 1.0, FINE * task.promp.steps))
        fine = check_way(at, limits, even.phase)
        names = tuple(f"joint{i}" for i in range(1, fine.place.shape[1] + 1)) if robot is None else robot.joints
        if start_pose is not None:
            _check_start(names, fine.place[0], np.asarray(start_pose, float))
        paced = _uniform(fine, even, limits) if pacing == "uniform" else _optimal(at, limits, len(fine.place))
        count = int(np.ceil(paced.seconds * rate - 1e-9)) + 1
        if not 2 <= count <= 10**6:
            taken = f"{paced.seconds:.4g} s, {count} samples"
            raise UserError(f"this movement takes {taken}; from 2 to a million can be written")
        times = np.arange(count) / rate
        # The last sample is the end: at most 1 / rate slower than asked for.
        pace = paced.at(np.linspace(0.0, 1.0, count)).slower(float(times[-1]))
        found, gripper = at(pace.phase), _gripper(task, weights, pace.phase)
    speeds, pushes = pace.along(found.slope, found.bend)
    return Trajectory(names, times, found.place, speeds, pushes, found.points, gripper, paced.slowed_by)


def _gripper(task: Task, weights: Sequence[float], phases: np.ndarray) -> GripperPath | None:
    """The gripper of a movement [D] at phases [T], within its range."""
    own = task.arm.gripper
    if own is None:
        return None
    joints = np.asarray(task.promp.basis(jnp.asarray(phases))) @ np.reshape(weights, (task.promp.bases, -1))
    begin = 0.0 if task.promp.start is None else task.promp.start[-1]
    low, high = own.range
    return GripperPath(own.channel, low + (high - low) * np.clip(begin + task.promp.scale * joints[:, -1], 0.0, 1.0))


class _Paced(NamedTuple):
    """A pace, and why it is slower than was asked for."""

    seconds: float
    at: Callable[[np.ndarray], Pace]
    """Progress at shares [T] of the time, as if it took a second."""
    slowed_by: str | None


def _uniform(fine: Moments, even: Pace, limits: Constraints) -> _Paced:
    """The clock, slowed down as a whole; fine: the movement at the phases of an even pace."""
    if limits.robot is not None:
        shortest, limit = paces.needed(limits.robot, *even.along(fine.slope, fine.bend))
        if shortest > limits.seconds:
            return _Paced(shortest, paces.uniform, limit)
    return _Paced(limits.seconds, paces.uniform, None)


def _optimal(at: Callable[[np.ndarray], Moments], limits: Constraints, count: int) -> _Paced:
    """The fastest pace that holds every limit at so many moments."""

    def path(phases: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        found = at(phases)
        return found.slope, found.bend

    found = paces.optimal(path, limits.robot, limits.seconds)
    assert limits.robot is not None
    seconds = float(found.times[-1])
    pace = found.at(np.linspace(0.0, seconds, 16 * count))
    factor, limit = paces.needed(limits.robot, *pace.along(*path(pace.phase)))
    longer = seconds * max(1.0, (1 + BETWEEN) * factor)

    def progress(shares: np.ndarray) -> Pace:
        return found.at(shares * seconds).slower(1 / seconds)

    return _Paced(longer, progress, limit if longer > limits.seconds * paces.SAFETY else None)


def _check_start(names: tuple[str, ...], start: np.ndarray, pose: np.ndarray) -> None:
    if pose.shape != start.shape or not np.all(np.isfinite(pose)):
        raise UserError(f"a start pose needs {len(start)} finite numbers: {', '.join(names)}")
    away = np.abs(pose - start)
    worst = int(np.argmax(away))
    if away[worst] > TOLERANCE:
        raise UserError(
            f"this movement starts with {names[worst]} at {start[worst]:.3f}, but the robot has it at "
            f"{pose[worst]:.3f}; move the robot there first"
        )
