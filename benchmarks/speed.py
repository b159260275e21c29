"""How long an iteration takes, where the time goes, and how it grows: `make bench`.

    python benchmarks/speed.py [--tasks planar-reacher panda-reacher] [--quick] [--out docs/results/speed.json]

Times are divided by a calibration unit that is measured right before and after: 300 single-precision products of
[15360, 160] with [160, 32] in numpy on all cores. On a GPU read the seconds. Uses generated demonstrations.
"""

import argparse
import dataclasses
import json
import os
import platform
import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from vigor import __version__, algorithm, demonstrations, density_ratio, evaluation, recordings
from vigor.demonstrations import Demonstrations
from vigor.policies import Policies
from vigor.presets import preset
from vigor.tasks import TASKS, Task, load_task

REPEATS = 5


def calibration_unit() -> float:
    """Seconds of one unit of the arithmetic that an iteration is made of; the median of three."""
    rng = np.random.default_rng(0)
    windows = rng.standard_normal((4, 15360, 160), dtype=np.float32)
    kernel = rng.standard_normal((160, 32), dtype=np.float32)
    product = np.empty((15360, 32), np.float32)
    times = []
    for _ in range(4):
        begun = time.perf_counter()
        for i in range(300):
            np.matmul(windows[i % 4], kernel, out=product)
        times.append(time.perf_counter() - begun)
    return sorted(times[1:])[1]


def seconds(function: Callable[..., Any], *arguments: Any) -> float:
    """Median time of a compiled function's call."""
    compiled = jax.jit(function)
    jax.block_until_ready(compiled(*arguments))
    times = []
    for _ in range(REPEATS):
        begun = time.perf_counter()
        jax.block_until_ready(compiled(*arguments))
        times.append(time.perf_counter() - begun)
    return float(np.median(times))


def batch_of_one(problem: algorithm.Problem) -> algorithm.Problem:
    return jax.tree.map(lambda leaf: leaf[None], problem)


def iteration(task: Task, config: algorithm.Config, problem: algorithm.Problem, iterations: int) -> dict[str, float]:
    """Compilation, and the mean time of iterations from a fresh start."""
    problems = batch_of_one(problem)
    begun = time.perf_counter()
    states = algorithm.start(task, config, problems)
    states, _ = algorithm.advance(task, config, problems, states, 0)
    jax.block_until_ready(states.iteration)
    compilation = time.perf_counter() - begun
    begun = time.perf_counter()
    epochs = []
    for _ in range(0, iterations, algorithm.CHUNK):
        states, _ = algorithm.advance(task, config, problems, states, min(algorithm.CHUNK, iterations))
        epochs.append(float(jnp.mean(states.epochs)))
    each = (time.perf_counter() - begun) / (len(epochs) * min(algorithm.CHUNK, iterations))
    return {"compilation": compilation, "iteration": each, "epochs": float(np.mean(epochs))}


def parts(task: Task, config: algorithm.Config, problem: algorithm.Problem) -> dict[str, float]:
    """Where an iteration's time goes, by timing its parts alone."""
    state = jax.jit(lambda problem: algorithm.initial(task, config, problem))(problem)
    key = jax.random.key(1)
    settings = config.density_ratio
    fixed = dataclasses.replace(settings, epochs=settings.warmup, validation=0.0)
    training, validation = algorithm._split(config, problem, state.memory, state.shares)
    nothing = jax.tree.map(lambda leaf: leaf[:, :0], validation)
    keys = jax.random.split(key, settings.networks)

    def train(networks):
        return algorithm._each(
            lambda k, n, t, v: density_ratio.train(k, n, fixed, t, v), keys, networks, training, nothing
        )

    samples = algorithm._policy_samples
    return {
        "sampling and descriptors": seconds(lambda m: samples(key, task, config, problem, m), state.mixtures),
        "an epoch of all networks": seconds(train, state.ensemble) / fixed.epochs,
        "reward, gradient and update": seconds(
            lambda m, e: algorithm.update(key, task, config, problem.contexts, m, e),
            state.mixtures,
            state.ensemble.parameters,
        ),
    }


def until_solved(task: Task, config: algorithm.Config, shown: Demonstrations, seed: int) -> dict[str, float]:
    """Iterations and seconds, without compilation, after which test success first reaches .98 and keeps it."""
    split = demonstrations.split(shown, task, seed, 6, 6, 5)
    problems = batch_of_one(algorithm.problem(task, shown, split, seed))
    states = algorithm.start(task, config, problems)
    states, _ = algorithm.advance(task, config, problems, states, 0)
    contexts = np.concatenate([split.train_contexts, split.test_contexts])
    spent, reached = 0.0, {"iterations": float("nan"), "seconds": float("nan")}
    for done in range(algorithm.CHUNK, config.iterations + 1, algorithm.CHUNK):
        begun = time.perf_counter()
        states, _ = algorithm.advance(task, config, problems, states)
        jax.block_until_ready(states.iteration)
        spent += time.perf_counter() - begun
        learned = Policies(contexts, 6, jax.tree.map(lambda leaf: leaf[0], states.mixtures))
        if evaluation.evaluate(task, learned).test["success_best"] < 0.98:
            reached = {"iterations": float("nan"), "seconds": float("nan")}
        elif np.isnan(reached["iterations"]):
            reached = {"iterations": float(done), "seconds": spent}
    return reached


def growth(task: Task, config: algorithm.Config, shown: Demonstrations, quick: bool) -> list[dict[str, Any]]:
    """Time of an iteration against contexts, components, weights and demonstrations."""
    rows = []

    def add(what: str, value: int, task: Task = task, config: algorithm.Config = config, **split: int) -> None:
        chosen = {"train_contexts": 6, "test_contexts": 6, "per_context": 5} | split
        problem = algorithm.problem(task, shown, demonstrations.split(shown, task, 0, **chosen), 0)
        rows.append({"what": what, "value": value, **iteration(task, config, problem, 3)})

    for contexts in (6, 24) if quick else (6, 24, 96, 384):
        add("test contexts", contexts, test_contexts=contexts)
    for components in (1, 10):
        add("components", components, config=dataclasses.replace(config, components=components))
    for per_context in (1, 10):
        add("demonstrations per context", per_context, per_context=per_context)
    return rows


def measure(name: str, quick: bool) -> dict[str, Any]:
    task, config = load_task(name), preset(name)
    shown = recordings.generate(task, seed=0)
    problem = algorithm.problem(task, shown, demonstrations.split(shown, task, 0, 6, 6, 5), 0)
    before = calibration_unit()
    found: dict[str, Any] = {"task": name, **iteration(task, config, problem, 10 if quick else 30)}
    found["parts"] = parts(task, config, problem)
    found["unit"] = (before + calibration_unit()) / 2
    found["growth"] = growth(task, config, shown, quick)
    if not quick:
        found["until_solved"] = until_solved(task, config, shown, seed=0)
    found["peak_memory_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return found


def show(found: dict[str, Any]) -> None:
    unit = found["unit"]

    def row(label: str, value: float) -> None:
        print(f"  {label:<42} {value:9.4f} s {value / unit:9.3f} units")

    print(f"{found['task']}: calibration unit {unit:.3f} s, {found['epochs']:.0f} epochs an iteration")
    row("compilation", found["compilation"])
    row("iteration", found["iteration"])
    for label, value in found["parts"].items():
        row(f"  {label}", value)
    for item in found["growth"]:
        row(f"iteration, {item['value']} {item['what']}", item["iteration"])
    if "until_solved" in found:
        solved = found["until_solved"]
        row(f"until test success .98 (iteration {solved['iterations']:.0f})", solved["seconds"])
    print(f"  peak memory {found['peak_memory_mb']:.0f} MB", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", nargs="+", default=list(TASKS), choices=TASKS)
    parser.add_argument("--quick", action="store_true", help="fewer iterations, no training to the end")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    machine = {"device": jax.devices()[0].device_kind, "cores": os.cpu_count(), "system": platform.machine()}
    results = []
    for name in given.tasks:
        results.append(measure(name, given.quick))
        show(results[-1])
    if given.out:
        report = {"version": __version__, "machine": machine, "tasks": results}
        given.out.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
