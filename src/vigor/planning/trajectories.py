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
from vigor.planning import constraints, demands, violations
from vigor.planning import pacing as paces
from vigor.planning.constraints import Constraints
from vigor.planning.demands import Pointing, Via
from vigor.planning.moments import FINE, Moments, check_way, sample
from vigor.planning.pacing import Pace, Pacing
from vigor.tasks.task import Task

Array = jax.Array

MIN_RATE, MAX_RATE = 0.1, 10**4
"""Bounds of a rate that can be meant."""
MOST = 200_000
"""Most samples of a trajectory; a table of them takes some 2 kB of memory for each."""

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
    led: float = 0.0
    """Seconds at its beginning in which the robot is led to where the movement starts."""

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


def trajectory(
    task: Task,
    weights: Sequence[float],
    limits: Constraints,
    rate: float = 100.0,
    pacing: Pacing = "uniform",
) -> Trajectory:
    """A movement [D] sampled `rate` times a second, from rest to rest, slowed down as far as the robot needs.

    limits: whose joints, how many seconds it takes at least, where no link may be, and what is demanded of the tool;
    pacing: whether all of it is slowed down, or only where a limit is hit. Everything is worked out anew from the
    movement; what violates a limit other than speed is refused.
    """
    if not MIN_RATE <= rate <= MAX_RATE:
        raise UserError(f"the rate must be from {MIN_RATE:g} to {MAX_RATE:,} samples a second, not {rate:g}")
    if len(weights) != task.promp.weights or not np.all(np.isfinite(weights)):
        raise UserError(f"a movement of {task.name} has {task.promp.weights} finite weights")
    robot = limits.robot
    bounds = constraints.without_joints(constraints.bounds(task, limits))
    with jax.enable_x64(True):
        at = partial(sample, task, bounds, jnp.asarray(weights, jnp.float64))
        even = paces.uniform(np.linspace(0.0, 1.0, FINE * task.promp.steps))
        fine = check_way(at, limits, even.phase)
        names = tuple(f"joint{i}" for i in range(1, fine.place.shape[1] + 1)) if robot is None else robot.joints
        paced = _uniform(fine, even, limits) if pacing == "uniform" else _optimal(at, limits, len(fine.place))
        check_count(paced.seconds + limits.hold, rate)
        _check_demands(task, weights, limits, paced)
        count = int(np.ceil(paced.seconds * rate - 1e-9)) + 1
        times = np.arange(count) / rate
        # The last sample is the end: at most 1 / rate slower than asked for.
        pace = paced.at(np.linspace(0.0, 1.0, count)).slower(float(times[-1]))
        found, gripper = at(pace.phase), _gripper(task, weights, pace.phase)
    speeds, pushes = pace.along(found.slope, found.bend)
    made = Trajectory(names, times, found.place, speeds, pushes, found.points, gripper, paced.slowed_by)
    return _held(made, limits.hold)


def check_count(seconds: float, rate: float) -> None:
    """Refuse more samples than can be written."""
    if not (count := seconds * rate) < MOST:
        raise UserError(f"this takes {seconds:.4g} s, {count:,.0f} samples; at most {MOST:,} can be written")


def _held(made: Trajectory, seconds: float) -> Trajectory:
    """The same, at rest in its last pose for so many seconds more."""
    step = made.times[1] - made.times[0]
    count = int(np.ceil(seconds / step - 1e-9))
    times = made.times[-1] + step * np.arange(1, count + 1)
    rest = np.zeros((count, len(made.joints)))
    return replace(
        made,
        times=np.concatenate([made.times, times]),
        positions=np.concatenate([made.positions, np.repeat(made.positions[-1:], count, axis=0)]),
        velocities=np.concatenate([made.velocities, rest]),
        accelerations=np.concatenate([made.accelerations, rest]),
        points=np.concatenate([made.points, np.repeat(made.points[-1:], count, axis=0)]),
        gripper=made.gripper
        and made.gripper._replace(positions=np.pad(made.gripper.positions, (0, count), mode="edge")),
    )


def _check_demands(task: Task, weights: Sequence[float], limits: Constraints, paced: "_Paced") -> None:
    """Refuse a movement [D] that at this pace does not do what is demanded of the tool."""
    if not limits.via and not limits.pointing:
        return
    demanded = constraints.bounds(task, limits).demanded

    def phases(items: Sequence[Via | Pointing]) -> Array:
        known = paced.at(np.array([item.time or 0.0 for item in items])).phase
        return jnp.asarray(np.where([item.time is None for item in items], demands.ANY, known))

    demanded = demanded._replace(passed=phases(limits.via), pointed=phases(limits.pointing))
    course = jnp.linspace(0.0, 1.0, FINE * task.promp.steps)
    found = _met(task, demanded, jnp.asarray(weights, jnp.float64), course)
    broken = violations.unmet(demands.Met(*map(np.asarray, found)))
    if broken is not None:
        raise UserError(f"this movement violates {broken}; export another solution")


_met = jax.jit(demands.met, static_argnums=0)


def _gripper(task: Task, weights: Sequence[float], phases: np.ndarray) -> GripperPath | None:
    """The gripper of a movement [D] at phases [T], within its range."""
    own = task.arm.gripper
    if own is None:
        return None
    opened = np.asarray(task.promp.at(jnp.asarray(weights), jnp.asarray(phases)))[:, -1]
    low, high = own.range
    return GripperPath(own.channel, low + (high - low) * np.clip(opened, 0.0, 1.0))


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
        if shortest > limits.moving:
            return _Paced(shortest, paces.uniform, limit)
    return _Paced(limits.moving, paces.uniform, None)


def _optimal(at: Callable[[np.ndarray], Moments], limits: Constraints, count: int) -> _Paced:
    """The fastest pace that holds every limit at so many moments."""

    def path(phases: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        found = at(phases)
        return found.slope, found.bend

    found = paces.optimal(path, limits.robot, limits.moving)
    assert limits.robot is not None
    seconds = float(found.times[-1])
    pace = found.at(np.linspace(0.0, seconds, 16 * count))
    factor, limit = paces.needed(limits.robot, *pace.along(*path(pace.phase)))
    longer = seconds * max(1.0, (1 + BETWEEN) * factor)

    def progress(shares: np.ndarray) -> Pace:
        return found.at(shares * seconds).slower(1 / seconds)

    return _Paced(longer, progress, limit if longer > limits.moving * paces.SAFETY else None)
