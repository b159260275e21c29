"""Time of whole runs on a GPU: one, ten at once, and one with a thousand contexts.

    python benchmarks/gpu.py PATH [--tasks planar-reacher panda-reacher] [--iterations 300] [--out FILE.json]

PATH is a clone of github.com/NiklasFreymuth/VIGOR with the human demonstrations. Needs jax, numpy, scipy and optax.
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any

import jax
import numpy as np

from speed import REACHERS, batch, compiled_start
from vigor import __version__
from vigor.basics.settings import with_values
from vigor.demonstrations.formats import published
from vigor.evaluation import evaluation
from vigor.evaluation.policies import Policies
from vigor.learning import algorithm
from vigor.runs.presets import preset
from vigor.tasks import load_task

WHAT = {"one run": 1.0, "ten runs": 1.0, "a thousand contexts": 0.1}
"""Measurements, and the share of the iterations of each."""


def measure(name: str, path: Path, iterations: int, what: str) -> dict[str, Any]:
    """Seconds of compilation and of the iterations after it, and the best component's success on test contexts."""
    task, settings = load_task(name), with_values(preset(name), iterations=iterations)
    iterations = round(WHAT[what] * iterations)
    shown = published.load(task, path)
    seeds = 10 if what == "ten runs" else 1
    test: Any = 6
    if what == "a thousand contexts":
        test = task.sample_contexts(np.random.default_rng(0), 994)
    problems, contexts = batch(task, shown, seeds, test_contexts=test)
    begun = time.perf_counter()
    states = compiled_start(task, settings, problems)
    compilation = time.perf_counter() - begun
    begun = time.perf_counter()
    states, _ = algorithm.advance(task, settings, problems, states, iterations)
    jax.block_until_ready(states)
    seconds = time.perf_counter() - begun
    success = []
    for run, known in enumerate(contexts):
        learned = Policies(known, 6, jax.tree.map(lambda leaf, run=run: leaf[run], states.mixtures))
        success.append(evaluation.evaluate(task, learned, samples=20).test["success_best"])
    used = (jax.devices()[0].memory_stats() or {}).get("peak_bytes_in_use", 0) / 2**30
    return {
        "task": name,
        "what": what,
        "iterations": iterations,
        "compilation": compilation,
        "seconds": seconds,
        "success_best": float(np.mean(success)),
        "peak_memory_gib": used,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path)
    parser.add_argument("--tasks", nargs="+", default=list(REACHERS), choices=REACHERS)
    parser.add_argument("--iterations", type=int, default=300)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    rows = []
    for name in given.tasks:
        for what in WHAT:
            rows.append(measure(name, given.path, given.iterations, what))
            row = rows[-1]
            print(
                f"{name}, {what}: compilation {row['compilation']:.1f} s, {row['iterations']} iterations "
                f"{row['seconds']:.2f} s, success {row['success_best']:.4f}, memory up to now "
                f"{row['peak_memory_gib']:.1f} GiB",
                flush=True,
            )
    if given.out:
        report = {"version": __version__, "device": jax.devices()[0].device_kind, "rows": rows}
        given.out.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
