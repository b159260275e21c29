"""The methods that act step by step, on the published human demonstrations.

    python benchmarks/state_action.py PATH [--tasks ...] [--methods bc-s bc-gmm-s] [--seeds 10] [--out DIR]

PATH is a clone of github.com/NiklasFreymuth/VIGOR. The seeds of a task and method train as one batch, with the paper's
settings. Cloning needs jax, numpy, scipy, optax and safetensors alone; `--methods gail` also stable-baselines3. Adds
what it measures to state_action.json in DIR (docs/results), and writes state_action_table.md from all that is there.
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from vigor import __version__, algorithm, demonstrations, evaluation, importers, policies
from vigor.methods import method
from vigor.presets import preset
from vigor.tasks import load_task

REACHERS, METHODS = ("planar-reacher", "panda-reacher"), ("bc-s", "bc-gmm-s", "gail")
PAPER = {
    ("planar-reacher", "bc-s"): (0.0045, 0.0033, 0.0063),
    ("planar-reacher", "bc-gmm-s"): (0.0145, 0.0025, 0.0163),
    ("planar-reacher", "gail"): (0.0208, 0.0, 0.0342),
    ("panda-reacher", "bc-s"): (0.0, 0.0, 0.0),
    ("panda-reacher", "bc-gmm-s"): (0.0, 0.0, 0.0),
    ("panda-reacher", "gail"): (0.0093, 0.0017, 0.0158),
}
"""Mean and quartiles of success on test contexts, 10 seeds (paper, Figure 8)."""


def measure(name: str, way_name: str, path: Path, seeds: int) -> dict[str, Any]:
    """Train and evaluate with seeds 0, 1, ...: 6 training and 6 test contexts, 5 demonstrations each."""
    task, way, config = load_task(name), method(way_name), preset(name, "paper", way_name)
    shown = importers.import_demonstrations(task, "published", path)
    splits = [demonstrations.split(shown, task, seed, 6, 6, 5) for seed in range(seeds)]
    problems = [algorithm.problem(task, shown, split, seed) for seed, split in enumerate(splits)]
    data = way.prepare(task, config, jax.tree.map(lambda *leaves: jnp.stack(leaves), *problems))
    begun = time.perf_counter()
    states, _ = way.advance(task, config, data, way.start(task, config, data), way.steps(config))
    jax.block_until_ready(states)
    seconds = time.perf_counter() - begun
    learned = way.policies(task, config, data, states)
    runs = []
    for seed, split in enumerate(splits):
        contexts = np.concatenate([split.train_contexts, split.test_contexts])
        own = policies.of(contexts, 6, jax.tree.map(lambda leaf, seed=seed: leaf[seed], learned))
        judged = evaluation.evaluate(task, own)
        runs.append({"seed": seed, "train": judged.train, "test": judged.test})
    device = jax.devices()[0].device_kind
    facts = {"seconds": seconds, "device": device, "version": __version__}
    return {"task": name, "method": way_name, "config": config.__dict__, **facts, "runs": runs}


def table(measured: list[dict[str, Any]]) -> str:
    """Means and quartiles over seeds as Markdown."""
    rows = [
        "| task | method | seeds | success, best component (quartiles) | paper (quartiles) | distance, best | "
        "training contexts: success | distance | success, mixture | s per seed |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]

    def spread(mean: float, low: float, high: float) -> str:
        return f"{mean:.4f} ({low:.4f} to {high:.4f})"

    for item in measured:
        test, train = ([run[part] for run in item["runs"]] for part in ("test", "train"))
        best = [one["success_best"] for one in test]
        rows.append(
            f"| {item['task']} | {item['method']} | {len(best)} "
            f"| {spread(float(np.mean(best)), *np.quantile(best, (0.25, 0.75)))} "
            f"| {spread(*PAPER[item['task'], item['method']])} "
            f"| {np.mean([one['distance_best'] for one in test]):.3f} "
            f"| {np.mean([one['success_best'] for one in train]):.4f} "
            f"| {np.mean([one['distance_best'] for one in train]):.3f} "
            f"| {np.mean([one['success_mixture'] for one in test]):.4f} "
            f"| {item['seconds'] / len(best):.0f} |"
        )
    return "\n".join(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path)
    parser.add_argument("--tasks", nargs="+", default=list(REACHERS), choices=REACHERS)
    parser.add_argument("--methods", nargs="+", default=["bc-s", "bc-gmm-s"], choices=METHODS)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--out", type=Path, default=Path("docs/results"))
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    file = given.out / "state_action.json"
    for name in given.tasks:
        for way in given.methods:
            item = measure(name, way, given.path, given.seeds)
            known = json.loads(file.read_text()) if file.exists() else []
            cells = {(old["task"], old["method"]): old for old in known} | {(name, way): item}
            measured = sorted(
                cells.values(), key=lambda one: (REACHERS.index(one["task"]), METHODS.index(one["method"]))
            )
            file.write_text(json.dumps(measured) + "\n")
            (given.out / "state_action_table.md").write_text(table(measured) + "\n")
            print(table([item]), flush=True)


if __name__ == "__main__":
    main()
