"""What each setting does for the success of plans: the default with one change at a time, and the paper's settings.

    python benchmarks/quality.py PATH [--tasks ...] [--variants ...] [--seeds 20] [--first 100] [--out DIR]

PATH is a clone of github.com/NiklasFreymuth/VIGOR. All seeds train as one program: on a GPU, or for hours. Settings
were chosen on seeds 0 to 29 and 200 to 229; seeds from 100 on measured what came of it, and earlier settings too.
Writes quality.json and quality_table.md into DIR (runs/quality).
"""

import argparse
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from vigor.basics.settings import with_values
from vigor.experiments import cell, statistics
from vigor.experiments.cell import Cell
from vigor.experiments.data import Data
from vigor.experiments.suites import REACHERS
from vigor.runs.presets import preset
from vigor.runs.setup import Setup

VARIANTS: dict[str, dict[str, Any]] = {
    "default": {},
    "begin anywhere": {"begin": "normal"},
    "outcome not rewarded": {"outcome": False},
    "nothing magnified": {"near": ()},
    "nothing misplaced": {"misplaced": 0.0},
    "no sharpness": {"sharpness": 0.0},
    "fixed weights": {"weights": "fixed"},
    "KL bound .5": {"kl_bound": 0.5},
    "early stopping": {"epochs": 25, "validation": 0.1},
    "10 components": {"components": 10},
    "3 training contexts": {"train_contexts": 3},
    "paper": {"preset": "paper"},
    "paper, 3 training contexts": {"preset": "paper", "train_contexts": 3},
}
"""Changes of the default settings by name."""


def measure(task: str, data: Data, seeds: Sequence[int], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Train and evaluate some seeds of a task with changed settings."""
    placed = data.of(task)
    assert placed is not None
    data.save()
    setup = Setup(task, placed.place, settings=preset(task, changes.get("preset", "default")))
    setup = with_values(setup, **{name: value for name, value in changes.items() if name != "preset"})
    begun = time.perf_counter()
    rows = cell.measure([Cell(replace(setup, seed=seed)) for seed in seeds], data.folder)
    return {
        "task": task,
        "changes": dict(changes),
        "iterations": setup.settings.update.iterations,
        "seconds": time.perf_counter() - begun,
        "device": rows[0]["device"],
        "runs": [
            {"seed": seed, "test": _figures(row["test"]), "train": _figures(row["train"])}
            for seed, row in zip(seeds, rows, strict=True)
        ],
    }


def _figures(part: dict[str, Any]) -> dict[str, Any]:
    """Means over contexts, without those of each."""
    return {name: value for name, value in part.items() if name != "contexts"}


def with_interval(values: list[float]) -> str:
    """The mean, and its 95% interval where seeds differ and are enough."""
    mean, ends = f"{np.mean(values):.3f}", statistics.interval(np.array(values))
    if ends is None or np.ptp(values) == 0:
        return mean
    return f"{mean} ({ends[0]:.3f} to {ends[1]:.3f})"


def table(measured: list[dict[str, Any]]) -> str:
    """Test contexts, means over seeds, as Markdown."""
    rows = [
        "| task | settings | best component | mixture | mean of components | distinct solutions | entropy |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for item in measured:
        tests = [run["test"] for run in item["runs"]]
        figures = [
            with_interval([test["success_best"] for test in tests]),
            with_interval([test["success_mixture"] for test in tests]),
            with_interval([float(np.mean(test["success_components"])) for test in tests]),
            with_interval([test["versatility"]["distinct_solutions"] for test in tests]),
            with_interval([test["versatility"]["entropy"] for test in tests]),
        ]
        rows.append(f"| {item['task']} | {item['variant']} | {' | '.join(figures)} |")
    return "\n".join(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path)
    parser.add_argument("--tasks", nargs="+", default=list(REACHERS), choices=REACHERS)
    parser.add_argument("--variants", nargs="+", default=list(VARIANTS), choices=list(VARIANTS))
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=100, help="the first seed")
    parser.add_argument("--out", type=Path, default=Path("runs/quality"))
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    seeds, measured = range(given.first, given.first + given.seeds), []
    with TemporaryDirectory() as folder:
        data = Data(Path(folder), given.path)
        for name in given.tasks:
            for variant in given.variants:
                measured.append({"variant": variant, **measure(name, data, seeds, VARIANTS[variant])})
                print(table(measured[-1:]).splitlines()[-1], f"{measured[-1]['seconds']:.0f} s", flush=True)
                (given.out / "quality.json").write_text(json.dumps(measured) + "\n")
    (given.out / "quality_table.md").write_text(table(measured) + "\n")


if __name__ == "__main__":
    main()
