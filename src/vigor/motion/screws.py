"""Forward kinematics of a chain in its fewest numbers, fast for whole batches, with its gradient by statics.

From joint to joint there is a turn about x, a shift, and a turn about z or a slide along it. Every chain can be written
so: a constant rotation is one about z, then x, then z again, and those about z add to the angles of the joints. The
frames carried along differ from the joints' own by constant rotations; their origins are the same.
"""

import math
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

Vector = tuple[float, float, float]
Matrix = tuple[Vector, Vector, Vector]
Carried = tuple[Array, Array, Array, Array]
"""Origin and axes of a frame, each [3, *batch]."""


@dataclass(frozen=True)
class Screws:
    """A chain of joints about or along z; tuples, so that programs can be compiled for it."""

    begin: float
    """Turn of the first frame about z."""
    tilts: tuple[float, ...]
    """Turn about x towards each joint [joint]."""
    shifts: tuple[Vector, ...]
    """Way to each joint [joint, 3], in its tilted frame."""
    angles: tuple[float, ...]
    """Angle [joint] that adds to that of the joint."""
    slides: tuple[bool, ...]
    """Whether a joint slides along z instead of turning about it [joint]."""
    tool: Vector
    """End effector in the last frame."""


class Fixture(NamedTuple):
    """A frame that is fixed to one of those carried along."""

    joint: int
    """Number of the joint, counted from 1; 0 for what stands on the base."""
    position: Vector
    rotation: Matrix
    """Rows."""


class Residuals(NamedTuple):
    """Everything that the gradient needs."""

    points: Float[Array, "point 3 *batch"]
    axes: Float[Array, "moved 3 *batch"]
    position: Float[Array, "fixture 3 *batch"]
    rotation: Float[Array, "fixture 3 3 *batch"]
    """[fixture, axis, 3, *batch]"""


Posed = tuple[Float[Array, "*batch point 3"], Float[Array, "*batch fixture 3"], Float[Array, "*batch fixture 3 3"]]


@partial(jax.custom_vjp, nondiff_argnums=(0, 1))
def posture(screws: Screws, fixtures: tuple[Fixture, ...], values: Float[Array, "*batch moved"]) -> Posed:
    """Points (the base, every joint's origin, the end effector), and positions and rotations of fixtures.

    Joints beyond those moved stay at zero.
    """
    return _forward(screws, fixtures, values)[0]


# Traced once for each shape, however often a program has it.
@partial(jax.jit, static_argnums=(0, 1))
def _forward(
    screws: Screws, fixtures: tuple[Fixture, ...], values: Float[Array, "*batch moved"]
) -> tuple[Posed, Residuals]:
    points, axes, frames = _carry(screws, fixtures, values)
    position, rotation = _fixed(fixtures, frames, values)
    outer = partial(jnp.moveaxis, source=(0, 1), destination=(-2, -1))
    columns = jnp.moveaxis(rotation, (0, 1, 2), (-3, -1, -2))
    return (outer(points), outer(position), columns), Residuals(points, axes, position, rotation)


def _carry(
    screws: Screws, fixtures: tuple[Fixture, ...], values: Float[Array, "*batch moved"]
) -> tuple[Float[Array, "point 3 *batch"], Float[Array, "moved 3 *batch"], dict[int, Carried]]:
    """Points and axes of a chain, and those frames by number that carry fixtures.

    The frame is carried from joint to joint as three axis vectors, so that everything is elementwise arithmetic on
    whole batches; a product of thousands of 4 x 4 matrices is many times slower. A loop, because XLA works out the
    elements of an unrolled chain again and again in every expression that they appear in.
    """
    count, moved, batch, dtype = len(screws.tilts), values.shape[-1], values.shape[:-1], values.dtype
    inner = sorted({fixture.joint for fixture in fixtures} - {0, count})

    def step(frame: Carried, joint: tuple[Array, ...]) -> tuple[Carried, tuple[Array, ...]]:
        origin, x, y, z = frame
        cos_tilt, sin_tilt, a, b, d, cos, sin = joint
        y_tilted, z = cos_tilt * y + sin_tilt * z, cos_tilt * z - sin_tilt * y
        origin = origin + a * x + b * y_tilted + d * z
        x, y = cos * x + sin * y_tilted, cos * y_tilted - sin * x
        return (origin, x, y, z), (origin, z, x, y) if inner else (origin, z)

    def constant(vector: Vector) -> Array:
        return jnp.broadcast_to(jnp.asarray(vector, dtype).reshape(3, *(1,) * len(batch)), (3, *batch))

    cos, sin = math.cos(screws.begin), math.sin(screws.begin)
    first = (constant((0, 0, 0)), constant((cos, sin, 0)), constant((-sin, cos, 0)), constant((0, 0, 1)))
    last, steps = jax.lax.scan(step, first, _driven(screws, values))
    tool = last[0] + sum(size * axis for size, axis in zip(screws.tool, last[1:], strict=True) if size)
    points = jnp.concatenate([first[0][None], steps[0], tool[None]])
    frames = {0: first, count: last}
    for i in inner:
        frames[i] = (steps[0][i - 1], steps[2][i - 1], steps[3][i - 1], steps[1][i - 1])
    return points, steps[1][:moved], frames


def _driven(screws: Screws, values: Float[Array, "*batch moved"]) -> tuple[Any, ...]:
    """Numbers [joint] or [joint, *batch] of each step along the chain."""
    moved, dtype = values.shape[-1], values.dtype
    still = jnp.zeros((len(screws.tilts) - moved, *values.shape[:-1]), dtype)
    values = jnp.concatenate([jnp.moveaxis(values, -1, 0), still])
    spread = (-1, *(1,) * (values.ndim - 1))
    tilts, (a, b, d) = np.asarray(screws.tilts), np.asarray(screws.shifts, dtype).reshape(-1, 3).T
    angles: Any = values
    along: Any = d
    if any(screws.slides):
        slides = np.asarray(screws.slides).reshape(spread)
        angles, along = jnp.where(slides, 0.0, values), jnp.where(slides, values, 0.0) + d.reshape(spread)
    if any(screws.angles):
        angles = angles + np.asarray(screws.angles, dtype).reshape(spread)
    return np.cos(tilts).astype(dtype), np.sin(tilts).astype(dtype), a, b, along, jnp.cos(angles), jnp.sin(angles)


def _fixed(
    fixtures: tuple[Fixture, ...], frames: dict[int, Carried], values: Float[Array, "*batch moved"]
) -> tuple[Float[Array, "fixture 3 *batch"], Float[Array, "fixture 3 3 *batch"]]:
    """Positions of fixtures, and their rotations [fixture, axis, 3, *batch]."""
    batch, dtype = values.shape[:-1], values.dtype
    if not fixtures:
        return jnp.zeros((0, 3, *batch), dtype), jnp.zeros((0, 3, 3, *batch), dtype)
    position, rotation = [], []
    for joint, place, rows in fixtures:
        origin, *axes = frames[joint]
        position.append(origin + _combined(place, axes))
        rotation.append(jnp.stack([_combined(column, axes) for column in zip(*rows, strict=True)]))
    return jnp.stack(position), jnp.stack(rotation)


def _combined(sizes: tuple[float, ...], axes: list[Array]) -> Array:
    """Sum of axes by sizes; those of size 0 are left out."""
    return sum((size * axis for size, axis in zip(sizes, axes, strict=True) if size), jnp.zeros_like(axes[0]))


@partial(jax.jit, static_argnums=(0, 1))
def _backward(
    screws: Screws, fixtures: tuple[Fixture, ...], residuals: Residuals, slopes: tuple[Array, Array, Array]
) -> tuple[Float[Array, "*batch moved"]]:
    """Statics: slopes by points are forces, slopes by rotations are moments.

    The slope by an angle is the torque about its axis of everything beyond, that by a slide the force along it. A small
    turn w changes an axis r by w x r, so a slope s by it has the moment r x s.
    """
    points, axes, position, rotation = residuals
    moved = axes.shape[0]
    forces = jnp.moveaxis(slopes[0], (-2, -1), (0, 1))
    pulls = jnp.moveaxis(slopes[1], (-2, -1), (0, 1))
    turns = jnp.moveaxis(slopes[2], (-3, -1, -2), (0, 1, 2))
    moments = jnp.cross(position, pulls, axis=1) + jnp.sum(jnp.cross(rotation, turns, axis=2), axis=1)
    rest = forces[moved + 1 :]
    beyond = (jnp.sum(rest, axis=0), jnp.sum(jnp.cross(points[moved + 1 :], rest, axis=1), axis=0))
    inner: dict[int, list[int]] = {}
    for number, fixture in enumerate(fixtures):
        if fixture.joint >= moved:
            beyond = (beyond[0] + pulls[number], beyond[1] + moments[number])
        elif fixture.joint > 0:
            inner.setdefault(fixture.joint, []).append(number)

    def step(beyond: tuple[Array, Array], link: tuple[Array, ...]) -> tuple[tuple[Array, Array], Array]:
        (force, moment), (point, pulled, axis, *more) = beyond, link
        force, moment = force + pulled, moment + jnp.cross(point, pulled, axis=0)
        if inner:
            force, moment = force + more[0], moment + more[1]
        torque = moment - jnp.cross(point, force, axis=0)
        if any(screws.slides):
            torque = jnp.where(more[-1], force, torque)
        return (force, moment), jnp.sum(axis * torque, axis=0)

    links: tuple[Any, ...] = (points[1 : moved + 1], forces[1 : moved + 1], axes)
    if inner:
        none = jnp.zeros_like(points[0])
        for loads in (pulls, moments):
            links += (jnp.stack([sum((loads[i] for i in inner.get(j + 1, ())), none) for j in range(moved)]),)
    if any(screws.slides):
        links += (np.asarray(screws.slides[:moved]),)
    return (jnp.moveaxis(jax.lax.scan(step, beyond, links, reverse=True)[1], 0, -1),)


posture.defvjp(_forward, _backward)
