"""Charts that a page draws as SVG: to hover over, to zoom into, and with lines that its legend switches on and off.

A chart is data; `templates/chart.html` draws it and `templates/chart.js` makes it answer. No library is fetched.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np
from matplotlib.ticker import LogLocator, MaxNLocator

STEPS = (1, 2, 2.5, 5, 10)
"""Steps between ticks, but for powers of ten."""
LEFT, RIGHT, TOP, BOTTOM = 52.0, 10.0, 26.0, 40.0
"""Margins around the plot, in the chart's units: pixels on a screen that is wide enough."""
DECADES, PART = 1.5, 0.7
"""Decades from which on a logarithmic scale has no ticks between them, and below which it has those of a plain one."""


@dataclass(frozen=True, eq=False)
class Line:
    """A line of a chart."""

    name: str
    """Words that are shown where the pointer is on it; empty for none."""
    colour: str
    points: np.ndarray
    """[n, 2]"""
    kind: Literal["main", "side", "thin", "quiet", "dashed"] = "main"
    key: str = ""
    """Key of the legend that switches it, or several with a bar between them."""


@dataclass(frozen=True)
class Dot:
    """A dot of a chart, with an interval along one axis if it has one."""

    name: str
    colour: str
    at: tuple[float, float]
    across: tuple[float, float] | None = None
    """Ends of its interval along x."""
    key: str = ""
    mark: Literal["full", "hollow", "diamond"] = "full"


@dataclass(frozen=True)
class Circle:
    """A place in the plane of a chart, in the units of its axes."""

    name: str
    centre: tuple[float, float]
    radius: float


@dataclass(frozen=True, eq=False)
class Chart:
    """A chart with its axes."""

    title: str
    x: str
    y: str
    lines: Sequence[Line] = ()
    dots: Sequence[Dot] = ()
    circles: Sequence[Circle] = ()
    equal: bool = False
    """Whether both axes have the same scale."""
    log: bool = False
    """Whether x has a logarithmic scale."""
    x_range: tuple[float, float] | None = None
    y_range: tuple[float, float] | None = None
    rows: Sequence[str] = field(default_factory=tuple)
    """Names of the places 0, 1, ... on y from top to bottom, instead of numbers."""
    width: float = 340.0
    height: float = 300.0

    @cached_property
    def left(self) -> float:
        """Left margin, as wide as the names of rows need."""
        return max([LEFT, *(7.4 * len(name) + 14 for name in self.rows)])

    @cached_property
    def ends(self) -> np.ndarray:
        """[2, 2]: lowest and highest value along x and along y."""
        found = [line.points for line in self.lines if len(line.points)]
        found += [np.array([dot.at]) for dot in self.dots]
        found += [np.array([(end, dot.at[1]) for end in dot.across]) for dot in self.dots if dot.across]
        found += [np.array(one.centre) + one.radius * np.array([(-1, -1), (1, 1)]) for one in self.circles]
        every = np.concatenate(found) if found else np.zeros((1, 2))
        every = every[np.all(np.isfinite(every), axis=1)]
        ends = np.stack([every.min(axis=0), every.max(axis=0)], axis=1) if len(every) else np.array([[0, 1], [0, 1.0]])
        ends[0] = self._scaled(ends[0])
        ends += np.array([-0.04, 0.04]) * np.maximum(ends[:, 1:] - ends[:, :1], 1e-9)
        for axis, given in enumerate((self.x_range, self.y_range)):
            if given is not None:
                ends[axis] = given
        if self.rows:
            ends[1] = len(self.rows) - 0.4, -0.6
        return self._squared(ends) if self.equal else ends

    def _squared(self, ends: np.ndarray) -> np.ndarray:
        """Wider ends of the axis that has room left, so that both have one scale."""
        size = np.array([self.width - self.left - RIGHT, self.height - TOP - BOTTOM])
        per_pixel = np.max((ends[:, 1] - ends[:, 0]) / size)
        middle = ends.mean(axis=1, keepdims=True)
        return middle + per_pixel * size[:, None] / 2 * np.array([-1.0, 1.0])

    def _scaled(self, values: np.ndarray) -> np.ndarray:
        return np.log10(np.maximum(values, 1e-6)) if self.log else values

    def place(self, points: np.ndarray) -> np.ndarray:
        """Places [n, 2] in the chart's units of points [n, 2]."""
        x, y = np.asarray(points, float).T
        (left, right), (low, high) = self.ends
        across = self.left + (self._scaled(x) - left) / (right - left) * (self.width - self.left - RIGHT)
        down = TOP + (high - y) / (high - low) * (self.height - TOP - BOTTOM)
        return np.stack([across, down], axis=1)

    def path(self, points: np.ndarray) -> str:
        """The way of a line as SVG has it; what is not finite interrupts it."""
        words, drawn = [], False
        for x, y in self.place(points):
            there = bool(np.isfinite(x) and np.isfinite(y))
            words += [f"{'L' if drawn else 'M'}{x:.1f} {y:.1f}"] if there else []
            drawn = there
        return "".join(words)

    def radius(self, circle: Circle) -> float:
        """A circle's radius in the chart's units, where both axes have one scale."""
        return float(circle.radius / (self.ends[0, 1] - self.ends[0, 0]) * (self.width - self.left - RIGHT))

    @cached_property
    def x_ticks(self) -> list[tuple[float, str]]:
        """Places and words of the ticks along x."""
        low, high = self.ends[0]
        if self.log and high - low < PART:
            values = [
                v
                for v in MaxNLocator(4, steps=STEPS).tick_values(10**low, 10**high)
                if low <= np.log10(max(v, 1e-9)) <= high
            ]
        elif self.log:
            between = LogLocator(subs=(1.0,) if high - low > DECADES else (1.0, 2.0, 5.0), numticks=4)
            values = [v for v in between.tick_values(10**low, 10**high) if low <= np.log10(v) <= high]
        else:
            values = [v for v in MaxNLocator(5, steps=STEPS).tick_values(low, high) if low <= v <= high]
        return [(float(self.place(np.array([(v, 0.0)]))[0, 0]), _word(v)) for v in values]

    @cached_property
    def y_ticks(self) -> list[tuple[float, str]]:
        """Places and words of the ticks along y."""
        if self.rows:
            return [(float(self.place(np.array([(1.0, i)]))[0, 1]), name) for i, name in enumerate(self.rows)]
        low, high = self.ends[1]
        values = [v for v in MaxNLocator(5, steps=STEPS).tick_values(low, high) if low <= v <= high]
        return [(float(self.place(np.array([(1.0, v)]))[0, 1]), _word(v)) for v in values]

    @property
    def bottom(self) -> float:
        return self.height - BOTTOM

    @property
    def right(self) -> float:
        return self.width - RIGHT

    @property
    def top(self) -> float:
        return TOP


def _word(value: float) -> str:
    return f"{round(value, 6) + 0.0:g}"
