"""Ways of people that methods find again, in contexts with and without demonstrations, and where ways are lost.

    python benchmarks/ways.py PATH [--tasks TASK ...] [--kinds KIND ...] [--seeds 5] [--first 400] [--out FILE]

PATH is a clone of github.com/NiklasFreymuth/VIGOR. Five of ten demonstrations of a training context are learned from;
test contexts are those of people that are left out of training. What is measured says `vigor.evaluation.resemblance`.
Runs are kept in `--runs`, and what was stopped goes on when it is called again.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import jax
import numpy as np
from scipy.spatial.distance import cdist

from vigor.basics import files
from vigor.demonstrations import splits
from vigor.demonstrations.dataset import Demonstrations
from vigor.demonstrations.formats import published
from vigor.demonstrations.repertoire import repertoire
from vigor.evaluation import evaluation, ways
from vigor.evaluation.policies import Policies
from vigor.evaluation.resemblance import FIGURES, difference
from vigor.learning.mixture import Mixture
from vigor.learning.policy_update import with_equal_weights
from vigor.learning.prediction import distinct_of
from vigor.runs import checkpoints, run
from vigor.runs.presets import preset
from vigor.runs.setup import Setup
from vigor.runs.training import Training
from vigor.tasks import Task, load_task

TASKS = {"planar-reacher": 6, "panda-reacher": 4}
"""Training contexts of each task; people showed 12 and 6, and the rest are test contexts."""
EACH = 5
"""Demonstrations of a training context that are learned from."""
KINDS: dict[str, tuple[str, Any]] = {
    "copied": ("copied", "default"),
    "default": ("vigor", "default"),
    "paper": ("vigor", "paper"),
    "bc-t": ("bc-t", "default"),
    "bc-gmm-t": ("bc-gmm-t", "default"),
    "em-drex": ("em-drex", "default"),
}
"""Method and preset of each kind of run; demonstrations copied are the floor."""
FINER = 0.5
"""Share of `distinct` below which components are merged in one of the stages; runs merge them below all of it."""
HALVES = 50
"""Halves of a context's people that are compared with each other."""


def trained(task: Task, shown: Demonstrations, kind: str, seed: int, place: Path) -> Path:
    """Folder of a finished run whose test contexts are those of people that it does not learn from."""
    folder, (method, which) = place / f"{task.name}-{kind}-{seed}", KINDS[kind]
    if (folder / run.CONFIG).exists():
        run.resume(folder)
        return folder
    learned_from = splits.draw(shown, task, seed, TASKS[task.name], 0, EACH).train
    others = shown.contexts[np.setdiff1d(shown.demonstrated, learned_from)]
    setup = Setup(
        task.name,
        method=method,
        seed=seed,
        train_contexts=len(learned_from),
        test_contexts=tuple(map(tuple, others.tolist())),
        demos_per_context=EACH,
        settings=preset(task, which, method),
    )
    run.train(setup, folder, task=task, demonstrations=shown)
    return folder


def rows(folder: Path, kind: str) -> list[dict[str, Any]]:
    """Figures of a run's training and test contexts when it has ended, and of the stages on its way."""
    result = run.read_result(folder)
    known = {"task": result["task"], "kind": kind, "seed": result["seed"], "iterations": result["iterations"]}
    parts: list[tuple[str, Any]] = [("", result)]
    if kind == "default":
        parts += [(f"iteration {row['iteration']}", row) for row in run.read_metrics(folder)]
        parts += [(name, stage) for name, stage in stages(folder).items()]
    return [
        known | {"stage": stage, "part": part, "seconds": round(result["seconds"], 1)} | figures(found[part])
        for stage, found in parts
        for part in ("train", "test")
    ]


def stages(folder: Path) -> dict[str, dict[str, Any]]:
    """Figures of a run's mixtures: when they begin, and at the end with all components, differently weighed."""
    training = Training([run.prepare_again(run.load_setup(folder), folder)])
    begun = training.start()
    ended, _ = checkpoints.load(folder, begun, checkpoints.state_contents(begun, training.steps))
    success = training.method.policies(training.task, training.settings, training.data, ended)
    found = {
        "start": begun.mixtures,
        "end, all alike": equal(training, ended.mixtures),
        "end, by reward": ended.mixtures,
        "end, by reward and success": success,
    }
    rows = {name: judged(training, of_first(training, mixtures)) for name, mixtures in found.items()}
    finer = FINER * distinct_of(training.task, training.common())
    rows["merged at half"] = judged(training, ways.merged(training.task, of_first(training, success), finer))
    return rows


def equal(training: Training, mixtures: Mixture) -> Mixture:
    """Mixtures [run, context, ...] whose components are all as likely."""
    even = with_equal_weights(training.settings.update, mixtures)
    return even._replace(log_weights=even.log_weights - np.log(even.means.shape[-2]))


def of_first(training: Training, mixtures: Mixture) -> Policies:
    """Policies of the first of mixtures [run, context, ...]."""
    split = training.prepared[0].split
    contexts = np.concatenate([split.train_contexts, split.test_contexts])
    return Policies(contexts, len(split.train_contexts), jax.tree.map(lambda leaf: leaf[0], mixtures))


def judged(training: Training, own: Policies) -> dict[str, Any]:
    """Figures of policies."""
    found = evaluation.evaluate(training.task, own, common=training.common(), known=training.known[0])
    return {"train": found.train, "test": found.test}


def figures(part: dict[str, Any]) -> dict[str, float]:
    """Success, components that work, and resemblance to people, of training or of test contexts."""
    own = {name: round(part["resemblance"][name], 4) for name in FIGURES}
    rates = {name: round(part[f"success_{name}"], 4) for name in ("mixture", "best")}
    return rates | {"working": round(part["versatility"]["working_components"], 2)} | own


def of_people(task: Task, shown: Demonstrations) -> dict[str, Any]:
    """People beside each other: how many go each way, and how much two halves of a context's people have in common."""
    known, rng = repertoire(task, shown), np.random.default_rng(0)
    like = cdist(known.points, known.points) < known.distinct
    elsewhere = like & (shown.context_of[:, None] != shown.context_of)
    covered, differences = [], []
    for context in shown.demonstrated:
        for _ in range(HALVES):
            first, second = np.array_split(rng.permutation(shown.of(context)), 2)
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
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path)
    parser.add_argument("--tasks", nargs="+", default=list(TASKS), choices=TASKS)
    parser.add_argument("--kinds", nargs="+", default=["copied", "default", "paper"], choices=KINDS)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first", type=int, default=400, help="the first seed")
    parser.add_argument("--runs", type=Path, default=Path("runs/ways"))
    parser.add_argument("--out", type=Path, default=Path("runs/ways.json"))
    given = parser.parse_args()
    stored: dict[str, Any] = json.loads(given.out.read_text()) if given.out.exists() else {"people": [], "rows": []}
    for name in given.tasks:
        task = load_task(name)
        shown = published.load(task, given.path)
        stored["people"] = [own for own in stored["people"] if own["task"] != name] + [of_people(task, shown)]
        for seed in range(given.first, given.first + given.seeds):
            for kind in given.kinds:
                if any((row["task"], row["kind"], row["seed"]) == (name, kind, seed) for row in stored["rows"]):
                    continue
                stored["rows"] += rows(trained(task, shown, kind, seed, given.runs), kind)
                files.write_text(given.out, json.dumps(stored, indent=1) + "\n")
                print(name, kind, seed, flush=True)


if __name__ == "__main__":
    main()
