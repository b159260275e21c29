"""EM+D-REX in less time: settings against each other, on seeds for choosing.

    python benchmarks/em_drex.py PATH [--tasks ...] [--candidates ...] [--first 300] [--device cpu|gpu] [--out FILE]

PATH: a clone of github.com/NiklasFreymuth/VIGOR. All seeds of a row train as one program.
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any, get_args

import jax
import numpy as np

from vigor.basics.device import Device, use_device
from vigor.basics.settings import with_values
from vigor.demonstrations.formats import published
from vigor.experiments.suites import REACHERS
from vigor.runs.presets import preset
from vigor.runs.setup import Setup, prepare
from vigor.runs.training import Training
from vigor.tasks import load_task

_FEW: dict[str, Any] = {"em_samples": 2048, "epochs": 60, "learning_rate": 1e-3}
CANDIDATES: dict[str, dict[str, Any]] = {
    "slow": {"em_samples": 8192, "epochs": 200, "learning_rate": 3e-4, "iterations": 200, "samples": 100},
    "few samples, epochs and updates": _FEW | {"iterations": 100, "samples": 50},
    "few samples and epochs": _FEW | {"iterations": 200, "samples": 100},
    "few samples": {"em_samples": 2048, "epochs": 200, "learning_rate": 3e-4, "iterations": 200, "samples": 100},
    "few epochs": {"em_samples": 8192, "epochs": 60, "learning_rate": 1e-3, "iterations": 200, "samples": 100},
    "half of all": {"em_samples": 4096, "epochs": 40, "learning_rate": 1e-3, "iterations": 100, "samples": 50},
    "very few": {"em_samples": 2048, "epochs": 30, "learning_rate": 1e-3, "iterations": 100, "samples": 50},
}
"""Settings in place of the defaults."""


def measure(name: str, candidate: str, path: Path, seeds: range) -> dict[str, Any]:
    """Train and evaluate some seeds."""
    begun = time.perf_counter()
    task = load_task(name)
    shown = published.load(task, path)
    settings = with_values(preset(task, "default", "em-drex"), **CANDIDATES[candidate])
    training = Training(
        [prepare(Setup(name, method="em-drex", seed=seed, settings=settings), task, shown) for seed in seeds]
    )
    states = training.start()
    for _, after, _ in training.advance(states):
        states = after
    found = [one.test for one in training.evaluate(states)]
    return {
        "task": name,
        "candidate": candidate,
        "seeds": [seeds.start, seeds.stop - 1],
        "best": [one["success_best"] for one in found],
        "mixture": [one["success_mixture"] for one in found],
        "distinct": [one["versatility"]["distinct_solutions"] for one in found],
        "seconds": round(time.perf_counter() - begun),
        "device": jax.devices()[0].device_kind,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path)
    parser.add_argument("--tasks", nargs="+", choices=REACHERS, default=list(REACHERS))
    parser.add_argument("--candidates", nargs="+", choices=CANDIDATES, default=list(CANDIDATES))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=300, help="the first seed")
    parser.add_argument("--device", choices=get_args(Device), default="auto")
    parser.add_argument("--out", type=Path, default=Path("runs/em_drex.json"))
    given = parser.parse_args()
    use_device(given.device)
    given.out.parent.mkdir(parents=True, exist_ok=True)
    rows = json.loads(given.out.read_text(encoding="utf-8")) if given.out.exists() else []
    for name in given.tasks:
        for candidate in given.candidates:
            row = measure(name, candidate, given.path, range(given.first, given.first + given.seeds))
            print(
                f"{name}, {candidate}: best {np.mean(row['best']):.3f}, mixture {np.mean(row['mixture']):.3f}, "
                f"{np.mean(row['distinct']):.2f} distinct, {row['seconds']} s",
                flush=True,
            )
            rows.append(row)
            given.out.write_text(json.dumps(rows) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
