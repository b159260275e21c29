"""Pace of a movement along its path, from rest to rest: how far it has come at every moment.

Evenly, the phase runs along a smooth clock: it speeds up from rest, runs evenly, and slows down to rest; where a limit
needs more time, all of the movement takes more. Optimally, it is as fast as a clock of the asked for duration allows,
and slower only where a limit is hit.
"""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np

from vigor.basics.errors import UserError
from vigor.basics.install import missing
from vigor.motion.robots import Robot

Pacing = Literal["uniform", "optimal"]

RAMP = 0.15
"""Part of the time in which a movement speeds up, and in which it slows down."""
SAFETY = 1.001
"""Duration over the shortest one that holds every limit at the moments looked at: for what lies between them."""
GRID = 600
"""Parts of a path in each of which the pace changes evenly."""


class Pace(NamedTuple):
    """Progress along a path at some moments."""

    phase: np.ndarray
    """[T], from 0 to 1"""
    speed: np.ndarray
    """[T]: its derivative by time."""
    push: np.ndarray
    """[T]: its second derivative."""

    def slower(self, factor: float) -> "Pace":
        """The same, taking so many times as long."""
        return Pace(self.phase, self.speed / factor, self.push / factor**2)

    def along(self, slope: np.ndarray, bend: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Speeds and accelerations [T, joint] of a path with such derivatives [T, joint] by the phase."""
        speed, push = self.speed[:, None], self.push[:, None]
        return slope * speed, bend * speed**2 + slope * push


def uniform(shares: np.ndarray) -> Pace:
    """The clock at shares [T] of a movement of one second: its speed rises like a smooth step, is
    even, and falls again."""
    top, rising, falling = 1 / (1 - RAMP), shares < RAMP, shares > 1 - RAMP
    u = np.minimum(np.where(rising, shares, 1 - shares) / RAMP, 1.0)  # Share of the step, from rest.
    risen = top * RAMP * (u**3 - u**4 / 2)  # The integral of the step.
    phase = np.where(rising, risen, np.where(falling, 1 - risen, top * (shares - RAMP / 2)))
    push = top / RAMP * 6 * (u - u**2)
    return Pace(phase, top * (3 * u**2 - 2 * u**3), np.where(rising, push, -push))


def check_limits(robot: Robot) -> tuple[np.ndarray, np.ndarray]:
    """Largest speed and acceleration [joint] of a robot, which must be known."""
    if robot.acceleration is None:
        raise UserError(f"nothing gives the acceleration limits of {robot.name}; give --acceleration")
    return np.array(robot.velocity), np.array(robot.acceleration)


def needed(robot: Robot, speeds: np.ndarray, pushes: np.ndarray) -> tuple[float, str]:
    """Times as long that a movement must take to hold every limit, and the limit that needs it, in words.

    speeds, pushes: [T, joint], those of the movement.
    """
    velocity, acceleration = check_limits(robot)
    fast = np.max(np.abs(speeds), axis=0) / velocity
    hard = np.sqrt(np.max(np.abs(pushes), axis=0) / acceleration)
    kind, needs = ("velocity", fast) if fast.max() > hard.max() else ("acceleration", hard)
    return SAFETY * float(needs.max()), f"the {kind} limit of {robot.joints[int(needs.argmax())]}"


class Optimal(NamedTuple):
    """The fastest pace along a path: in each of its parts the phase speeds up or slows down evenly."""

    times: np.ndarray
    """[GRID + 1]: when a part begins, and when the last one ends."""
    speed: np.ndarray
    """[GRID + 1]: of the phase, then."""

    def at(self, times: np.ndarray) -> Pace:
        """Progress at times [T] from 0 to the end."""
        part = np.clip(np.searchsorted(self.times, times, side="right") - 1, 0, GRID - 1)
        since = times - self.times[part]
        push = (np.diff(self.speed) / np.diff(self.times))[part]
        phase = part / GRID + self.speed[part] * since + push * since**2 / 2
        return Pace(np.clip(phase, 0.0, 1.0), np.maximum(self.speed[part] + push * since, 0.0), push)


def optimal(
    path: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]], robot: Robot | None, seconds: float
) -> Optimal:
    """The fastest pace within a robot's limits that takes at least so many seconds.

    path: derivatives [T, joint] by the phase, first and second, at phases [T]. The phase itself counts as one more
    joint, whose limits are those of an even pace: with these alone the movement takes just the seconds asked for.
    """
    try:
        from toppra import algorithm, constraint
        from toppra.interpolator import AbstractGeometricPath
    except ImportError:
        raise missing("optimal pacing is worked out by the package toppra", "pacing") from None
    if robot is None:
        raise UserError("optimal pacing needs a robot with limits; give a --urdf, or --pacing uniform")
    velocity, acceleration = check_limits(robot)
    grid = np.linspace(0.0, 1.0, GRID + 1)
    slope, bend = path(grid)
    derivatives = {1: np.column_stack([slope, np.ones(GRID + 1)]), 2: np.column_stack([bend, np.zeros(GRID + 1)])}
    top = 1 / (1 - RAMP) / seconds

    class Path(AbstractGeometricPath):  # type: ignore[misc]
        """Derivatives at the grid, which is all that is asked for."""

        dof, path_interval, waypoints = len(velocity) + 1, np.array([0.0, 1.0]), None

        def __call__(self, phases: Any, order: int = 0) -> np.ndarray:
            return derivatives[order][np.rint(np.asarray(phases) * GRID).astype(int)]

    bounds = [np.append(velocity, top), np.append(acceleration, top / (RAMP * seconds))]
    fast, hard = (np.stack([-limit, limit], axis=1) for limit in bounds)
    limits = [constraint.JointVelocityConstraint(fast), constraint.JointAccelerationConstraint(hard)]
    found = algorithm.TOPPRA(limits, Path(), gridpoints=grid, solver_wrapper="seidel")
    _, speed, _ = found.compute_parameterization(0.0, 0.0)
    between = None if speed is None else speed[1:] + speed[:-1]
    if between is None or not np.all(np.isfinite(between)) or not np.all(between > 0):
        raise UserError("no pace along this movement holds all limits; export it with --pacing uniform")
    return Optimal(np.concatenate([[0.0], np.cumsum(2 / GRID / between)]), speed)
