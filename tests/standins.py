"""Cells that only pretend to train, and a benchmark of them as a process of its own."""

import os
import signal
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np

from vigor.demonstrations.dataset import Demonstrations
from vigor.experiments import runner
from vigor.experiments.cell import Cell
from vigor.experiments.data import Placed
from vigor.experiments.store import Store
from vigor.experiments.workers import Place
from vigor.runs.run import Setup
from vigor.tasks import load_task


def cells(count, **changes):
    return [Cell(Setup("point", seed=seed, **changes)) for seed in range(count)]


def judged(success, components=2):
    """Figures as an evaluation gives them."""
    varied = {"working_components": 1.0, "distinct_solutions": 1.0, "entropy": 0.0}
    ranked = [success / (rank + 1) for rank in range(components)]
    figures = {"success_best": success, "success_mixture": success / 2, "distance_best": (1 - success) / 10}
    return {**figures, "success_components": ranked, "versatility": varied, "contexts": []}


def found(cell):
    success = 1 / (1 + cell.setup.seed)
    return {"demonstrations": "none", "device": "none", "train": judged(success), "test": judged(success)}


def sleep(seconds, stuck, batch, folder):
    """Leaves a file for every time that a cell is run. stuck: a seed that never ends."""
    for cell in batch:
        (folder / f"ran-{cell.setup.seed}-{time.monotonic_ns()}").touch()
        time.sleep(1000 if cell.setup.seed == stuck else 0)
    time.sleep(seconds)
    return [found(cell) for cell in batch]


def sleeping(seconds, stuck=None):
    return partial(sleep, seconds, stuck)


def tell(seconds, batch, folder):
    """Says in which process it runs."""
    (folder / f"pid-{os.getpid()}").touch()
    return [result | {"device": str(os.getpid())} for result in sleep(seconds, None, batch, folder)]


def telling(seconds):
    return partial(tell, seconds)


def environment(names):
    return [os.environ.get(name) for name in names]


def stumble(batch, folder):
    """Seed 1 fails, as long as a file says so."""
    if batch[0].setup.seed == 1 and (folder / "stumble").exists():
        raise ValueError("a stone")
    return sleep(0, None, batch, folder)


def die(batch, folder):
    """The worker of seed 1 dies, every time."""
    if batch[0].setup.seed == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return sleep(0.1, None, batch, folder)


def pretend(batch, folder):
    """Demonstrations must be there; one method fails."""
    assert all((folder / cell.setup.demos / "demonstrations.json").exists() for cell in batch)
    if batch[0].setup.method == "bc-t":
        raise ValueError("a stone")
    return [{"demonstrations": "own", "device": "none"} | dict.fromkeys(("train", "test"), judged(0.5))]


def times_run(folder):
    """Number of times that each cell was run."""
    seeds = [int(path.name.split("-")[1]) for path in folder.glob("ran-*")]
    return {seed: seeds.count(seed) for seed in sorted(seeds)}


def lines(folder):
    """Rows, but for when, where and how long."""
    rows = Store(folder).rows()
    return [{name: value for name, value in row.items() if name not in ("seconds", "date")} for row in rows]


class FakeData:
    """Demonstrations that say nothing: a number of contexts with ten each."""

    def __init__(self, contexts=30, recordings=True):
        self.contexts, self.recordings = contexts, recordings

    def of(self, name, raw=False):
        task = load_task(name)
        if raw and not self.recordings:
            return None
        context_of = np.repeat(np.arange(self.contexts), 10)
        contexts = np.zeros((self.contexts, task.context_dimension))
        weights = np.full((len(context_of), task.promp.weights), float(raw))
        return Placed(f"data/fake/{name}", Demonstrations(name, contexts, context_of, weights, None, "fake"))


def main():
    """A benchmark, given a folder, the number of cells, the seconds of each, the workers, maybe a seed that sticks."""
    folder, count, seconds, workers, *stuck = sys.argv[1:]
    store = Store(Path(folder))
    store.begin()
    measure = sleeping(float(seconds), *map(int, stuck))
    runner.run(cells(int(count)), store, Place(None, int(workers), "cpu"), measure)
