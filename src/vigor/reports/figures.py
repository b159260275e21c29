"""Figures of demonstrations, policies and learning, by matplotlib without its global state.

A panel shows one context. Every kind of ways keeps its colour through all panels; the mean of its first way has a black
outline, its other ways have none, samples are thin, demonstrations grey. Tasks in space show a perspective view beside
its projections.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.ticker import MaxNLocator, PercentFormatter

from vigor.basics import files
from vigor.basics.colours import INK, PALETTE, QUIET
from vigor.basics.errors import UserError
from vigor.evaluation.evaluation import filled
from vigor.evaluation.policies import Learned
from vigor.reports import drawing
from vigor.tasks.task import Task

PANELS = 12
"""Largest number of contexts in a figure."""
STEPS = 120
"""Steps of a movement that is drawn, enough to look as smooth as it is."""
SPLITS = {"train": "training", "test": "test"}


def traces(
    task: Task,
    policies: Learned,
    demonstrations_joints: Sequence[np.ndarray] | None = None,
    samples: int = 40,
    contexts: Sequence[int] | None = None,
    success: np.ndarray | None = None,
    kinds: np.ndarray | None = None,
) -> Figure:
    """Paths of the end effector: mean and samples of every component, and the arm of two that differ.

    demonstrations_joints: [n, T, dimensions] for each training context; contexts: which of the policies' contexts to
    show, all by default; success: rates [context, component] of all contexts, whose means over kinds stand below
    the panels; kinds: [component], see `vigor.evaluation.ways.kinds`, a kind each by default.
    """
    kinds = np.arange(policies.components) if kinds is None else kinds
    shown = _shown(policies, contexts)
    plans = [_plans(task, policies, index, samples) for index in shown]
    known = [link_points(task, own) for own in demonstrations_joints or ()][: policies.training]
    regions = [task.display.regions(policies.contexts[index]) for index in shown]
    outlines = [task.display.outlines(policies.contexts[index]) for index in shown]
    room = [*(points for plan in plans for points in plan), *(known[index] for index in shown if index < len(known))]
    room += drawing.outline_points(outlines)
    lines = 0 if success is None else -(-len(np.unique(kinds)) // drawing.COLUMNS)
    figure, panels = drawing.panels(room, regions, 0.25 * lines)
    for index, views, (means, drawn), targets, edges in zip(shown, panels, plans, regions, outlines, strict=True):
        rates = np.ones(len(means)) if success is None else np.asarray(success)[index]
        drawing.title(views[0][1], _name(policies, index))
        drawing.draw_outlines(views[0][1], edges)
        for axes, ax in views:
            drawing.draw_regions(ax, axes, targets)
            if index < len(known):
                drawing.draw_paths(ax, known[index][..., -1, axes], QUIET, 0.6)
            for kind, points in zip(kinds, drawn, strict=True):
                drawing.draw_paths(ax, points[..., -1, axes], drawing.colour(kind), 0.25 if len(views) == 1 else 0.15)
            for kind, points, first in zip(kinds, means, drawing.first_of_kind(kinds), strict=True):
                drawing.draw_mean(ax, points[:, -1, axes].T, kind, 2.0 if len(views) == 1 else 1.4, first)
        for component in _different(means, rates):
            drawing.draw_arm(views[0][1], means[component], targets, drawing.colour(kinds[component]))
        if success is not None:
            drawing.write_rates(views[0][1], np.bincount(kinds, rates) / np.bincount(kinds))
    note = _note(kinds) + ("" if success is None else ", percent: their success")
    keys = drawing.kind_keys(kinds) + drawing.region_keys(regions[0]) + drawing.outline_keys(outlines[0])
    keys += [drawing.key("demonstration", QUIET, 0.8)] if min(shown) < len(known) else []
    drawing.finish(figure, f"{task.name}: movements of the end effector", keys, note)
    return figure


def distances(
    task: Task,
    policies: Learned,
    demonstrations_joints: Sequence[np.ndarray] | None = None,
    samples: int = 20,
    contexts: Sequence[int] | None = None,
    kinds: np.ndarray | None = None,
) -> Figure:
    """Distance of the end effector to each region's centre over the phase: a row per region, a column per context.

    demonstrations_joints: [n, T, dimensions] for each training context. A training context shows its own, a test
    context those of all training contexts: this is what its movements were made to resemble. kinds: as for traces.
    """
    kinds = np.arange(policies.components) if kinds is None else kinds
    shown = _shown(policies, contexts)[: PANELS // 2]
    names = [region.label for region in task.display.regions(policies.contexts[shown[0]])]
    if not names:
        raise UserError(f"{task.name} names no regions, so there are no distances to draw; give the task `regions`")
    known = [
        [drawing.ranges(link_points(task, own), region) for region in task.display.regions(context)]
        for own, context in zip(demonstrations_joints or (), policies.contexts[: policies.training], strict=False)
    ]
    figure = Figure(figsize=(0.6 + 1.9 * max(len(shown), 3), 1.1 + 1.9 * len(names)), layout="constrained")
    grid = figure.subplots(len(names), len(shown), squeeze=False, sharex=True, sharey="row")
    for column, index in enumerate(shown):
        means, drawn = _plans(task, policies, index, samples)
        drawing.title(grid[0, column], _name(policies, index))
        for row, region in enumerate(task.display.regions(policies.contexts[index])):
            ax = grid[row, column]
            for own in known[index : index + 1] if index < policies.training else known:
                drawing.draw_paths(ax, _over_phase(own[row]), QUIET, 0.45)
            for kind, points in zip(kinds, drawn, strict=True):
                drawing.draw_paths(ax, _over_phase(drawing.ranges(points, region)), drawing.colour(kind), 0.25)
            for kind, points, first in zip(kinds, means, drawing.first_of_kind(kinds), strict=True):
                drawing.draw_mean(ax, _over_phase(drawing.ranges(points, region)).T, kind, 1.4, first)
            ax.axhline(region.radius, color=INK, linewidth=0.9, linestyle="--", label="radius")
            drawing.clean(ax)
            ax.set(xlim=(0, 1), xticks=[0, 0.5, 1], xticklabels=["0", ".5", "1"])
        grid[-1, column].set_xlabel("phase", fontsize=9, color=INK)
    for row, name in enumerate(names):
        grid[row, 0].set_ylabel(f"distance to {name}", fontsize=9, color=INK)
        grid[row, 0].set_ylim(bottom=0)
    keys = [*drawing.kind_keys(kinds), drawing.key("radius", INK, 0.9)]
    keys += [drawing.key("demonstration", QUIET, 0.8)] if known else []
    drawing.finish(figure, f"{task.name}: distance to the targets", keys, _note(kinds))
    return figure


def demonstrations(task: Task, contexts: np.ndarray, context_of: np.ndarray, joints: np.ndarray) -> Figure:
    """All demonstrations of each context, a colour each, and the arm of the first.

    contexts: [m, C], context_of: [n] index of each demonstration's context, joints: [n, T, dimensions].
    """
    demonstrated = np.unique(context_of)
    shown = demonstrated[:PANELS]
    if not len(shown):
        raise UserError("there are no demonstrations to draw; give at least one")
    points = [link_points(task, joints[context_of == index]) for index in shown]
    regions = [task.display.regions(contexts[index]) for index in shown]
    outlines = [task.display.outlines(contexts[index]) for index in shown]
    figure, panels = drawing.panels([*points, *drawing.outline_points(outlines)], regions)
    for index, views, paths, targets, edges in zip(shown, panels, points, regions, outlines, strict=True):
        drawing.title(views[0][1], f"context {index + 1}: {len(paths)} demonstration{'s' if len(paths) > 1 else ''}")
        drawing.draw_outlines(views[0][1], edges)
        for axes, ax in views:
            drawing.draw_regions(ax, axes, targets)
            for number, path in enumerate(paths):
                ax.plot(*path[:, -1, axes].T, color=drawing.colour(number), linewidth=1.3, alpha=0.9)
        drawing.draw_arm(views[0][1], paths[0], targets, drawing.colour(0))
    some = f", {len(shown)} of {len(demonstrated)} contexts shown" if len(shown) < len(demonstrated) else ""
    keys = drawing.region_keys(regions[0]) + drawing.outline_keys(outlines[0])
    drawing.finish(figure, f"{task.name}: {len(joints)} demonstrations{some}", keys)
    return figure


def learning_curves(metrics: Sequence[Mapping[str, Any]], task: Task) -> Figure:
    """Success, distance and versatility over the iterations, from the rows of a run's metrics.jsonl."""
    splits = [split for split in SPLITS if any(row.get(split) for row in metrics)]
    if not splits:
        raise UserError("there are no evaluations to draw; train until the first evaluation")
    iterations = [row["iteration"] for row in metrics]
    judged = any("success_best" in (row[split] or {}) for row in metrics for split in splits)
    count = len(splits) + (2 if judged else 1)
    figure = Figure(figsize=(3.1 * count, 3.5), layout="constrained")
    panels = figure.subplots(1, count)
    success, distance, versatility = panels[: len(splits)], panels[-2], panels[-1]
    measure = "success" if judged else "predicted"
    for ax, split in zip(success, splits, strict=True):
        if judged:
            ranked = _values(metrics, split, "success_components")
            ax.plot(iterations, ranked, color="#b5b5b5", linewidth=1.0)
            ax.plot([], [], color="#b5b5b5", linewidth=1.0, label="components, ranked")
            predicted = _values(metrics, split, "predicted_mixture")
            ax.plot(iterations, predicted, ":", color=PALETTE[1], label="mixture, predicted")
        ax.plot(iterations, _values(metrics, split, f"{measure}_mixture"), color=PALETTE[1], label="mixture")
        ax.plot(iterations, _values(metrics, split, f"{measure}_best"), color=PALETTE[0], label="best component")
        ax.set_ylim(-0.03, 1.03)
        ax.yaxis.set_major_formatter(PercentFormatter(1.0))
        drawing.title(ax, f"{'success' if judged else 'predicted success'}, {SPLITS[split]} contexts")
    for split in splits:
        style = "--" if split == "train" else "-"
        if judged:
            values = _values(metrics, split, "distance_best")
            distance.plot(iterations, values, style, color=PALETTE[0], label=SPLITS[split])
        for name, colour in (("working components", PALETTE[3]), ("distinct solutions", PALETTE[2])):
            values = _values(metrics, split, "versatility", name.replace(" ", "_"))
            versatility.plot(iterations, values, style, color=colour, label=f"{name}, {SPLITS[split]}")
    if judged:
        drawing.title(distance, "distance of the best component")
        distance.set_ylim(bottom=0)
    drawing.title(versatility, "versatility per context")
    for ax in panels:
        drawing.clean(ax)
        for line in ax.lines if len(metrics) == 1 else ():  # A line of one point cannot be seen.
            line.set_marker("o")
        ax.xaxis.set_major_locator(MaxNLocator(5, integer=True, steps=[1, 2, 5, 10]))
        ax.set_xlabel("iteration", fontsize=9, color=INK)
        ax.legend(fontsize=8, frameon=False, labelcolor=INK)
    versatility.set_ylim(bottom=0)
    drawing.finish(figure, f"{task.name}: learning", [])
    return figure


def save(figure: Figure, path: Path) -> None:
    """Write a PNG, PDF or SVG, whole or not at all; the same figure gives the same bytes."""
    for text in figure.findobj(Text):
        text.set_parse_math(False)  # A name with dollars is no formula.
    undated = {".png": "Software", ".pdf": "CreationDate", ".svg": "Date"}[path.suffix]
    dots = 160 if path.suffix == ".png" else 300
    plain: dict[str, Any] = {"format": path.suffix[1:], "dpi": dots, "metadata": {undated: None}}
    files.write_whole(path, lambda temporary: figure.savefig(temporary, **plain))


# What is drawn


def _shown(policies: Learned, contexts: Sequence[int] | None) -> list[int]:
    """Contexts of the panels, by their index among the policies'."""
    shown = list(range(len(policies.contexts)) if contexts is None else contexts)[:PANELS]
    if not shown:
        raise UserError("there are no contexts to draw; name at least one")
    return shown


def _note(kinds: np.ndarray) -> str:
    """Words on what lines are."""
    if drawing.kind_name(kinds) == "way":
        return "outlined: mean of a way, thin: its samples"
    return f"{len(kinds)} ways by kind; outlined: the likeliest of a kind, thinner: its other ways, faint: samples"


def _name(policies: Learned, index: int) -> str:
    test = index - policies.training
    return f"training context {index + 1}" if test < 0 else f"test context {test + 1}"


def link_points(task: Task, joints: np.ndarray) -> np.ndarray:
    """Points [..., T, points, 2 or 3] of joints [..., T, dimensions]."""
    return np.asarray(jax.jit(task.kinematics)(jax.device_put(joints)))


def _plans(task: Task, policies: Learned, index: int, samples: int) -> tuple[np.ndarray, np.ndarray]:
    """Points [component, ..., T, points, 2 or 3] of the means of one context's components, and of samples of them."""
    _, means, drawn = policies.movements(task, slice(index, index + 1), samples, seed=0, steps=STEPS)
    return link_points(task, means[0]), link_points(task, drawn[0])


def _different(means: np.ndarray, rates: np.ndarray) -> list[int]:
    """The best component, and the one least like it among those that are nearly as good."""
    best = int(np.argmax(rates))
    apart = np.sum((means - means[best]) ** 2, axis=(1, 2, 3)) * (rates >= 0.8 * rates[best])
    return sorted({best, int(np.argmax(apart))})


def _over_phase(values: np.ndarray) -> np.ndarray:
    """Curves [..., T, 2] of values [..., T]: the phase, then the value."""
    return np.stack([np.broadcast_to(np.linspace(0, 1, values.shape[-1]), values.shape), values], axis=-1)


def _values(metrics: Sequence[Mapping[str, Any]], *keys: str) -> np.ndarray:
    """Values of all rows under nested keys, [row] or [row, rank]; NaN where a row has none, or fewer."""
    found: list[Any] = list(metrics)
    for key in keys:
        found = [value.get(key) if isinstance(value, Mapping) else None for value in found]
    return filled(found)
