"""Meshes that a description names: found beside it or in packages, never fetched, read up to a size."""

import io
import math
import os
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from vigor.basics.errors import UserError
from vigor.basics.install import missing
from vigor.motion.description import Solid

MAX_BYTES = 64 * 1024 * 1024
"""Largest mesh that is read."""
ROUND = 24
"""Corners that stand for a circle."""
_FORMATS = (".stl", ".obj", ".dae", ".ply")


def find(name: str, path: Path) -> Path | None:
    """The file of a mesh that a description at `path` names; None if there is none.

    `package://PACKAGE/...` is looked for in all folders above the description, and where ROS has its packages.
    """
    scheme, found, rest = name.partition("://")
    if not found:
        candidates = [path.parent / name]
    elif scheme == "file":
        candidates = [Path(rest)]
    elif scheme == "package":
        package, _, within = rest.partition("/")
        above = path.resolve().parents
        candidates = [folder / rest for folder in above] + [f / within for f in above if f.name == package]
        prefixes = [Path(part, "share") for part in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep) if part]
        packages = [Path(part) for part in os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep) if part]
        candidates += [folder / rest for folder in prefixes + packages]
    else:
        candidates = []
    return next((candidate for candidate in candidates if candidate.is_file()), None)


def surface(solids: Sequence[Solid], path: Path) -> Any:
    """The surface of solids in their link's frame, a `trimesh.Trimesh`; round ones a little too large."""
    try:
        import trimesh
    except ImportError:
        raise missing(f"capsules of {path} need trimesh", "robots") from None
    parts = []
    for solid in solids:
        part = _mesh(solid, path) if solid.kind == "mesh" else _primitive(trimesh.creation, solid)
        parts.append(part.apply_transform(solid.frame.matrix))
    return trimesh.util.concatenate(parts)


def _primitive(creation: Any, solid: Solid) -> Any:
    """A solid that is no mesh, in its own frame; corners of round ones are as far outside as faces would be inside."""
    wider = 1 / math.cos(math.pi / ROUND)
    match solid.kind:
        case "box":
            return creation.box(extents=solid.size)
        case "cylinder":
            return creation.cylinder(radius=wider * solid.size[0], height=solid.size[1], sections=ROUND)
        case "capsule":
            return creation.capsule(radius=wider**2 * solid.size[0], height=solid.size[1], count=[ROUND, ROUND])
        case _:
            return creation.uv_sphere(radius=wider**2 * solid.size[0], count=[ROUND, ROUND])


def _mesh(solid: Solid, path: Path) -> Any:
    found = find(solid.mesh, path)
    if found is None:
        raise UserError(f"the mesh {solid.mesh[:200]} is not there")
    vertices, faces = _read(found)
    import trimesh

    return trimesh.Trimesh(vertices * np.array(solid.size), faces, process=False)


@lru_cache(maxsize=64)
def _read(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Vertices [n, 3] and faces [m, 3] of a mesh's file."""
    import trimesh

    if path.suffix.lower() not in _FORMATS:
        raise UserError(f"{path} is no mesh that is read; those are {', '.join(_FORMATS)}")
    with path.open("rb") as file:
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise UserError(f"the mesh {path} is larger than {MAX_BYTES // 1024**2} MB")
    try:
        # Out of memory, so that files that the mesh names, such as textures, are not looked for.
        kind = path.suffix.lower().lstrip(".")
        mesh: Any = trimesh.load(io.BytesIO(content), file_type=kind, force="mesh", skip_materials=True)
        vertices, faces = np.array(mesh.vertices, np.float64), np.array(mesh.faces, np.int64)
    except Exception as error:  # A damaged file makes its reader raise nearly anything.
        raise UserError(f"the mesh {path} cannot be read: {' '.join(str(error).split())[:200]}") from None
    if not len(faces) or not np.all(np.isfinite(vertices)):
        raise UserError(f"the mesh {path} has no faces, or coordinates that are no numbers")
    return vertices, faces
