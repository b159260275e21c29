"""Where the links of a robot are: batched, differentiable functions from joint angles to points in space.

A chain maps joint angles [..., joints] to points [..., points, 2 or 3], base first and end effector last.
"""

from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from vigor.basics.errors import UserError

Array = jax.Array


@dataclass(frozen=True)
class PlanarChain:
    """A chain of straight links in the plane; every joint angle is relative to the link before."""

    links: tuple[float, ...]
    """Length of each link."""

    def __call__(self, joints: Array) -> Array:
        """Points [..., links + 1, 2] of joint angles [..., links]."""
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

    def __call__(self, angles: Array) -> Array:
        """Points [..., len(joints) + 2, 3]: the base, every joint's origin, the end effector."""
        if angles.shape[-1] > len(self.joints):
            raise UserError(f"a chain of {len(self.joints)} joints cannot have {angles.shape[-1]} joint angles")
        return _points(self, angles)


def _frames(chain: SerialChain, angles: Array) -> tuple[Array, Array]:
    """Points [point, 3, ...] and axes [moved joint, 3, ...] of a chain.

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
def _points(chain: SerialChain, angles: Array) -> Array:
    return _points_forward(chain, angles)[0]


def _points_forward(chain: SerialChain, angles: Array) -> tuple[Array, tuple[Array, Array]]:
    points, axes = _frames(chain, angles)
    return jnp.moveaxis(points, (0, 1), (-2, -1)), (points, axes)


def _points_backward(chain: SerialChain, residuals: tuple[Array, Array], slopes: Array) -> tuple[Array]:
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


def path(coordinates: Array) -> Array:
    """The kinematics of a point that is moved directly: points [..., 1, n] of coordinates [..., n]."""
    return coordinates[..., None, :]
