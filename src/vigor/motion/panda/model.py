"""The Panda for MuJoCo.

It is that of MuJoCo Menagerie where it can be had (the package `mujoco-menagerie` downloads it, or finds it in
the folder that MENAGERIE_ROOT names), else one made of capsules. Both have the same kinematics, inertia, limits and
actuators, and of both only the rod touches things, so that a plan has the same outcome with either.
"""

from typing import Any, Literal

import numpy as np

from vigor.basics.engine import mujoco
from vigor.basics.errors import UserError
from vigor.motion.panda import FLANGE, PANDA

Arm = Literal["menagerie", "capsules"]

# Every link: place and turn (a quaternion, not normalised) from the link before, mass, centre of mass, inertia
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


def spec(arm: Arm | None = None) -> Any:
    """An MjSpec of the Panda; of the named kind, or Menagerie's if it can be had."""
    if arm == "capsules":
        return _capsules()
    try:
        import mujoco_menagerie

        loaded = mujoco_menagerie.get("franka_emika_panda").spec("panda_nohand")
    except Exception as error:  # No package, no network, no such folder, a file that is not as expected.
        if arm == "menagerie":
            raise UserError(
                f"the Panda of MuJoCo Menagerie cannot be had ({error}); set MENAGERIE_ROOT to a copy of it"
            ) from None
        return _capsules()
    for geom in loaded.geoms:
        if geom.classname.name == "panda/collision":
            loaded.delete(geom)
    for mesh in loaded.meshes:
        if "_c" in mesh.name:
            loaded.delete(mesh)
    for light in loaded.lights:
        loaded.delete(light)
    for key in loaded.keys:
        loaded.delete(key)
    return loaded


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
    body.add_body(name="attachment", pos=(0, 0, FLANGE), quat=(0.3826834, 0, 0, 0.9238795))
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
