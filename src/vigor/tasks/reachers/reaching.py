"""Common parts of the two reachers: pass through a first target, end in a second."""

import jax
import jax.numpy as jnp

from vigor.motion import descriptors
from vigor.motion.descriptors import Descriptor, Motion

Array = jax.Array


def distances_and(first: slice, second: slice, *smoothness: Descriptor) -> tuple[Descriptor, ...]:
    """Distances to both targets, then descriptors of how smooth the motion is."""
    return descriptors.distance_to(first), descriptors.distance_to(second), *smoothness


def ablations(first: slice, second: slice) -> dict[str, tuple[Descriptor, ...]]:
    """The descriptor sets of the paper's appendix D: "distances and velocity and acceleration for each robot joint"
    are those of every link, the end effector's first."""
    return {
        "angles": (descriptors.joint_angles, descriptors.context),
        "jointwise": distances_and(
            first,
            second,
            descriptors.link_distances_to(first),
            descriptors.link_distances_to(second),
            descriptors.joint_squared_velocities,
            descriptors.joint_squared_accelerations,
        ),
    }


def reached(first: slice, second: slice, radius: float) -> Descriptor:
    """Whether either target has been reached up to each step: [T, 2] of 0 and 1."""

    def reached_targets(motion: Motion) -> Array:
        within = [descriptors.distance(motion.effector, motion.context[part]) <= radius for part in (first, second)]
        return jax.lax.cummax(jnp.stack(within, axis=1).astype(motion.joints.dtype), axis=0)

    return reached_targets


def distance_to_boundaries(motion: Motion, first: slice, second: slice, radius: float) -> Array:
    """Distance to the first target's boundary at the closest step plus that to the second's at the last step."""
    to_first = descriptors.distance(motion.effector, motion.context[first])
    to_second = descriptors.distance(motion.effector[-1], motion.context[second])
    return jnp.maximum(0.0, jnp.min(to_first) - radius) + jnp.maximum(0.0, to_second - radius)
