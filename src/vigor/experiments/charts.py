"""The paper's figures of the benchmark, ours in colour and the paper's in grey."""

from collections.abc import Sequence
from itertools import cycle, pairwise
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cbook import boxplot_stats
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import PercentFormatter

from vigor.basics.colours import INK, PALETTE, QUIET
from vigor.experiments import paper, tables
from vigor.experiments.tables import Group
from vigor.reports.drawing import clean, finish, title

PAPER = "#c4c8cc"
"""Fill of the paper's boxes."""
SMALLEST = 1e-4
"""Distance that a logarithmic scale begins with: smaller ones lie below."""
METHODS = list(paper.NAMES)


def colour(method: str) -> str:
    """Colour of a method, the same in all figures."""
    return PALETTE[METHODS.index(method) % len(PALETTE)] if method in METHODS else INK


def compared(groups: Sequence[Group]) -> Figure:
    """Box plots of a task's methods over seeds, the paper's beside them (its target distances and success rates)."""
    task = groups[0].task
    panels: list[tuple[tables.Figure, str]] = [("distance", "test"), ("success", "test")]
    panels += [("distance", "train")] if (task, "distance", "train") in paper.BOXES else []
    figure = Figure(figsize=(max(4.2, 0.75 * len(groups) + 1.2) * len(panels), 3.9), layout="constrained")
    for ax, (name, split) in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
        for place, group in enumerate(groups):
            values, theirs = group.values(name, split), group.paper(name, split)
            at = place - 0.19 if theirs else place
            _box(ax, at, boxplot_stats(values)[0] | {"fliers": []}, colour(group.method), 0.55)
            ax.plot(at + np.linspace(-0.06, 0.06, len(values)), values, "o", color=INK, markersize=2.2, zorder=4)
            if theirs:
                box: dict[str, Any] = {"whislo": theirs.low, "q1": theirs.q1, "med": theirs.median, "q3": theirs.q3}
                box |= {"whishi": theirs.high, "mean": theirs.mean, "fliers": theirs.outliers}
                _box(ax, place + 0.19, box, PAPER, 1.0)
        if name == "success":
            _percent(ax)
        else:
            ax.set_yscale("symlog", linthresh=SMALLEST, linscale=0.3)
            ax.set_ylim(bottom=-SMALLEST / 3)
            ax.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        title(ax, f"{name} of the best component, {'training' if split == 'train' else split} contexts")
        clean(ax)
        ax.grid(visible=False, axis="x")
        ax.set_xlim(-0.6, len(groups) - 0.4)
        ax.set_xticks(range(len(groups)), [group.name for group in groups], rotation=30, ha="right", color=INK)
        if name == "distance":
            _draw_lines(ax, task)
    seeds = sorted({len(group.rows) for group in groups})
    keys: list[Any] = [Patch(facecolor=PALETTE[0], alpha=0.55, label=f"ours, {_range(seeds)}")]
    keys += [Patch(facecolor=PAPER, label="paper, 10 seeds"), _mean_key(), *_line_keys(task)]
    finish(figure, f"{task}{': quick' if groups[0].quick else ''}", keys, "box: quartiles, line: median, dots: seeds")
    return figure


def _box(ax: Axes, at: float, stats: dict[str, Any], fill: str, alpha: float) -> None:
    mean = {"marker": "D", "markerfacecolor": "white", "markeredgecolor": INK, "markersize": 4, "zorder": 5}
    line = {"color": INK, "linewidth": 0.9}
    ax.bxp(
        [stats],
        positions=[at],
        widths=0.34,
        showmeans=True,
        patch_artist=True,
        manage_ticks=False,
        boxprops={"facecolor": fill, "alpha": alpha, "edgecolor": INK, "linewidth": 0.8},
        medianprops={"color": INK, "linewidth": 1.6},
        meanprops=mean,
        whiskerprops=line,
        capprops=line,
        flierprops={"marker": ".", "markersize": 4, "markeredgecolor": QUIET},
    )


def _mean_key() -> Line2D:
    return Line2D([], [], linestyle="", marker="D", markerfacecolor="white", markeredgecolor=INK, label="mean")


def _lines(task: str) -> list[tuple[float, dict[str, Any]]]:
    """Distances of a task to compare with, each with its style."""
    marked = zip(paper.LINES.get(task, {}).items(), cycle(("--", ":")), strict=False)
    return [(far, {"color": QUIET, "linewidth": 0.9, "linestyle": dash, "label": name}) for (name, far), dash in marked]


def _line_keys(task: str) -> list[Line2D]:
    return [Line2D([], [], **style) for _, style in _lines(task)]


def _draw_lines(ax: Axes, task: str) -> None:
    for far, style in _lines(task):
        ax.axhline(far, zorder=1, **style)


def _range(numbers: Sequence[int]) -> str:
    """Number of seeds in words, from the smallest to the largest."""
    words = str(numbers[0]) if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]}"
    return f"{words} seed{'' if words == '1' else 's'}"


def _percent(ax: Axes) -> None:
    ax.set_ylim(-0.03, 1.03)
    ax.yaxis.set_major_formatter(PercentFormatter(1.0))


def over_contexts(groups: Sequence[Group], references: Sequence[Group]) -> Figure:
    """Mean distance over the number of training contexts, the paper's dashed (its Box Pushing task, right).

    references: the usual group of each method, all of one task.
    """
    task = references[0].task
    paper_curves = paper.CONTEXTS.get(task, {})
    figure = Figure(figsize=(7.2, 4.4), layout="constrained")
    ax = figure.subplots()
    ticks: set[int] = set()
    for reference in references:
        series = tables.ablation(groups, reference, "train_contexts")
        counts = [group.setting("train_contexts") for group in series]
        ticks.update(counts)
        summaries = [group.summary("distance") for group in series]
        own = colour(reference.method)
        ax.plot(counts, [one.mean for one in summaries], "o-", color=own, label=reference.name, zorder=3)
        low, high = np.transpose([one.interval or (np.nan, np.nan) for one in summaries])
        ax.fill_between(counts, low, high, color=own, alpha=0.18, linewidth=0)
        theirs = paper_curves.get(reference.method)
        if theirs:
            ax.plot(list(theirs), list(theirs.values()), "s--", color=own, alpha=0.55, markersize=4, linewidth=1.1)
    keys: list[Any] = [Line2D([], [], color=colour(group.method), marker="o", label=group.name) for group in references]
    keys.append(Line2D([], [], color=QUIET, linestyle="--", marker="s", markersize=4, label="paper"))
    keys += _line_keys(task)
    _draw_lines(ax, task)
    clean(ax)
    ax.set_ylim(bottom=0)
    ax.set_xticks(sorted(ticks))
    ax.set_xlabel("training contexts", fontsize=9, color=INK)
    title(ax, "distance of the best component, test contexts")
    quick = ": quick" if references[0].quick else ""
    finish(figure, f"{task}: training contexts{quick}", keys, "mean over seeds, shaded: its 95% interval")
    return figure


def bars(groups: Sequence[Group], reference: Group, names: Sequence[str]) -> Figure:
    """Success of ranked components, a panel for each setting (the paper's ablation studies).

    A bar is cut where the second best component reaches, the third, and so on; the usual settings are in colour.
    """
    series = [tables.ablation(groups, reference, name) for name in names]
    words = [[tables.word(group.setting(name)) for group in one] for name, one in zip(names, series, strict=True)]
    room_for = [_room(own) for own in words]
    rows: list[list[int]] = [[]]
    for number, needed in enumerate(room_for):  # As many panels in a row as have about sixteen bars.
        if rows[-1] and sum(room_for[i] for i in rows[-1]) + needed > 16:
            rows.append([])
        rows[-1].append(number)
    figure = Figure(figsize=(10.5, 2.7 * len(rows) + 0.9), layout="constrained")
    for part, row in zip(figure.subfigures(len(rows), 1, squeeze=False)[:, 0], rows, strict=True):
        widths = [room_for[i] for i in row]
        left = max(16 - sum(widths), 0.01)
        axes = part.subplots(1, len(row) + 1, sharey=True, width_ratios=[*widths, left], squeeze=False)[0]
        axes[-1].set_visible(False)
        for ax, number in zip(axes, row, strict=False):
            for place, group in enumerate(series[number]):
                _bar(ax, place, group, colour(reference.method) if group is reference else QUIET)
            labels = words[number]
            title(ax, tables.plain(names[number]))
            clean(ax)
            ax.grid(visible=False, axis="x")
            ax.set_xlim(-0.6, len(labels) - 0.4)
            ax.set_xticks(range(len(labels)), labels, color=INK)
            _percent(ax)
            ax.set_ylim(0, 1.04)
    seeds = sorted({len(group.rows) for one in series for group in one})
    note = f"dark to light: components from worst to best, line: the best and its 95% interval; {_range(seeds)}"
    keys: list[Any] = [Patch(facecolor=colour(reference.method), label=f"{reference.name}, usual settings")]
    keys.append(Patch(facecolor=QUIET, label="one setting changed"))
    quick = ", quick" if reference.quick else ""
    finish(figure, f"{reference.task}: {reference.name}, success by component on test contexts{quick}", keys, note)
    return figure


def _room(labels: Sequence[str]) -> float:
    """Width of a panel with a bar for each label, in bars: more than there are where neighbouring labels are long."""
    letters = max((len(one) + len(other)) / 2 for one, other in pairwise([*labels, ""]))
    return len(labels) * max(1.0, letters / 7.5)


def _bar(ax: Axes, at: float, group: Group, fill: str) -> None:
    ranked = group.ranked
    for rank, rate in enumerate(ranked):
        ax.bar(at, rate, 0.7, color="white", linewidth=0, zorder=2 + rank / 100)
        alpha = 1 - 0.7 * (len(ranked) - 1 - rank) / max(len(ranked) - 1, 1)
        ax.bar(at, rate, 0.7, color=fill, alpha=alpha, linewidth=0, zorder=2.005 + rank / 100)
    best = group.summary("success")
    ax.plot([at - 0.35, at + 0.35], [best.mean] * 2, color="black", linewidth=2, zorder=4, solid_capstyle="butt")
    if best.interval:
        ax.plot([at] * 2, best.interval, color="black", linewidth=1, zorder=4)
