"""Pictures of demonstrations, policies and learning, as matplotlib figures without global state.

A panel shows one context. Every component keeps its colour through all panels; component means have a black outline,
samples are thin, demonstrations grey. Tasks in space show a perspective view beside its projections.
"""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.patches import Circle, Patch, Polygon, Rectangle
from matplotlib.patheffects import Normal, Stroke
from matplotlib.ticker import MaxNLocator, PercentFormatter
from mpl_toolkits.mplot3d.art3d import Line3DCollection

from vigor import files
from vigor.constraints import Box, Sphere
from vigor.errors import UserError
from vigor.policies import Learned
from vigor.solutions import Plans, Solution
from vigor.tasks.task import Outline, Region, Task

PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#332288", "#999933", "#882255", "#44AA99")
"""Colours that stay apart for colour-blind readers (Okabe and Ito, then Tol)."""
INK, QUIET, FAINT = "#222222", "#8a8a8a", "#e6e6e6"
SHADES = ("#dcdcdc", "#a9a9a9", "#7d7d7d")
"""Fills of regions in their order."""
FORBIDDEN = "#e8897f"
"""Fill of places to keep out of."""
PANELS = 12
"""A figure shows at most this many contexts."""
STEPS = 120
"""Movements of policies are drawn with this many steps, so that they look as smooth as they are."""
PROJECTIONS = {"from above": (0, 1), "from the side": (0, 2)}
"""The coordinates that the projections of a task in space show."""
SPLITS = {"train": "training", "test": "test"}

Views = list[tuple[list[int], Any]]
"""The axes of one panel with the coordinates that each shows. (Axes in space have no useful types.)"""


def traces(
    task: Task,
    policies: Learned,
    demonstrations_joints: Sequence[np.ndarray] | None = None,
    samples: int = 40,
    contexts: Sequence[int] | None = None,
    success: np.ndarray | None = None,
) -> Figure:
    """Paths of the end effector: mean and samples of every component, and the arm of two that differ.

    demonstrations_joints: [n, T, dimensions] for each training context; contexts: which of the policies' contexts to
    show, all by default; success: rates [context, component] of all contexts, written below the panels.
    """
    shown = _shown(policies, contexts)
    plans = [_plans(task, policies, index, samples) for index in shown]
    known = [_points(task, own) for own in demonstrations_joints or ()][: policies.training]
    regions = [task.regions(policies.contexts[index]) for index in shown]
    outlines = [task.outlines(policies.contexts[index]) for index in shown]
    room = [*(points for plan in plans for points in plan), *(known[index] for index in shown if index < len(known))]
    room += _outline_points(outlines)
    figure, panels = _panels(room, regions, 0.0 if success is None else 0.25)
    for index, views, (means, drawn), targets, edges in zip(shown, panels, plans, regions, outlines, strict=True):
        rates = np.ones(len(means)) if success is None else np.asarray(success)[index]
        title(views[0][1], _name(policies, index))
        _draw_outlines(views[0][1], edges)
        for axes, ax in views:
            _draw_regions(ax, axes, targets)
            if index < len(known):
                _draw_paths(ax, known[index][..., -1, axes], QUIET, 0.6)
            for component, points in enumerate(drawn):
                _draw_paths(ax, points[..., -1, axes], _colour(component), 0.25 if len(views) == 1 else 0.15)
            for component, points in enumerate(means):
                _draw_mean(ax, points[:, -1, axes].T, component, 2.0 if len(views) == 1 else 1.4)
        for component in _different(means, rates):
            _draw_arm(views[0][1], means[component], targets, _colour(component))
        if success is not None:
            _write_rates(views[0][1], rates)
    note = "outlined: mean of a component, thin: its samples" + ("" if success is None else ", percent: their success")
    keys = _component_keys(policies) + _region_keys(regions[0]) + _outline_keys(outlines[0])
    keys += [_key("demonstration", QUIET, 0.8)] if min(shown) < len(known) else []
    finish(figure, f"{task.name}: movements of the end effector", keys, note)
    return figure


def distances(
    task: Task,
    policies: Learned,
    demonstrations_joints: Sequence[np.ndarray] | None = None,
    samples: int = 20,
    contexts: Sequence[int] | None = None,
) -> Figure:
    """Distance of the end effector to each region's centre over the phase: a row per region, a column per context.

    demonstrations_joints: [n, T, dimensions] for each training context. A training context shows its own, a test
    context those of all training contexts: this is what its movements were made to resemble.
    """
    shown = _shown(policies, contexts)[: PANELS // 2]
    names = [region.label for region in task.regions(policies.contexts[shown[0]])]
    if not names:
        raise UserError(f"{task.name} names no regions, so there are no distances to draw; give the task `regions`")
    known = [
        [_ranges(_points(task, own), region) for region in task.regions(context)]
        for own, context in zip(demonstrations_joints or (), policies.contexts[: policies.training], strict=False)
    ]
    figure = Figure(figsize=(0.6 + 1.9 * max(len(shown), 3), 1.1 + 1.9 * len(names)), layout="constrained")
    grid = figure.subplots(len(names), len(shown), squeeze=False, sharex=True, sharey="row")
    for column, index in enumerate(shown):
        means, drawn = _plans(task, policies, index, samples)
        title(grid[0, column], _name(policies, index))
        for row, region in enumerate(task.regions(policies.contexts[index])):
            ax = grid[row, column]
            for own in known[index : index + 1] if index < policies.training else known:
                _draw_paths(ax, _over_phase(own[row]), QUIET, 0.45)
            for component, points in enumerate(drawn):
                _draw_paths(ax, _over_phase(_ranges(points, region)), _colour(component), 0.25)
            for component, points in enumerate(means):
                _draw_mean(ax, _over_phase(_ranges(points, region)).T, component, 1.4)
            ax.axhline(region.radius, color=INK, linewidth=0.9, linestyle="--", label="radius")
            clean(ax)
            ax.set(xlim=(0, 1), xticks=[0, 0.5, 1], xticklabels=["0", ".5", "1"])
        grid[-1, column].set_xlabel("phase", fontsize=9, color=INK)
    for row, name in enumerate(names):
        grid[row, 0].set_ylabel(f"distance to {name}", fontsize=9, color=INK)
        grid[row, 0].set_ylim(bottom=0)
    keys = [*_component_keys(policies), _key("radius", INK, 0.9)]
    keys += [_key("demonstration", QUIET, 0.8)] if known else []
    finish(figure, f"{task.name}: distance to the targets", keys, "outlined: mean of a component, thin: its samples")
    return figure


def plans(made: Plans) -> Figure:
    """Ranked solutions of every plan, a colour each, with drawn samples; the arm of the first of each of two kinds.

    Solutions that fail or violate a constraint are dotted.
    """
    task, shown = made.load_task(), made.plans[:PANELS]
    groups = [[_movements(task, own) for own in (plan.solutions, plan.samples)] for plan in shown]
    regions = [task.regions(np.asarray(plan.context)) for plan in shown]
    outlines = [task.outlines(np.asarray(plan.context)) for plan in shown]
    room = [points for group in groups for points in group if len(points)]
    figure, panels = _panels([*room, *_outline_points(outlines)], regions, 0.25)
    for number, (plan, views, (means, drawn)) in enumerate(zip(shown, panels, groups, strict=True)):
        title(views[0][1], f"context {number + 1}" + ("" if plan.failure is None else ": no solution holds"))
        _draw_outlines(views[0][1], outlines[number])
        ranks = {solution.component: rank for rank, solution in enumerate(plan.solutions)}
        for axes, ax in views:
            _draw_regions(ax, axes, regions[number])
            _draw_keep_out(ax, axes, made.constraints.keep_out)
            for sample, points in zip(plan.samples, drawn, strict=True):
                _draw_paths(ax, points[None, :, -1, axes], _colour(ranks[sample.component]), 0.35)
            for rank, (solution, points) in reversed(list(enumerate(zip(plan.solutions, means, strict=True)))):
                path, width = points[:, -1, axes].T, 2.0 if len(views) == 1 else 1.4
                if solution.holds:
                    _draw_mean(ax, path, rank, width)
                else:
                    ax.plot(*path, ":", color=_colour(rank), linewidth=width, zorder=3)
        first = {solution.group: rank for rank, solution in reversed(list(enumerate(plan.solutions)))}
        for rank in sorted(first.values())[:2]:
            _draw_arm(views[0][1], means[rank], regions[number], _colour(rank))
        if all(solution.success is not None for solution in plan.solutions):
            _write_rates(views[0][1], np.array([solution.success for solution in plan.solutions]))
    count = max(len(plan.solutions) for plan in shown)
    keys = [_key(f"solution {rank + 1}", _colour(rank), 2.5) for rank in range(count)]
    keys += _region_keys(regions[0]) + _outline_keys(outlines[0])
    keys += [Patch(facecolor=FORBIDDEN, label="keep out")] if made.constraints.keep_out else []
    some = f", {len(shown)} of {len(made.plans)} contexts shown" if len(shown) < len(made.plans) else ""
    note = "dotted: fails or violates a constraint\npercent: success of samples around it"
    finish(figure, f"{task.name}: plans{some}", keys, note)
    return figure


def demonstrations(task: Task, contexts: np.ndarray, context_of: np.ndarray, joints: np.ndarray) -> Figure:
    """All demonstrations of each context, a colour each, and the arm of the first.

    contexts: [m, C], context_of: [n] index of each demonstration's context, joints: [n, T, dimensions].
    """
    demonstrated = np.unique(context_of)
    shown = demonstrated[:PANELS]
    if not len(shown):
        raise UserError("there are no demonstrations to draw; give at least one")
    points = [_points(task, joints[context_of == index]) for index in shown]
    regions = [task.regions(contexts[index]) for index in shown]
    outlines = [task.outlines(contexts[index]) for index in shown]
    figure, panels = _panels([*points, *_outline_points(outlines)], regions)
    for index, views, paths, targets, edges in zip(shown, panels, points, regions, outlines, strict=True):
        title(views[0][1], f"context {index + 1}: {len(paths)} demonstration{'s' if len(paths) > 1 else ''}")
        _draw_outlines(views[0][1], edges)
        for axes, ax in views:
            _draw_regions(ax, axes, targets)
            for number, path in enumerate(paths):
                ax.plot(*path[:, -1, axes].T, color=_colour(number), linewidth=1.3, alpha=0.9)
        _draw_arm(views[0][1], paths[0], targets, _colour(0))
    some = f", {len(shown)} of {len(demonstrated)} contexts shown" if len(shown) < len(demonstrated) else ""
    keys = _region_keys(regions[0]) + _outline_keys(outlines[0])
    finish(figure, f"{task.name}: {len(joints)} demonstrations{some}", keys)
    return figure


def learning_curves(metrics: Sequence[Mapping[str, Any]], task: Task) -> Figure:
    """Success, distance and versatility over the iterations, from the rows of a run's metrics.jsonl."""
    splits = [split for split in SPLITS if any(row.get(split) for row in metrics)]
    if not splits:
        raise UserError("there are no evaluations to draw; train until the first evaluation")
    iterations = [row["iteration"] for row in metrics]
    figure = Figure(figsize=(3.1 * (len(splits) + 2), 3.5), layout="constrained")
    *success, distance, versatility = figure.subplots(1, len(splits) + 2)
    for ax, split in zip(success, splits, strict=True):
        ranked = _values(metrics, split, "success_components")
        ax.plot(iterations, ranked, color="#b5b5b5", linewidth=1.0)
        ax.plot(iterations, _values(metrics, split, "success_mixture"), color=PALETTE[1], label="mixture")
        ax.plot(iterations, _values(metrics, split, "success_best"), color=PALETTE[0], label="best component")
        ax.plot([], [], color="#b5b5b5", linewidth=1.0, label="components, ranked")
        ax.set_ylim(-0.03, 1.03)
        ax.yaxis.set_major_formatter(PercentFormatter(1.0))
        title(ax, f"success, {SPLITS[split]} contexts")
    for split in splits:
        style = "--" if split == "train" else "-"
        values = _values(metrics, split, "distance_best")
        distance.plot(iterations, values, style, color=PALETTE[0], label=SPLITS[split])
        for name, colour in (("working components", PALETTE[3]), ("distinct solutions", PALETTE[2])):
            values = _values(metrics, split, "versatility", name.replace(" ", "_"))
            versatility.plot(iterations, values, style, color=colour, label=f"{name}, {SPLITS[split]}")
    title(distance, "distance of the best component")
    title(versatility, "versatility per context")
    for ax in (*success, distance, versatility):
        clean(ax)
        for line in ax.lines if len(metrics) == 1 else ():  # A line of one point cannot be seen.
            line.set_marker("o")
        ax.xaxis.set_major_locator(MaxNLocator(5, integer=True, steps=[1, 2, 5, 10]))
        ax.set_xlabel("iteration", fontsize=9, color=INK)
        ax.legend(fontsize=8, frameon=False, labelcolor=INK)
    distance.set_ylim(bottom=0)
    versatility.set_ylim(bottom=0)
    finish(figure, f"{task.name}: learning", [])
    return figure


def save(figure: Figure, path: Path) -> None:
    """Write a PNG, whole or not at all; the same figure gives the same bytes."""
    plain: dict[str, Any] = {"format": "png", "dpi": 160, "metadata": {"Software": None}}
    files.write_whole(path, lambda temporary: figure.savefig(temporary, **plain))


# What is drawn


def _shown(policies: Learned, contexts: Sequence[int] | None) -> list[int]:
    """The contexts of the panels, by their index among the policies'."""
    shown = list(range(len(policies.contexts)) if contexts is None else contexts)[:PANELS]
    if not shown:
        raise UserError("there are no contexts to draw; name at least one")
    return shown


def _name(policies: Learned, index: int) -> str:
    test = index - policies.training
    return f"training context {index + 1}" if test < 0 else f"test context {test + 1}"


def _points(task: Task, joints: np.ndarray) -> np.ndarray:
    """Points [..., T, points, 2 or 3] of joints [..., T, dimensions]."""
    return np.asarray(jax.jit(task.kinematics)(jnp.asarray(joints)))


def _plans(task: Task, policies: Learned, index: int, samples: int) -> tuple[np.ndarray, np.ndarray]:
    """Points [component, ..., T, points, 2 or 3] of the means of one context's components, and of samples of them."""
    _, means, drawn = policies.movements(task, slice(index, index + 1), samples, seed=0, steps=STEPS)
    return _points(task, means[0]), _points(task, drawn[0])


def _movements(task: Task, solutions: Sequence[Solution]) -> np.ndarray:
    """Points [n, T, points, 2 or 3] of solutions."""
    if not solutions:
        return np.zeros((0, STEPS, 1, 1))
    weights = jnp.asarray([solution.movement for solution in solutions])
    return _points(task, np.asarray(task.promp.rollout(weights, STEPS)))


def _different(means: np.ndarray, rates: np.ndarray) -> list[int]:
    """The best component, and the one least like it among those that are nearly as good."""
    best = int(np.argmax(rates))
    apart = np.sum((means - means[best]) ** 2, axis=(1, 2, 3)) * (rates >= 0.8 * rates[best])
    return sorted({best, int(np.argmax(apart))})


def _ranges(points: np.ndarray, region: Region) -> np.ndarray:
    """Distance [..., T] of the end effector to a region's centre."""
    return np.linalg.norm(points[..., -1, :] - np.asarray(region.centre), axis=-1)


def _over_phase(values: np.ndarray) -> np.ndarray:
    """Curves [..., T, 2] of values [..., T]: the phase, then the value."""
    return np.stack([np.broadcast_to(np.linspace(0, 1, values.shape[-1]), values.shape), values], axis=-1)


def _values(metrics: Sequence[Mapping[str, Any]], *keys: str) -> np.ndarray:
    """What every row has under nested keys, [row] or [row, rank]; NaN where it has nothing."""
    found: list[Any] = list(metrics)
    for key in keys:
        found = [value.get(key) if isinstance(value, Mapping) else None for value in found]
    example = next((value for value in found if value is not None), math.nan)
    return np.asarray([np.full(np.shape(example), math.nan) if value is None else value for value in found], float)


# How it is drawn


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


def _panels(
    groups: Sequence[np.ndarray], regions: Sequence[Sequence[Region]], below: float = 0.0
) -> tuple[Figure, list[Views]]:
    """A figure with a panel for each context's regions, all on the same scale, with `below` inches under each for text.

    groups: points [..., T, points, 2 or 3] to make room for. Views in space show the arm, projections the paths alone.
    """
    count, limits = len(regions), _limits(groups, regions)
    flat = limits.shape[1] == 2
    if flat:
        columns, width = count if count <= 3 else math.ceil(math.sqrt(count)), 3.1
        height = width * float(np.clip(np.divide(*np.ptp(limits, axis=0)[::-1]), 0.4, 1.6)) + 0.25 + below
    else:
        columns, width, height = min(count, 2), 5.6, 3.9
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


def _set_plane(ax: Axes, limits: np.ndarray) -> None:
    clean(ax)
    ax.set(xlim=limits[:, 0], ylim=limits[:, 1], aspect="equal")
    ax.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    ax.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))


def _set_space(ax: Any, limits: np.ndarray) -> None:
    ax.set(xlim=limits[:, 0], ylim=limits[:, 1], zlim=limits[:, 2])
    ax.set_box_aspect(np.ptp(limits, axis=0), zoom=1.35)
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


def _colour(component: int) -> str:
    return PALETTE[component % len(PALETTE)]


def _draw_regions(ax: Any, axes: list[int], regions: Sequence[Region]) -> None:
    """Circles under the paths with their edges above, or shaded spheres."""
    for number, region in enumerate(regions):
        centre = np.asarray(region.centre)[axes]
        _draw_ball(ax, centre, region.radius, SHADES[number % len(SHADES)])
        if len(axes) == 2:
            middle = (float(centre[0]), float(centre[1]))
            ax.add_patch(Circle(middle, region.radius, fill=False, edgecolor=INK, linewidth=0.9, zorder=6))


def _draw_keep_out(ax: Any, axes: list[int], shapes: Sequence[Sphere | Box]) -> None:
    """Discs and rectangles, or solid shapes, in red."""
    for shape in shapes:
        if isinstance(shape, Sphere):
            _draw_ball(ax, np.asarray(shape.centre)[axes], shape.radius, FORBIDDEN)
        elif len(axes) == 2:
            low, size = np.asarray(shape.low)[axes], np.subtract(shape.high, shape.low)[axes]
            ax.add_patch(Rectangle((low[0], low[1]), size[0], size[1], facecolor=FORBIDDEN, zorder=1))
        else:
            ax.bar3d(*shape.low, *np.subtract(shape.high, shape.low), color=FORBIDDEN, alpha=0.5, zorder=3)


def _draw_ball(ax: Any, centre: np.ndarray, radius: float, colour: str) -> None:
    """A disc, or a shaded sphere."""
    if len(centre) == 2:
        ax.add_patch(Circle((float(centre[0]), float(centre[1])), radius, facecolor=colour, zorder=1))
        return
    around, down = np.meshgrid(np.linspace(0, 2 * np.pi, 25), np.linspace(0, np.pi, 13))
    ball = np.stack([np.cos(around) * np.sin(down), np.sin(around) * np.sin(down), np.cos(down)])
    ax.plot_surface(*(centre[:, None, None] + radius * ball), color=colour, alpha=0.6, linewidth=0, zorder=3)


def _draw_outlines(ax: Any, outlines: Sequence[Outline]) -> None:
    """Polygons under the paths, all but the last dashed."""
    for outline, style in zip(outlines, _outline_styles(outlines), strict=True):
        ax.add_patch(Polygon(outline.corners, zorder=1, **style))


def _outline_styles(outlines: Sequence[Outline]) -> list[dict[str, Any]]:
    quiet: dict[str, Any] = {"fill": False, "edgecolor": QUIET, "linestyle": "--", "linewidth": 1.0}
    goal: dict[str, Any] = {"facecolor": "#d5eddb", "edgecolor": "#26a147", "linewidth": 1.2}
    return [quiet] * (len(outlines) - 1) + [goal] * bool(outlines)


def _outline_points(outlines: Sequence[Sequence[Outline]]) -> list[np.ndarray]:
    """Corners [corners, 1, 2] to make room for."""
    return [np.asarray(outline.corners)[:, None] for edges in outlines for outline in edges]


def _outline_keys(outlines: Sequence[Outline]) -> list[Artist]:
    return [
        Patch(label=outline.label, **style) for outline, style in zip(outlines, _outline_styles(outlines), strict=True)
    ]


def _draw_paths(ax: Any, paths: np.ndarray, colour: str, alpha: float) -> None:
    """Thin lines [n, T, 2 or 3]."""
    kind = LineCollection if paths.shape[-1] == 2 else Line3DCollection
    ax.add_collection(kind(list(paths), colors=colour, linewidths=0.7, alpha=alpha, zorder=2))


def _draw_mean(ax: Any, coordinates: np.ndarray, component: int, width: float) -> None:
    """A component's mean [2 or 3, T] with a black outline."""
    outline = (Stroke(linewidth=width + 1.3, foreground="black"), Normal())
    style = {"color": _colour(component), "linewidth": width, "path_effects": outline, "zorder": 4}
    ax.plot(*coordinates, label=f"component {component + 1}", **style)


def _draw_arm(ax: Any, points: np.ndarray, regions: Sequence[Region], colour: str) -> None:
    """The arm [T, points, 2 or 3] at the first step, at the last, and closest to each region but the last."""
    if points.shape[1] == 1:
        return
    via = [int(np.argmin(_ranges(points, region))) for region in regions[:-1]]
    for step in sorted({0, *via, len(points) - 1}):
        style = {"color": QUIET if step == 0 else colour, "linewidth": 1.6, "alpha": 0.5, "zorder": 3}
        ax.plot(*points[step].T, marker="o", markersize=2.5, label="arm", **style)
    ax.plot(*points[0, :1].T, marker="s", markersize=6, color=INK, zorder=5)


def _write_rates(ax: Axes, rates: np.ndarray) -> None:
    """Success of every component in its colour, below the axes."""
    keys = [_key(f"{rate:.0%}", _colour(component), 2.0) for component, rate in enumerate(rates)]
    style: dict[str, Any] = {"fontsize": 8, "frameon": False, "handlelength": 0.7, "handletextpad": 0.3}
    ax.legend(handles=keys, loc="upper center", bbox_to_anchor=(0.5, -0.045), ncols=5, columnspacing=0.8, **style)


def _key(label: str, colour: str, width: float) -> Artist:
    return Line2D([], [], color=colour, linewidth=width, linestyle="--" if label == "radius" else "-", label=label)


def _component_keys(policies: Learned) -> list[Artist]:
    return [_key(f"component {i + 1}", _colour(i), 2.5) for i in range(policies.components)]


def _region_keys(regions: Sequence[Region]) -> list[Artist]:
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
