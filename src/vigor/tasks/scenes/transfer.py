"""Movements of a scene in other contexts than their own: carried with the objects, by inverse kinematics.

Near an object the tool keeps its pose in the object's frame, wherever that is now; where a movement begins, it stays as
it is. In between it is moved by all of them, the more the nearer they are: with weights 1 / distance², as Shepard
interpolates. The joints follow by a small change that brings the tool there: to its place before all, which an arm of
few joints may not reach with the same axes.
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from vigor.motion.inverse_kinematics import damped_least_squares, told
from vigor.motion.promp import ProMP
from vigor.tasks.scenes.scene import Scene, place

STEPS, LAST, DAMPING = 10, 3, 1e-5
"""Steps of inverse kinematics to place and axes, then to the place alone, and how much these are damped."""
LOOKED_AT = 2
"""Moments for every basis function at which the tool is moved."""
TOUCHING = 1e-3
"""Metres within which a tool is at an object, or at its start."""


def carry(
    scene: Scene,
    promp: ProMP,
    weights: Float[Array, " weight"],
    own: Float[Array, " coordinate"],
    to: Float[Array, " coordinate"],
) -> Float[Array, " weight"]:
    """Weights of a movement in another context, from those in its own; in its own they stay as they are."""
    phase, count, chain = (
        jnp.linspace(0.0, 1.0, LOOKED_AT * promp.bases),
        len(scene.robot.joints),
        scene.robot.kinematics,
    )
    assert chain is not None
    low, high = (jnp.asarray(bound, jnp.float32) for bound in np.array(scene.robot.position).T)
    pose, position = partial(told, chain, True), partial(told, chain, False)

    def follow(near: Float[Array, " joint"], aim: Float[Array, " 12"]) -> Float[Array, " joint"]:
        turned = damped_least_squares(pose, near, aim, low, high, DAMPING, STEPS)
        return damped_least_squares(position, turned, aim[:3], low, high, DAMPING, LAST)

    joints = promp.at(weights, phase)[:, :count]
    found = jax.vmap(follow)(joints, _moved(scene, jax.vmap(pose)(joints), own, to))
    change = jnp.pad(found - joints, ((0, 0), (0, promp.dimensions - count)))
    return weights + (jnp.linalg.pinv(promp.basis(phase)) @ change / promp.scale).reshape(-1)


def _moved(
    scene: Scene, tool: Float[Array, "time 12"], own: Float[Array, " coordinate"], to: Float[Array, " coordinate"]
) -> Float[Array, "time 12"]:
    """The tool as the objects and the start move it: a mean of what each would do. Of its axes that is a matrix which
    may not be a rotation; the rotation nearest to it is what inverse kinematics find."""
    vectors = tool.reshape(-1, 4, 3)  # The place, then three axes.
    away, each = [jnp.linalg.norm(vectors[:, 0] - vectors[0, 0], axis=-1)], [vectors]
    for item in scene.objects:
        before, after = place(scene, item, own), place(scene, item, to)
        turn = (after.rotation @ before.rotation.T).T
        positions = (vectors[:, :1] - before.position) @ turn + after.position
        away.append(jnp.linalg.norm(vectors[:, 0] - before.position, axis=-1))
        each.append(jnp.concatenate([positions, vectors[:, 1:] @ turn], axis=1))
    share = 1 / (jnp.stack(away) ** 2 + TOUCHING**2)
    share = share / share.sum(axis=0)
    return jnp.einsum("ot,otvx->tvx", share, jnp.stack(each), precision="highest").reshape(tool.shape)
