"""What networks and invariants do, alone and together, on every task; with the paper's settings beside them.

    python benchmarks/invariants.py PATH [--tasks ...] [--variants ...] [--seeds 10] [--first 400] [--out FILE]

PATH is a clone of github.com/NiklasFreymuth/VIGOR. All seeds of a row train as one program: minutes on a GPU, long
without. Settings were chosen on seeds 300 to 349, and one change was made because of what 400 to 409 showed.
Rows are added to FILE (docs/results/invariants.json), one for each task and variant; the same again replaces it.
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any

import jax
import numpy as np

import handwriting
from vigor.basics.settings import with_values
from vigor.demonstrations import importers, splits
from vigor.demonstrations.dataset import Demonstrations
from vigor.runs.presets import preset
from vigor.runs.setup import Prepared, Setup, own_demonstrations
from vigor.runs.training import Training
from vigor.tasks import Task, load_task

VARIANTS: dict[str, dict[str, Any]] = {
    "both": {},
    "networks alone": {"invariants": False},
    "invariants alone": {"ratio": False},
    "as they are": {"scaled": False},
    "paper": {"preset": "paper"},
}
"""Changes of the default settings by name; as they are: networks see descriptors without scales."""
EXAMPLE = Path(__file__).parents[1] / "examples" / "01_own_task.py"
TASKS: dict[str, dict[str, Any]] = {
    "planar-reacher": {},
    "planar-reacher, 3 contexts": {"train": 3},
    "panda-reacher": {},
    "example 01": {},
    "box-pusher": {},
    "box-pusher, 24 contexts": {"train": 24},
    **{f"letter {letter}": {"train": 7, "each": 1, "test": 20} for letter in handwriting.LETTERS},
}
"""Tasks, with training contexts, demonstrations of each and test contexts where these are not 6, the task's own, 6."""


def data(name: str, path: Path) -> tuple[Task, Demonstrations]:
    """A task and its demonstrations: human ones for the reachers and letters, else generated."""
    base = name.partition(",")[0]
    if base.startswith("letter "):
        return handwriting.load(base.removeprefix("letter "))
    task = load_task(f"{EXAMPLE}:TASK" if base == "example 01" else base)
    published = base.endswith("reacher")
    return task, importers.import_demonstrations(task, "published", path) if published else own_demonstrations(task)


def measure(name: str, variant: str, path: Path, seeds: range) -> dict[str, Any]:
    """Train and evaluate some seeds of a task."""
    task, shown = data(name, path)
    sizes = {"train": 6, "each": task.source.per_context, "test": 6} | TASKS[name]
    changes = dict(VARIANTS[variant])
    settings = with_values(preset(task, changes.pop("preset", "default")), **changes)
    prepared = [
        Prepared(
            Setup(task.origin or task.name, seed=seed, settings=settings),
            task,
            shown,
            splits.draw(shown, task, seed, sizes["train"], sizes["test"], sizes["each"]),
        )
        for seed in seeds
    ]
    begun = time.perf_counter()
    training = Training(prepared)
    states = training.start()
    for _, after, _ in training.advance(states):
        states = after
    found = [judged.test for judged in training.evaluate(states)]
    pairs = [(context["predicted"], context["success"]) for test in found for context in test["contexts"]]
    return {
        "task": name,
        "variant": variant,
        "seeds": [seeds.start, seeds.stop - 1],
        "seconds": round(time.perf_counter() - begun, 1),
        "device": jax.devices()[0].device_kind,
        "calibration_error": calibration_error(*(np.concatenate(part) for part in zip(*pairs, strict=True))),
        "runs": [
            {
                key: round(test[key], 4)
                for key in ("success_best", "success_chosen", "success_mixture", "predicted_mixture", "distance_best")
            }
            for test in found
        ],
    }


def calibration_error(predicted: np.ndarray, success: np.ndarray, bins: int = 10) -> float:
    """Expected calibration error: mean over components of how far predictions of a bin are from the success there."""
    which = np.minimum((predicted * bins).astype(int), bins - 1)
    gaps = [abs(np.sum(predicted[which == i] - success[which == i])) for i in range(bins)]
    return round(float(sum(gaps)) / len(predicted), 4)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path)
    parser.add_argument("--tasks", nargs="+", default=list(TASKS), choices=list(TASKS))
    parser.add_argument("--variants", nargs="+", default=list(VARIANTS)[:3], choices=list(VARIANTS))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=400, help="the first seed")
    parser.add_argument("--out", type=Path, default=Path("docs/results/invariants.json"))
    given = parser.parse_args()
    for name in given.tasks:
        for variant in given.variants:
            row = measure(name, variant, given.path, range(given.first, given.first + given.seeds))
            means = {key: np.mean([run[key] for run in row["runs"]]) for key in row["runs"][0]}
            print(name, variant, {key: round(float(value), 4) for key, value in means.items()}, flush=True)
            rows = json.loads(given.out.read_text()) if given.out.exists() else []
            key = (row["task"], row["variant"], row["seeds"])
            rows = [other for other in rows if (other["task"], other["variant"], other["seeds"]) != key]
            given.out.write_text("[\n" + ",\n".join(json.dumps(one) for one in [*rows, row]) + "\n]\n")


if __name__ == "__main__":
    main()
