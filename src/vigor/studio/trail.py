"""The movement that is being recorded, as a trail in the scene."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from vigor.tasks.layouts import effector
from vigor.tasks.stage import Missing, Picture

HELD, SOLVED, MISSED = (245, 95, 0), (10, 140, 60), (200, 40, 40)
OFTEN = 5
"""Pictures after which the trail is drawn again."""


class Trail:
    """Orange while the robot is held, green once the context is solved, red if it was let go before.

    A line leads from a red one to what it misses.
    """

    def __init__(self, scene: Any, stroke: float) -> None:
        self._scene, self._stroke = scene, stroke
        self._shown: list[Any] = []
        self._state: tuple[int, bool, bool] = (0, False, False)

    def draw(self, seen: Sequence[Picture], held: bool, missing: Missing | None) -> None:
        """Show a movement; nothing if there are no pictures of it."""
        state = len(seen) // OFTEN, held, missing is None
        if state == self._state:
            return
        self._state = state
        for old in self._shown:
            old.remove()
        self._shown = []
        if len(seen) < 2:
            return
        path, add = effector(seen), self._scene.add_line_segments
        colour = SOLVED if missing is None else HELD if held else MISSED
        lines = np.stack([path[:-1], path[1:]], axis=1).astype(np.float32)
        self._shown.append(add("/trail/path", lines, colour, thickness=0.22 * self._stroke))
        if missing is not None and missing.line is not None and not held:
            line = missing.line[None].astype(np.float32)
            self._shown.append(add("/trail/missed", line, MISSED, thickness=0.15 * self._stroke))
