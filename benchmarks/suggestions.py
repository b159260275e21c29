"""A suggested context against a random one: success after the demonstrations of one more context.

    python benchmarks/suggestions.py PATH [--tasks ...] [--seeds 20] [--first 420] [--out FILE]

PATH is a clone of github.com/NiklasFreymuth/VIGOR. A run learns from a few contexts. Then one more is demonstrated: the
one that the run suggests among all that can be, or one at random. Both have the same seed, the same contexts before and
the same test contexts, so they are compared in pairs.
Rows are added to FILE (docs/results/suggestions.json) as they come; a row that is there is not made again.
"""

import argparse
import json
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import handwriting
from invariants import EXAMPLE, Rates, figures, of_tests
from vigor.basics import files
from vigor.demonstrations import preprocessing, splits
from vigor.demonstrations.dataset import Demonstrations
from vigor.demonstrations.formats import published
from vigor.demonstrations.splits import Split
from vigor.planning import suggestions
from vigor.planning.planner import Planner
from vigor.runs.presets import preset
from vigor.runs.setup import Prepared, Setup
from vigor.runs.training import Training
from vigor.tasks import Task, load_task

TASKS = {"planar-reacher": (2, 5), "example 01": (2, 5), "letter WShape": (3, 1), "letter Sshape": (3, 1)}
"""Training contexts before, and demonstrations of each."""
POOL, TEST = 40, 20
"""Contexts that can be demonstrated where demonstrations are generated; fresh contexts that runs are tested in."""
WAYS = ("suggested", "random")
DRAWN = 10_000
"""Resamples for an interval."""


def data(name: str, path: Path) -> tuple[Task, Demonstrations]:
    """A task and demonstrations of all contexts that can be asked for: human ones of the reacher, else generated."""
    if name.startswith("letter "):
        return handwriting.load(name.removeprefix("letter "), count=POOL)
    if name == "example 01":
        task = load_task(f"{EXAMPLE}:TASK")
        return task, preprocessing.generate(task, 0, contexts=POOL, per_context=TASKS[name][1])
    task = load_task(name)
    return task, published.load(task, path)


def measure(name: str, path: Path, seeds: range) -> dict[str, Any]:
    """Success on test contexts before, and after one more context by each way of choosing it."""
    task, shown = data(name, path)
    contexts, each = TASKS[name]
    begun = time.perf_counter()
    tests = [task.sample_contexts(np.random.default_rng([seed, TEST]), TEST) for seed in seeds]
    known = [splits.draw(shown, task, seed, contexts, test, each) for seed, test in zip(seeds, tests, strict=True)]
    training, planners = trained(task, shown, known, seeds)
    runs: list[dict[str, Any]] = [{"before": figures(one)} for one in training]
    more: dict[str, list[Split]] = {way: [] for way in WAYS}
    for seed, split, planner, run in zip(seeds, known, planners, runs, strict=True):
        for way, context in choices(task, shown, split, planner, seed, each).items():
            more[way].append(with_context(shown, split, context, seed, each))
            run[f"{way}, context"] = context
    for way in WAYS:
        judged, _ = trained(task, shown, more[way], seeds)
        for run, one in zip(runs, judged, strict=True):
            run[way] = figures(one)
    return {
        "task": name,
        "seeds": [seeds.start, seeds.stop - 1],
        "contexts": contexts,
        "each": each,
        "seconds": round(time.perf_counter() - begun, 1),
        "device": jax.devices()[0].device_kind,
        "runs": runs,
    }


def trained(task: Task, shown: Demonstrations, known: list[Split], seeds: range) -> tuple[list[Rates], list[Planner]]:
    """Rates in test contexts of runs with the default settings, and their planners."""
    settings = preset(task)
    prepared = [
        Prepared(Setup(task.origin or task.name, seed=seed, settings=settings), task, shown, split)
        for seed, split in zip(seeds, known, strict=True)
    ]
    training = Training(prepared)
    states, kept = training.start(), []
    for _, after, networks in training.advance(states):
        states = after
        kept.append(networks)
    # [iteration, run, network, ...]
    ensembles, done = jax.tree.map(lambda *parts: jnp.concatenate(parts), *kept), np.asarray(states.iteration).tolist()
    planners = [
        Planner(
            task,
            settings,
            split.train_contexts,
            training.starts(run),
            training.common(run),
            jax.tree.map(lambda leaf, run=run: leaf[: done[run], run], ensembles),
            Path(),
        )
        for run, split in enumerate(known)
    ]
    return of_tests(training, states), planners


def choices(task: Task, shown: Demonstrations, split: Split, planner: Planner, seed: int, each: int) -> dict[str, int]:
    """The context to demonstrate next by every way of choosing, as an index into the set's contexts."""
    indices, counts = np.unique(shown.context_of, return_counts=True)
    free = np.setdiff1d(indices[counts >= each], split.train)
    offered = shown.contexts[free]
    best = suggestions.suggest(planner, 1, seed, offered)[0].context
    return {
        "suggested": int(free[np.argmin(np.abs(offered - best).sum(axis=1))]),
        "random": int(np.random.default_rng([seed, 1]).choice(free)),
    }


def with_context(shown: Demonstrations, split: Split, context: int, seed: int, each: int) -> Split:
    """A split with one more training context, of which demonstrations are drawn."""
    drawn = np.random.default_rng([seed, 2]).permutation(shown.of(context))[:each]
    return replace(
        split,
        train=np.append(split.train, context),
        train_contexts=np.concatenate([split.train_contexts, shown.contexts[[context]]]),
        demonstrations=np.concatenate([split.demonstrations, drawn[None]]),
    )


def compared(rows: Sequence[dict[str, Any]]) -> str:
    """Difference in the mixture's success after the suggested context and after a random one, with its 95% interval.

    By pairs, of all tasks together as likely; the interval is from resampling pairs within tasks.
    """
    gains = [
        np.array([run["suggested"]["success_mixture"] - run["random"]["success_mixture"] for run in row["runs"]])
        for row in rows
    ]
    rng = np.random.default_rng(0)
    drawn = np.mean([one[rng.integers(len(one), size=(DRAWN, len(one)))].mean(axis=1) for one in gains], axis=0)
    low, high = np.quantile(drawn, (0.025, 0.975))
    return f"{np.mean([one.mean() for one in gains]):+.3f} [{low:+.3f}, {high:+.3f}]"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path)
    parser.add_argument("--tasks", nargs="+", default=list(TASKS), choices=list(TASKS))
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=420, help="the first seed")
    parser.add_argument("--out", type=Path, default=Path("docs/results/suggestions.json"))
    given = parser.parse_args()
    seeds = range(given.first, given.first + given.seeds)
    for name in given.tasks:
        rows = json.loads(given.out.read_text()) if given.out.exists() else []
        if [name, [seeds.start, seeds.stop - 1]] in [[row["task"], row["seeds"]] for row in rows]:
            continue
        rows.append(row := measure(name, given.path, seeds))
        for way in ("before", *WAYS):
            rates = [
                np.mean([run[way][figure] for run in row["runs"]]) for figure in ("success_best", "success_mixture")
            ]
            print(f"{name}, {way}: best {rates[0]:.4f}, mixture {rates[1]:.4f}", flush=True)
        files.write_text(given.out, "[\n" + ",\n".join(json.dumps(one) for one in rows) + "\n]\n")


if __name__ == "__main__":
    main()
