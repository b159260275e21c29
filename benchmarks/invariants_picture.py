"""The picture of what is found in the demonstrations of the built-in tasks: docs/pictures/invariants.png.

    python benchmarks/invariants_picture.py PATH [--out FILE]

PATH is a clone of github.com/NiklasFreymuth/VIGOR. Nothing is trained. Demonstrations are those of a run with seed 0.
"""

import argparse
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from invariants import TASKS, data
from vigor.demonstrations import splits
from vigor.learning import invariants
from vigor.learning.problem import problem

SHOWN = {
    "planar-reacher": "Planar reacher, people's demonstrations",
    "panda-reacher": "Panda reacher, people's demonstrations",
    "box-pusher": "Box pusher, generated",
    "example 01": "Gate and obstacle, generated",
    "letter WShape": "The letter W, seven drawings",
}
MOST = 8
"""Most quantities of a task."""
PICTURE = Path(__file__).parents[1] / "docs" / "pictures" / "invariants.png"
INK, QUIET, BAR = "#1d2329", "#66707a", "#005f9e"


def draw(axes: Axes, title: str, found: list[dict[str, float]]) -> None:
    """Bars of how many times as much a quantity differs elsewhere as among demonstrations, with its words."""
    shown = found[:MOST]
    times = [row["elsewhere"] / row["deviation"] for row in shown]
    axes.barh(np.arange(len(shown)), times, color=BAR, height=0.62)
    for i, (row, ratio) in enumerate(zip(shown, times, strict=True)):
        axes.text(1.04 * ratio, i, f" {row['value']:.3g}", va="center", color=QUIET, fontsize=8)
    more = f" (and {len(found) - MOST} more)" if len(found) > MOST else ""
    axes.set_title(title + more, loc="left", fontsize=10, fontweight="bold", color=INK)
    axes.set(xscale="log", xlim=(1, 2500), ylim=(MOST - 0.4, -0.6), yticks=range(len(shown)))
    axes.set_yticklabels([str(row["quantity"]) for row in shown], fontsize=9, color=INK)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.tick_params(axis="x", labelsize=8, colors=QUIET)
    axes.set_xlabel("differs so many times as much elsewhere", fontsize=8, color=QUIET)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path)
    parser.add_argument("--out", type=Path, default=PICTURE)
    given = parser.parse_args()
    figure = Figure(figsize=(12, 8), layout="constrained")
    places = figure.subplots(3, 2).ravel()
    for axes, (name, title) in zip(places, SHOWN.items(), strict=False):
        task, shown = data(name, given.path)
        sizes = {"train": 6, "each": task.source.per_context} | TASKS[name]
        split = splits.draw(shown, task, 0, sizes["train"], 0, sizes["each"])
        common = problem(task, shown, split, 0).invariants
        draw(axes, title, invariants.in_words(common, task.feature_names))
    places[-1].axis("off")
    said = "Bars: what hardly differs among demonstrations,\nthough it does in other contexts and on the way.\n"
    places[-1].text(0, 0.75, said + "Numbers: the usual value.", fontsize=9, color=QUIET, va="top")
    figure.savefig(given.out, dpi=110)


if __name__ == "__main__":
    main()
