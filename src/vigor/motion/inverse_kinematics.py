"""Inverse kinematics: the joints that bring a point of an arm to where it is wanted."""

from collections.abc import Callable, Sequence
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from vigor.basics.errors import UserError
from vigor.motion.kinematics import Chain
from vigor.motion.robots import Robot

LONGEST = 0.3
"""Longest step, in radians."""
ARM = 0.2
"""Metres that a radian of orientation counts as much as."""
STEPS, DAMPING = 200, 1e-4
"""Steps to a pose, and how much these are damped."""
CLOSE = 0.002
"""Most metres, or radians times `ARM`, that a pose may miss what was asked for."""


def damped_least_squares(
    point: Callable[[Float[Array, " joint"]], Float[Array, " space"]],
    joints: Float[Array, " joint"],
    aim: Float[Array, " space"],
    lower: Float[Array, " joint"],
    upper: Float[Array, " joint"],
    damping: float | Float[Array, ""],
    steps: int,
) -> Float[Array, " joint"]:
    """Joints near those given, with a point of the arm at an aim, or as close as the limits let it.

    point: its place by the joints. One posture; vmap for more. Each step moves J^T (J J^T + damping)^-1 error:
    of all moves that bring the point nearer it is the shortest, so that the rest of the posture stays as it is.
    """

    def step(_: Int[Array, ""], angles: Float[Array, " joint"]) -> Float[Array, " joint"]:
        jacobian = jax.jacrev(point)(angles)
        damped = jacobian @ jacobian.T + damping * jnp.eye(aim.shape[0])
        move = jacobian.T @ jnp.linalg.solve(damped, aim - point(angles))
        move = move * jnp.minimum(1.0, LONGEST / jnp.linalg.norm(move))
        return jnp.clip(angles + move, lower, upper)

    return jax.lax.fori_loop(0, steps, step, jnp.clip(joints, lower, upper))


def reach(
    robot: Robot,
    position: Sequence[float] | np.ndarray,
    rotation: np.ndarray | None,
    near: Sequence[float] | np.ndarray | None,
) -> np.ndarray:
    """Joints that bring the tool of a robot somewhere; see `Robot.reach`."""
    chain = robot.kinematics
    if chain is None:
        raise UserError(f"the robot {robot.name} has no kinematics to reach anything with")
    low, high = np.array(robot.position).T
    begin = np.clip(np.zeros(len(low)) if near is None else np.asarray(near, float), low, high)
    aim = np.concatenate([position, [] if rotation is None else ARM * np.asarray(rotation).T.reshape(-1)])
    given = (np.asarray(part, np.float32) for part in (begin, aim, low, high))
    found, missed = _reach(chain, rotation is not None, *given)
    if not missed <= CLOSE:
        raise UserError(f"{robot.name} cannot reach {np.round(position, 3).tolist()} so; it misses by {missed:.3f}")
    return np.asarray(found, float)


def told(chain: Chain, turned: bool, joints: Float[Array, " joint"]) -> Float[Array, " space"]:
    """The tool's place [3] and, if they count, its axes times `ARM` [9]: one, then the next."""
    frames = chain.frames(joints)
    axes = ARM * frames.rotation[0].T.reshape(-1) if turned else jnp.zeros(0)
    return jnp.concatenate([frames.position[0], axes])


@partial(jax.jit, static_argnums=(0, 1))
def _reach(chain: Chain, turned: bool, begin: Array, aim: Array, low: Array, high: Array) -> tuple[Array, Array]:
    """Joints, and by how much they miss the aim."""
    tool = partial(told, chain, turned)
    found = damped_least_squares(tool, begin, aim, low, high, DAMPING, STEPS)
    return found, jnp.linalg.norm(tool(found) - aim)
