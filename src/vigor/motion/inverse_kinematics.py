"""Inverse kinematics: the joints that bring a point of an arm to where it is wanted."""

from collections.abc import Callable

import jax
import jax.numpy as jnp

Array = jax.Array

LONGEST = 0.3
"""Longest step, in radians."""


def damped_least_squares(
    point: Callable[[Array], Array],
    joints: Array,
    aim: Array,
    lower: Array,
    upper: Array,
    damping: float,
    steps: int,
) -> Array:
    """Joints [J] near those given, with a point of the arm at an aim [2 or 3], or as close as the limits let it.

    point: the place [2 or 3] of joints [J]. One posture; vmap for more. Each step moves J^T (J J^T + damping)^-1 error:
    of all moves that bring the point nearer it is the shortest, so that the rest of the posture stays as it is.
    """

    def step(_: int, angles: Array) -> Array:
        jacobian = jax.jacrev(point)(angles)
        damped = jacobian @ jacobian.T + damping * jnp.eye(aim.shape[0])
        move = jacobian.T @ jnp.linalg.solve(damped, aim - point(angles))
        move = move * jnp.minimum(1.0, LONGEST / jnp.linalg.norm(move))
        return jnp.clip(angles + move, lower, upper)

    return jax.lax.fori_loop(0, steps, step, jnp.clip(joints, lower, upper))
