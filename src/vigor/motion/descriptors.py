"""Geometric descriptors: pure functions from a motion to one or more numbers per time step.

A task lists the descriptors it wants; `describe` puts them side by side. Every function here takes one motion and
returns [time] or [time, feature]; `jax.vmap` lifts it over samples, components and contexts.
"""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float


class Motion(NamedTuple):
    """A trajectory in its task configuration."""

    joints: Float[Array, "*batch time dimension"]
    """Joints or coordinates that the ProMP moves."""
    points: Float[Array, "*batch time point space"]
    """The robot's links from base to end effector, by the task's kinematics; space has 2 or 3 axes."""
    context: Float[Array, "*batch coordinate"]
    """The task configuration."""

    @property
    def effector(self) -> Float[Array, "*batch time space"]:
        """Path of the end effector."""
        return self.points[..., -1, :]


Descriptor = Callable[[Motion], Float[Array, " time"] | Float[Array, "time feature"]]


def describe(motion: Motion, descriptors: Sequence[Descriptor]) -> Float[Array, "time feature"]:
    """All descriptors of a motion side by side."""
    columns = [descriptor(motion) for descriptor in descriptors]
    return jnp.concatenate([column[:, None] if column.ndim == 1 else column for column in columns], axis=1)


def name_of(descriptor: Descriptor, context_names: Sequence[str]) -> str:
    """Name of a descriptor in words, with what it is measured from if that is a part of the context."""
    name = getattr(descriptor, "__name__", type(descriptor).__name__).replace("_", " ")
    target = getattr(descriptor, "target", None)
    if target is None:
        return name
    first, *others = names = context_names[target]
    shared = [word for word in first.split() if all(word in other.split() for other in others)]
    return f"{name} {' '.join(shared) or ', '.join(names)}"  # For "first x" and "first y": first.


def distance(a: Float[Array, "*batch space"], b: Float[Array, "*#batch space"]) -> Float[Array, "*batch"]:
    """Euclidean distance along the last axis, with a zero gradient where the points coincide."""
    squared = jnp.sum((a - b) ** 2, axis=-1)
    return jnp.where(squared > 0, jnp.sqrt(jnp.where(squared > 0, squared, 1.0)), 0.0)


def distance_to(target: slice) -> Descriptor:
    """Distance of the end effector to the point that a slice of the context holds."""

    def distance_to(motion: Motion) -> Float[Array, " time"]:
        return distance(motion.effector, motion.context[target])

    distance_to.target = target  # type: ignore[attr-defined]
    return distance_to


def link_distances_to(target: slice) -> Descriptor:
    """Distances of the links between base and end effector to the point that a slice of the context holds."""

    def link_distances_to_target(motion: Motion) -> Float[Array, "time feature"]:
        return distance(motion.points[:, 1:-1], motion.context[target])

    return link_distances_to_target


def offsets_to(
    points: Callable[[Float[Array, " coordinate"]], Float[Array, "point 2"]],
    angle: Callable[[Float[Array, " coordinate"]], Float[Array, ""]],
) -> Descriptor:
    """Offsets of the end effector in the plane to points of the context, x and y of each, in a frame of the context.

    points: from a context; angle: from a context to how far the frame is turned.
    """

    def offsets_to_points(motion: Motion) -> Float[Array, "time feature"]:
        turn = angle(motion.context)
        cos, sin = jnp.cos(turn), jnp.sin(turn)
        x, y = jnp.moveaxis(motion.effector[:, None, :2] - points(motion.context), -1, 0)
        turned = jnp.stack([cos * x + sin * y, cos * y - sin * x], axis=-1)
        return turned.reshape(len(turned), -1)

    return offsets_to_points


def scaled(descriptor: Descriptor, unit: float) -> Descriptor:
    """A descriptor in another unit. Networks take descriptors as they are, and learn best from numbers around 1."""

    @wraps(descriptor)
    def scaled_descriptor(motion: Motion) -> Float[Array, " time"] | Float[Array, "time feature"]:
        return descriptor(motion) / unit

    return scaled_descriptor


def _differences(joints: Float[Array, "time dimension"], order: int) -> Float[Array, "time dimension"]:
    """Differences between successive steps, with zeros before the first."""
    return jnp.pad(jnp.diff(joints, n=order, axis=0), ((order, 0), (0, 0)))


def squared_velocity(motion: Motion) -> Float[Array, " time"]:
    """Sum over joints of squared first differences."""
    return jnp.sum(_differences(motion.joints, 1) ** 2, axis=-1)


def squared_acceleration(motion: Motion) -> Float[Array, " time"]:
    """Sum over joints of squared second differences."""
    return jnp.sum(_differences(motion.joints, 2) ** 2, axis=-1)


def mean_squared_velocity(motion: Motion) -> Float[Array, " time"]:
    """Mean over joints of squared first differences."""
    return jnp.mean(_differences(motion.joints, 1) ** 2, axis=-1)


def mean_squared_acceleration(motion: Motion) -> Float[Array, " time"]:
    """Mean over joints of squared second differences."""
    return jnp.mean(_differences(motion.joints, 2) ** 2, axis=-1)


def joint_squared_velocities(motion: Motion) -> Float[Array, "time feature"]:
    """Squared first differences of every joint."""
    return _differences(motion.joints, 1) ** 2


def joint_squared_accelerations(motion: Motion) -> Float[Array, "time feature"]:
    """Squared second differences of every joint."""
    return _differences(motion.joints, 2) ** 2


def joint_angles(motion: Motion) -> Float[Array, "time feature"]:
    """The joints themselves."""
    return motion.joints


def context(motion: Motion) -> Float[Array, "time feature"]:
    """The context, repeated at every step."""
    return jnp.broadcast_to(motion.context, (motion.joints.shape[0], motion.context.shape[0]))
