"""Where the links of a robot are: batched, differentiable functions from joint angles to points in space.

A chain maps joint angles [..., joints] to points [..., points, 2 or 3], base first and end effector last.
"""

import math
from dataclasses import dataclass

import jax
import jax.numpy as jnp

from vigor.errors import UserError

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
        """Points [..., len(joints) + 2, 3]: the base, every joint's origin, the end effector.

        The frame is carried as three axis vectors, so that everything is elementwise arithmetic on whole batches; a
        product of thousands of 4 x 4 matrices is many times slower.
        """
        zero = jnp.zeros((*angles.shape[:-1], 3), angles.dtype)
        x, y, z = (zero.at[..., i].set(1.0) for i in range(3))
        points = [zero]
        origin = zero
        for i, (a, alpha, d) in enumerate(self.joints):
            cos_alpha, sin_alpha = round(math.cos(alpha), 15), round(math.sin(alpha), 15)
            origin = origin + a * x
            y, z = cos_alpha * y + sin_alpha * z, cos_alpha * z - sin_alpha * y
            origin = origin + d * z
            if i < angles.shape[-1]:
                cos, sin = jnp.cos(angles[..., i, None]), jnp.sin(angles[..., i, None])
                x, y = cos * x + sin * y, cos * y - sin * x
            points.append(origin)
        points.append(origin + self.tool * z)
        return jnp.stack(points, axis=-2)


def path(coordinates: Array) -> Array:
    """The kinematics of a point that is moved directly: points [..., 1, n] of coordinates [..., n]."""
    return coordinates[..., None, :]


def panda() -> SerialChain:
    """The Franka Panda with its tool point .212 m beyond joint 7 (a flange of .107 m and a hand)."""
    quarter = math.pi / 2
    parameters = (
        (0.0, 0.0, 0.333),
        (0.0, -quarter, 0.0),
        (0.0, quarter, 0.316),
        (0.0825, quarter, 0.0),
        (-0.0825, -quarter, 0.384),
        (0.0, quarter, 0.0),
        (0.088, quarter, 0.0),
    )
    return SerialChain(parameters, tool=0.212)


PANDA_LIMITS = (
    (-2.8973, 2.8973),
    (-1.7628, 1.7628),
    (-2.8973, 2.8973),
    (-3.0718, -0.0698),
    (-2.8973, 2.8973),
    (-0.0175, 3.7525),
    (-2.8973, 2.8973),
)
"""Joint limits of the Panda, in radians."""
