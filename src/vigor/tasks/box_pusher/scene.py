"""The scene: a Panda with a rod, a table, an open box and, in green, where the box is to go.

The Panda is that of MuJoCo Menagerie where it can be had (the package `mujoco-menagerie` downloads it, or finds it in
the folder that MENAGERIE_ROOT names), else one made of capsules. Both have the same kinematics, inertia, limits and
actuators, and of both only the rod touches things, so that a plan has the same outcome with either.
"""

from functools import cache
from typing import Any, Literal

import numpy as np

from vigor.basics.errors import UserError
from vigor.motion.robots import PANDA
from vigor.tasks.box_pusher import control, geometry
from vigor.tasks.box_pusher.engine import mujoco

Arm = Literal["menagerie", "capsules"]

TIMESTEP = 0.002
MASS = 2.0
"""Of the box: heavy enough to deflect the rod."""
TABLE_FRICTION, ROD_FRICTION = 0.4, 0.2
"""Between box and table, and between rod and box. The outcome of a push depends on them more than on all else."""
STIFFNESS = (600, 600, 600, 500, 250, 150, 50)
DAMPING = (50, 50, 50, 40, 20, 15, 8)
"""Of the position-controlled joints."""

TABLE, STEEL, GREEN = (0.86, 0.83, 0.78, 1), (0.25, 0.27, 0.30, 1), (0.10, 0.70, 0.25, 1)
RED, DARK_RED = (0.80, 0.22, 0.18, 1), (0.52, 0.14, 0.12, 1)

# Of every link: place and turn (a quaternion, not normalised) from the link before, mass, centre of mass, inertia
# (xx, yy, zz, xy, xz, yz). The numbers are those of MuJoCo Menagerie (Apache-2.0), so that both arms move alike.
_LINKS: tuple[tuple[Any, ...], ...] = (
    ((0, 0, 0.333), (1, 0, 0, 0), 4.970684, (0.003875, 0.002081, -0.04762),
     (0.70337, 0.70661, 0.0091170, -0.00013900, 0.0067720, 0.019169)),
    ((0, 0, 0), (1, -1, 0, 0), 0.646926, (-0.003141, -0.02872, 0.003495),
     (0.0079620, 2.8110e-2, 2.5995e-2, -3.925e-3, 1.0254e-2, 7.04e-4)),
    ((0, -0.316, 0), (1, 1, 0, 0), 3.228604, (2.7518e-2, 3.9252e-2, -6.6502e-2),
     (3.7242e-2, 3.6155e-2, 1.083e-2, -4.761e-3, -1.1396e-2, -1.2805e-2)),
    ((0.0825, 0, 0), (1, 1, 0, 0), 3.587895, (-5.317e-2, 1.04419e-1, 2.7454e-2),
     (2.5853e-2, 1.9552e-2, 2.8323e-2, 7.796e-3, -1.332e-3, 8.641e-3)),
    ((-0.0825, 0.384, 0), (1, -1, 0, 0), 1.225946, (-1.1953e-2, 4.1065e-2, -3.8437e-2),
     (3.5549e-2, 2.9474e-2, 8.627e-3, -2.117e-3, -4.037e-3, 2.29e-4)),
    ((0, 0, 0), (1, 1, 0, 0), 1.666555, (6.0149e-2, -1.4117e-2, -1.0517e-2),
     (1.964e-3, 4.354e-3, 5.433e-3, 1.09e-4, -1.158e-3, 3.41e-4)),
    ((0.088, 0, 0), (1, 1, 0, 0), 7.35522e-01, (1.0517e-2, -4.252e-3, 6.1597e-2),
     (1.2516e-2, 1.0027e-2, 4.815e-3, -4.28e-4, -1.196e-3, -7.41e-4)),
)  # fmt: skip
_BASE = (0.629769, (-0.041018, -0.00014, 0.049974), (0.00315, 0.00388, 0.004285, 8.2904e-7, 0.00015, 8.2299e-6))
_FORCE = (87, 87, 87, 87, 12, 12, 12)
# Capsules (from, to, radius) of the base and of every link, in its own frame.
_CAPSULES = (
    (((-0.06, 0, 0.06), (0, 0, 0.06), 0.06), ((0, 0, 0.06), (0, 0, 0.2), 0.065)),
    (((0, 0, -0.13), (0, 0, -0.07), 0.06), ((0, -0.06, 0), (0, 0.06, 0), 0.056)),
    (((0, 0, -0.06), (0, 0, 0.06), 0.06), ((0, -0.07, 0), (0, -0.18, 0), 0.055)),
    (((0, 0, -0.13), (0, 0, -0.08), 0.058), ((0, 0, -0.08), (0.0825, 0, 0), 0.05)),
    (((0, 0, -0.06), (0, 0, 0.06), 0.055), ((-0.0825, 0.09, 0), (-0.0825, 0.13, 0), 0.055)),
    (((0, 0, -0.26), (0, 0.05, -0.1), 0.05), ((0, 0.06, -0.1), (0, 0.0, 0.0), 0.045)),
    (((0, 0, -0.04), (0, 0, 0.05), 0.048), ((0, 0, 0), (0.088, 0, 0), 0.045)),
    (((0, 0, -0.02), (0, 0, 0.07), 0.043), ((0, 0, 0.08), (0, 0, 0.097), 0.035)),
)


def panda(arm: Arm | None = None) -> Any:
    """An MjSpec of the Panda; of the named kind, or Menagerie's if it can be had."""
    if arm == "capsules":
        return _capsules()
    try:
        import mujoco_menagerie

        spec = mujoco_menagerie.get("franka_emika_panda").spec("panda_nohand")
    except Exception as error:  # No package, no network, no such folder, a file that is not as expected.
        if arm == "menagerie":
            raise UserError(
                f"the Panda of MuJoCo Menagerie cannot be had ({error}); set MENAGERIE_ROOT to a copy of it"
            ) from None
        return _capsules()
    for geom in spec.geoms:
        if geom.classname.name == "panda/collision":
            spec.delete(geom)
    for mesh in spec.meshes:
        if "_c" in mesh.name:
            spec.delete(mesh)
    for light in spec.lights:
        spec.delete(light)
    for key in spec.keys:
        spec.delete(key)
    return spec


def _capsules() -> Any:
    """A Panda made of capsules, named as Menagerie's."""
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    body = spec.worldbody.add_body(name="link0")
    _give_inertia(body, *_BASE)
    for i, (place, turn, *inertia) in enumerate(_LINKS, start=1):
        body = body.add_body(name=f"link{i}", pos=place, quat=np.array(turn) / np.linalg.norm(turn))
        _give_inertia(body, *inertia)
        body.add_joint(
            name=f"joint{i}",
            axis=(0, 0, 1),
            range=PANDA.position[i - 1],
            limited=True,
            armature=0.1,
            damping=[1.0, 0, 0],
        )
        spec.add_actuator(
            name=f"actuator{i}",
            trntype=mujoco.mjtTrn.mjTRN_JOINT,
            target=f"joint{i}",
            ctrlrange=PANDA.position[i - 1],
            ctrllimited=True,
            forcerange=(-_FORCE[i - 1], _FORCE[i - 1]),
            forcelimited=True,
            biastype=mujoco.mjtBias.mjBIAS_AFFINE,
        )
    body.add_body(name="attachment", pos=(0, 0, control.FLANGE), quat=(0.3826834, 0, 0, 0.9238795))
    for i, capsules in enumerate(_CAPSULES):
        for number, (start, end, radius) in enumerate(capsules):
            spec.body(f"link{i}").add_geom(
                type=mujoco.mjtGeom.mjGEOM_CAPSULE,
                fromto=(*start, *end),
                size=(radius, 0, 0),
                rgba=(0.93, 0.94, 0.95, 1) if number == 0 else (0.82, 0.84, 0.86, 1),
                group=2,
            )
    return spec


def _give_inertia(body: Any, mass: float, centre: tuple[float, ...], inertia: tuple[float, ...]) -> None:
    body.explicitinertial = True
    body.mass, body.ipos, body.fullinertia = mass, centre, inertia


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
