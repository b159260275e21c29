"""Networks and invariants, alone and together, on every task; with the paper's settings beside them.

    python benchmarks/invariants.py PATH [--tasks ...] [--variants ...] [--seeds 10] [--first 400] [--out FILE]

PATH is a clone of github.com/NiklasFreymuth/VIGOR. All seeds of a row train as one program: minutes on a GPU, long
without. Settings were chosen on seeds 300 to 349.
Rows are added to FILE (docs/results/invariants.json), one for each task and variant; the same again replaces it.
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import handwriting
from vigor.basics.settings import with_values
from vigor.demonstrations import splits
from vigor.demonstrations.dataset import Demonstrations
from vigor.demonstrations.formats import published
from vigor.evaluation import evaluation, policies
from vigor.evaluation.evaluation import Evaluation
from vigor.planning import constraints, ranking
from vigor.planning.planner import Planner
from vigor.runs.presets import preset
from vigor.runs.setup import Prepared, Setup, own_demonstrations
from vigor.runs.training import EVERY, Training
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

NEW, FAR, BINS = 60, 2.0, 10
"""Contexts that plans are made for after training; how far the far ones are; tenths of predicted success."""


def data(name: str, path: Path) -> tuple[Task, Demonstrations]:
    """A task and its demonstrations: human ones for the reachers and letters, else generated."""
    base = name.partition(",")[0]
    if base.startswith("letter "):
        return handwriting.load(base.removeprefix("letter "))
    task = load_task(f"{EXAMPLE}:TASK" if base == "example 01" else base)
    return task, published.load(task, path) if base.endswith("reacher") else own_demonstrations(task)


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
    states, course, kept = training.start(), [], []
    for done, after, networks in training.advance(states):
        states = after
        kept.append(networks)
        if done % EVERY == 0 and task.judge.simulate is None:
            course.append([figures(one.test) for one in training.evaluate(states)])
    trained = time.perf_counter() - begun
    judged, iterations = training.evaluate(states), np.asarray(states.iteration).tolist()
    ensembles = jax.tree.map(lambda *parts: jnp.concatenate(parts), *kept)  # [iteration, run, network, ...]
    row = {
        "task": name,
        "variant": variant,
        "seeds": [seeds.start, seeds.stop - 1],
        "seconds": round(trained, 1),
        "device": jax.devices()[0].device_kind,
        "iterations": iterations,
        "calibration": calibration(judged, training=True),
        "runs": [figures(one.test) for one in judged],
        "course": [{key: round(float(np.mean([run[key] for run in runs])), 4) for key in runs[0]} for runs in course],
    }
    if task.judge.simulate is not None:  # Simulations of so many plans take hours.
        return row
    for far, words in ((1.0, "new"), (FAR, "far")):
        planned = [plans(training, one, run, iterations[run], ensembles, far) for run, one in enumerate(judged)]
        row[words] = {"calibration": calibration(planned), "runs": [figures(one.test) for one in planned]}
    return row


def plans(training: Training, judged: Evaluation, run: int, iterations: int, ensembles: Any, far: float) -> Evaluation:
    """Evaluation of plans for contexts that a run never saw, `far` times as far from the middle of training ones."""
    setup, task, _, split = training.prepared[run]
    own = jax.tree.map(lambda leaf: leaf[:iterations, run], ensembles)
    planner = Planner(task, setup, judged.policies, training.starts(run), training.common(run), own, Path())
    middle = split.train_contexts.mean(axis=0)
    contexts = task.sample_contexts(np.random.default_rng([setup.seed, NEW]), NEW)
    contexts = middle + far * (contexts - middle)
    mixtures, _ = planner.mixtures(contexts, constraints.of_task(task))
    return evaluation.evaluate(task, policies.of(contexts, 0, mixtures), common=training.common(run))


def figures(test: dict[str, Any]) -> dict[str, float]:
    """Figures of one run that a row keeps."""
    names = ("success_best", "success_chosen", "success_mixture", "predicted_mixture", "distance_best")
    return {name: round(test[name], 4) for name in names}


def calibration(judged: list[Evaluation], training: bool = False) -> dict[str, float]:
    """Expected calibration error: mean over components of how far predictions are from success, by tenths of these.

    Also the share of contexts that no way is known for, and how many of them fail with the component that is predicted
    to be best. training: the first contexts are training contexts, and do not count.
    """
    pairs = []
    for one in judged:
        rows = slice(one.policies.training if training else 0, None)
        pairs.append((one.predicted[rows], one.success[rows]))
    predicted, success = (np.concatenate(part) for part in zip(*pairs, strict=True))
    which = np.minimum((predicted * BINS).astype(int), BINS - 1)
    gaps = [abs(np.sum(predicted[which == i] - success[which == i])) for i in range(BINS)]
    unknown = predicted.max(axis=1) < ranking.LIKELY
    chosen = np.take_along_axis(success, predicted.argmax(axis=1)[:, None], axis=1)[:, 0]
    found = {"error": float(sum(gaps)) / predicted.size, "unknown": float(unknown.mean())}
    if unknown.any():
        found["unknown_failing"] = float(np.mean(chosen[unknown] < 0.5))
    return {key: round(value, 4) for key, value in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path)
    parser.add_argument("--tasks", nargs="+", default=list(TASKS), choices=list(TASKS))
    parser.add_argument("--variants", nargs="+", default=list(VARIANTS)[:3], choices=list(VARIANTS))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=410, help="the first seed")
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
