"""Both reachers on the published human demonstrations.

    python benchmarks/human_reachers.py PATH [--tasks ...] [--seeds 10] [--preset default] [--out DIR]

PATH is a clone of github.com/NiklasFreymuth/VIGOR. Needs jax, numpy, scipy, optax and safetensors. On a GPU all seeds
of a task train as one program; two cores take half a minute for a planar run and six for one of the Panda.
Writes human_reachers.json, and human_reachers_table.md with the paper's figures beside ours, into DIR (docs/results).
"""

import argparse
import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from vigor import __version__, algorithm, demonstrations, evaluation, importers
from vigor.experiments.cell import with_setting
from vigor.policies import Policies
from vigor.presets import preset
from vigor.tasks import load_task

REACHERS = ("planar-reacher", "panda-reacher")
PAPER = {"planar-reacher": 0.991, "panda-reacher": 0.9965}
"""Mean success of the best component on test contexts, 10 seeds (paper, appendix C)."""


def measure(
    name: str,
    path: Path,
    seeds: Sequence[int],
    preset_name: str,
    training: int = 6,
    changes: Mapping[str, Any] = MappingProxyType({}),
) -> dict[str, Any]:
    """Train and evaluate a task with some seeds: 6 test contexts, 5 demonstrations of each training context.

    changes: of the preset's settings, by dotted name.
    """
    task, config = load_task(name), preset(name, preset_name)
    for setting, value in changes.items():
        config = with_setting(config, setting, value)
    shown = importers.import_demonstrations(task, "published", path)
    at_once = 1 if jax.default_backend() == "cpu" else len(seeds)
    seconds, runs = 0.0, []
    for first in range(0, len(seeds), at_once):
        some = seeds[first : first + at_once]
        splits = [demonstrations.split(shown, task, seed, training, 6, 5) for seed in some]
        problems = [algorithm.problem(task, shown, split, seed) for seed, split in zip(some, splits, strict=True)]
        begun = time.perf_counter()
        states = algorithm.fit(task, config, jax.tree.map(lambda *leaves: jnp.stack(leaves), *problems))
        jax.block_until_ready(states)
        seconds += time.perf_counter() - begun
        for run, (seed, split) in enumerate(zip(some, splits, strict=True)):
            contexts = np.concatenate([split.train_contexts, split.test_contexts])
            learned = Policies(contexts, training, jax.tree.map(lambda leaf, run=run: leaf[run], states.mixtures))
            judged = evaluation.evaluate(task, learned)
            runs.append({"seed": seed, "train": judged.train, "test": judged.test})
            print(f"{name} seed {seed}: {judged.test['success_best']:.4f}", flush=True)
    return {
        "task": name,
        "preset": preset_name,
        "training_contexts": training,
        "changes": dict(changes),
        "iterations": config.iterations,
        "seconds": seconds,
        "device": jax.devices()[0].device_kind,
        "version": __version__,
        "runs": runs,
    }


def table(measured: list[dict[str, Any]]) -> str:
    """Means over seeds as Markdown."""
    rows = [
        "| task | contexts | success, best component | paper | seeds below .99 | success, mixture | components ranked "
        "| distance, best | working components | distinct solutions | entropy |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for item in measured:
        for part in ("test", "train"):
            parts = [run[part] for run in item["runs"]]
            best = [one["success_best"] for one in parts]
            ranked = np.mean([one["success_components"] for one in parts], axis=0)
            varied = [one["versatility"] for one in parts]
            figures = [np.mean([one[key] for one in varied]) for key in varied[0]]
            rows.append(
                f"| {item['task']} | {part} | {np.mean(best):.4f} | {PAPER[item['task']] if part == 'test' else ''} "
                f"| {sum(one < 0.99 for one in best)} of {len(best)} "
                f"| {np.mean([one['success_mixture'] for one in parts]):.3f} "
                f"| {' '.join(f'{value:.2f}' for value in ranked)} "
                f"| {np.mean([one['distance_best'] for one in parts]):.5f} "
                f"| {figures[0]:.2f} | {figures[1]:.2f} | {figures[2]:.2f} |"
            )
    return "\n".join(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path)
    parser.add_argument("--tasks", nargs="+", default=list(REACHERS), choices=REACHERS)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--preset", default="default")
    parser.add_argument("--out", type=Path, default=Path("docs/results"))
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    measured = []
    for name in given.tasks:
        measured.append(measure(name, given.path, range(given.seeds), given.preset))
        (given.out / "human_reachers.json").write_text(json.dumps(measured) + "\n")
        print(table(measured), flush=True)
        print(f"{name}: {measured[-1]['seconds']:.0f} s with compilation on {measured[-1]['device']}", flush=True)
    (given.out / "human_reachers_table.md").write_text(table(measured) + "\n")


if __name__ == "__main__":
    main()
