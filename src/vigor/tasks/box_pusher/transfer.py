"""Pushes in other contexts than their own: carried to another goal, and mirrored.

A push is carried with the box. Until the rod touches the box, the path stays as it is. From then on the box is taken to
move evenly, by the way that the rod has gone, from where it starts to its goal; the path keeps its place in the frame
of that box, which is then taken to move to the other goal instead.

Where a box is pushed and in which direction says about which point it turns. A longer push of the same kind moves it
farther on the same way, so that a push is carried well to a goal that asks for about the same motion per way, however
far it is, and badly to one that is near and asks for another rotation.
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from vigor.tasks.box_pusher import geometry
from vigor.tasks.box_pusher.control import PROMP

Array = jax.Array

SOFTNESS = 0.002
"""Way of the rod, in metres, over which it begins to count as touching."""


def carry(weights: Array, own: Array, to: Array) -> Array:
    """Weights [14] of a push for a context [3], from those for its own context [3]."""
    path = PROMP.rollout(weights) - jnp.asarray(geometry.START)
    moved = _progress(path)
    held = _turned(path - moved * own[:2], -moved[:, 0] * own[2])
    return _fit(_turned(held, moved[:, 0] * to[2]) + moved * to[:2])


def away(own: Array, to: Array) -> Array:
    """Angle between the motions that two contexts [3] ask for, displacement and rotation by half the box's length."""
    arm = jnp.array([1.0, 1.0, geometry.SIZE[1] / 2])
    one, other = own * arm, to * arm
    lengths = jnp.linalg.norm(one) * jnp.linalg.norm(other)
    return jnp.arccos(jnp.clip(one @ other / jnp.maximum(lengths, 1e-12), -1.0, 1.0))


def _progress(path: Array) -> Array:
    """Share [T, 1] of its way that a box has gone which a path [T, 2] pushes, from 0 to 1."""
    half = jnp.asarray(geometry.SIZE) / 2
    beyond = jnp.abs(path) - half
    outside = jnp.linalg.norm(jnp.maximum(beyond, 0.0), axis=-1)
    within = jnp.min(-beyond, axis=-1) - geometry.WALL
    free = jnp.where(jnp.any(beyond > 0, axis=-1), outside, within) - geometry.ROD
    touching = jnp.maximum.accumulate(jax.nn.sigmoid(-free / SOFTNESS))
    gone = jnp.cumsum(jnp.pad(touching[1:] * jnp.linalg.norm(jnp.diff(path, axis=0), axis=-1), (1, 0)))
    return (gone / jnp.maximum(gone[-1], 1e-6))[:, None]


def _turned(points: Array, angles: Array) -> Array:
    """Points [T, 2] turned by angles [T] about the origin."""
    x, y = points.T
    cos, sin = jnp.cos(angles), jnp.sin(angles)
    return jnp.stack([cos * x - sin * y, sin * x + cos * y], axis=-1)


def _fit(path: Array) -> Array:
    """Weights [14] of a path [T, 2] relative to where the box starts, by least squares."""
    basis = PROMP.basis(jnp.linspace(0.0, 1.0, PROMP.steps))
    return (jnp.linalg.pinv(basis) @ path / PROMP.scale).reshape(-1)


def _image(signs: tuple[int, int], weights: Array, context: Array) -> tuple[Array, Array]:
    """The mirror image of a push: weights [14] and their context [3]."""
    x, y = signs
    return weights * jnp.tile(jnp.asarray(signs), PROMP.bases), context * jnp.asarray([x, y, x * y])


IMAGES = tuple(partial(_image, tuple(signs)) for signs in np.asarray(geometry.MIRRORS[1:]).tolist())
"""Mirror images to the side, along the reach, and both."""
