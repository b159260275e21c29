"""A figure of the ways of people and of those learned, side by side, in a context that nobody has shown to the run.

    python benchmarks/ways_figure.py PATH [--task planar-reacher] [--seed 300] [--context 6] [--out FILE.png]

PATH is a clone of github.com/NiklasFreymuth/VIGOR. The run is one of those that benchmarks/ways.py measures.
"""

import argparse
from pathlib import Path

from vigor.api import load_run
from vigor.demonstrations.formats import published
from vigor.reports import figures, side_by_side
from vigor.runs import run as runs
from vigor.tasks import load_task
from ways import TASKS, setup


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path)
    parser.add_argument("--task", default="planar-reacher", choices=TASKS)
    parser.add_argument("--seed", type=int, default=300)
    parser.add_argument("--context", type=int, default=6, help="which of the test contexts, from 1")
    parser.add_argument("--runs", type=Path, default=Path("runs/ways"))
    parser.add_argument("--out", type=Path, default=Path("docs/pictures/ways.png"))
    given = parser.parse_args()
    task = load_task(given.task)
    shown, folder = published.load(task, given.path), given.runs / f"{given.task}-{given.seed}"
    if (folder / runs.CONFIG).exists():
        runs.resume(folder)
    else:
        runs.train(setup(task, shown, "default", given.seed), folder, task=task, demonstrations=shown)
    run = load_run(folder)
    assert run.repertoire is not None, "demonstrations are held out"
    index = run.policies.training + given.context - 1
    figures.save(side_by_side.figure(run.task, run.repertoire, run.policies, [index]), given.out)
    print(given.out)


if __name__ == "__main__":
    main()
