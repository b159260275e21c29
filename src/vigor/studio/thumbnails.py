"""Small pictures of paths among the targets of their context, as the scene shows them, to be clicked."""

from collections.abc import Sequence

import numpy as np

from vigor.studio.cards import BORDER
from vigor.tasks.stage import Mark, View

SIZE = (70, 52)
"""Width and height, in pixels."""
ZOOM = 1.3
"""How much larger things are than the scene shows them, in parts of the picture."""
POINTS = 40
"""Points of a path."""
SHOWN = 60
"""Most pictures in a row of them."""


def flat(view: View, places: np.ndarray) -> np.ndarray:
    """Places [..., 3] as pixels [..., 2] of a small picture."""
    eye, look, up = (np.array(part, float) for part in (view.camera, view.look_at, view.up))
    forward = (look - eye) / np.linalg.norm(look - eye)
    right = np.cross(forward, up)
    right /= np.linalg.norm(right)
    axes = np.stack([right, np.cross(forward, right)], axis=-1)
    return np.array(SIZE) / 2 + scale(view) * (places - look) @ axes


def scale(view: View) -> float:
    """Pixels of a metre."""
    away = np.linalg.norm(np.subtract(view.camera, view.look_at))
    return ZOOM * SIZE[1] / 2 / float(away * np.tan(view.field / 2))


def picture(view: View, marks: Sequence[Mark], paths: Sequence[np.ndarray]) -> str:
    """Paths [T, 3] among marks, as SVG."""
    parts = []
    for mark in marks:
        x, y = flat(view, mark.position)
        radius = max(2.0, scale(view) * max(mark.radius, *(np.array(mark.size or (0, 0)) / 2)))
        parts.append(f'<circle cx="{x:.0f}" cy="{y:.0f}" r="{radius:.0f}" fill="#3c5a96" opacity=".45"/>')
    for path in paths:
        some = flat(view, path[np.linspace(0, len(path) - 1, POINTS).astype(int)])
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
