"""Networks and invariants, alone and together, on every task; the paper's settings and floors without learning beside.

    python benchmarks/invariants.py PATH [--tasks ...] [--variants ...] [--seeds 10] [--first 420]
        [--no-plans] [--out FILE]

PATH is a clone of github.com/NiklasFreymuth/VIGOR. All seeds of a row train as one program: minutes on a GPU, long
without. Settings were chosen on seeds 300 to 349; 400 to 419 were looked at before a change.
Rows are added to FILE (docs/results/invariants.json) as they come, one for each task and variant. A row that is there
is not made again, so what was stopped goes on when it is called again.
"""

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

import handwriting
from vigor.basics import files
from vigor.basics.settings import with_values
from vigor.demonstrations import splits
from vigor.demonstrations.dataset import Demonstrations
from vigor.demonstrations.formats import published
from vigor.evaluation import policies
from vigor.evaluation.policies import Learned
from vigor.learning import prediction
from vigor.learning.invariants import Invariants
from vigor.learning.mixture import Mixture
from vigor.planning import constraints, ranking
from vigor.planning.planner import Planner
from vigor.runs.presets import preset
from vigor.runs.setup import Prepared, Setup, own_demonstrations
from vigor.runs.training import Training
from vigor.tasks import Task, load_task

VARIANTS: dict[str, dict[str, Any]] = {
    "both": {},
    "networks alone": {"invariants": False},
    "invariants alone": {"ratio": False},
    "copied": {"method": "copied"},
    "carried": {"method": "carried"},
    "paper": {"preset": "paper"},
}
"""Changes of the default settings, the method or the preset, by name."""
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

NEW, FAR, SAMPLES, BINS = 60, 2.0, 50, 10
"""Contexts that plans are made for after training; how far the far ones are; most samples of each component; tenths
of predicted success."""


def data(name: str, path: Path) -> tuple[Task, Demonstrations]:
    """A task and its demonstrations: human ones for the reachers and letters, else generated."""
    base = name.partition(",")[0]
    if base.startswith("letter "):
        return handwriting.load(base.removeprefix("letter "))
    task = load_task(f"{EXAMPLE}:TASK" if base == "example 01" else base)
    return task, published.load(task, path) if base.endswith("reacher") else own_demonstrations(task)


def measure(name: str, variant: str, path: Path, seeds: range, plans: bool) -> Iterator[dict[str, Any]]:
    """Train and evaluate some seeds of a task: a row of test contexts, then of plans for new and far ones."""
    task, shown = data(name, path)
    sizes = {"train": 6, "each": task.source.per_context, "test": 6} | TASKS[name]
    changes = {"method": "vigor", "preset": "default"} | VARIANTS[variant]
    method = changes.pop("method")
    settings = with_values(preset(task, changes.pop("preset"), method), **changes)
    prepared = [
        Prepared(
            Setup(task.origin or task.name, method=method, seed=seed, settings=settings),
            task,
            shown,
            splits.draw(shown, task, seed, sizes["train"], sizes["test"], sizes["each"]),
        )
        for seed in seeds
    ]
    begun = time.perf_counter()
    training = Training(prepared)
    states, kept = training.start(), []
    for _, after, networks in training.advance(states):
        states = after
        kept.append(networks)
    trained = time.perf_counter() - begun
    iterations = np.asarray(states.iteration).tolist()
    # [iteration, run, network, ...]
    ensembles = jax.tree.map(lambda *parts: jnp.concatenate(parts), *kept) if method == "vigor" else None
    test = of_tests(training, states)
    row = {
        "task": name,
        "variant": variant,
        "seeds": [seeds.start, seeds.stop - 1],
        "seconds": round(trained, 1),
        "device": jax.devices()[0].device_kind,
        "iterations": iterations,
        "calibration": calibration(test),
        "runs": [figures(one) for one in test],
    }
    row["whole"] = not plans or task.judge.simulate is not None  # Simulations of so many plans take hours.
    yield row
    if row["whole"]:
        return
    for far, words in ((1.0, "new"), (FAR, "far")):
        planned = [elsewhere(training, states, run, iterations[run], ensembles, far) for run in range(len(prepared))]
        row[words] = {"calibration": calibration(planned), "runs": [figures(one) for one in planned]}
        row["whole"] = words == "far"
        yield row


class Rates(NamedTuple):
    """Weights, success and predicted success of components [context, component]."""

    weights: np.ndarray
    success: np.ndarray
    predicted: np.ndarray


def of_tests(training: Training, states: Any) -> list[Rates]:
    """Rates of every run in its test contexts."""
    known = [(one, training.common(run)) for run, one in enumerate(training.policies(states))]
    return [judged(training.task, one, slice(one.training, None), common) for one, common in known]


def judged(task: Task, learned: Learned, rows: slice, common: Invariants) -> Rates:
    """Rates of policies in some of their contexts."""
    samples, contexts = min(SAMPLES, task.judge.samples), learned.contexts[rows]
    weights, _, joints = learned.movements(task, rows, samples, 0)
    flat, shape = joints.reshape(-1, *joints.shape[-2:]), joints.shape[:3]
    owner = np.repeat(contexts, shape[1] * samples, axis=0).astype(np.float32)
    success = task.succeeds(task.distances(flat, owner)).reshape(shape)
    predicted = np.asarray(prediction.movement_success(task, common, flat, owner)).reshape(shape)
    return Rates(weights, success.mean(axis=-1), predicted.mean(axis=-1))


def elsewhere(training: Training, states: Any, run: int, iterations: int, ensembles: Any, far: float) -> Rates:
    """Rates in contexts that a run never saw, `far` times as far from the middle of training ones.

    states: of a method without learning, which acts in them by itself; ensembles: [iteration, run, network, ...], by
    which VIGOR plans for them.
    """
    setup, task, _, split = training.prepared[run]
    middle = split.train_contexts.mean(axis=0)
    contexts = task.sample_contexts(np.random.default_rng([setup.seed, NEW]), NEW)
    contexts = middle + far * (contexts - middle)
    common = training.common(run)
    if ensembles is None:
        mixtures = _acting(training, states, run, contexts)
    else:
        own = jax.tree.map(lambda leaf: leaf[:iterations, run], ensembles)
        known = (split.train_contexts, training.starts(run), common, own)
        mixtures, _ = Planner(task, setup.settings, *known, Path()).mixtures(contexts, constraints.of_task(task))
    return judged(task, policies.of(contexts, 0, mixtures), slice(None), common)


def _acting(training: Training, states: Any, run: int, contexts: np.ndarray) -> Mixture:
    """Mixtures [context, ...] of a run without learning, in contexts [context, C]."""
    own, state = (jax.tree.map(lambda leaf: leaf[run : run + 1], part) for part in (training.data, states))
    moved = own._replace(test_contexts=jnp.asarray(contexts, jnp.float32)[None])
    found = training.method.policies(training.task, training.settings, moved, state)
    return jax.tree.map(lambda leaf: leaf[0, -len(contexts) :], found)


def figures(rates: Rates) -> dict[str, float]:
    """Figures of one run that a row keeps."""
    weights, success, predicted = rates
    found = {
        "success_best": success.max(axis=1),
        "success_chosen": chosen(rates),
        "success_mixture": np.sum(weights * success, axis=1),
        "predicted_mixture": np.sum(weights * predicted, axis=1),
    }
    return {name: round(float(np.mean(values)), 4) for name, values in found.items()}


def chosen(rates: Rates) -> np.ndarray:
    """Success [context] of the component that is predicted to be best."""
    return np.take_along_axis(rates.success, rates.predicted.argmax(axis=1)[:, None], axis=1)[:, 0]


def calibration(runs: list[Rates]) -> dict[str, Any]:
    """Distance of predictions from success.

    bins: components, and sums of their predicted and of their found success, by tenths of predicted success; unknown:
    contexts that no way is known for, and how many of them fail with the component that is predicted to be best.
    """
    predicted = np.concatenate([one.predicted.ravel() for one in runs])
    success = np.concatenate([one.success.ravel() for one in runs])
    which = np.minimum((predicted * BINS).astype(int), BINS - 1)
    best = np.concatenate([one.predicted.max(axis=1) for one in runs])
    fails = np.concatenate([chosen(one) for one in runs]) < 0.5
    unknown = best < ranking.LIKELY
    sums = [np.bincount(which, values, BINS) for values in (np.ones_like(predicted), predicted, success)]
    return {
        "bins": np.round(np.stack(sums, axis=1), 2).tolist(),
        "contexts": len(best),
        "unknown": int(unknown.sum()),
        "unknown_failing": int(np.sum(unknown & fails)),
    }


def error(parts: Sequence[dict[str, Any]]) -> float:
    """Expected calibration error of some calibrations together: the mean difference, by tenths."""
    count, predicted, success = np.sum([part["bins"] for part in parts], axis=0).T
    return float(np.sum(np.abs(predicted - success)) / np.sum(count))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path)
    parser.add_argument("--tasks", nargs="+", default=list(TASKS), choices=list(TASKS))
    parser.add_argument("--variants", nargs="+", default=list(VARIANTS)[:3], choices=list(VARIANTS))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=420, help="the first seed")
    parser.add_argument("--no-plans", dest="plans", action="store_false", help="test contexts alone")
    parser.add_argument("--out", type=Path, default=Path("docs/results/invariants.json"))
    given = parser.parse_args()
    seeds = range(given.first, given.first + given.seeds)
    for name, variant in ((name, variant) for name in given.tasks for variant in given.variants):
        rows = json.loads(given.out.read_text()) if given.out.exists() else []
        key = [name, variant, [seeds.start, seeds.stop - 1]]
        same = [row for row in rows if [row["task"], row["variant"], row["seeds"]] == key]
        if same and same[0]["whole"]:
            continue
        rows = [row for row in rows if row not in same]
        for row in measure(name, variant, given.path, seeds, given.plans):
            files.write_text(given.out, "[\n" + ",\n".join(json.dumps(one) for one in [*rows, row]) + "\n]\n")
            last = row.get("far", row.get("new", row))
            means = {key: np.mean([run[key] for run in last["runs"]]) for key in last["runs"][0]}
            print(name, variant, {key: round(float(value), 4) for key, value in means.items()}, flush=True)


if __name__ == "__main__":
    main()
