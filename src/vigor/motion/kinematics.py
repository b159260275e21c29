"""Kinematics: the places of a robot's links, as batched, differentiable functions of its joint angles.

A chain maps joint angles to points of a plane or of space, base first and end effector last.
"""

from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from vigor.basics.errors import UserError


@dataclass(frozen=True)
class PlanarChain:
    """A chain of straight links in the plane; every joint angle is relative to the link before."""

    links: tuple[float, ...]
    """Length of each link."""

    def __call__(self, joints: Float[Array, "*batch joint"]) -> Float[Array, "*batch joint+1 2"]:
        """Points of joint angles."""
        if joints.shape[-1] != len(self.links):
            raise UserError(f"a planar chain of {len(self.links)} links cannot have {joints.shape[-1]} joint angles")
        angles = jnp.cumsum(joints, axis=-1)
        lengths = jnp.asarray(self.links, joints.dtype)
        points = jnp.cumsum(jnp.stack([lengths * jnp.cos(angles), lengths * jnp.sin(angles)], axis=-1), axis=-2)
        return jnp.concatenate([jnp.zeros_like(points[..., :1, :]), points], axis=-2)


@dataclass(frozen=True)
class SerialChain:
    """A chain of revolute joints in modified Denavit-Hartenberg parameters, (a, alpha, d) per joint.

    Joints beyond those given to a call stay at zero. The end effector lies `tool` along the last joint's axis.
    """

    joints: tuple[tuple[float, float, float], ...]
    tool: float = 0.0

    def __call__(self, angles: Float[Array, "*batch moved"]) -> Float[Array, "*batch point 3"]:
        """Points of the angles of the moved joints: the base, every joint's origin, the end effector."""
        if angles.shape[-1] > len(self.joints):
            raise UserError(f"a chain of {len(self.joints)} joints cannot have {angles.shape[-1]} joint angles")
        return _points(self, angles)


def _frames(
    chain: SerialChain, angles: Float[Array, "*batch moved"]
) -> tuple[Float[Array, "point 3 *batch"], Float[Array, "moved 3 *batch"]]:
    """Points and axes of a chain.

    The frame is carried from joint to joint as three axis vectors, so that everything is elementwise arithmetic on
    whole batches; a product of thousands of 4 x 4 matrices is many times slower. A loop, because XLA works out the
    elements of an unrolled chain again and again in every expression that they appear in.
    """
    angles = jnp.moveaxis(angles, -1, 0)
    moved, batch = angles.shape[0], angles.shape[1:]
    still = jnp.zeros((len(chain.joints) - moved, *batch), angles.dtype)
    angles = jnp.concatenate([angles, still])
    a, alpha, d = np.asarray(chain.joints, angles.dtype).T
    origin = jnp.zeros((3, *batch), angles.dtype)

    def step(frame: tuple[Array, ...], joint: tuple[Array, ...]) -> tuple[tuple[Array, ...], tuple[Array, Array]]:
        origin, x, y, z = frame
        a, cos_alpha, sin_alpha, d, cos, sin = joint
        y_turned, z = cos_alpha * y + sin_alpha * z, cos_alpha * z - sin_alpha * y
        origin = origin + a * x + d * z
        x, y = cos * x + sin * y_turned, cos * y_turned - sin * x
        return (origin, x, y, z), (origin, z)

    frame = (origin, *(origin.at[i].set(1.0) for i in range(3)))
    joints = (a, np.cos(alpha), np.sin(alpha), d, jnp.cos(angles), jnp.sin(angles))
    (last, _, _, z), (origins, axes) = jax.lax.scan(step, frame, joints)
    return jnp.concatenate([origin[None], origins, (last + chain.tool * z)[None]]), axes[:moved]


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def _points(chain: SerialChain, angles: Float[Array, "*batch moved"]) -> Float[Array, "*batch point 3"]:
    return _points_forward(chain, angles)[0]


def _points_forward(
    chain: SerialChain, angles: Float[Array, "*batch moved"]
) -> tuple[Float[Array, "*batch point 3"], tuple[Float[Array, "point 3 *batch"], Float[Array, "moved 3 *batch"]]]:
    points, axes = _frames(chain, angles)
    return jnp.moveaxis(points, (0, 1), (-2, -1)), (points, axes)


def _points_backward(
    chain: SerialChain,
    residuals: tuple[Float[Array, "point 3 *batch"], Float[Array, "moved 3 *batch"]],
    slopes: Float[Array, "*batch point 3"],
) -> tuple[Float[Array, "*batch moved"]]:
    """Statics: the slope by an angle is the torque about its axis of the slopes by all points beyond, as forces."""
    points, axes = residuals
    forces = jnp.moveaxis(slopes, (-2, -1), (0, 1))
    moved = axes.shape[0]

    def step(beyond: tuple[Array, Array], link: tuple[Array, ...]) -> tuple[tuple[Array, Array], Array]:
        (force, moment), (point, pulled, axis) = beyond, link
        force, moment = force + pulled, moment + jnp.cross(point, pulled, axis=0)
        return (force, moment), jnp.sum(axis * (moment - jnp.cross(point, force, axis=0)), axis=0)

    rest = forces[moved + 1 :]
    beyond = (jnp.sum(rest, axis=0), jnp.sum(jnp.cross(points[moved + 1 :], rest, axis=1), axis=0))
    links = (points[1 : moved + 1], forces[1 : moved + 1], axes)
    return (jnp.moveaxis(jax.lax.scan(step, beyond, links, reverse=True)[1], 0, -1),)


_points.defvjp(_points_forward, _points_backward)


def path(coordinates: Float[Array, "*batch space"]) -> Float[Array, "*batch 1 space"]:
    """The kinematics of a point that is moved directly."""
    return coordinates[..., None, :]
