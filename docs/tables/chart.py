"""The chart of the README, docs/pictures/results.png, from stored rows; `python -m docs.tables` writes it.

For each task VIGOR with our settings and with the paper's, the best of all other methods, and a floor without learning,
beside what the paper reports. The figures lie in the picture's own text, so that a test can tell whether it is true.
"""

import json
from typing import Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from PIL import Image

from docs.tables.markdown import DOCS
from docs.tables.methods import FRESH, box_pusher, floor
from docs.tables.rows import TASKS, groups, stored
from vigor.basics.colours import INK, PALETTE, QUIET
from vigor.experiments import paper
from vigor.experiments.tables import Group

PICTURE = DOCS / "pictures" / "results.png"
FLOORS = ("copied", "carried")
"""Methods that learn nothing."""
REUSED = "demonstrations reused"
"""Label of such a method."""
REPORTED = PALETTE[1]
"""Colour of what the paper reports."""


def figures() -> list[dict[str, Any]]:
    """Lines of the chart, from top to bottom: success of the best component and of the mixture, with intervals."""
    rows = [row for row in stored() if not row["varied"]]
    shown: list[dict[str, Any]] = []
    for task in TASKS:
        if task == "box-pusher":
            shown += _box_pusher()
            continue
        known = [_chosen(group) for group in groups(rows) if group.task == task]
        ours, papers = (
            [one for one in known if one.method == "vigor" and one.preset == p] for p in ("default", "paper")
        )
        others = [one for one in known if one.method not in ("vigor", *FLOORS)]
        best = [max(others, key=lambda one: one.summary("mixture").mean)] if others else []
        shown += [_line(task, f"{one.name}, ours", one) for one in ours]
        shown += [_line(task, one.name, one, _reported(task, "vigor")) for one in papers]
        shown += [_line(task, f"{one.name}, best of others", one, _reported(task, one.method)) for one in best]
        copied = [one for one in known if one.method == "copied"]
        shown += [_line(task, REUSED, one) for one in copied] or _floor(task)
    return shown


def _box_pusher() -> list[dict[str, Any]]:
    """The same of the rows of `benchmarks/box_pusher.py`, with 6 training contexts."""
    found, names = box_pusher(), {"em-drex": "EM+D-REX", "bc-t": "BC(T)", "bc-gmm-t": "BC-GMM(T)"}
    others = [name for name in names if name in found]
    best = max(others, key=lambda name: found[name]["mixture"].mean)
    labels = {
        "vigor": "VIGOR, ours",
        "paper": "VIGOR, paper's settings",
        best: f"{names[best]}, best of others",
        "carried": REUSED,
    }
    reported = {"paper": _reported("box-pusher", "vigor"), best: _reported("box-pusher", best)}
    return [
        {"task": "box-pusher", "label": label, "paper": reported.get(name)}
        | {key: one and round(one.mean, 4) for key, one in summaries.items()}
        | {f"{key}_interval": _ends(one.interval if one else None) for key, one in summaries.items()}
        for name, label in labels.items()
        for summaries in [found.get(name, {"best": None, "mixture": None})]
    ]


def _chosen(group: Group) -> Group:
    """Seeds on which nothing was chosen, if there are any."""
    return Group(tuple(row for row in group.rows if row["setup"]["seed"] >= FRESH) or group.rows)


def _line(task: str, label: str, group: Group, reported: float | None = None) -> dict[str, Any]:
    best, mixture = group.summary("success"), group.summary("mixture")
    return {
        **{"task": task, "label": label, "paper": reported},
        **{"best": round(best.mean, 4), "mixture": round(mixture.mean, 4)},
        **{"best_interval": _ends(best.interval), "mixture_interval": _ends(mixture.interval)},
    }


def _ends(interval: tuple[float, float] | None) -> list[float] | None:
    return [round(end, 4) for end in interval] if interval else None


def _reported(task: str, method: str) -> float | None:
    """Mean success of the best component in test contexts, as the paper reports it."""
    box = paper.BOXES.get((task, "success", "test"), {}).get(method)
    return round(box.mean, 4) if box else None


def _floor(task: str) -> list[dict[str, Any]]:
    lines = [line for line in floor() if line["task"] == task and int(line["seeds"].split()[0]) >= FRESH]
    none = {"paper": None, "best_interval": None, "mixture_interval": None}
    numbers = ("best", "mixture")
    return [{"task": task, "label": REUSED} | {n: float(line[n]) for n in numbers} | none for line in lines]


def draw(shown: list[dict[str, Any]]) -> Figure:
    """Dots with intervals, a panel for each task; a row of all panels has one label."""
    panels = {task: [line for line in shown if line["task"] == task] for task in TASKS}
    labels = [" or ".join(dict.fromkeys(line["label"] for line in row)) for row in zip(*panels.values(), strict=True)]
    figure = Figure(figsize=(9.2, 2.25), layout="constrained")
    for ax, (task, own) in zip(figure.subplots(1, len(panels), sharey=True), panels.items(), strict=True):
        for place, line in enumerate(own):
            colour = PALETTE[0] if "ours" in line["label"] else PALETTE[5] if "VIGOR" in line["label"] else QUIET
            for figure_name, fill in (("best", "white"), ("mixture", colour)):
                ends = line[f"{figure_name}_interval"]
                if ends:
                    ax.plot(ends, (place, place), color=colour, linewidth=1.6 if fill == colour else 0.8, zorder=2)
                if line[figure_name] is not None:
                    ax.plot(line[figure_name], place, "o", color=colour, markerfacecolor=fill, markersize=7, zorder=3)
            if line["best"] is None:
                ax.text(0, place, "not run", fontsize=8, color=QUIET, va="center")
            if line["paper"] is not None:
                ax.plot(line["paper"], place, "D", color=REPORTED, markerfacecolor="none", markersize=6, zorder=4)
        ax.set(ylim=(len(own) - 0.5, -0.6), xlim=(-0.04, 1.04), xticks=(0, 0.25, 0.5, 0.75, 1))
        ax.set_title(task, loc="left", fontsize=10, fontweight="bold", color=INK)
        ax.tick_params(length=0, labelsize=9, labelcolor=INK)
        ax.set_xticklabels(["0", "", "50%", "", "100%"])
        ax.set_yticks(range(len(own)), labels)
        ax.grid(axis="x", color="#e6e6e6")
        ax.spines[:].set_visible(False)
    figure.supxlabel("success where nothing was demonstrated; bars: 95% interval of the mean over seeds", fontsize=9)
    words = {
        "any movement drawn": ("o", INK, INK),
        "the best way": ("o", INK, "white"),
        "the best way, as the paper reports it": ("D", REPORTED, "none"),
    }
    keys = [
        Line2D([], [], linestyle="", marker=mark, color=colour, markerfacecolor=fill, label=label)
        for label, (mark, colour, fill) in words.items()
    ]
    where = {"loc": "outside upper right", "ncols": 3, "frameon": False}
    figure.legend(handles=keys, **where, handletextpad=0.1, columnspacing=1.2, fontsize=9)
    return figure


def is_true() -> bool:
    """Whether the picture shows what the stored rows say."""
    if not PICTURE.exists():
        return False
    with Image.open(PICTURE) as picture:
        return bool(json.loads(picture.info.get("Description", "null")) == figures())


def write() -> None:
    """Draw the picture anew."""
    shown = figures()
    draw(shown).savefig(PICTURE, dpi=150, metadata={"Software": None, "Description": json.dumps(shown)})
