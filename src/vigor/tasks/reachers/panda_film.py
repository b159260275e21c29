"""A film of the Panda reacher, without a display: the arm, its targets, and places to keep out of."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np

from vigor.basics.engine import mujoco
from vigor.motion import panda
from vigor.motion.panda import model
from vigor.motion.shapes import Box, Sphere
from vigor.motion.trajectories import resample
from vigor.tasks.box_pusher import pictures, scene
from vigor.tasks.task import Region

SECONDS = 4.0
"""Seconds of a movement in the film."""
VIEW = {"lookat": (0.25, 0.0, 0.42), "distance": 1.45, "azimuth": 215.0, "elevation": -18.0}
TARGETS = ((0.15, 0.55, 0.85, 0.55), (0.10, 0.70, 0.25, 0.55), (0.90, 0.65, 0.10, 0.55))
"""Colours of targets in their order."""
FORBIDDEN = (0.85, 0.15, 0.12, 0.55)
TRACE = (0.1, 0.1, 0.1, 1.0)


def write(path: Path, joints: np.ndarray, targets: Sequence[Region], keep_out: Sequence[Sphere | Box]) -> None:
    """Write an mp4 of a trajectory [T, 6]; the tool's path shows as it is made."""
    frames = round(SECONDS * pictures.FRAMES)
    moved = resample(np.asarray(joints, float), frames)
    tips = np.asarray(panda.chain()(jnp.asarray(moved)))[:, -1]
    compiled = _build(targets, keep_out, tips).compile()
    data = mujoco.MjData(compiled)
    beads = [compiled.geom(f"trace {i}").id for i in range(len(tips))]
    film: list[np.ndarray] = []
    with pictures.renderer(compiled, VIEW) as draw:
        # The last pose stays for a second.
        for i in [*range(frames), *[frames - 1] * pictures.FRAMES]:
            data.qpos[:6], data.qpos[6] = moved[i], 0.0
            compiled.geom_rgba[beads[i]] = TRACE
            mujoco.mj_forward(compiled, data)
            film.append(draw(data))
    pictures.write_film(path, film)


def _build(targets: Sequence[Region], keep_out: Sequence[Sphere | Box], tips: np.ndarray) -> Any:
    """An MjSpec of the arm with a stick to its tool point, of targets and keep-outs, and of the trace, unseen yet."""
    spec = model.spec()
    spec.body("attachment").add_geom(
        type=mujoco.mjtGeom.mjGEOM_CAPSULE,
        fromto=(0, 0, 0, 0, 0, panda.TOOL - panda.FLANGE),
        size=(0.008, 0, 0),
        rgba=scene.STEEL,
        mass=0,
    )
    scene.add_surroundings(spec)
    world, ball, box = spec.worldbody, mujoco.mjtGeom.mjGEOM_SPHERE, mujoco.mjtGeom.mjGEOM_BOX
    for i, region in enumerate(targets):
        world.add_geom(type=ball, pos=region.centre, size=(region.radius, 0, 0), rgba=TARGETS[i % len(TARGETS)])
    for shape in keep_out:
        size = (shape.radius, 0, 0) if isinstance(shape, Sphere) else np.subtract(shape.high, shape.low) / 2
        world.add_geom(type=ball if isinstance(shape, Sphere) else box, pos=shape.centre, size=size, rgba=FORBIDDEN)
    for i, tip in enumerate(tips):
        world.add_geom(name=f"trace {i}", type=ball, pos=tip, size=(0.006, 0, 0), rgba=(0, 0, 0, 0))
    return spec
