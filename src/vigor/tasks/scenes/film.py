"""A film of a scene, without a display: the robot's links, the objects, keep-outs, and the path of the tool."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
from scipy.spatial.transform import Rotation

from vigor.basics.engine import mujoco
from vigor.motion.shapes import Box, Sphere
from vigor.motion.trajectories import resample
from vigor.tasks.box_pusher import pictures
from vigor.tasks.box_pusher.scene import STEEL, add_surroundings
from vigor.tasks.reachers.panda_film import FORBIDDEN, SECONDS, TARGETS, TRACE
from vigor.tasks.scenes.scene import Scene, place
from vigor.tasks.scenes.stage import SMALLEST, surfaces

CLOSED, HELD = 0.5, 0.03
"""Share of its range from which a gripper is closed, and how near to the tool an object is that it then holds."""
LINK = (0.93, 0.93, 0.91, 1.0)


def write(
    scene: Scene, origin: str, path: Path, joints: np.ndarray, context: np.ndarray, keep_out: Sequence[Sphere | Box]
) -> None:
    """Write a film of a movement [T, dimensions] in a context [C]; origin: the scene's file, for the robot's meshes."""
    chain, count = scene.robot.kinematics, len(scene.robot.joints)
    assert chain is not None
    moved = resample(np.asarray(joints, float), round(SECONDS * pictures.FRAMES))
    skin = surfaces(scene, origin)
    poses = jnp.asarray(moved[:, :count], jnp.float32)
    links, tool = chain.frames(poses, list(skin)), chain.frames(poses)
    tips, axes = np.asarray(tool.position[:, 0], float), np.asarray(tool.rotation[:, 0], float)
    objects = _objects(scene, context, moved[:, count:], tips, axes)
    positions = np.concatenate([np.asarray(links.position, float), objects[0]], axis=1)
    rotations = np.concatenate([np.asarray(links.rotation, float), objects[1]], axis=1)

    compiled = _build(scene, skin, keep_out, tips).compile()
    data = mujoco.MjData(compiled)
    beads = [compiled.geom(f"trace {i}").id for i in range(len(tips))]
    film: list[np.ndarray] = []
    with pictures.renderer(compiled, _view(positions, tips)) as draw:
        for i in [*range(len(tips)), *[len(tips) - 1] * pictures.FRAMES]:  # The last pose stays for a second.
            data.mocap_pos[:] = positions[i]
            data.mocap_quat[:] = Rotation.from_matrix(rotations[i]).as_quat(scalar_first=True)
            compiled.geom_rgba[beads[i]] = TRACE
            mujoco.mj_forward(compiled, data)
            film.append(draw(data))
    pictures.write_film(path, film)


def _objects(
    scene: Scene, context: np.ndarray, gripper: np.ndarray, tips: np.ndarray, axes: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Positions [T, object, 3] and rotations [T, object, 3, 3]: one that a gripper [T, 0 or 1] closes at goes with the
    tool, at tips [T, 3] with axes [T, 3, 3], until it opens."""
    frames = [place(scene, item, jnp.asarray(context, jnp.float32)) for item in scene.objects]
    at, turn = (np.array([np.asarray(part, float) for part in parts]) for parts in zip(*frames, strict=True))
    positions, rotations, held = [], [], None
    closed = np.any(gripper > CLOSED, axis=1)
    for i, (tip, turned) in enumerate(zip(tips, axes, strict=True)):
        near = np.linalg.norm(at - tip, axis=1)
        if closed[i] and held is None and near.min() < HELD and not closed[max(i - 1, 0)]:
            which = int(near.argmin())
            held = which, turned.T @ (at[which] - tip), turned.T @ turn[which]
        elif not closed[i]:
            held = None
        if held is not None:
            at[held[0]], turn[held[0]] = tip + turned @ held[1], turned @ held[2]
        positions.append(at.copy())
        rotations.append(turn.copy())
    return np.array(positions), np.array(rotations)


def _view(parts: np.ndarray, tips: np.ndarray) -> dict[str, Any]:
    """A camera that sees links and objects [T, part, 3] and the path of the tool [T, 3]."""
    seen = np.concatenate([tips, parts.reshape(-1, 3)])
    low, high = seen.min(axis=0), seen.max(axis=0)
    far = 1.25 * float(np.linalg.norm(high - low))
    return {"lookat": (low + high) / 2, "distance": far, "azimuth": 150.0, "elevation": -25.0}


def _build(scene: Scene, skin: dict[str, Any], keep_out: Sequence[Sphere | Box], tips: np.ndarray) -> Any:
    """An MjSpec of links and objects, which are placed by hand, of keep-outs, and of the trace, unseen yet."""
    spec = mujoco.MjSpec()
    add_surroundings(spec)
    world, ball, box = spec.worldbody, mujoco.mjtGeom.mjGEOM_SPHERE, mujoco.mjtGeom.mjGEOM_BOX
    for number, (name, surface) in enumerate(skin.items()):
        mesh = spec.add_mesh(name=name, uservert=surface.vertices.ravel(), userface=surface.faces.ravel())
        mesh.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL
        body = world.add_body(name=f"link {name}", mocap=True)
        body.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname=name, rgba=STEEL if number % 2 else LINK)
    for number, item in enumerate(scene.objects):
        body = world.add_body(name=f"object {item.name}", mocap=True)
        body.add_geom(
            type=box if item.turns else ball, size=(SMALLEST,) * 3, rgba=(*TARGETS[number % len(TARGETS)][:3], 0.8)
        )
    for shape in keep_out:
        size = (shape.radius, 0, 0) if isinstance(shape, Sphere) else np.subtract(shape.high, shape.low) / 2
        world.add_geom(type=ball if isinstance(shape, Sphere) else box, pos=shape.centre, size=size, rgba=FORBIDDEN)
    for i, tip in enumerate(tips):
        world.add_geom(name=f"trace {i}", type=ball, pos=tip, size=(0.004, 0, 0), rgba=(0, 0, 0, 0))
    return spec
