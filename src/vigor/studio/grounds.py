"""Obstacles in the scene, with their knobs, and shadows that tell how high things are above the ground."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from vigor.motion.shapes import Sphere
from vigor.studio.obstacles import Obstacle, knob
from vigor.studio.shared import Held
from vigor.tasks.stage import View

BLOCKED, KNOB = (150, 75, 60), (70, 40, 35)
SHADOW = (40, 40, 50)
REACH, DARK_REACH = (190, 200, 215), (75, 80, 90)
"""Colours of the circle around all that an arm can reach, on a light page and on a dark one."""


class Obstacles:
    """Obstacles as shapes that can be dragged; drags: makes a shape something that can be."""

    def __init__(self, scene: Any, view: View, drags: Callable[[Any, Held], None]) -> None:
        self._scene, self._view, self._drags = scene, view, drags
        self._shown: list[tuple[Obstacle, Any, Any]] = []

    def draw(self, shapes: Sequence[Obstacle]) -> None:
        """Show these; one that only moved is moved."""
        if [old for old, _, _ in self._shown] == list(shapes):
            return
        for i, shape in enumerate(shapes):
            before = self._shown[i] if i < len(self._shown) else None
            if before is None or type(before[0]) is not type(shape):
                for old in before[1:] if before else ():
                    old.remove()
                self._shown[i : i + 1] = [(shape, *self._new(i, shape))]
                continue
            _, body, handle = before
            body.position, handle.position = shape.centre, knob(shape)
            if isinstance(shape, Sphere):
                body.radius = shape.radius
            else:
                body.dimensions = tuple(np.subtract(shape.high, shape.low))
            self._shown[i] = (shape, body, handle)
        for _, body, handle in self._shown[len(shapes) :]:
            body.remove()
            handle.remove()
        del self._shown[len(shapes) :]

    def _new(self, i: int, shape: Obstacle) -> tuple[Any, Any]:
        scene, name = self._scene, f"/obstacles/{i}"
        if isinstance(shape, Sphere):
            body = scene.add_icosphere(name, shape.radius, BLOCKED, opacity=0.75, position=shape.centre)
        else:
            size = tuple(np.subtract(shape.high, shape.low))
            body = scene.add_box(name, BLOCKED, dimensions=size, opacity=0.75, position=shape.centre)
        handle = scene.add_icosphere(f"/knobs/{i}", 0.6 * self._view.ball, KNOB, position=knob(shape))
        self._drags(body, Held("obstacle", i))
        self._drags(handle, Held("size", i))
        return body, handle


class Shadows:
    """Dark discs on the ground below things in the air, with thin lines up to them; none in a view from above."""

    def __init__(self, scene: Any, view: View) -> None:
        self._scene, self._view = scene, view
        self._discs: list[Any] = []
        self._lines: Any = None

    def draw(self, places: np.ndarray, radii: Sequence[float]) -> None:
        """Shadows of things of radii [n] at places [n, 3]."""
        if self._view.from_above or not len(places):
            return
        for i, (place, radius) in enumerate(zip(places, radii, strict=True)):
            if i == len(self._discs):
                name = f"/shadows/{i}"
                self._discs.append(self._scene.add_cylinder(name, radius, 1e-3, SHADOW, opacity=0.25))
            if self._discs[i].radius != radius:
                self._discs[i].radius = radius
            self._discs[i].position = (place[0], place[1], 0.0)
        for old in self._discs[len(places) :]:
            old.remove()
        del self._discs[len(places) :]
        ground = places * (1.0, 1.0, 0.0)
        lines = np.stack([ground, places], axis=1).astype(np.float32)
        if self._lines is None or len(self._lines.points) != len(lines):
            self._lines = self._scene.add_line_segments(
                "/shadows/lines", lines, SHADOW, thickness=0.06 * self._view.link
            )
        else:
            self._lines.points = lines


def draw_reach(scene: Any, view: View, points: np.ndarray, colour: tuple[int, int, int] = REACH) -> None:
    """Draw a faint circle on the ground around all that an arm with joints at points [n, 3] can reach, if it is one."""
    base, length = points[0], float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())
    radius = np.sqrt(max(length**2 - base[2] ** 2, 0.0))
    if len(points) < 2 or not radius:
        return
    angle = np.linspace(0.0, 2 * np.pi, 97)
    ring = np.column_stack([base[0] + radius * np.cos(angle), base[1] + radius * np.sin(angle), np.zeros(97)])
    pieces = np.stack([ring[:-1], ring[1:]], axis=1).astype(np.float32)
    scene.add_line_segments("/reach", pieces, colour, thickness=0.12 * view.link)
