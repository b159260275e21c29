"""Small pictures of paths among the targets of their context, seen as in the scene, to be clicked."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vigor.studio.cards import BORDER
from vigor.tasks.stage import Mark, View

SIZE = (70, 52)
"""Width and height, in pixels."""
FILLED = 0.88
"""Part of a picture that is drawn on."""
POINTS = 40
"""Points of a path."""
SHOWN = 60
"""Most pictures in a row of them."""


@dataclass(frozen=True)
class Drawing:
    """Contents of a picture: paths [T, 3] among marks."""

    marks: Sequence[Mark]
    paths: Sequence[np.ndarray]


@dataclass(frozen=True)
class Frame:
    """The part of a view that pictures show: all that some of them draw, so that their contexts can be told apart."""

    axes: np.ndarray
    """Directions [3, 2] to the right and down."""
    middle: np.ndarray
    """[2], along them."""
    scale: float
    """Pixels of a metre."""

    @classmethod
    def around(cls, view: View, drawings: Sequence[Drawing]) -> "Frame":
        eye, look, up = (np.array(part, float) for part in (view.camera, view.look_at, view.up))
        forward = (look - eye) / np.linalg.norm(look - eye)
        right = np.cross(forward, up)
        right /= np.linalg.norm(right)
        axes = np.stack([right, np.cross(forward, right)], axis=-1)
        marks = [(mark.position @ axes, _radius(mark)) for part in drawings for mark in part.marks]
        corners = [place + side * radius for place, radius in marks for side in (-1, 1)]
        places = np.concatenate([corners, *(path @ axes for part in drawings for path in part.paths)])
        low, high = places.min(axis=0), places.max(axis=0)
        scale = FILLED * np.min(np.array(SIZE) / np.maximum(high - low, 1e-9))
        return cls(axes, (low + high) / 2, float(scale))

    def pixels(self, places: np.ndarray) -> np.ndarray:
        """Places [..., 3] as pixels [..., 2]."""
        return np.array(SIZE) / 2 + self.scale * (places @ self.axes - self.middle)


def _radius(mark: Mark) -> float:
    return max(mark.radius, *(np.array(mark.size or (0, 0)) / 2))


def picture(frame: Frame, shown: Drawing) -> str:
    """A drawing as SVG."""
    parts = []
    for mark in shown.marks:
        x, y = frame.pixels(mark.position)
        radius = max(2.0, frame.scale * _radius(mark))
        parts.append(f'<circle cx="{x:.0f}" cy="{y:.0f}" r="{radius:.0f}" fill="#3c5a96" opacity=".45"/>')
    for path in shown.paths:
        some = frame.pixels(path[np.linspace(0, len(path) - 1, POINTS).astype(int)])
        points = " ".join(f"{x:.0f},{y:.0f}" for x, y in some)
        parts.append(f'<polyline points="{points}" fill="none" stroke="currentColor" stroke-width="1.3"/>')
    return f'<svg width="{SIZE[0]}" height="{SIZE[1]}" style="display:block">{"".join(parts)}</svg>'


def button(svg: str, label: str, click: str, extra: str = "", current: bool = False) -> str:
    """A small picture with a label, to be clicked; extra: HTML in its corner."""
    border = "2px solid #228be6" if current else f"1px solid {BORDER}"
    head = f'<div style="display:flex;justify-content:space-between;padding:0 .2em"><span>{label}</span>'
    style = f"border:{border};border-radius:.25em;cursor:pointer;overflow:hidden"
    return f'<div data-click="{click}" style="{style}">{head}{extra}</div>{svg}</div>'


def corner(sign: str, colour: str, click: str, title: str) -> str:
    """A sign in the corner of a picture, with what a click on it says."""
    return f'<span data-click="{click}" title="{title}" style="padding:0 .2em;color:{colour}">{sign}</span>'


def row(title: str, buttons: Sequence[str]) -> str:
    """Pictures side by side under a title."""
    more = f" (the last {SHOWN} of {len(buttons)})" if len(buttons) > SHOWN else ""
    inner = f'<div style="display:flex;flex-wrap:wrap;gap:.3em">{"".join(buttons[-SHOWN:])}</div>'
    return f'<div style="font-size:.75em;padding:0 1.2em .6em">{title}{more}{inner}</div>' if buttons else ""
