"""Tables of docs/results that stored rows make: python docs/tables.py writes them, --check says if they are true."""

import argparse
import csv
import json
import sys
from pathlib import Path

import numpy as np

from vigor.experiments import paper
from vigor.experiments.statistics import interval_words, summary

RESULTS = Path(__file__).parent / "results"
PAGE = RESULTS / "presets.md"
WORDS = {
    "": "usual",
    "begin": "start at demonstrations",
    "misplaced": "misplaced demonstrations",
    "near": "distances magnified, and the outcome",
    "outcome": "the outcome in the reward",
    "ratio": "the networks in the reward",
    "sharpness": "sharpness",
    "weights": "weights by reward",
    "decay": "falling learning rate",
}
INTRODUCTION = """# The paper's settings, ours, and each addition alone

Human demonstrations that the authors published, 6 training contexts with 5 demonstrations each, 6 test contexts of
each seed; success on test contexts, mean over seeds with its 95% interval (bootstrap). Best: samples of each
context's best component, the paper's measure. Mixture: samples of the whole policy. One H200; rows in
[presets/results.csv](presets/results.csv). They were computed cell by cell with the suites and the runner of

    vigor benchmark paper --preset both --methods vigor em-drex --seeds 30 --first-seed 400 --data published PATH
    vigor benchmark additions --tasks planar-reacher panda-reacher --data published PATH

but not by these two commands as they stand: the table has what was finished, and names the seeds. Those of EM+D-REX
came before its densities were computed in full precision, and were not run again. The floor is `python
benchmarks/floor.py PATH`, on two cores: the demonstrations of the nearest training context, copied as they are. This
page is written by `python docs/tables.py`.

Read with care: the defaults of VIGOR were chosen on seeds 0 to 29 among others, so its rows here are not of fresh
seeds; nothing was chosen on seeds from 400 on. And one number of the success criterion, the radius of the targets, is
the scale of *distances magnified, and the outcome*: the rows without it are those in which nothing of the criterion
is learned from.

*VIGOR* has the project's defaults, *VIGOR, paper's settings* those of the paper's appendix E. `-` takes one addition
away from the defaults, `+` adds one to the paper's settings. Without "the networks in the reward" the logits are
zero, and what comes of a movement (its distances to the targets) is all that is left.
"""


def rows() -> list[dict[str, str]]:
    """Stored rows of the benchmark."""
    with (RESULTS / "presets" / "results.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def page() -> str:
    """The text of docs/results/presets.md."""
    groups: dict[tuple[str, str, str, str], list[dict[str, str]]] = {}
    for row in rows():
        key = row["setup.task"], row["setup.method"], row["preset"], row["varied"]
        groups.setdefault(key, []).append(row)
    tasks, methods, varied = ("planar-reacher", "panda-reacher"), list(paper.NAMES), list(WORDS)
    order = sorted(groups, key=lambda key: (tasks.index(key[0]), methods.index(key[1]), key[2], varied.index(key[3])))
    floor = json.loads((RESULTS / "floor.json").read_text(encoding="utf-8"))
    lines = ["| task | method | seeds | paper | best | 95% | mixture |", "| --- " * 7 + "|"]
    for task, found in floor.items():
        for seeds, one in found.items():
            lines.append(f"| {task} | floor: copied | {seeds} |  | {one['best']:.3f} |  | {one['mixture']:.3f} |")
    for task, method, preset, name in order:
        group = groups[task, method, preset, name]
        best, mixture = (
            summary(np.array([float(row[f"test.success_{figure}"]) for row in group])) for figure in ("best", "mixture")
        )
        label = paper.NAMES[method] + (", paper's settings" if preset == "paper" else "")
        sign = "+" if preset == "paper" else "-"
        theirs = "" if name else f"{paper.BOXES[task, 'success', 'test'][method].mean:.3f}"
        cells = (
            task,
            f"{sign} {WORDS[name]}" if name else f"**{label}**",
            _seeds(sorted(int(row["setup.seed"]) for row in group)),
            theirs,
            f"{best.mean:.3f}",
            interval_words(best.interval, 3),
            f"{mixture.mean:.3f}",
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([INTRODUCTION, *lines, ""])


def _seeds(seeds: list[int]) -> str:
    """Seeds as ranges, for instance 0 to 9."""
    starts = [seed for seed in seeds if seed - 1 not in seeds]
    ends = [seed for seed in seeds if seed + 1 not in seeds]
    return ", ".join(f"{first} to {last}" for first, last in zip(starts, ends, strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only say whether the tables are true")
    if not parser.parse_args().check:
        PAGE.write_text(page(), encoding="utf-8")
    elif PAGE.read_text(encoding="utf-8") != page():
        sys.exit(f"{PAGE.name} is no longer true; run: python docs/tables.py")


if __name__ == "__main__":
    main()
