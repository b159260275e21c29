"""Relations of a robot's tool to the objects of a scene: the descriptors of its movements, and how far they succeed.

An object's frame moves with it, so that what is done to it looks the same wherever it stands. Orientations are told by
the tool's axes in that frame: numbers without jumps.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from vigor.motion.descriptors import Descriptor, Motion, distance, squared_acceleration, squared_velocity
from vigor.tasks.scenes.scene import Criterion, Place, Scene, place

STILL = 1e-3
"""Share of a gripper's range that counts as moved over a whole movement, so that one that is still has a mean too."""
FINEST = 0.02
"""Metres, parts of an axis and of a gripper's range: a quantity that varies less tells nothing, however well computed
demonstrations agree in it. An invariant has a twentieth of it as its width at least, a millimetre."""
AXES = "xyz"


class Tool(NamedTuple):
    """The tool in the course of a movement."""

    position: Float[Array, "time 3"]
    rotation: Float[Array, "time 3 3"]


def descriptors(scene: Scene) -> tuple[Descriptor, ...]:
    """Descriptors of a scene's movements: the tool among the objects, speed and acceleration, the gripper."""
    return (_named(scene), _joints_alone(scene, squared_velocity), _joints_alone(scene, squared_acceleration))


def _named(scene: Scene) -> Descriptor:
    """All relations of the tool to the objects, and the gripper, as one descriptor with a name for every feature.

    One, so that the arm's kinematics are worked out once.
    """

    def relations(motion: Motion) -> Float[Array, "time feature"]:
        return jnp.stack(list(_features(scene, motion).values()), axis=-1)

    shapes = (3, scene.dimensions), (3, len(scene.robot.joints) + 2, 3), (len(scene.context_names),)
    empty = Motion(*(jax.ShapeDtypeStruct(shape, jnp.float32) for shape in shapes))  # type: ignore[arg-type]
    names = list[str]()

    def trace(motion: Motion) -> Float[Array, "time feature"]:
        names.extend(_features(scene, motion))
        return relations(motion)

    jax.eval_shape(trace, empty)
    relations.names = names  # type: ignore[attr-defined]
    relations.finest = FINEST  # type: ignore[attr-defined]
    return relations


def _features(scene: Scene, motion: Motion) -> dict[str, Float[Array, " time"]]:
    """Features of a movement by name."""
    tool, features = _tool(scene, motion), dict[str, Array]()
    if not any(item.turns for item in scene.objects):
        features |= _axes(tool.rotation, "base")
    for item in scene.objects:
        at = place(scene, item, motion.context)
        offset = _times(tool.position - at.position, at.rotation)
        own = {f"{axis} from {item.name}": offset[:, i] for i, axis in enumerate(AXES)}
        features |= own | {f"distance to {item.name}": distance(tool.position, at.position)}
        turned = _axes(_times(at.rotation.T, tool.rotation), item.name) if item.turns else {}
        features |= turned
        for moment, weights in _moments(scene, motion).items():
            features |= {f"{name} {moment}": _mean(weights, values) for name, values in (own | turned).items()}
    if scene.gripper is not None:
        features["gripper"] = motion.joints[:, -1]
    return features


def _tool(scene: Scene, motion: Motion) -> Tool:
    chain = scene.robot.kinematics
    assert chain is not None
    frames = chain.frames(motion.joints[:, : len(scene.robot.joints)])
    return Tool(frames.position[:, 0], frames.rotation[:, 0])


def _axes(rotation: Float[Array, "time 3 3"], frame: str) -> dict[str, Float[Array, " time"]]:
    """The tool's z and x axes in a frame, by name: they say all of an orientation."""
    return {
        f"tool's {AXES[own]} along {frame}'s {AXES[other]}": rotation[:, other, own]
        for own in (2, 0)
        for other in range(3)
    }


def _moments(scene: Scene, motion: Motion) -> dict[str, Float[Array, " time"]]:
    """Rise and fall of the gripper at every step, as parts of all it does, by name."""
    if scene.gripper is None:
        return {}
    change = jnp.pad(jnp.diff(motion.joints[:, -1]), (1, 0))
    rises, falls = (jax.nn.relu(sign * change) + STILL / len(change) for sign in (1, -1))
    return {"as the gripper rises": rises / rises.sum(), "as the gripper falls": falls / falls.sum()}


_times = partial(jnp.matmul, precision="highest")
"""The product of two arrays, exactly, on GPUs too."""


def _mean(weights: Float[Array, " time"], values: Float[Array, " time"]) -> Float[Array, " time"]:
    """The mean of values with weights, at every step."""
    return jnp.full_like(values, _times(weights, values))


def _joints_alone(scene: Scene, descriptor: Descriptor) -> Descriptor:
    """A descriptor of the joints without the gripper."""

    def of_joints(motion: Motion) -> Float[Array, " time"]:
        return descriptor(motion._replace(joints=motion.joints[:, : len(scene.robot.joints)]))

    of_joints.__name__ = getattr(descriptor, "__name__", "")
    return of_joints


def missed(scene: Scene) -> Callable[[Motion], Float[Array, ""]]:
    """Distance of a movement from all that the scene calls success: metres and radians beyond what is allowed."""

    def missed(motion: Motion) -> Float[Array, ""]:
        tool = _tool(scene, motion)
        places = {item.name: place(scene, item, motion.context) for item in scene.objects}
        parts = []
        for criterion in scene.success:
            beyond = _beyond(criterion, tool, places[criterion.object])
            parts.append(beyond[-1] if criterion.when == "end" else jnp.min(beyond))
        return jnp.sum(jnp.stack(parts))

    return missed


def _beyond(criterion: Criterion, tool: Tool, at: Place) -> Float[Array, " time"]:
    """Metres and radians at every step by which the tool is farther from an object than allowed."""
    far = jax.nn.relu(distance(tool.position, at.position) - criterion.within)
    if criterion.degrees is None:
        return far
    along = -_times(tool.rotation[:, :, 2], at.rotation[:, 2])
    across = jnp.linalg.norm(jnp.cross(tool.rotation[:, :, 2], at.rotation[:, 2]) + 1e-12, axis=-1)
    return far + jax.nn.relu(jnp.arctan2(across, along) - jnp.deg2rad(criterion.degrees))
