"""Ways of people that methods find again, in contexts with and without demonstrations, and where ways are lost.

    python benchmarks/ways.py PATH [--tasks TASK ...] [--kinds KIND ...] [--seeds 10] [--first 400] [--out FILE]

PATH is a clone of github.com/NiklasFreymuth/VIGOR. Five of ten demonstrations of a training context are learned from;
test contexts are those of people that are left out of training. What is measured says `vigor.evaluation.resemblance`.
A GPU takes all seeds of a task and kind as one program. Rows are stored as they come, and those that are there are not
made again; several processes write several files, which `--join FILE ...` puts together.
"""

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np
from scipy.spatial.distance import cdist

from vigor.basics import files
from vigor.basics.settings import with_values
from vigor.demonstrations import splits
from vigor.demonstrations.dataset import Demonstrations
from vigor.demonstrations.formats import published
from vigor.demonstrations.repertoire import repertoire
from vigor.evaluation import evaluation, ways
from vigor.evaluation.policies import Policies
from vigor.evaluation.resemblance import FIGURES, difference
from vigor.learning import prediction, shares
from vigor.learning.mixture import Mixture
from vigor.learning.policy_update import with_equal_weights
from vigor.runs.presets import preset
from vigor.runs.setup import Setup, prepare
from vigor.runs.training import Training
from vigor.tasks import Task, load_task

TASKS = {"planar-reacher": 6, "panda-reacher": 4}
"""Training contexts of each task; people showed 12 and 6, and the rest are test contexts."""
EACH = 5
"""Demonstrations of a training context that are learned from."""
KINDS: dict[str, tuple[str, Any, dict[str, Any]]] = {
    "copied": ("copied", "default", {}),
    "default": ("vigor", "default", {}),
    "five": ("vigor", "default", {"components": 5}),
    "bc-t": ("bc-t", "default", {}),
    "bc-gmm-t": ("bc-gmm-t", "default", {}),
    "em-drex": ("em-drex", "default", {}),
    "paper": ("vigor", "paper", {}),
}
"""Method, preset and other settings of each kind of run; demonstrations copied are the floor."""
LOOKS = (10, 30)
"""Iterations at which mixtures on their way are looked at."""
HALVES = 50
"""Halves of a context's people that are compared with each other."""


def setup(task: Task, shown: Demonstrations, kind: str, seed: int) -> Setup:
    """Setup of a run whose test contexts are those of people that it does not learn from."""
    method, which, values = KINDS[kind]
    learned_from = splits.draw(shown, task, seed, TASKS[task.name], 0, EACH).train
    others = shown.contexts[np.setdiff1d(shown.demonstrated, learned_from)]
    return Setup(
        task.name,
        method=method,
        seed=seed,
        train_contexts=len(learned_from),
        test_contexts=tuple(map(tuple, others.tolist())),
        demos_per_context=EACH,
        settings=with_values(preset(task, which, method), **values),
    )


def rows(task: Task, shown: Demonstrations, kind: str, seeds: Sequence[int]) -> Iterator[dict[str, Any]]:
    """Figures of runs' training and test contexts when they have ended, and of stages on their way."""
    begun, cpu = time.perf_counter(), time.process_time()
    training = Training([prepare(setup(task, shown, kind, seed), task, shown) for seed in seeds])
    states, looks, done = training.start(), {}, 0
    staged = kind in ("default", "five")
    if staged:
        looks["start"] = jax.tree.map(np.asarray, states.mixtures)
    for done, after, _ in training.advance(states):
        states = after
        if staged and done in LOOKS:
            looks[f"iteration {done}"] = jax.tree.map(np.asarray, states.mixtures)
    spent = {"seconds": time.perf_counter() - begun, "cpu": time.process_time() - cpu}
    found = {"": training.evaluate(states)}
    if staged:
        found |= stages(training, states, looks)
    for i, seed in enumerate(seeds):
        known = {"task": task.name, "kind": kind, "seed": seed, "iterations": int(np.asarray(states.iteration)[i])}
        known |= {name: round(value / len(seeds), 1) for name, value in spent.items()}
        for stage, own in found.items():
            for part in ("train", "test"):
                yield known | {"stage": stage, "part": part} | figures(getattr(own[i], part))


def stages(training: Training, states: Any, looks: dict[str, Mixture]) -> dict[str, list[evaluation.Evaluation]]:
    """Evaluations [run] of mixtures on the way, and of those at the end with other weights."""
    mixtures = jax.tree.map(np.asarray, states.mixtures)
    tempered = [judged_by_reward(training, run, of_run(mixtures, run)) for run in range(len(training.prepared))]
    rewarded = jax.tree.map(lambda *leaves: np.stack(leaves), *tempered)
    found = looks | {"end, all alike": equal(training, mixtures), "end, by reward and success": rewarded}
    evaluated = {
        name: [judged(training, run, policies(training, run, of_run(own, run))) for run in range(len(tempered))]
        for name, own in found.items()
    }
    evaluated["one of a way, by reward and success"] = []
    for run, own in enumerate(tempered):
        distinct = prediction.distinct_of(training.task, training.common(run))
        one, _ = ways.likeliest(training.task, policies(training, run, own), distinct)
        evaluated["one of a way, by reward and success"].append(judged(training, run, one))
    return evaluated


def judged_by_reward(training: Training, run: int, own: Mixture) -> Mixture:
    """Mixtures [context, ...] of a run, their components weighed by reward and predicted success alone."""
    contexts = np.asarray(policies(training, run, own).contexts, np.float32)
    key = training.problems.key[run]
    success = prediction.component_success(key, training.task, training.common(run), contexts, own)
    caution = shares.CAUTION * np.log(np.maximum(np.asarray(success), 1e-6))
    return own._replace(log_weights=np.asarray(jax.nn.log_softmax(own.log_weights + caution)))


def equal(training: Training, mixtures: Mixture) -> Mixture:
    """Mixtures [run, context, ...] whose components are all as likely."""
    even = with_equal_weights(training.settings.update, mixtures)
    return even._replace(log_weights=even.log_weights - np.log(even.means.shape[-2]))


def of_run(mixtures: Mixture, run: int) -> Mixture:
    """Mixtures [context, ...] of one of many runs."""
    return jax.tree.map(lambda leaf: np.asarray(leaf)[run], mixtures)


def policies(training: Training, run: int, own: Mixture) -> Policies:
    """Policies of a run's mixtures [context, ...]."""
    split = training.prepared[run].split
    return Policies(np.concatenate([split.train_contexts, split.test_contexts]), len(split.train_contexts), own)


def judged(training: Training, run: int, own: Policies) -> evaluation.Evaluation:
    """Evaluation of policies of one of the runs."""
    return evaluation.evaluate(training.task, own, common=training.common(run), known=training.known[run])


def figures(part: dict[str, Any]) -> dict[str, float]:
    """Success, components that work, and resemblance to people, of training or of test contexts."""
    own = {name: round(part["resemblance"][name], 4) for name in FIGURES}
    rates = {name: round(part[f"success_{name}"], 4) for name in ("mixture", "best")}
    return rates | {"working": round(part["versatility"]["working_components"], 2)} | own


def of_people(task: Task, shown: Demonstrations) -> dict[str, Any]:
    """People beside each other: how many go each way, and what others say about those of a context.

    Others are one half of a context's people to the other half, and those of all other contexts.
    """
    known, rng = repertoire(task, shown), np.random.default_rng(0)
    like = cdist(known.points, known.points) < known.distinct
    elsewhere = like & (shown.context_of[:, None] != shown.context_of)
    covered, differences, others = [], [], []
    for context in shown.demonstrated:
        own, rest = shown.of(context), np.flatnonzero(shown.context_of != context)
        others.append((np.mean(like[np.ix_(rest, own)].any(axis=1)), difference(*map(known.shares, (rest, own)))))
        for _ in range(HALVES):
            first, second = np.array_split(rng.permutation(own), 2)
            covered.append(np.mean(like[np.ix_(first, second)].any(axis=0)))
            differences.append(difference(*map(known.shares, (first, second))))
    return {
        "task": task.name,
        "demonstrations": len(shown),
        "ways": dict(zip(known.names, known.shares(np.arange(len(shown))).round(4).tolist(), strict=True)),
        "alike": round(float(np.mean([known.alike(shown.of(i)).mean() for i in shown.demonstrated])), 4),
        "elsewhere": round(float(np.mean(elsewhere.any(axis=1))), 4),
        "half": round(float(np.mean(covered)), 4),
        "difference": round(float(np.mean(differences)), 4),
        "others": [round(float(value), 4) for value in np.mean(others, axis=0)],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path)
    parser.add_argument("--tasks", nargs="+", default=list(TASKS), choices=TASKS)
    parser.add_argument("--kinds", nargs="+", default=list(KINDS), choices=KINDS)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=400, help="the first seed")
    parser.add_argument("--out", type=Path, default=Path("runs/ways.json"))
    parser.add_argument("--join", type=Path, nargs="+", default=[], metavar="FILE", help="rows of other processes")
    given = parser.parse_args()
    stored = [row for path in (given.out, *given.join) if path.exists() for row in json.loads(path.read_text())["rows"]]
    there, people = {(row["task"], row["kind"], row["seed"]) for row in stored}, []
    at_once = 1 if jax.default_backend() == "cpu" else given.seeds
    for name in given.tasks:
        task = load_task(name)
        shown = published.load(task, given.path)
        people.append(of_people(task, shown))
        for kind in given.kinds:
            seeds = range(given.first, given.first + given.seeds)
            left = [seed for seed in seeds if (name, kind, seed) not in there]
            for first in range(0, len(left), at_once):
                stored += rows(task, shown, kind, left[first : first + at_once])
                files.write_text(given.out, json.dumps({"people": people, "rows": stored}, indent=1) + "\n")
                print(name, kind, left[first : first + at_once], flush=True)
    files.write_text(given.out, json.dumps({"people": people, "rows": stored}, indent=1) + "\n")


if __name__ == "__main__":
    main()
