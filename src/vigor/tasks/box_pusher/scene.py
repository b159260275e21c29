"""The scene: a Panda with a rod, a table, an open box and, in green, where the box is to go."""

from functools import cache
from typing import Any

import numpy as np

from vigor.basics.engine import mujoco
from vigor.motion.panda.model import Arm
from vigor.motion.panda.model import spec as panda
from vigor.tasks.box_pusher import control, geometry

TIMESTEP = 0.002
MASS = 2.0
"""Mass of the box: heavy enough to deflect the rod."""
TABLE_FRICTION, ROD_FRICTION = 0.4, 0.2
"""Between box and table, and between rod and box. The outcome of a push depends on them more than on all else."""
STIFFNESS = (600, 600, 600, 500, 250, 150, 50)
DAMPING = (50, 50, 50, 40, 20, 15, 8)
"""Stiffness and damping of the position-controlled joints."""

TABLE, STEEL, GREEN = (0.86, 0.83, 0.78, 1), (0.25, 0.27, 0.30, 1), (0.10, 0.70, 0.25, 1)
RED, DARK_RED = (0.80, 0.22, 0.18, 1), (0.52, 0.14, 0.12, 1)


def build(arm: Arm | None = None) -> Any:
    """An MjSpec of the whole scene."""
    spec = panda(arm)
    spec.option.timestep = TIMESTEP
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC  # Pyramids shift outcomes by centimetres.
    spec.option.impratio = 10
    for body in spec.bodies[1:]:
        body.gravcomp = 1  # Else the tip sags by 4 cm.
    for i, (stiffness, damping) in enumerate(zip(STIFFNESS, DAMPING, strict=True)):
        spec.actuators[i].gainprm[0] = stiffness
        spec.actuators[i].biasprm[:3] = 0, -stiffness, -damping
    _add_rod(spec.body("attachment"))
    tip = {"objtype": mujoco.mjtObj.mjOBJ_SITE, "objname": "tip"}
    spec.add_sensor(name="tip", type=mujoco.mjtSensor.mjSENS_FRAMEPOS, **tip)
    add_surroundings(spec)
    box = spec.worldbody.add_body(name="box", pos=(*geometry.START, 0))
    box.add_freejoint(name="box")
    _add_walls(box)
    _add_goal(spec.worldbody.add_body(name="goal", pos=(*geometry.START, 0), mocap=True))
    for geom in spec.geoms:  # Nothing touches anything but the pairs below.
        geom.contype = geom.conaffinity = 0
    _add_pair(spec, "box bottom", "table", TABLE_FRICTION, (0.02, 1.0))
    for part in ("box bottom", *(f"box wall {i}" for i in range(4))):
        _add_pair(spec, "rod", part, ROD_FRICTION, (0.004, 1.0))
    return spec


@cache
def model(arm: Arm | None = None) -> Any:
    """The compiled scene, made once."""
    return build(arm).compile()


def _add_rod(flange: Any) -> None:
    length, radius = control.ROD_LENGTH, geometry.ROD
    # It adds hardly any weight to what the joints carry.
    flange.add_geom(
        name="rod",
        type=mujoco.mjtGeom.mjGEOM_CAPSULE,
        fromto=(0, 0, radius, 0, 0, length - radius),
        size=(radius, 0, 0),
        rgba=STEEL,
        mass=0.1,
    )
    flange.add_site(name="tip", pos=(0, 0, length), size=(0.001,) * 3, group=4)


def _add_walls(body: Any) -> None:
    """The box's bottom and walls, with its weight spread evenly."""
    (x, y), wall, bottom = np.array(geometry.SIZE) / 2, geometry.WALL / 2, geometry.BOTTOM / 2
    up = (geometry.HEIGHT - geometry.BOTTOM) / 2
    middle = geometry.BOTTOM + up
    parts = [
        ("box bottom", (0, 0, bottom), (x, y, bottom)),
        ("box wall 0", (x - wall, 0, middle), (wall, y, up)),
        ("box wall 1", (0, y - wall, middle), (x - 2 * wall, wall, up)),
        ("box wall 2", (wall - x, 0, middle), (wall, y, up)),
        ("box wall 3", (0, wall - y, middle), (x - 2 * wall, wall, up)),
    ]
    whole = sum(np.prod(size) for _, _, size in parts)
    for name, place, size in parts:
        body.add_geom(
            name=name,
            type=mujoco.mjtGeom.mjGEOM_BOX,
            pos=place,
            size=size,
            rgba=DARK_RED if name == "box bottom" else RED,
            mass=MASS * np.prod(size) / whole,
        )


def _add_goal(body: Any) -> None:
    """A green area on the table with a frame around it: a box that is just in its place shows the frame alone."""
    (x, y), frame = np.array(geometry.SIZE) / 2, 0.002
    for place, size in (
        ((0, 0, 0.0005), (x, y, 0.0005)),
        ((x + frame, 0, 0.002), (frame, y + 2 * frame, 0.002)),
        ((-x - frame, 0, 0.002), (frame, y + 2 * frame, 0.002)),
        ((0, y + frame, 0.002), (x, frame, 0.002)),
        ((0, -y - frame, 0.002), (x, frame, 0.002)),
    ):
        body.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, pos=place, size=size, rgba=GREEN, mass=0)


def add_surroundings(spec: Any) -> None:
    """A table, light and a sky."""
    world = spec.worldbody
    world.add_geom(name="table", type=mujoco.mjtGeom.mjGEOM_PLANE, pos=(0.45, 0, 0), size=(0.75, 0.8, 0.1), rgba=TABLE)
    world.add_light(
        pos=(0, 0, 2), dir=(0.3, 0.5, -1), type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL, diffuse=(0.45,) * 3
    )
    spec.visual.headlight.ambient, spec.visual.headlight.diffuse = (0.40,) * 3, (0.2,) * 3
    spec.visual.headlight.specular = (0.05,) * 3
    spec.add_texture(
        name="sky",
        type=mujoco.mjtTexture.mjTEXTURE_SKYBOX,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_GRADIENT,
        rgb1=(0.97, 0.98, 1.0),
        rgb2=(0.80, 0.85, 0.90),
        width=64,
        height=384,
    )


def _add_pair(spec: Any, first: str, second: str, friction: float, solref: tuple[float, float]) -> None:
    spec.add_pair(
        geomname1=first,
        geomname2=second,
        condim=3,
        friction=(friction, friction, 0.005, 0.0001, 0.0001),
        solref=solref,
        solreffriction=(0, 0),
    )
