"""The paper's experiments on a GPU, the most telling first: python benchmarks/paper_gpu.py PATH --out DIR --seconds 500

PATH: a clone of github.com/NiklasFreymuth/VIGOR. Ten seeds of a configuration are one job, and its rows are in DIR
(cells, results.csv) as soon as it is done. Start it again with the same folder to go on; `vigor report DIR` draws what
is there. Several processes share one GPU well: `--share 0 3`, `--share 1 3` and `--share 2 3` in the same folder.
Needs neither matplotlib nor a network.
"""

import argparse
import time
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

from vigor.basics.device import Device
from vigor.experiments import runner, suites
from vigor.experiments.cell import Cell, measure
from vigor.experiments.data import Data
from vigor.experiments.store import Store
from vigor.experiments.suites import REACHERS, Choice
from vigor.experiments.workers import Place
from vigor.runs.presets import Preset

FIRST = 400
"""First seed; nothing was chosen on it or any above."""
TOGETHER = 10
"""Seeds of a job; 30 of the Panda's with the paper's settings need more than ten minutes of an H200."""
VIGOR, EM_DREX = ("vigor",), ("em-drex",)
PARTS = {
    "panda-paper": (suites.paper, Choice(REACHERS[1:], VIGOR, 20, 410, ("paper",))),
    "em-drex": (suites.paper, Choice(REACHERS, EM_DREX, first_seed=FIRST)),
    "em-drex-paper": (suites.paper, Choice(REACHERS, EM_DREX, first_seed=FIRST, presets=("paper",))),
    "vigor": (suites.paper, Choice(methods=VIGOR, first_seed=FIRST)),
    "planar-additions": (suites.additions, Choice(REACHERS[:1], first_seed=FIRST)),
    "panda-additions": (suites.additions, Choice(REACHERS[1:], first_seed=FIRST)),
    "planar-ablations": (suites.ablations, Choice(REACHERS[:1], VIGOR, first_seed=FIRST, presets=("paper",))),
    "planar-em-drex-ablations": (suites.ablations, Choice(REACHERS[:1], EM_DREX, first_seed=FIRST, presets=("paper",))),
    "panda-ablations": (suites.ablations, Choice(REACHERS[1:], VIGOR, first_seed=FIRST, presets=("paper",))),
    "panda-em-drex-ablations": (suites.ablations, Choice(REACHERS[1:], EM_DREX, first_seed=FIRST, presets=("paper",))),
    "box-paper": (suites.paper, Choice(("box-pusher",), (*VIGOR, *EM_DREX), first_seed=FIRST, presets=("paper",))),
    "contexts": (suites.contexts, Choice(methods=(*EM_DREX, *VIGOR), first_seed=FIRST)),
}
"""Suites, narrowed, by name."""


def jobs(cells: list[Cell]) -> Iterator[list[Cell]]:
    """Cells that differ in their seed alone, at most TOGETHER at a time."""
    alike: dict[str, dict[str, Cell]] = {}
    for cell in cells:
        alike.setdefault(cell.batch, {})[cell.id] = cell
    for batch in map(list, (same.values() for same in alike.values())):
        yield from (batch[first : first + TOGETHER] for first in range(0, len(batch), TOGETHER))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("published", type=Path, metavar="PATH")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS), help="default: all, in this order")
    parser.add_argument("--presets", nargs="+", choices=get_args(Preset), default=get_args(Preset))
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no job that may end later")
    parser.add_argument("--device", choices=get_args(Device), default="gpu")
    parser.add_argument("--share", type=int, nargs=2, default=(0, 1), metavar=("I", "N"), help="every N-th job, from I")
    parser.add_argument("--list", action="store_true", help="only say what there is to do")
    given = parser.parse_args()
    begun, longest = time.monotonic(), 0.0
    store, data = Store(given.out), Data(given.out, given.published.resolve())
    todo = [
        (name, job)
        for name in given.parts
        for job in jobs(PARTS[name][0](PARTS[name][1], data))
        if job[0].preset in given.presets
    ]
    store.begin()
    data.save()
    for name, job in todo[given.share[0] :: given.share[1]]:
        now = time.monotonic() - begun
        if all(store.has(cell.id) for cell in job):
            continue
        words = f"{name}: {job[0]} to {job[-1].setup.seed}"
        if given.list or now + longest > given.seconds:
            print(f"left: {words}")
            continue
        runner.run(job, store, Place(device=given.device), measure)
        store.write_table()
        took = time.monotonic() - begun - now
        longest = max(longest, took)
        print(f"{took:6.0f} s, {now + took:6.0f} s in all: {words}", flush=True)
    for row in store.failures():
        print(f"failed: {row['setup']['task']} {row['setup']['method']} seed {row['setup']['seed']}: {row['error']}")


if __name__ == "__main__":
    main()
