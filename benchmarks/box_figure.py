"""A figure of the box pusher over the number of training contexts, as the paper has one (Fig. 4, right).

    python benchmarks/box_figure.py [--rows FILE] [--out FILE.png]

Means and 95% intervals over seeds of rows of `benchmarks/box_pusher.py`; the paper's own figures in grey.
"""

import argparse
import json
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from box_pusher import METHODS
from vigor.basics.colours import INK, PALETTE, QUIET
from vigor.experiments.paper import CONTEXTS
from vigor.experiments.statistics import summary
from vigor.reports import figures

SHOWN = ("vigor", "em-drex", "bc-gmm-t", "bc-t", "carried", "copied")
"""Methods, by the colour they have."""
PANELS = {
    "distance": "distance of the best component, cm",
    "best": "success of the best",
    "mixture": "success of the mixture",
}


def draw(rows: list[dict[str, Any]]) -> Figure:
    """A panel for each figure of merit."""
    figure = Figure(figsize=(11, 3.6), layout="constrained")
    panels = figure.subplots(1, len(PANELS))
    for panel, (name, words) in zip(panels, PANELS.items(), strict=True):
        factor = 100 if name == "distance" else 1
        for method, colour in zip(SHOWN, PALETTE, strict=False):
            by_count = {
                count: summary(
                    [factor * row[name] for row in rows if (row["method"], row["training"]) == (method, count)]
                )
                for count in sorted({row["training"] for row in rows if row["method"] == method})
            }
            means = [one.mean for one in by_count.values()]
            floor = method in ("carried", "copied")
            panel.plot(
                list(by_count), means, ":" if floor else "-", marker="o", color=colour, label=METHODS[method].words
            )
            ends = {count: one.interval for count, one in by_count.items() if one.interval}
            panel.vlines(list(ends), *zip(*ends.values(), strict=True), color=colour, lw=1) if ends else None
        if name == "distance":
            for method, style in {"vigor": "-", "em-drex": "--", "bc-t": ":"}.items():
                theirs = CONTEXTS["box-pusher"][method]
                label = f"{METHODS[method].words}, the paper's"
                panel.plot(list(theirs), [100 * value for value in theirs.values()], style, color=QUIET, label=label)
        panel.set_title(words, fontsize=10, color=INK)
        panel.set_xticks([3, 6, 12, 18, 24])
        if name == "distance":
            panel.set_yscale("log")
            panel.set_yticks([0.2, 0.5, 1, 2, 5, 10], ["0.2", "0.5", "1", "2", "5", "10"])
        else:
            panel.set_ylim(0, 1.02)
        panel.spines[["top", "right"]].set_visible(False)
    figure.supxlabel("training contexts, 3 demonstrations each", fontsize=10, color=INK)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right center", frameon=False, fontsize=9)
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=Path, default=Path("docs/results/box_pusher.json"))
    parser.add_argument("--out", type=Path, default=Path("docs/pictures/box_contexts.png"))
    given = parser.parse_args()
    figures.save(draw(json.loads(given.rows.read_text())), given.out)
    print(given.out)


if __name__ == "__main__":
    main()
