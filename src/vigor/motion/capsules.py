"""Capsules around the links of a robot, from their meshes and shapes."""

import contextlib
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.spatial import ConvexHull, QhullError

from vigor.motion.description import Solid, meshes
from vigor.motion.shapes import Capsule

PARTS = 4
"""Most capsules of a link."""
GAIN = 0.95
"""Part of the volume that one more capsule must not exceed to be worth it."""
_CUTS = (0.2, 0.35, 0.5, 0.65, 0.8)
"""Places along an axis where a surface is cut."""


class _Part(NamedTuple):
    """A piece of a surface, a `trimesh.Trimesh`, with a first capsule around it."""

    surface: Any
    points: np.ndarray
    """Corners [n, 3] of its convex hull."""
    capsule: Capsule


class _Cut(NamedTuple):
    """A piece in two, and the volume that it saves."""

    saved: float
    halves: list[_Part]


def around(solids: Sequence[Solid], path: Path) -> tuple[Capsule, ...]:
    """Small capsules that together enclose the surface of solids, in their link's frame.

    path: of the description that names their meshes. One capsule is drawn around all, then pieces are cut in two as
    long as that makes them together much smaller.
    """
    if len(solids) == 1 and solids[0].kind in ("sphere", "capsule"):
        return (_exact(solids[0]),)
    parts = [_part(meshes.surface(solids, path))]
    cuts = [_best_cut(parts[0])]
    while len(parts) < PARTS:
        number = max(range(len(parts)), key=lambda i: cuts[i].saved)
        if cuts[number].saved < (1 - GAIN) * sum(part.capsule.volume for part in parts):
            break
        halves = cuts[number].halves
        parts[number : number + 1], cuts[number : number + 1] = halves, map(_best_cut, halves)
    return tuple(enclosing(part.points) for part in parts)


def _exact(solid: Solid) -> Capsule:
    """The capsule that a solid is."""
    frame = solid.frame.matrix
    half = frame[:3, 2] * (solid.size[1] / 2 if solid.kind == "capsule" else 0.0)
    return Capsule(tuple((frame[:3, 3] - half).tolist()), tuple((frame[:3, 3] + half).tolist()), solid.size[0])


def _part(surface: Any) -> _Part:
    points = np.asarray(surface.vertices, float)
    with contextlib.suppress(QhullError):  # A flat piece has no hull in space.
        points = points[ConvexHull(points).vertices]
    return _Part(surface, points, enclosing(points, improve=False))


def _best_cut(part: _Part) -> _Cut:
    """The best cut of a piece across one of its main axes."""
    middle = part.points.mean(axis=0)
    best = _Cut(0.0, [part])
    for axis in np.linalg.svd(part.points - middle, full_matrices=False)[2]:
        along = (part.points - middle) @ axis
        for share in _CUTS:
            origin = middle + axis * (along.min() + share * np.ptp(along))
            pieces = [part.surface.slice_plane(origin, side * axis) for side in (1, -1)]
            if all(len(piece.vertices) > 3 for piece in pieces):
                halves = list(map(_part, pieces))
                saved = part.capsule.volume - sum(half.capsule.volume for half in halves)
                best = max(best, _Cut(saved, halves), key=lambda cut: cut.saved)
    return best


def enclosing(points: np.ndarray, improve: bool = True) -> Capsule:
    """A small capsule by volume that encloses points [n, 3].

    Lines are tried along many directions through the middle; if it is to improve, the best is turned and shifted by a
    search.
    """
    points = np.asarray(points, float)
    middle = (points.max(axis=0) + points.min(axis=0)) / 2
    points = points - middle
    size = max(float(np.ptp(points, axis=0).max()), 1e-6)

    def volume(move: np.ndarray, frame: np.ndarray) -> float:
        return _around_line(*_moved(frame, move, size), points).volume

    frame = min(_frames(points), key=lambda frame: volume(np.zeros(4), frame))
    move = np.zeros(4)
    if improve:
        options = {"initial_simplex": np.vstack([move, 0.1 * np.eye(4)]), "xatol": 1e-4, "fatol": 1e-9}
        move = minimize(volume, move, (frame,), "Nelder-Mead", options=options).x
    return _around_line(*_moved(frame, move, size), points, middle)


def _frames(points: np.ndarray) -> list[np.ndarray]:
    """Frames [3, 3] whose rows are a direction and two across it: main axes of points, and evenly spread ones."""
    spread = np.array([d for d in np.ndindex(3, 3, 3) if d > (1, 1, 1)]) - 1.0
    directions = [*np.linalg.svd(points, full_matrices=False)[2], *spread]
    return [np.linalg.svd(direction[None])[2] for direction in directions]


def _moved(frame: np.ndarray, move: np.ndarray, size: float) -> tuple[np.ndarray, np.ndarray]:
    """Direction [3] and a point [3] of a frame's line, turned by two numbers and shifted across by the other two."""
    direction = frame[0] + move[:2] @ frame[1:]
    return direction / np.linalg.norm(direction), size * move[2:] @ frame[1:]


def _around_line(direction: np.ndarray, point: np.ndarray, points: np.ndarray, middle: Any = 0.0) -> Capsule:
    """The capsule around a line that encloses points [n, 3], its ends drawn in as far as can be; moved by `middle`.

    The radius is the distance of the farthest point. With a point at t along the line and free by s of touching the
    wall, the first cap must begin before t + s and the second after t - s.
    """
    offsets = points - point
    along = offsets @ direction
    across = np.sum((offsets - along[:, None] * direction) ** 2, axis=1)  # Far from the middle, squares lose digits.
    radius = max(math.sqrt(across.max()), 1e-6)
    free = np.sqrt(np.maximum(radius**2 - across, 0.0))
    first, last = np.min(along + free), np.max(along - free)
    if first > last:
        first = last = (first + last) / 2
    start, end = (middle + point + place * direction for place in (first, last))
    return Capsule(tuple(start.tolist()), tuple(end.tolist()), radius)
