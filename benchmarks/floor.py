"""A floor without learning: in a new context, the demonstrations of the nearest training context as they are.

    python benchmarks/floor.py PATH [--out FILE.json]

PATH is a clone of github.com/NiklasFreymuth/VIGOR. Seeds draw the same contexts and demonstrations as a benchmark's.
"""

import argparse
import json
from pathlib import Path

import numpy as np

from vigor.demonstrations.formats import published
from vigor.experiments.suites import REACHERS
from vigor.motion.promp import rollout
from vigor.runs.setup import Prepared, Setup, prepare
from vigor.tasks import load_task

SEEDS = {"0 to 9": range(10), "400 to 409": range(400, 410)}


def copied(run: Prepared) -> tuple[float, float]:
    """Success in test contexts of the best copied demonstration, and of all of them."""
    split, promp = run.split, run.task.promp
    nearest = np.linalg.norm(split.test_contexts[:, None] - split.train_contexts, axis=-1).argmin(axis=1)
    weights = run.demonstrations.weights[split.demonstrations[nearest]]  # [test context, demonstration, D]
    contexts = np.repeat(split.test_contexts, weights.shape[1], axis=0)
    movements = rollout(promp, weights.reshape(-1, promp.weights).astype(np.float32))
    succeeds = run.task.succeeds(run.task.distances(movements, contexts)).reshape(weights.shape[:2])
    return float(succeeds.any(axis=1).mean()), float(succeeds.mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path)
    parser.add_argument("--out", type=Path, default=Path("runs/floor.json"))
    given = parser.parse_args()
    found: dict[str, dict[str, dict[str, float]]] = {}
    for name in REACHERS:
        task = load_task(name)
        shown = published.load(task, given.path)
        for words, seeds in SEEDS.items():
            runs = [prepare(Setup(name, seed=seed, demos_per_context=5), task, shown) for seed in seeds]
            best, drawn = np.mean([copied(run) for run in runs], axis=0).tolist()
            found.setdefault(name, {})[words] = {"best": best, "mixture": drawn}
            print(f"{name}, seeds {words}: best {best:.3f}, all {drawn:.3f}")
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
