"""Parts of figures in one style: panels, regions, outlines, paths, arms and keys.

Panels show contexts on the same scale. Tasks in space show a perspective view beside its projections.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.patches import Circle, Patch, Polygon, Rectangle
from matplotlib.patheffects import Normal, Stroke
from matplotlib.ticker import MaxNLocator
from mpl_toolkits.mplot3d.art3d import Line3DCollection

from vigor.basics.colours import FAINT, INK, PALETTE, QUIET
from vigor.motion.shapes import Box, Sphere
from vigor.tasks.task import Outline, Region

SHADES = ("#dcdcdc", "#a9a9a9", "#7d7d7d")
"""Fills of regions in their order."""
FORBIDDEN = "#e8897f"
"""Fill of places to keep out of."""
WANTED = "#9ccfa4"
"""Fill of places that must be passed."""
KINDS = 8
"""Most kinds of ways that are told apart by colour."""
COLUMNS = 5
"""Components in a line below a panel."""
PROJECTIONS = {"from above": (0, 1), "from the side": (0, 2)}
"""Coordinates that the projections of a task in space show."""

Views = list[tuple[list[int], Any]]
"""Axes of one panel with the coordinates that each shows. (Axes in space have no useful types.)"""


def _limits(groups: Sequence[np.ndarray], regions: Sequence[Sequence[Region]]) -> np.ndarray:
    """Lower and upper corner [2, 2 or 3] around regions and points [..., T, points, 2 or 3], but for stray samples."""
    balls = [(np.asarray(region.centre), region.radius) for targets in regions for region in targets]
    corners = [np.stack([centre - radius, centre + radius]) for centre, radius in balls]
    for points in groups:
        stray = 0.01 if points.ndim == 5 else 0.0
        corners.append(np.quantile(points.reshape(-1, points.shape[-1]), (stray, 1 - stray), axis=0))
    low, high = np.min(corners, axis=(0, 1)), np.max(corners, axis=(0, 1))
    margin = 0.04 * np.max(high - low)
    return np.stack([low - margin, high + margin])


def panels(
    groups: Sequence[np.ndarray], regions: Sequence[Sequence[Region]], below: float = 0.0, columns: int | None = None
) -> tuple[Figure, list[Views]]:
    """A figure with a panel for each context's regions, all on the same scale, with `below` inches under each for text.

    groups: points [..., T, points, 2 or 3] to make room for; columns: of panels, as many as suit by default. Views in
    space show the arm, projections the paths alone.
    """
    count, limits = len(regions), _limits(groups, regions)
    flat = limits.shape[1] == 2
    if flat:
        columns, width = columns or (count if count <= 3 else math.ceil(math.sqrt(count))), 3.1
        height = width * float(np.clip(np.divide(*np.ptp(limits, axis=0)[::-1]), 0.4, 1.6)) + 0.25 + below
    else:
        columns, width, height = columns or min(count, 2), 5.6, 3.9
    rows = math.ceil(count / columns)
    layout = ConstrainedLayoutEngine(w_pad=0.08, h_pad=0.06, compress=flat)
    figure = Figure(figsize=(width * columns + 0.3, height * rows + 1.0), layout=layout)
    grid = figure.add_gridspec(rows, columns)
    panels: list[Views] = []
    for i in range(count):
        cell = grid[divmod(i, columns)]
        if flat:
            ax = figure.add_subplot(cell)
            _set_plane(ax, limits)
            ax.tick_params(labelleft=i % columns == 0, labelbottom=i + columns >= count)
            panels.append([([0, 1], ax)])
        else:
            parts = cell.subgridspec(2, 2, width_ratios=(1.4, 1))
            space = figure.add_subplot(parts[:, 0], projection="3d", computed_zorder=False)
            _set_space(space, limits)
            panels.append([([0, 1, 2], space)])
            paths = _limits([points[..., -1:, :] for points in groups], regions)
            for row, (name, axes) in enumerate(PROJECTIONS.items()):
                ax = figure.add_subplot(parts[row, 1])
                _set_plane(ax, paths[:, axes])
                ax.set_ylabel(f"{'xyz'[axes[1]]}, {name}", fontsize=8, color=QUIET)
                panels[-1].append((list(axes), ax))
    return figure, panels


def space(points: np.ndarray) -> tuple[Figure, Any]:
    """A figure with one view in space, a cube that has room for points [n, 3]."""
    figure = Figure(figsize=(6.4, 6.4), layout=ConstrainedLayoutEngine(w_pad=0.02, h_pad=0.02))
    ax = figure.add_subplot(projection="3d", computed_zorder=False)
    low, high = points.min(axis=0), points.max(axis=0)
    half = 0.53 * float(np.max(high - low))
    _set_space(ax, (low + high) / 2 + half * np.array([[-1.0], [1.0]]), zoom=1.0)
    return figure, ax


def _set_plane(ax: Axes, limits: np.ndarray) -> None:
    clean(ax)
    ax.set(xlim=limits[:, 0], ylim=limits[:, 1], aspect="equal")
    ax.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    ax.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))


def _set_space(ax: Any, limits: np.ndarray, zoom: float = 1.35) -> None:
    ax.set(xlim=limits[:, 0], ylim=limits[:, 1], zlim=limits[:, 2])
    ax.set_box_aspect(np.ptp(limits, axis=0), zoom=zoom)
    ax.view_init(elev=22, azim=-58)
    low, high = limits
    for name, place in zip("xyz", ((0.5, -0.1, 0), (1.1, 0.5, 0), (1, 1.1, 0.5)), strict=True):
        ax.text(*(low + np.asarray(place) * (high - low)), name, fontsize=8, color=QUIET, ha="center", va="center")
    for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
        axis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
        axis.set_ticklabels([])
        axis.set_tick_params(color=FAINT)
        axis.set_pane_color((1, 1, 1, 0))
        axis.line.set_color(FAINT)
        axis._axinfo["grid"].update(color=FAINT, linewidth=0.6)


def clean(ax: Axes) -> None:
    """A light frame and grid."""
    ax.spines[:].set_color(FAINT)
    ax.tick_params(labelsize=8, length=0, colors=QUIET)
    ax.grid(color=FAINT, linewidth=0.6)
    ax.set_axisbelow(True)


def title(ax: Axes, text: str) -> None:
    ax.set_title(text, fontsize=10, color=INK, loc="left")


def colour(component: int) -> str:
    return PALETTE[component % len(PALETTE)]


def draw_regions(ax: Any, axes: list[int], regions: Sequence[Region]) -> None:
    """Circles under the paths with their edges above, or shaded spheres."""
    for number, region in enumerate(regions):
        centre = np.asarray(region.centre)[axes]
        _draw_ball(ax, centre, region.radius, SHADES[number % len(SHADES)])
        if len(axes) == 2:
            middle = (float(centre[0]), float(centre[1]))
            ax.add_patch(Circle(middle, region.radius, fill=False, edgecolor=INK, linewidth=0.9, zorder=6))


def draw_shapes(ax: Any, axes: list[int], shapes: Sequence[Sphere | Box], colour: str) -> None:
    """Discs and rectangles, or solid shapes."""
    for shape in shapes:
        if isinstance(shape, Sphere):
            _draw_ball(ax, np.asarray(shape.centre)[axes], shape.radius, colour)
        elif len(axes) == 2:
            low, size = np.asarray(shape.low)[axes], np.subtract(shape.high, shape.low)[axes]
            ax.add_patch(Rectangle((low[0], low[1]), size[0], size[1], facecolor=colour, zorder=1))
        else:
            ax.bar3d(*shape.low, *np.subtract(shape.high, shape.low), color=colour, alpha=0.5, zorder=3)


def _draw_ball(ax: Any, centre: np.ndarray, radius: float, colour: str) -> None:
    """A disc, or a shaded sphere."""
    if len(centre) == 2:
        ax.add_patch(Circle((float(centre[0]), float(centre[1])), radius, facecolor=colour, zorder=1))
        return
    around, down = np.meshgrid(np.linspace(0, 2 * np.pi, 25), np.linspace(0, np.pi, 13))
    ball = np.stack([np.cos(around) * np.sin(down), np.sin(around) * np.sin(down), np.cos(down)])
    ax.plot_surface(*(centre[:, None, None] + radius * ball), color=colour, alpha=0.6, linewidth=0, zorder=3)


def draw_outlines(ax: Any, outlines: Sequence[Outline]) -> None:
    """Polygons under the paths, all but the last dashed."""
    for outline, style in zip(outlines, _outline_styles(outlines), strict=True):
        ax.add_patch(Polygon(outline.corners, zorder=1, **style))


def _outline_styles(outlines: Sequence[Outline]) -> list[dict[str, Any]]:
    quiet: dict[str, Any] = {"fill": False, "edgecolor": QUIET, "linestyle": "--", "linewidth": 1.0}
    goal: dict[str, Any] = {"facecolor": "#d5eddb", "edgecolor": "#26a147", "linewidth": 1.2}
    return [quiet] * (len(outlines) - 1) + [goal] * bool(outlines)


def outline_points(outlines: Sequence[Sequence[Outline]]) -> list[np.ndarray]:
    """Corners [corners, 1, 2] to make room for."""
    return [np.asarray(outline.corners)[:, None] for edges in outlines for outline in edges]


def outline_keys(outlines: Sequence[Outline]) -> list[Artist]:
    return [
        Patch(label=outline.label, **style) for outline, style in zip(outlines, _outline_styles(outlines), strict=True)
    ]


def draw_paths(ax: Any, paths: np.ndarray, colour: str, alpha: float) -> None:
    """Thin lines [n, T, 2 or 3]; pixels also in figures for print, where thousands of them would be megabytes."""
    kind = LineCollection if paths.shape[-1] == 2 else Line3DCollection
    ax.add_collection(kind(list(paths), colors=colour, linewidths=0.7, alpha=alpha, zorder=2, rasterized=True))


def draw_mean(ax: Any, coordinates: np.ndarray, component: int, width: float, outlined: bool = True) -> None:
    """A component's mean [2 or 3, T] with a black outline; one of a kind that is drawn already has none."""
    outline = (Stroke(linewidth=width + 1.3, foreground="black"), Normal())
    style: dict[str, Any] = {"linewidth": width, "path_effects": outline, "zorder": 4} if outlined else {"linewidth": 1}
    ax.plot(*coordinates, label=f"component {component + 1}", color=colour(component), **style)


def ranges(points: np.ndarray, region: Region) -> np.ndarray:
    """Distance [..., T] of the end effector to a region's centre."""
    return np.linalg.norm(points[..., -1, :] - np.asarray(region.centre), axis=-1)


def draw_arm(ax: Any, points: np.ndarray, regions: Sequence[Region], colour: str) -> None:
    """The arm [T, points, 2 or 3] at the first step, at the last, and closest to each region but the last."""
    if points.shape[1] == 1:
        return
    via = [int(np.argmin(ranges(points, region))) for region in regions[:-1]]
    for step in sorted({0, *via, len(points) - 1}):
        style = {"color": QUIET if step == 0 else colour, "linewidth": 1.6, "alpha": 0.5, "zorder": 3}
        ax.plot(*points[step].T, marker="o", markersize=2.5, label="arm", **style)
    ax.plot(*points[0, :1].T, marker="s", markersize=6, color=INK, zorder=5)


def write_rates(ax: Axes, rates: np.ndarray) -> None:
    """Success of every component in its colour, below the axes."""
    keys = [key(f"{rate:.0%}", colour(component), 2.0) for component, rate in enumerate(rates)]
    style: dict[str, Any] = {"fontsize": 8, "frameon": False, "handlelength": 0.7, "handletextpad": 0.3}
    ax.legend(handles=keys, loc="upper center", bbox_to_anchor=(0.5, -0.045), ncols=COLUMNS, columnspacing=0.8, **style)


def key(label: str, colour: str, width: float) -> Artist:
    return Line2D([], [], color=colour, linewidth=width, linestyle="--" if label == "radius" else "-", label=label)


def kind_name(kinds: np.ndarray) -> str:
    """Word for what has a colour: a way, or a kind of several."""
    return "kind" if len(np.unique(kinds)) < len(kinds) else "way"


def first_of_kind(kinds: np.ndarray) -> np.ndarray:
    """Whether a way [way] is the first of its kind."""
    return np.isin(np.arange(len(kinds)), np.unique(kinds, return_index=True)[1])


def kind_keys(kinds: np.ndarray) -> list[Artist]:
    return [key(f"{kind_name(kinds)} {kind + 1}", colour(kind), 2.5) for kind in range(max(kinds) + 1)]


def region_keys(regions: Sequence[Region]) -> list[Artist]:
    style: dict[str, Any] = {"edgecolor": INK, "linewidth": 0.8}
    return [Patch(facecolor=SHADES[i % len(SHADES)], label=region.label, **style) for i, region in enumerate(regions)]


def finish(figure: Figure, title: str, keys: list[Artist], note: str = "") -> None:
    """Headline above, legend and a note below."""
    figure.suptitle(title, fontsize=12, color=INK, weight="bold")
    if keys:
        columns = min(len(keys), int(figure.get_figwidth() / 1.1))
        style: dict[str, Any] = {"fontsize": 9, "frameon": False, "labelcolor": INK, "handlelength": 1.2}
        style |= {"ncols": columns, "columnspacing": 1.0, "title": note, "title_fontsize": 9}
        figure.legend(handles=keys, loc="outside lower center", **style).get_title().set_color(QUIET)
