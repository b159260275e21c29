"""Trajectories for a robot's controller: planned movements over time, sampled, within every limit.

A ProMP knows no time and its movements do not quite end at rest. So the phase runs along a smooth clock: it speeds up
from rest, runs evenly, and slows down to rest. The clock takes as many seconds as were asked for, or as many more as
the largest speed and acceleration need.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from vigor.basics.errors import UserError
from vigor.motion.robots import Robot
from vigor.planning import constraints
from vigor.planning.constraints import Bounds, Constraints, Margins
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
MIN_RATE, MAX_RATE = 0.1, 10**4
"""Bounds of a rate that can be meant."""
TURN = 0.1
"""Most radians of a joint between two moments, for a way between them that is hardly longer than a straight one."""
BENT = 1.1
"""Length of such a way over that of a straight one."""
TOUCH = 1e-4
"""Metres of a way that need not be looked at more closely."""
PARTS = 10
"""Parts of a way that is looked at more closely."""
MOST = 10**4
"""Most ways that are."""


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


class Moments(NamedTuple):
    """A movement at some moments, [T, ...]; derivatives are by the share of the time."""

    place: Any
    """[T, joint]"""
    speed: Any
    """[T, joint]"""
    push: Any
    """[T, joint]: second derivative."""
    points: Any
    """[T, points, 2 or 3]"""
    clearances: Any
    """[T, link, keep-out]"""


@partial(jax.jit, static_argnums=0)
def _move(task: Task, limits: Bounds, weights: Array, shares: Array) -> Moments:
    """A movement [D] at shares [T] of the time."""

    def place(share: Array) -> Array:
        return task.arm.joints(task.promp.at(weights, clock(share)))

    def speed(share: Array) -> Array:
        return jax.jvp(place, (share,), (jnp.ones_like(share),))[1]

    points = task.kinematics(task.promp.at(weights, clock(shares)))
    first, second = jax.jvp(speed, (shares,), (jnp.ones_like(shares),))
    return Moments(place(shares), first, second, points, constraints.clearances(limits, points))


def _sample(task: Task, limits: Bounds, weights: Array, shares: np.ndarray) -> Moments:
    """`_move` at any number of shares [T], in blocks of one size: one program whatever their number."""
    size = FINE * task.promp.steps
    padded = np.resize(shares, (-(-len(shares) // size), size))
    parts = [_move(task, limits, weights, jnp.asarray(block)) for block in padded]
    found = Moments(*(np.concatenate(part)[: len(shares)] for part in zip(*parts, strict=True)))
    if not all(np.all(np.isfinite(part)) for part in found):
        raise UserError("this movement is not finite; export another solution")
    return found


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
    if not MIN_RATE <= rate <= MAX_RATE:
        raise UserError(f"the rate must be from {MIN_RATE:g} to {MAX_RATE:,} samples a second, not {rate:g}")
    if len(weights) != task.promp.weights or not np.all(np.isfinite(weights)):
        raise UserError(f"a movement of {task.name} has {task.promp.weights} finite weights")
    robot, seconds, slowed_by = limits.robot, limits.seconds, None
    # Limits of joints are checked apart, so that the program is the same for every robot.
    bounds = constraints.bounds(task, limits)._replace(position=jnp.zeros((0, 2)), speed=jnp.zeros(0))
    with jax.enable_x64(True):
        at = partial(_sample, task, bounds, jnp.asarray(weights, jnp.float64))
        fine = _check_way(at, limits, np.linspace(0.0, 1.0, FINE * task.promp.steps))
        names = tuple(f"joint{i}" for i in range(1, fine.place.shape[1] + 1)) if robot is None else robot.joints
        if robot is not None:
            shortest, limit = _shortest(robot, fine.speed, fine.push)
            if shortest > seconds:
                seconds, slowed_by = shortest, limit
        if start_pose is not None:
            _check_start(names, fine.place[0], np.asarray(start_pose, float))
        count = int(np.ceil(seconds * rate - 1e-9)) + 1
        if not 2 <= count <= 10**6:
            raise UserError(f"this movement takes {seconds:.4g} s, {count} samples; from 2 to a million can be written")
        times = np.arange(count) / rate
        seconds = float(times[-1])  # The last sample is the end: at most 1 / rate slower than asked for.
        place, speed, push, points, _ = at(times / seconds)
    return Trajectory(names, times, place, speed / seconds, push / seconds**2, points, slowed_by)


def _check_way(at: Callable[[np.ndarray], Moments], limits: Constraints, shares: np.ndarray) -> Moments:
    """The movement at shares [T] of the time; refused if it violates a limit that more time does not mend.

    Where what is known of two moments does not rule out a violation between them, it is looked at more closely.
    """
    first = found = at(shares)
    if np.max(np.abs(np.diff(first.place, axis=0))) > 10 * TURN:
        raise UserError("this movement is wilder than any robot's; export another solution")
    _check_moments(limits, first)
    spans = shares[None] if limits.keep_out else np.zeros((0, 2))
    while len(spans):
        parts = found.place, found.points, found.clearances
        doubtful = _doubtful(*(part.reshape(*spans.shape, *part.shape[1:]) for part in parts))
        spans = np.linspace(spans[:, :-1][doubtful], spans[:, 1:][doubtful], PARTS + 1, axis=1)
        if len(spans) > MOST:
            raise UserError("this movement stays too near to a keep-out; export another solution")
        if len(spans):
            found = at(spans.reshape(-1))
            _check_moments(limits, found)
    return first


def _doubtful(place: np.ndarray, points: np.ndarray, clearances: np.ndarray) -> np.ndarray:
    """Whether a link may enter a keep-out between one moment and the next, [span, T - 1].

    place: [span, T, joint], points: [span, T, points, 2 or 3], clearances: [span, T, link, keep-out]. A point that
    goes from one place to another enters nothing if its way is no longer than the clearances of both together; and no
    point of a link goes farther than both its ends.
    """
    way = BENT * np.linalg.norm(np.diff(points, axis=1), axis=-1)
    way = np.maximum(way[..., :-1], way[..., 1:]) if way.shape[-1] > 1 else way  # [span, T - 1, link]
    near = np.any(clearances[:, :-1] + clearances[:, 1:] < way[..., None], axis=(-2, -1))
    turned = np.any(np.abs(np.diff(place, axis=1)) > TURN, axis=-1)
    return turned | (near & (np.max(way, axis=-1) > TOUCH))


def _check_moments(limits: Constraints, found: Moments) -> None:
    """Refuse a movement that at one of the moments violates a limit of position or a keep-out."""
    low, high = np.array([] if limits.robot is None else limits.robot.position).reshape(-1, 2).T
    inside = np.minimum(found.place - low, high - found.place) if limits.robot is not None else np.zeros((1, 0))
    margins = Margins(inside.min(axis=0), jnp.ones(len(low)), found.clearances.min(axis=(0, 1)))
    broken = constraints.violation(limits, margins)
    if broken is not None:
        raise UserError(f"this movement violates {broken}; export another solution")


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
