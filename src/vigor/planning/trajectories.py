"""Trajectories for a robot's controller: planned movements over time, sampled, within every limit.

A ProMP knows no time and its movements do not quite end at rest. So the phase runs along a smooth clock: it speeds up
from rest, runs evenly, and slows down to rest. The clock takes as many seconds as were asked for, or as many more as
the largest speed and acceleration need.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from vigor.basics.errors import UserError
from vigor.motion.robots import Robot
from vigor.planning import constraints
from vigor.planning.constraints import Constraints
from vigor.tasks.task import Task

Array = jax.Array

RAMP = 0.15
"""Part of the time in which a movement speeds up, and in which it slows down."""
FINE = 40
"""Multiple of the ProMP's steps at which the largest speed and acceleration are looked for."""
SAFETY = 1.001
"""Duration over the shortest one that holds every limit at those moments: for what lies between them."""
TOLERANCE = 0.02
"""Most radians that a joint may be away from where a movement starts."""
MIN_RATE, MIN_SECONDS, MAX_SECONDS = 0.1, 0.01, 3600.0
"""Bounds of what can be meant."""


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
    slowed_by: str | None = None
    """The limit that makes it take longer than asked for, in words."""

    @property
    def seconds(self) -> float:
        """Duration."""
        return float(self.times[-1])

    def __repr__(self) -> str:
        slowed = f", slowed by {self.slowed_by}" if self.slowed_by else ""
        return f"Trajectory({len(self.times)} samples, {self.seconds:.2f} s, {len(self.joints)} joints{slowed})"

    def save(self, path: str | Path) -> None:
        """Write a new file: .csv, .json, .yaml (ROS 2), or a rosbag2 folder for a path without ending."""
        from vigor.planning import export

        export.write(Path(path), self)


def clock(share: Array) -> Array:
    """Phase at a share of the time, both from 0 to 1: its speed rises like a smooth step, is even, and falls again."""
    top = 1 / (1 - RAMP)

    def rise(u: Array) -> Array:  # The integral of the smooth step 3 u^2 - 2 u^3.
        return top * RAMP * (u**3 - u**4 / 2)

    slowing = jnp.where(share > 1 - RAMP, 1 - rise((1 - share) / RAMP), top * (share - RAMP / 2))
    return jnp.where(share < RAMP, rise(share / RAMP), slowing)


@partial(jax.jit, static_argnums=0)
def _move(task: Task, weights: Array, shares: Array) -> tuple[Array, Array, Array, Array]:
    """Joints [T, joint] at shares [T] of the time, their first and second derivatives by the share, and the points."""

    def place(share: Array) -> Array:
        return task.arm.joints(task.promp.at(weights, clock(share)))

    def speed(share: Array) -> Array:
        return jax.jvp(place, (share,), (jnp.ones_like(share),))[1]

    points = task.kinematics(task.promp.at(weights, clock(shares)))
    return place(shares), *jax.jvp(speed, (shares,), (jnp.ones_like(shares),)), points


def _sample(task: Task, weights: Array, shares: np.ndarray) -> list[np.ndarray]:
    """`_move` at any number of shares [T], in blocks of one size: one program whatever their number."""
    size = FINE * task.promp.steps
    blocks = -(-len(shares) // size)
    padded = np.resize(shares, (blocks, size))
    parts = [_move(task, weights, jnp.asarray(block)) for block in padded]
    return [np.concatenate(part)[: len(shares)] for part in zip(*parts, strict=True)]


def trajectory(
    task: Task,
    weights: Sequence[float],
    limits: Constraints,
    rate: float = 100.0,
    start_pose: Sequence[float] | None = None,
) -> Trajectory:
    """A movement [D] sampled `rate` times a second, from rest to rest, slowed down as far as the robot needs.

    limits: whose joints, how many seconds it takes at least, and where no link may be; start_pose: [joint], where the
    robot is now. Everything is worked out anew from the movement; what violates a limit other than speed is refused.
    """
    if not MIN_RATE <= rate <= 10**4:
        raise UserError(f"the rate must be from {MIN_RATE:g} to 10,000 samples a second, not {rate:g}")
    if not MIN_SECONDS <= limits.seconds <= MAX_SECONDS:
        raise UserError(f"a movement takes from {MIN_SECONDS:g} s to {MAX_SECONDS:g} s, not {limits.seconds:g}")
    if len(weights) != task.promp.weights or not np.all(np.isfinite(weights)):
        raise UserError(f"a movement of {task.name} has {task.promp.weights} finite weights")
    _check_margins(task, weights, limits)
    robot, seconds, slowed_by = limits.robot, limits.seconds, None
    with jax.enable_x64(True):
        movement = jnp.asarray(weights, jnp.float64)
        place, speed, push, _ = _sample(task, movement, np.linspace(0.0, 1.0, FINE * task.promp.steps))
        names = tuple(f"joint{i}" for i in range(1, place.shape[1] + 1)) if robot is None else robot.joints
        if robot is not None:
            _check_positions(robot, place)
            shortest, limit = _shortest(robot, speed, push)
            if shortest > seconds:
                seconds, slowed_by = shortest, limit
        if start_pose is not None:
            _check_start(names, place[0], np.asarray(start_pose, float))
        count = int(np.ceil(seconds * rate - 1e-9)) + 1
        if not 2 <= count <= 10**6:
            raise UserError(f"this movement takes {seconds:.4g} s, {count} samples; from 2 to a million can be written")
        times = np.arange(count) / rate
        seconds = float(times[-1])  # The last sample is the end: at most 1 / rate slower than asked for.
        place, speed, push, points = _sample(task, movement, times / seconds)
    made = Trajectory(names, times, place, speed / seconds, push / seconds**2, points, slowed_by)
    if not all(np.all(np.isfinite(part)) for part in (made.positions, made.velocities, made.accelerations)):
        raise UserError("this movement is not finite; export another solution")
    return made


def _check_margins(task: Task, weights: Sequence[float], limits: Constraints) -> None:
    """Refuse what violates a limit that more time does not mend."""
    found = constraints.margins(task, constraints.bounds(task, limits), jnp.asarray(weights, jnp.float32)[None])
    broken = constraints.violation(limits, jax.tree.map(lambda leaf: np.asarray(leaf[0]), found))
    if broken is not None and broken.seconds is None:
        raise UserError(f"this movement violates {broken}; export another solution")


def _check_positions(robot: Robot, place: np.ndarray) -> None:
    if place.shape[1] != len(robot.joints):
        raise UserError(
            f"{robot.name} has {len(robot.joints)} joints where the task moves {place.shape[1]}; name those"
        )
    low, high = np.array(robot.position).T
    past = np.max(np.maximum(low - place, place - high), axis=0)
    worst = int(np.argmax(past))
    if past[worst] > 0:
        raise UserError(
            f"this movement takes {robot.joints[worst]} {past[worst]:.3f} beyond its limits, {low[worst]:g} to "
            f"{high[worst]:g}; export another solution"
        )


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


def _shortest(robot: Robot, speed: np.ndarray, push: np.ndarray) -> tuple[float, str]:
    """Seconds in which a movement holds every speed and acceleration, and the limit that needs them, in words.

    speed, push: [T, joint] by the share of time.
    """
    if robot.acceleration is None:
        raise UserError(f"nothing gives the acceleration limits of {robot.name}; give --acceleration")
    fast = np.max(np.abs(speed), axis=0) / np.array(robot.velocity)
    hard = np.sqrt(np.max(np.abs(push), axis=0) / np.array(robot.acceleration))
    kind, needs = ("velocity", fast) if fast.max() > hard.max() else ("acceleration", hard)
    return SAFETY * float(needs.max()), f"the {kind} limit of {robot.joints[int(needs.argmax())]}"
