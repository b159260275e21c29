"""Ghosts: the robot of every other way beside the one that is played, as thin lines."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from vigor.studio.shared import Trace
from vigor.studio.traces import colour_of, outline, rgb
from vigor.tasks.stage import Picture

THIN = 0.18
"""Thickness of a ghost's lines, in strokes of the scene."""


def lines(picture: Picture) -> np.ndarray:
    """Pieces [n, 2, 3] from joint to joint, and around bodies."""
    links = np.stack([picture.points[:-1], picture.points[1:]], axis=1)
    return np.concatenate([links, *map(outline, picture.bodies)]).astype(np.float32)


class Ghosts:
    """Lines of all ghosts, each in its way's colour."""

    def __init__(self, scene: Any, stroke: float) -> None:
        self._scene, self._thickness = scene, THIN * stroke
        self._shown: list[tuple[Any, Trace]] = []

    def draw(self, ghosts: Sequence[tuple[Trace, Picture]]) -> None:
        """Show these and no others."""
        if [way for _, way in self._shown] != [way for way, _ in ghosts]:
            for old, _ in self._shown:
                old.remove()
            self._shown = [(self._new(i, *ghost), ghost[0]) for i, ghost in enumerate(ghosts)]
            return
        for (shown, _), (_, picture) in zip(self._shown, ghosts, strict=True):
            shown.points = lines(picture)

    def _new(self, number: int, way: Trace, picture: Picture) -> Any:
        colour = rgb(colour_of(way))
        return self._scene.add_line_segments(f"/ghosts/{number}", lines(picture), colour, thickness=self._thickness)
