"""Contexts that the paper's settings lose, and which difference from the authors' program matters:

    python benchmarks/differences.py PATH [--device cpu|gpu] [--variants NAME ...] [--out FILE]

PATH: a clone of github.com/NiklasFreymuth/VIGOR. The splits of seeds that lose a context are learned again, each some
times with other random numbers, as the paper's settings have it and with one known difference at a time taken out: what
is left out cannot differ. A CPU computes the networks in single, a GPU in half precision, so that --device is one too.
"""

import argparse
import json
from pathlib import Path
from typing import Any, get_args

import numpy as np

from vigor.basics.device import Device, use_device
from vigor.basics.settings import with_values
from vigor.demonstrations import importers
from vigor.evaluation import evaluation
from vigor.runs.presets import preset
from vigor.runs.setup import Setup, prepare
from vigor.runs.training import Training
from vigor.tasks import load_task

LOSING = {"planar-reacher": (109,), "panda-reacher": (102, 108)}
"""Seeds whose splits lost a context with the paper's settings."""
VARIANTS: dict[str, dict[str, Any]] = {
    "paper": {},
    "nothing held out": {"validation": 0.0},
    "no dropout": {"dropout": 0.0},
    "no least squares": {"surrogate": "gradients", "samples": 100},
}
"""Changes of the paper's settings. The authors hold out the same demonstrations for all networks, we others for each;
they draw dropout anew, we cut it from one buffer; their least squares have another ridge, gradients need none."""
LOST = 0.5
"""Success of its best component below which a context is lost."""


def measure(name: str, path: Path, changes: dict[str, Any], times: int) -> list[dict[str, Any]]:
    """Rows of every losing split, each learned so many times."""
    task = load_task(name)
    shown = importers.import_demonstrations(task, "published", path)
    settings = with_values(preset(name, "paper"), **changes)

    def again(split_seed: int, seed: int) -> Any:
        lost = prepare(Setup(name, seed=split_seed, settings=settings), task, shown)
        return lost._replace(setup=Setup(name, seed=seed, settings=settings))

    which = [(split, time) for split in LOSING[name] for time in range(times)]
    training = Training([again(*one) for one in which])
    states = training.start()
    for _, after, _ in training.advance(states):
        states = after
    rows = []
    for (split, time), policies in zip(which, training.policies(states), strict=True):
        found = evaluation.evaluate(task, policies).test
        best = [max(context["success"]) for context in found["contexts"]]
        rows.append({"split": split, "time": time, "best": best, "mixture": found["success_mixture"]})
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path)
    parser.add_argument("--tasks", nargs="+", choices=LOSING, default=list(LOSING))
    parser.add_argument("--variants", nargs="+", choices=VARIANTS, default=list(VARIANTS))
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--device", choices=get_args(Device), default="auto")
    parser.add_argument("--out", type=Path, default=Path("runs/differences.json"))
    given = parser.parse_args()
    use_device(given.device)
    import jax

    measured, device = [], jax.devices()[0].device_kind
    for task in given.tasks:
        for variant in given.variants:
            rows = measure(task, given.path, VARIANTS[variant], given.times)
            measured.append({"task": task, "variant": variant, "device": device, "rows": rows})
            best = np.array([row["best"] for row in rows])
            mixture = np.mean([row["mixture"] for row in rows])
            print(
                f"{task}, {variant}: best {best.mean():.3f}, mixture {mixture:.3f}, "
                f"{np.sum(best < LOST)} of {best.size} contexts lost",
                flush=True,
            )
            given.out.parent.mkdir(parents=True, exist_ok=True)
            given.out.write_text(json.dumps(measured) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
