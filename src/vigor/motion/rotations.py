"""Rotations as matrices, and what people tell of them: a heading, or a quaternion (x, y, z, w)."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float


def about_z(angle: Float[Array, "*batch"]) -> Float[Array, "*batch 3 3"]:
    """Rotations about the z axis."""
    cos, sin, zero, one = jnp.cos(angle), jnp.sin(angle), jnp.zeros_like(angle), jnp.ones_like(angle)
    rows = ((cos, -sin, zero), (sin, cos, zero), (zero, zero, one))
    return jnp.stack([jnp.stack(row, axis=-1) for row in rows], axis=-2)


def of_quaternion(quaternion: Float[Array, "*batch 4"]) -> Float[Array, "*batch 3 3"]:
    """Rotations of quaternions of any length but 0; a quaternion and its negative are the same."""
    x, y, z, w = jnp.moveaxis(quaternion / jnp.linalg.norm(quaternion, axis=-1, keepdims=True), -1, 0)
    rows = (
        (1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)),
        (2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)),
        (2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)),
    )
    return jnp.stack([jnp.stack(row, axis=-1) for row in rows], axis=-2)


def heading(quaternion: np.ndarray) -> np.ndarray:
    """Angles [...] by which quaternions [..., 4] turn about z: that of the turned x axis, seen from above."""
    x, y, z, w = np.moveaxis(np.asarray(quaternion, float), -1, 0)
    return np.arctan2(2 * (x * y + z * w), w * w + x * x - y * y - z * z)


def between(one: np.ndarray, other: np.ndarray, share: float) -> np.ndarray:
    """A quaternion [4] on the shortest way from one [4] to another [4], so far on this way."""
    one, other = one / np.linalg.norm(one), other / np.linalg.norm(other)
    along = float(one @ other)
    other, along = (other, along) if along >= 0 else (-other, -along)
    angle = np.arccos(min(along, 1.0))
    if angle < 1e-6:
        return one
    return (np.sin((1 - share) * angle) * one + np.sin(share * angle) * other) / np.sin(angle)


def narrowest_arc(angles: np.ndarray) -> tuple[float, float]:
    """Begin and width of the narrowest arc that holds all angles [n], whatever whole turns they have."""
    around = np.sort(np.mod(angles, 2 * np.pi))
    gaps = np.diff(np.append(around, around[0] + 2 * np.pi))
    widest = int(np.argmax(gaps))
    begin = float(around[(widest + 1) % len(around)])
    return (begin if begin <= np.pi else begin - 2 * np.pi), float(2 * np.pi - gaps[widest])
