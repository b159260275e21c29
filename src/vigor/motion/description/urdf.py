"""URDF files, parsed by yourdfpy."""

import io
import math
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import numpy as np

from vigor.basics.errors import UserError
from vigor.basics.install import missing
from vigor.motion.description import DescribedJoint, DescribedLink, Description, Solid, elements
from vigor.motion.kinematics import Frame

_NUMBERS: dict[str, dict[str, tuple[int, ...]]] = {
    "origin": {"xyz": (3,), "rpy": (3,)},
    "axis": {"xyz": (3,)},
    "limit": {"lower": (1,), "upper": (1,), "velocity": (1,)},
    "mimic": {"multiplier": (1,), "offset": (1,)},
    "box": {"size": (3,)},
    "cylinder": {"radius": (1,), "length": (1,)},
    "sphere": {"radius": (1,)},
    "mesh": {"scale": (1, 3)},
}
"""Number of values of each attribute that is read."""
_WORDS = {
    "link": ("name",),
    "joint": ("name", "type"),
    "parent": ("link",),
    "child": ("link",),
    "mimic": ("joint",),
    "mesh": ("filename",),
}
"""Attributes that cannot be left out."""
_PARTS = {
    "robot": ("link", "joint"),
    "link": ("visual", "collision"),
    "visual": ("origin", "geometry"),
    "collision": ("origin", "geometry"),
    "geometry": ("box", "cylinder", "sphere", "mesh"),
    "joint": ("origin", "parent", "child", "axis", "limit", "mimic"),
}
"""Elements that are read; all others are left out."""
_KINDS = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")


def read(path: Path, root: ElementTree.Element) -> Description:
    """The robot of a URDF file with that root element."""
    try:
        import yourdfpy
    except ImportError:
        raise missing(f"{path} needs yourdfpy", "robots") from None
    if any("xacro" in element.tag for element in root.iter()):
        raise UserError(f"{path} is a xacro file; make a URDF file of it first: xacro {path.name} > robot.urdf")
    clean = ElementTree.tostring(_checked(path, root, "a robot"))
    urdf = yourdfpy.URDF.load(io.BytesIO(clean), build_scene_graph=False, load_meshes=False)
    links = tuple(DescribedLink(link.name, _solids(link)) for link in urdf.robot.links)
    joints = tuple(_joint(path, joint) for joint in urdf.robot.joints)
    return Description(path, urdf.robot.name, links, joints)


def _checked(path: Path, element: ElementTree.Element, within: str) -> ElementTree.Element:
    """A copy of an element with only what is read, so that nothing else reaches the parser."""
    kind = element.tag
    name = element.get("name")
    label = f"{kind} {name!s:.40}" if name is not None else f"the {kind} of {within}"
    copy = ElementTree.Element(kind)
    for attribute in _WORDS.get(kind, ()):
        if not element.get(attribute):
            raise UserError(f"{path}: {label} has no {attribute}")
        copy.set(attribute, element.get(attribute, ""))
    for attribute, counts in _NUMBERS.get(kind, {}).items():
        if attribute in element.attrib:
            where = f"{path}: {attribute} of {label}"
            # Some files write huge limits for none.
            largest = 1e300 if kind == "limit" else elements.LARGEST
            values = elements.numbers(element.get(attribute, ""), counts, where, largest)
            copy.set(attribute, " ".join(map(repr, values)))
        elif kind in ("box", "cylinder", "sphere"):
            raise UserError(f"{path}: {label} has no {attribute}")
    for part in element:
        if part.tag in _PARTS.get(kind, ()):
            child = _checked(path, part, within if name is None else name)
            # A shape of a kind that is not read is no shape.
            if not (child.tag in ("visual", "collision") and not len(child.findall("geometry/*"))):
                copy.append(child)
    if kind == "robot":
        copy.set("name", name or path.stem)
    if kind == "joint":
        for end in ("parent", "child"):
            if copy.find(end) is None:
                raise UserError(f"{path}: {label} has no {end}")
    return copy


def _solids(link: Any) -> tuple[Solid, ...]:
    """Solids for collisions, or else those that are seen."""
    return tuple(_solid(part) for part in link.collisions or link.visuals)


def _solid(part: Any) -> Solid:
    frame = Frame() if part.origin is None else Frame.of(part.origin)
    geometry = part.geometry
    if geometry.box is not None:
        return Solid("box", frame, tuple(map(float, geometry.box.size)))
    if geometry.cylinder is not None:
        return Solid("cylinder", frame, (geometry.cylinder.radius, geometry.cylinder.length))
    if geometry.sphere is not None:
        return Solid("sphere", frame, (geometry.sphere.radius,))
    scale = 1.0 if geometry.mesh.scale is None else geometry.mesh.scale
    return Solid("mesh", frame, tuple(np.broadcast_to(scale, 3).tolist()), geometry.mesh.filename)


def _joint(path: Path, joint: Any) -> DescribedJoint:
    if joint.type not in _KINDS:
        raise UserError(f"{path}: joint {joint.name} is {joint.type[:40]!r}; it must be one of {', '.join(_KINDS)}")
    moves, limit = joint.type in ("revolute", "continuous", "prismatic"), joint.limit
    mimic = joint.mimic if moves else None
    # A bound that is left out is 0.
    bounded = moves and joint.type != "continuous" and limit is not None
    lower, upper = ((limit.lower or 0.0), (limit.upper or 0.0)) if bounded else (-math.inf, math.inf)
    velocity = None if limit is None else limit.velocity
    return DescribedJoint(
        name=joint.name,
        kind=joint.type,
        parent=joint.parent,
        child=joint.child,
        origin=Frame() if joint.origin is None else Frame.of(joint.origin),
        axis=elements.unit(joint.axis.tolist(), f"{path}: joint {joint.name}") if moves else (0.0, 0.0, 1.0),
        lower=-math.inf if lower < -elements.LARGEST else lower,
        upper=math.inf if upper > elements.LARGEST else upper,
        velocity=None if velocity is None or velocity > elements.LARGEST else velocity,
        leader=None if mimic is None else mimic.joint,
        factor=1.0 if mimic is None else mimic.multiplier,
        offset=0.0 if mimic is None else mimic.offset,
    )
