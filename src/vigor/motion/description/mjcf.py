"""MJCF files, parsed and resolved by MuJoCo."""

import math
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from vigor.basics.errors import UserError
from vigor.motion.description import DescribedJoint, DescribedLink, Description, Kind, Solid, elements
from vigor.motion.kinematics import Frame
from vigor.motion.screws import Vector

_FILES = 50
"""Most files that one may include."""
_BEFORE = ("keys", "sensors", "actuators", "tendons", "pairs", "excludes", "tuples", "skins", "flexes")
_AFTER = ("materials", "textures", "hfields", "meshes", "plugins")
"""Parts that kinematics do not need, some of which name further files; those that refer to others come first."""


def read(path: Path, root: ElementTree.Element) -> Description:
    """The robot of an MJCF file with that root element; its links are the bodies and the sites."""
    from vigor.basics.engine import mujoco

    _check_includes(path, root, {path})
    try:
        spec = mujoco.MjSpec.from_file(str(path))
        ties = _ties(mujoco, spec)
        meshes = _without_files(mujoco, spec)
        model = spec.compile()
    except (ValueError, RuntimeError, mujoco.FatalError) as error:
        raise UserError(f"{path} is not a readable MJCF file: {' '.join(str(error).split())[:200]}") from None
    return replace(_described(mujoco, path, model, meshes), ties=ties)


def _check_includes(path: Path, root: ElementTree.Element, seen: set[Path]) -> None:
    """Refuse files that include too many others, or others that could not be read themselves."""
    _check_numbers(path, root)
    for element in [*root.iter("include"), *root.iter("model")]:
        name = element.get("file")
        if name is None or (included := path.parent / name) in seen:
            continue
        seen.add(included)
        if len(seen) > _FILES:
            raise UserError(f"{path} includes more than {_FILES} files")
        _check_includes(path, elements.read(included), seen)


def _check_numbers(path: Path, root: ElementTree.Element) -> None:
    """Refuse numbers that are none; MuJoCo takes them, with a word to the terminal and into a file."""
    for element in root.iter():
        for name, value in element.attrib.items():
            if name != "name" and {word.lower().lstrip("+-") for word in value.split()} & {"nan", "inf", "infinity"}:
                raise UserError(f"{path}: {name} of {element.tag} is {value[:40]!r}, which is no finite number")


def _ties(mujoco: Any, spec: Any) -> tuple[tuple[str, str], ...]:
    """Links that an equality holds together; those of nothing else are of the world."""
    kinds = (mujoco.mjtEq.mjEQ_CONNECT, mujoco.mjtEq.mjEQ_WELD)
    return tuple((item.name1, item.name2 or "world") for item in spec.equalities if item.active and item.type in kinds)


def _without_files(mujoco: Any, spec: Any) -> dict[str, tuple[str, Vector]]:
    """File and factors of each geometry's mesh by the geometry's name, after taking all that needs files out of a spec.

    A geometry that has a mesh becomes a point, which keeps its place.
    """
    spec.compiler.fusestatic, spec.compiler.discardvisual = False, False
    spec.compiler.boundmass = spec.compiler.boundinertia = 1.0
    for equality in [item for item in spec.equalities if item.type != mujoco.mjtEq.mjEQ_JOINT]:
        spec.delete(equality)
    for part in _BEFORE:
        for item in getattr(spec, part):
            spec.delete(item)
    files = {mesh.name or Path(mesh.file).stem: mesh for mesh in spec.meshes}
    found = {}
    for number, geom in enumerate(spec.geoms):
        geom.material, geom.name = "", f"{number}"
        if geom.type in (mujoco.mjtGeom.mjGEOM_MESH, mujoco.mjtGeom.mjGEOM_SDF):
            mesh = files[geom.meshname]
            x, y, z = map(float, mesh.scale)
            file = str(Path(mesh.compiler.meshdir, mesh.file)) if mesh.file else geom.meshname
            found[geom.name] = (file, (x, y, z))
        if geom.name in found or geom.type == mujoco.mjtGeom.mjGEOM_HFIELD:
            geom.type, geom.size, geom.meshname, geom.hfieldname = mujoco.mjtGeom.mjGEOM_SPHERE, (1e-3, 0, 0), "", ""
    for site in spec.sites:
        site.material = ""
    for part in _AFTER:
        for item in getattr(spec, part):
            spec.delete(item)
    return found


def _described(mujoco: Any, path: Path, model: Any, meshes: dict[str, tuple[str, Vector]]) -> Description:
    """The tree of bodies; a body with several joints, or whose joint is not at its origin, has links between."""
    bodies = [model.body(i).name or f"body {i}" for i in range(model.nbody)]
    followers = _followers(mujoco, path, model)
    links, joints = [DescribedLink(bodies[0])], []
    for body in range(1, model.nbody):
        before, frame = bodies[model.body_parentid[body]], _frame(model.body_pos[body], model.body_quat[body])
        for number in range(model.body_jntadr[body], model.body_jntadr[body] + model.body_jntnum[body]):
            joint = model.jnt(number)
            name = joint.name or f"joint {number}"
            anchor = np.eye(4)
            anchor[:3, 3] = model.jnt_pos[number]
            origin = Frame.of(frame.matrix @ anchor)
            joints.append(_joint(mujoco, model, number, name, before, origin, followers.get(number)))
            links.append(DescribedLink(joints[-1].child))
            before, frame = joints[-1].child, Frame.of(np.linalg.inv(anchor))
        links.append(DescribedLink(bodies[body], _solids(mujoco, model, body, meshes)))
        joints.append(DescribedJoint(f"{bodies[body]} (fixed)", "fixed", before, bodies[body], frame))
    taken = {link.name for link in links}
    for site in range(model.nsite):
        name = model.site(site).name
        if name and name not in taken:
            frame = _frame(model.site_pos[site], model.site_quat[site])
            links.append(DescribedLink(name))
            joints.append(DescribedJoint(f"{name} (fixed)", "fixed", bodies[model.site_bodyid[site]], name, frame))
    return Description(path, path.stem, tuple(links), tuple(joints))


def _joint(
    mujoco: Any,
    model: Any,
    number: int,
    name: str,
    parent: str,
    origin: Frame,
    follows: tuple[str, float, float] | None,
) -> DescribedJoint:
    limited, kind = bool(model.jnt_limited[number]), int(model.jnt_type[number])
    types = mujoco.mjtJoint
    kinds: dict[int, Kind] = {
        int(types.mjJNT_HINGE): "revolute" if limited else "continuous",
        int(types.mjJNT_SLIDE): "prismatic",
        int(types.mjJNT_BALL): "ball",
        int(types.mjJNT_FREE): "floating",
    }
    lower, upper = model.jnt_range[number] if limited else (-math.inf, math.inf)
    x, y, z = map(float, model.jnt_axis[number])
    leader, factor, offset = follows or (None, 1.0, 0.0)
    return DescribedJoint(
        name=name,
        kind=kinds[kind],
        parent=parent,
        child=f"{name} (moved)",
        origin=origin,
        axis=(x, y, z),
        lower=float(lower),
        upper=float(upper),
        zero=float(model.qpos0[model.jnt_qposadr[number]]) if kinds[kind] not in ("ball", "floating") else 0.0,
        leader=leader,
        factor=factor,
        offset=offset,
    )


def _followers(mujoco: Any, path: Path, model: Any) -> dict[int, tuple[str, float, float]]:
    """Leader, factor and offset of the joints that an equality makes follow another."""
    found = {}
    for number in range(model.neq):
        follower, leader = model.eq_obj1id[number], model.eq_obj2id[number]
        if model.eq_type[number] != mujoco.mjtEq.mjEQ_JOINT or leader < 0:
            continue
        offset, factor, *bent = map(float, model.eq_data[number, :5])
        if any(bent):
            raise UserError(f"{path}: joint {model.jnt(follower).name} follows another by a curve; only lines are read")
        found[int(follower)] = (model.jnt(leader).name or f"joint {leader}", factor, offset)
    return found


def _solids(mujoco: Any, model: Any, body: int, meshes: dict[str, tuple[str, Vector]]) -> tuple[Solid, ...]:
    """Solids of a body that touch others, or else all."""
    geoms = range(model.body_geomadr[body], model.body_geomadr[body] + model.body_geomnum[body])
    touching = [i for i in geoms if model.geom_contype[i] or model.geom_conaffinity[i]]
    solids = []
    for i in touching or geoms:
        frame, name = _frame(model.geom_pos[i], model.geom_quat[i]), model.geom(i).name
        if name in meshes:
            file, scale = meshes[name]
            solids.append(Solid("mesh", frame, scale, file))
        else:
            x, y, z = map(float, model.geom_size[i])
            match mujoco.mjtGeom(model.geom_type[i]):
                case mujoco.mjtGeom.mjGEOM_SPHERE:
                    solids.append(Solid("sphere", frame, (x,)))
                case mujoco.mjtGeom.mjGEOM_CAPSULE:
                    solids.append(Solid("capsule", frame, (x, 2 * y)))
                case mujoco.mjtGeom.mjGEOM_CYLINDER:
                    solids.append(Solid("cylinder", frame, (x, 2 * y)))
                case mujoco.mjtGeom.mjGEOM_BOX | mujoco.mjtGeom.mjGEOM_ELLIPSOID:  # Of the latter the box around it.
                    solids.append(Solid("box", frame, (2 * x, 2 * y, 2 * z)))
    return tuple(solids)


def _frame(position: np.ndarray, quaternion: np.ndarray) -> Frame:
    from vigor.basics.engine import mujoco

    matrix, turn = np.eye(4), np.zeros(9)
    mujoco.mju_quat2Mat(turn, quaternion)
    matrix[:3, :3], matrix[:3, 3] = turn.reshape(3, 3), position
    return Frame.of(matrix)
