"""Time of training, where it goes, and how it grows: `make bench`.

    python benchmarks/speed.py [PATH] [--tasks planar-reacher panda-reacher] [--seeds 3] [--quick] [--out FILE.json]

PATH is a clone of github.com/NiklasFreymuth/VIGOR with the human demonstrations; without it they are generated. Times
are divided by a calibration unit that is measured right before and after: 300 single-precision products of [15360, 160]
with [160, 32] in numpy on all cores. On a GPU read the seconds.
"""

import argparse
import dataclasses
import json
import os
import platform
import resource
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from vigor import __version__
from vigor.basics import batching
from vigor.basics.settings import with_values
from vigor.demonstrations import preprocessing as recordings
from vigor.demonstrations import splits
from vigor.demonstrations.dataset import Demonstrations
from vigor.demonstrations.formats import published
from vigor.evaluation import evaluation
from vigor.evaluation.policies import Policies
from vigor.learning import algorithm, density_ratio, mixture, policy_samples, policy_update, problem
from vigor.learning.algorithm import VigorSettings, VigorState
from vigor.learning.misplaced import with_misplaced
from vigor.learning.problem import Problem
from vigor.runs.presets import preset
from vigor.tasks import Task, load_task

REACHERS = ("planar-reacher", "panda-reacher")
REPEATS = 5
LEVEL = 0.98
"""Test success that counts as solved, once it is kept."""


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


def batch(task: Task, shown: Demonstrations, seeds: int, **split: Any) -> tuple[Problem, list[np.ndarray]]:
    """Runs with seeds 0, 1, ... as a batch, and their contexts."""
    chosen = {"train_contexts": 6, "test_contexts": 6, "per_context": 5} | split
    drawn = [splits.draw(shown, task, seed, **chosen) for seed in range(seeds)]
    contexts = [np.concatenate([split.train_contexts, split.test_contexts]) for split in drawn]
    return problem.batch([problem.problem(task, shown, split, seed) for seed, split in enumerate(drawn)]), contexts


def compiled_start(task: Task, settings: VigorSettings, problems: Problem) -> VigorState:
    """States before the first iteration, with everything compiled."""
    states = algorithm.start(task, settings, problems)
    states, _ = algorithm.advance(task, settings, problems, states, 0)
    jax.block_until_ready(states.iteration)
    return states


def iteration(task: Task, settings: VigorSettings, problems: Problem, iterations: int) -> dict[str, float]:
    """Compilation, and the mean time of iterations from a fresh start."""
    begun = time.perf_counter()
    states = compiled_start(task, settings, problems)
    compilation = time.perf_counter() - begun
    begun = time.perf_counter()
    epochs = []
    for _ in range(0, iterations, algorithm.CHUNK):
        states, _ = algorithm.advance(task, settings, problems, states, min(algorithm.CHUNK, iterations))
        epochs.append(float(jnp.mean(states.epochs)))
    each = (time.perf_counter() - begun) / (len(epochs) * min(algorithm.CHUNK, iterations))
    return {"compilation": compilation, "iteration": each, "epochs": float(np.mean(epochs))}


def parts(task: Task, settings: VigorSettings, problem: Problem) -> dict[str, float]:
    """Where an iteration's time goes, by timing its parts alone."""
    state = jax.jit(lambda problem: algorithm.first_state(task, settings, problem))(problem)
    key, ratio, networks = jax.random.key(1), settings.density_ratio, settings.density_ratio.training.networks
    fixed = with_values(ratio, epochs=ratio.training.warmup, validation=0.0)
    gather = jax.jit(lambda mixtures: policy_samples.draw(key, task, networks, problem, mixtures))
    policy, validation = policy_samples.split(ratio.training, problem, gather(state.mixtures))
    training = jax.jit(lambda: with_misplaced(key, task, settings.misplaced, problem, policy))()
    nothing = jax.tree.map(lambda leaf: leaf[:, :0], validation)
    keys = jax.random.split(key, networks)

    def train(networks):
        return batching.each(
            lambda k, n, t, v: density_ratio.train(k, n, fixed, t, v), keys, networks, training, nothing
        )

    def update(mixtures, ensemble):
        reward = partial(density_ratio.reward, ratio, problem.invariants)
        return policy_update.update(key, task, settings.update, reward, ensemble, problem.contexts, mixtures)

    count = problem.contexts.shape[0] * settings.update.components * settings.update.samples
    samples = jax.vmap(lambda key, m: mixture.sample_components(key, m, settings.update.samples))
    weights = samples(jax.random.split(key, problem.contexts.shape[0]), state.mixtures).reshape(count, -1)
    owner = jnp.repeat(problem.contexts, count // problem.contexts.shape[0], axis=0)

    def describe(w, c):
        return jax.vmap(lambda w, c: task.describe(task.promp.rollout(w), c))(w, c)

    def slopes(w, c):
        described, pull = jax.vjp(lambda w: describe(w, c), w)
        return pull(described)[0]

    return {
        "policy samples and their descriptors": seconds(gather, state.mixtures),
        "one epoch of all networks": seconds(train, state.ensemble) / fixed.training.epochs,
        "samples, rewards, gradients and update": seconds(update, state.mixtures, state.ensemble.parameters),
        "of these descriptors and their gradients": seconds(
            lambda w, c: batching.by_chunks(settings.update.chunk, slopes, w, c), weights, owner
        ),
        "of these the trust-region step": seconds(
            lambda roots: jax.vmap(jax.vmap(lambda root: jnp.linalg.eigh(root @ root.T)))(roots), state.mixtures.roots
        ),
    }


def until_solved(task: Task, settings: VigorSettings, shown: Demonstrations, seeds: int) -> dict[str, Any]:
    """Iterations, and seconds without compilation, after which test success first reaches LEVEL and keeps it.

    Success is the mean over seeds of the best component's; the time is that of one run.
    """
    runs, contexts = batch(task, shown, seeds)
    spent, success = [], []
    for seed in range(seeds):
        problems = jax.tree.map(lambda leaf, seed=seed: leaf[seed : seed + 1], runs)
        states = compiled_start(task, settings, problems)
        times, levels = [0.0], []
        for _ in range(0, settings.update.iterations, algorithm.CHUNK):
            begun = time.perf_counter()
            states, _ = algorithm.advance(task, settings, problems, states, algorithm.CHUNK)
            jax.block_until_ready(states.iteration)
            times.append(times[-1] + time.perf_counter() - begun)
            learned = Policies(contexts[seed], 6, jax.tree.map(lambda leaf: leaf[0], states.mixtures))
            levels.append(evaluation.evaluate(task, learned).test["success_best"])
        spent.append(times[1:])
        success.append(levels)
    mean, each = np.mean(success, axis=0), np.mean(spent, axis=0)
    kept = np.flatnonzero(mean < LEVEL)
    first = kept[-1] + 1 if len(kept) else 0
    solved = first < len(mean)
    return {
        "seeds": seeds,
        "success": mean.tolist(),
        "iterations": float((first + 1) * algorithm.CHUNK) if solved else None,
        "seconds": float(each[first]) if solved else None,
    }


def growth(task: Task, settings: VigorSettings, shown: Demonstrations, quick: bool) -> list[dict[str, Any]]:
    """Time of an iteration against contexts, components, weights, demonstrations and runs."""
    rows = []

    def add(what: str, value: int, task: Task = task, settings: VigorSettings = settings, seeds: int = 1, **split: int):
        problems, _ = batch(task, shown, seeds, **split)
        rows.append({"what": what, "value": value, **iteration(task, settings, problems, 3)})

    for contexts in (6, 24) if quick else (6, 24, 96, 384):
        add("test contexts", contexts, test_contexts=contexts)
    for components in (1, 10):
        add("components", components, settings=with_values(settings, components=components))
    for bases in (3, 12):
        # Descriptors of demonstrations do not depend on how many weights a plan has, only their time does.
        promp = replace(task.promp, bases=bases)
        problems, _ = batch(task, shown, 1)
        networks = settings.density_ratio.training.networks
        changed = with_values(settings, samples=-(-2 * promp.weights // networks) * networks, begin="normal")
        rows.append(
            {"what": "weights", "value": promp.weights, **iteration(replace(task, promp=promp), changed, problems, 3)}
        )
    for per_context in (1, 10):
        add("demonstrations per context", per_context, per_context=per_context)
    if not quick:
        add("runs", 4, seeds=4)
    return rows


def measure(name: str, path: Path | None, seeds: int, quick: bool) -> dict[str, Any]:
    task, settings = load_task(name), preset(name)
    shown = recordings.generate(task, seed=0) if path is None else published.load(task, path)
    problems, _ = batch(task, shown, 1)
    before = calibration_unit()
    found: dict[str, Any] = {"task": name, "demonstrations": shown.source, "settings": dataclasses.asdict(settings)}
    found |= iteration(task, settings, problems, 10 if quick else 30)
    found["parts"] = parts(task, settings, jax.tree.map(lambda leaf: leaf[0], problems))
    found["unit"] = (before + calibration_unit()) / 2
    found["peak_memory_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    if not quick and seeds:
        found["until_solved"] = until_solved(task, settings, shown, seeds)
    found["growth"] = growth(task, settings, shown, quick)
    return found


def show(found: dict[str, Any]) -> None:
    unit = found["unit"]

    def row(label: str, value: float) -> None:
        print(f"  {label:<46} {value:9.4f} s {value / unit:9.3f} units")

    print(f"{found['task']}: calibration unit {unit:.3f} s, {found['epochs']:.0f} epochs an iteration")
    row("compilation", found["compilation"])
    row("iteration", found["iteration"])
    for label, value in found["parts"].items():
        row(f"  {label}", value)
    for item in found["growth"]:
        row(f"iteration, {item['value']} {item['what']}", item["iteration"])
    solved = found.get("until_solved")
    if solved and solved["seconds"] is not None:
        row(
            f"test success {LEVEL} kept from iteration {solved['iterations']:.0f} ({solved['seeds']} seeds)",
            solved["seconds"],
        )
    elif solved:
        print(f"  test success {LEVEL} is not kept ({solved['seeds']} seeds)")
    print(f"  peak memory {found['peak_memory_mb']:.0f} MB", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path, nargs="?")
    parser.add_argument("--tasks", nargs="+", default=list(REACHERS), choices=REACHERS)
    parser.add_argument("--seeds", type=int, default=3, help="runs to find when a task is solved; 0 leaves it out")
    parser.add_argument("--quick", action="store_true", help="fewer iterations, no training to the end")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    machine = {"device": jax.devices()[0].device_kind, "cores": os.cpu_count(), "system": platform.machine()}
    results = []
    for name in given.tasks:
        results.append(measure(name, given.path, given.seeds, given.quick))
        show(results[-1])
    if given.out:
        report = {"version": __version__, "machine": machine, "tasks": results}
        given.out.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
