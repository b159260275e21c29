"""Paths in the scene: demonstrations, ways and samples, as lines of constant width."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from vigor.basics.colours import PALETTE
from vigor.studio.shared import Trace
from vigor.tasks.stage import Body

GREY = (125, 125, 125)
DOTS = 40
"""Dots of the line of a way that fails, with gaps as long between them."""
WIDTHS = {"demonstration": 0.14, "way": 0.32, "sample": 0.1}
"""Widths of lines by kind, in strokes of the scene."""
POINTED = 2.2
"""Factor on the width of what somebody points at."""


def rgb(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def colour_of(trace: Trace) -> str:
    """Colour of a way, as HTML writes it."""
    return PALETTE[(trace.colour or 0) % len(PALETTE)]


def outline(body: Body) -> np.ndarray:
    """Edges [4, 2, 3] of the rectangle around a body, seen from above, at its upper end."""
    low = np.min([np.subtract(part.centre, np.array(part.size) / 2) for part in body.blocks], axis=0)
    high = np.max([np.add(part.centre, np.array(part.size) / 2) for part in body.blocks], axis=0)
    corners = np.array([(low[0], low[1]), (high[0], low[1]), (high[0], high[1]), (low[0], high[1])])
    x, y, angle = body.pose
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    placed = np.column_stack([corners @ turn.T + (x, y), np.full(4, high[2])])
    return np.stack([placed, np.roll(placed, -1, axis=0)], axis=1)


def segments(trace: Trace) -> np.ndarray:
    """Pieces [n, 2, 3] of a path, with gaps where it fails, and around bodies where it leaves them."""
    pieces = np.stack([trace.points[:-1], trace.points[1:]], axis=1)
    if not trace.holds:
        ends = np.cumsum(np.linalg.norm(pieces[:, 1] - pieces[:, 0], axis=1))
        begins = np.append(0.0, ends[:-1])
        pieces = pieces[(2 * DOTS * begins / max(ends[-1], 1e-9)).astype(int) % 2 == 0]
    return np.concatenate([pieces, *map(outline, trace.end)]).astype(np.float32)


class Traces:
    """Lines of the scene; those that stay the same are not sent again."""

    def __init__(self, scene: Any, stroke: float) -> None:
        self._scene, self._stroke = scene, stroke
        self._shown: list[tuple[Any, Trace, float]] = []

    def draw(self, traces: Sequence[Trace], pointed: int | None) -> None:
        """Show these and nothing else; pointed: rank of the solution that is drawn wider."""
        for i, trace in enumerate(traces):
            wide = POINTED if trace.rank is not None and trace.rank == pointed else 1.0
            if i < len(self._shown) and self._shown[i][1:] == (trace, wide):
                continue
            lines = segments(trace)
            lines[..., 2] += 0.001 * i * self._stroke
            colour = GREY if trace.kind != "way" else rgb(colour_of(trace))
            thickness = wide * self._stroke * WIDTHS[trace.kind]
            handle = self._scene.add_line_segments(f"/traces/{i}", lines, colour, thickness=thickness)
            self._shown[i : i + 1] = [(handle, trace, wide)]
        for handle, _, _ in self._shown[len(traces) :]:
            handle.remove()
        del self._shown[len(traces) :]
