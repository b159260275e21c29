"""Distances in space and in the plane, as batched, differentiable functions: of points and lines to shapes.

Where two things are closest is found first and held, so that a gradient is that of the distance between these points.
"""

import math
from collections.abc import Callable, Sequence
from functools import reduce

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from vigor.motion.shapes import Box, Capsule, Plane, Sphere

SECTIONS = 30
"""Golden sections of a line in search of its closest point: to a millionth of its length."""


def point_to_box(
    points: Float[Array, "... space"], centres: Float[Array, "... space"], halves: Float[Array, "... space"]
) -> Float[Array, "..."]:
    """Distance of points to boxes with such centres and half edges; negative inside. A box without edges is a point."""
    beyond = jnp.abs(points - centres) - halves
    away = jnp.sqrt(jnp.maximum(jnp.sum(jax.nn.relu(beyond) ** 2, axis=-1), 1e-12))
    # Not jnp.max, whose gradient is not a number where a compiler rounds the maximum differently.
    most = reduce(jnp.maximum, [beyond[..., i] for i in range(beyond.shape[-1])])
    return away + jnp.minimum(most, 0.0)


def along_line(
    outside: Callable[[Array], Array], starts: Float[Array, "... space"], ends: Float[Array, "... space"]
) -> Float[Array, "..."]:
    """Smallest distance along lines; outside: the distance [...] of points [..., space] to convex shapes.

    The distance to a convex shape is convex along a line, so golden sections find its minimum.
    """
    golden = (math.sqrt(5) - 1) / 2

    def at(share: Array) -> Array:
        return outside(starts + share[..., None] * (ends - starts))

    def narrow(_: Int[Array, ""], interval: tuple[Array, Array]) -> tuple[Array, Array]:
        low, high = interval
        left, right = high - golden * (high - low), low + golden * (high - low)
        nearer = at(left) < at(right)
        return jnp.where(nearer, low, left), jnp.where(nearer, right, high)

    zero = jnp.zeros_like(jax.lax.stop_gradient(outside(starts)))
    low, high = jax.lax.fori_loop(0, SECTIONS, narrow, (zero, zero + 1))
    return jnp.minimum(at((low + high) / 2), jnp.minimum(at(zero), at(zero + 1)))


def line_to_line(
    starts: Float[Array, "*#batch 3"],
    ends: Float[Array, "*#batch 3"],
    other_starts: Float[Array, "*#batch 3"],
    other_ends: Float[Array, "*#batch 3"],
) -> Float[Array, "*batch"]:
    """Distance between lines of finite length, or points."""
    vectors = (ends - starts, other_ends - other_starts, other_starts - starts)
    return between_lines(*([part[..., i] for i in range(3)] for part in vectors))


def between_lines(way: Sequence[Array], other: Sequence[Array], between: Sequence[Array]) -> Float[Array, "*batch"]:
    """Distance between lines of finite length by how far each goes, and from the start of one to that of the other.

    Every coordinate is an array of its own: fast for many lines.
    """
    share, other_share = _closest(*([jax.lax.stop_gradient(part) for part in parts] for parts in (way, other, between)))
    gap = [apart + other_share * there - share * here for here, there, apart in zip(way, other, between, strict=True)]
    return jnp.sqrt(jnp.maximum(_dot(gap, gap), 1e-18))


def _closest(way: Sequence[Array], other: Sequence[Array], between: Sequence[Array]) -> tuple[Array, Array]:
    """Shares of two lines at which they are closest.

    Where the common normal of both meets the first, kept within it; from there the closest of the other, and from there
    the closest of the first. Of lines that are as good as parallel any place on the first is as good to begin at.
    """
    squared, other_squared, mixed = _dot(way, way), _dot(other, other), _dot(way, other)
    forward, other_forward = _dot(way, between), _dot(other, between)
    share = _clipped(forward * other_squared - mixed * other_forward, squared * other_squared - mixed**2)
    other_share = _clipped(share * mixed - other_forward, other_squared)
    return _clipped(other_share * mixed + forward, squared), other_share


def _dot(a: Sequence[Array], b: Sequence[Array]) -> Array:
    """Inner products of vectors by their coordinates."""
    return reduce(jnp.add, [one * two for one, two in zip(a, b, strict=True)])


def _clipped(part: Array, whole: Array) -> Array:
    """A share from 0 to 1; 0 of nothing."""
    return jnp.clip(part / jnp.where(whole > 0, whole, 1.0), 0.0, 1.0)


def capsule_to_shape(
    starts: Float[Array, "*batch 3"],
    ends: Float[Array, "*batch 3"],
    radii: Float[Array, "*#batch"],
    shape: Sphere | Box | Plane | Capsule,
) -> Float[Array, "*batch"]:
    """Distance of capsules to a shape in space; negative where they meet."""
    dtype = starts.dtype
    match shape:
        case Sphere():
            centre = jnp.asarray(shape.centre, dtype)
            return line_to_line(starts, ends, centre, centre) - radii - shape.radius
        case Capsule():
            one, two = jnp.asarray(shape.start, dtype), jnp.asarray(shape.end, dtype)
            return line_to_line(starts, ends, one, two) - radii - shape.radius
        case Plane():
            normal = jnp.asarray(shape.normal, dtype)
            heights = (jnp.sum(end * normal, axis=-1) for end in (starts, ends))
            return jnp.minimum(*heights) - shape.height - radii
        case Box():
            centre = jnp.asarray(shape.centre, dtype)
            half = jnp.asarray(shape.high, dtype) - centre
            return along_line(lambda points: point_to_box(points, centre, half), starts, ends) - radii
