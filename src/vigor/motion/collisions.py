"""Collisions of a robot with itself and with shapes around it, by the capsules of its links."""

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from vigor.basics.errors import UserError
from vigor.motion.distances import between_lines, capsule_to_shape
from vigor.motion.kinematics import Chain
from vigor.motion.robots import LinkCapsule, Robot
from vigor.motion.shapes import Box, Capsule, Plane, Sphere

SAMPLES = 1000
"""Random poses in which pairs of links are looked at."""


def self_clearance(robot: Robot, joints: Float[Array, "*batch joint"]) -> Float[Array, "*batch"]:
    """Smallest distance between links of a robot that could touch; negative where they do."""
    return jnp.min(pair_clearances(robot, joints), axis=-1, initial=jnp.inf)


def pair_clearances(robot: Robot, joints: Float[Array, "*batch joint"]) -> Float[Array, "*batch pair"]:
    """Distances of the capsules of every pair in `robot.pairs`; negative where they touch."""
    chain = _chain(robot)
    return _between(chain, robot.capsules, robot.pairs, joints)


def clearances(
    robot: Robot, joints: Float[Array, "*batch joint"], shapes: Sequence[Sphere | Box | Plane | Capsule]
) -> Float[Array, "*batch shape"]:
    """Smallest distance of the whole robot to each of some shapes; negative where it is inside."""
    starts, stops = ends(robot, joints)
    radii = jnp.asarray([item.capsule.radius for item in robot.capsules], joints.dtype)
    found = [jnp.min(capsule_to_shape(starts, stops, radii, shape), axis=-1) for shape in shapes]
    return jnp.stack(found, axis=-1) if found else jnp.zeros((*joints.shape[:-1], 0), joints.dtype)


def ends(
    robot: Robot, joints: Float[Array, "*batch joint"]
) -> tuple[Float[Array, "*batch capsule 3"], Float[Array, "*batch capsule 3"]]:
    """Both ends of the lines inside all capsules of a robot."""
    return _placed(_chain(robot), robot.capsules, joints)


def _chain(robot: Robot) -> Chain:
    if robot.kinematics is None or not robot.capsules:
        raise UserError(f"the robot {robot.name} has no capsules to look for collisions with; load it with capsules")
    return robot.kinematics


def _placed(
    chain: Chain, capsules: Sequence[LinkCapsule], joints: Float[Array, "*batch joint"]
) -> tuple[Float[Array, "*batch capsule 3"], Float[Array, "*batch capsule 3"]]:
    """Both ends of capsules."""
    position, rotation = chain.frames(joints, [item.link for item in capsules])
    starts = jnp.asarray([item.capsule.start for item in capsules], joints.dtype)
    ends = jnp.asarray([item.capsule.end for item in capsules], joints.dtype)
    starts, ends = (position + jnp.sum(rotation * end[:, None, :], axis=-1) for end in (starts, ends))
    return starts, ends


def _between(
    chain: Chain,
    capsules: Sequence[LinkCapsule],
    pairs: Sequence[tuple[int, int]],
    joints: Float[Array, "*batch joint"],
) -> Float[Array, "*batch pair"]:
    """Distances of pairs of capsules."""
    one, two = np.array(pairs, int).reshape(-1, 2).T
    radii = np.array([item.capsule.radius for item in capsules], joints.dtype)
    starts, stops = np.eye(2 * len(capsules), dtype=joints.dtype).reshape(2, len(capsules), -1)
    # A product with a matrix takes ends to lines: to gather them, with its gradient, takes several times as long.
    lines = np.concatenate([stops[one] - starts[one], stops[two] - starts[two], starts[two] - starts[one]])
    placed = jnp.concatenate(_placed(chain, capsules, joints), axis=-2)
    vectors = jnp.split(jnp.einsum("...ed,le->...dl", placed, lines, precision="highest"), 3, axis=-1)
    apart = between_lines(*([part[..., i, :] for i in range(3)] for part in vectors))
    return apart - (radii[one] + radii[two])


_jitted = jax.jit(_between, static_argnums=(0, 1, 2))


def touching(robot: Robot) -> dict[tuple[int, int], float]:
    """Part of random poses in which capsules touch, by the numbers of pairs that a joint can move against each other.

    Links next to each other, with one joint between or none, are left out: they meet by construction.
    """
    chain = _chain(robot)
    carriers = [chain.link(item.link).joint for item in robot.capsules]
    pairs = [(i, j) for j in range(len(carriers)) for i in range(j) if abs(carriers[i] - carriers[j]) > 1]
    if not pairs:
        return {}
    poses = jnp.asarray(robot.random_poses(SAMPLES), jnp.float32)
    found = _jitted(chain, robot.capsules, tuple(pairs), poses)
    return dict(zip(pairs, np.mean(np.asarray(found) < 0, axis=0).tolist(), strict=True))
