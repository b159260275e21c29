"""Ways of people that a run finds again, in contexts with and without demonstrations.

    python benchmarks/ways.py PATH [--seeds 10] [--first 420] [--out FILE]

PATH is a clone of github.com/NiklasFreymuth/VIGOR. Half of a training context's demonstrations are learned from;
contexts without are those of people, left out of training. Coverage: share of the movements that were never shown which
some successful sample is like; precision: share of successful samples that are like something people did there. Alike
is what differs by less than the task's `distinct`. Beside it stand the shown movements themselves, as they are, and how
often people are like each other. All seeds of a row train as one program: minutes on a GPU, long without.
"""

import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import numpy as np

from vigor.demonstrations import splits
from vigor.demonstrations.dataset import Demonstrations, trajectories
from vigor.demonstrations.formats import published
from vigor.evaluation import ways
from vigor.evaluation.policies import Policies
from vigor.learning import mixture
from vigor.motion.promp import rollout
from vigor.runs.presets import Preset, preset
from vigor.runs.setup import Prepared, Setup
from vigor.runs.training import Training
from vigor.tasks import Task, load_task

TASKS = {"planar-reacher": 6, "panda-reacher": 4}
"""Training contexts of each task: people showed 12 and 6."""
EACH, MOST, DRAWN = 5, 6, 200
"""Demonstrations learned from in a training context; most contexts without; samples of a mixture."""


def prepared(task: Task, shown: Demonstrations, seed: int, kind: Preset) -> Prepared:
    """A run whose test contexts have demonstrations, which it does not see."""
    split = splits.draw(shown, task, seed, TASKS[task.name], 0, EACH)
    others = np.setdiff1d(np.unique(shown.context_of), split.train)[:MOST]
    split = replace(split, test_contexts=shown.contexts[others])
    return Prepared(Setup(task.name, seed=seed, settings=preset(task, kind)), task, shown, split)


def found_again(run: Prepared, learned: Policies, paths: np.ndarray) -> list[dict[str, Any]]:
    """Figures of every context of a run; paths: of all demonstrations [n, T, dimensions]."""
    task, shown, split = run.task, run.demonstrations, run.split
    known, rows = paths[split.demonstrations.reshape(-1)], []
    for i, context in enumerate(learned.contexts):
        training = i < learned.training
        people = shown.of(int(np.argmin(np.linalg.norm(shown.contexts - context, axis=1))))
        unseen = np.setdiff1d(people, split.demonstrations[i]) if training else people
        own = jax.tree.map(lambda leaf, i=i: np.asarray(leaf[i]), learned.mixtures)
        drawn = np.asarray(rollout(task.promp, mixture.sample(jax.random.key(7), own, DRAWN)))
        owner = np.repeat(context[None], DRAWN, axis=0).astype(np.float32)
        successful = drawn[np.asarray(task.succeeds(task.distances(drawn, owner)))]
        distinct = task.judge.distinct
        like_another = [
            ways.coverage(paths[people[people != one]], paths[one][None], distinct) for one in people.tolist()
        ]
        rows.append(
            {
                "training": training,
                "success": len(successful) / DRAWN,
                "coverage": ways.coverage(successful, paths[unseen], distinct),
                "precision": ways.coverage(paths[people], successful, distinct),
                "copied": ways.coverage(known, paths[unseen], distinct),
                "people": float(np.mean(like_another)),
            }
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=420, help="the first seed")
    parser.add_argument("--out", type=Path, default=Path("runs/ways.json"))
    given = parser.parse_args()
    rows = []
    for name in TASKS:
        task = load_task(name)
        shown = published.load(task, given.path)
        paths = np.asarray(trajectories(task, shown))
        for kind in ("default", "paper"):
            training = Training([prepared(task, shown, given.first + i, kind) for i in range(given.seeds)])
            states = training.start()
            for _, after, _ in training.advance(states):
                states = after
            pairs = zip(training.prepared, training.policies(states), strict=True)
            found = [row for run, learned in pairs for row in found_again(run, learned, paths)]
            for part in (False, True):
                own = [row for row in found if row["training"] is part]
                means = {key: round(float(np.mean([row[key] for row in own])), 4) for key in own[0]}
                rows.append(
                    {"task": name, "preset": kind, "seeds": [given.first, given.first + given.seeds - 1]} | means
                )
                print(rows[-1], flush=True)
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
