"""The way from where a robot is to where a movement starts: straight in its joints, from rest to rest."""

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

import jax
import jax.numpy as jnp
import numpy as np

from vigor.basics.errors import UserError
from vigor.motion.promp import ProMP
from vigor.planning import constraints, pacing
from vigor.planning.constraints import Constraints
from vigor.planning.moments import FINE, Moments, check_way, sample
from vigor.planning.trajectories import Trajectory, check_count
from vigor.tasks.task import Task

NEAR = 0.02
"""Radians of a joint, or metres, that a start may be away without being looked at for collisions."""
SAME = 1e-6
"""The same for a start that is where the robot is."""
BEGIN = 0.5
"""Least seconds of a way."""
FASTEST, HARDEST = 1.875, 10 / np.sqrt(3)
"""Largest speed and acceleration of a smooth step of 1 in 1 s."""


def led(task: Task, made: Trajectory, limits: Constraints, pose: np.ndarray) -> Trajectory:
    """A trajectory that begins where the robot is: in a pose [joint], from where it is led to the movement's start.

    Refused are ways beyond the limits of joints, into a keep-out or of the robot into itself.
    """
    start = made.positions[0]
    if pose.shape != start.shape or not np.all(np.isfinite(pose)):
        raise UserError(f"a start pose needs {len(start)} finite numbers: {', '.join(made.joints)}")
    away = np.abs(pose - start)
    if np.max(away) <= SAME:
        return made
    on_the_way = None
    if np.max(away) > NEAR:
        if limits.robot is None:
            raise UserError("the robot is not where this movement starts, and no limits are known to lead it there by")
        on_the_way = _checked(task, limits, pose, start)
    step = made.times[1] - made.times[0]
    needed = _seconds(limits, away)
    check_count(needed + made.seconds, 1 / step)
    count = int(np.ceil(needed / step))
    share, seconds = np.linspace(0.0, 1.0, count + 1)[:-1], count * step
    u, way = share[:, None], (start - pose)[None]
    step_of = u**3 * (10 - 15 * u + 6 * u**2)
    points = np.repeat(made.points[:1], count, axis=0)
    if on_the_way is not None:
        points = on_the_way(step_of[:, 0]).points
    return replace(
        made,
        times=np.concatenate([np.arange(count) * step, made.times + seconds]),
        positions=np.concatenate([pose + step_of * way, made.positions]),
        velocities=np.concatenate([30 * u**2 * (1 - u) ** 2 * way / seconds, made.velocities]),
        accelerations=np.concatenate([60 * u * (1 - u) * (1 - 2 * u) * way / seconds**2, made.accelerations]),
        points=np.concatenate([points, made.points]),
        gripper=made.gripper
        and made.gripper._replace(positions=np.pad(made.gripper.positions, (count, 0), mode="edge")),
        led=float(seconds),
    )


def _seconds(limits: Constraints, away: np.ndarray) -> float:
    """Seconds in which joints can go so far [joint], from rest to rest."""
    if limits.robot is None:
        return BEGIN
    velocity, acceleration = pacing.check_limits(limits.robot)
    needs = FASTEST * away / velocity, np.sqrt(HARDEST * away / acceleration)
    return max(BEGIN, pacing.SAFETY * float(np.max(needs)))


def _checked(task: Task, limits: Constraints, pose: np.ndarray, start: np.ndarray) -> Callable[[np.ndarray], Moments]:
    """Moments of a way, at shares [T] of it; refused if it violates anything."""
    straight = _straight(task)
    ends = np.stack([constraints.posed(task, tuple(place), NEAR) for place in (pose, start)])
    bounds = constraints.without_joints(constraints.bounds(straight, limits))
    with jax.enable_x64(True):
        shares = np.asarray(straight.promp.basis(jnp.array([0.0, 1.0])))
        weights = jnp.asarray(np.linalg.solve(shares, ends).reshape(-1))

    def at(shares: np.ndarray) -> Moments:
        with jax.enable_x64(True):
            return sample(straight, bounds, weights, shares)

    check_way(at, limits, np.linspace(0.0, 1.0, FINE * task.promp.steps), "the way from there to its start")
    return at


@lru_cache(maxsize=64)
def _straight(task: Task) -> Task:
    """The task with straight movements: between two basis functions so wide that each is a line."""
    return replace(task, promp=ProMP(2, task.promp.dimensions, task.promp.steps, free_start=True, width=100.0))
