"""Inverse kinematics: the joints that bring a point of an arm to where it is wanted."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

LONGEST = 0.3
"""Longest step, in radians."""


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
