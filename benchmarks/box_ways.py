"""Ways in which VIGOR pushes boxes: from inside and from outside, in test contexts.

    python benchmarks/box_ways.py [--seeds 10] [--training 6] [--out FILE.json]

Trains on the demonstrations that come with the task, 3 of each training context, all seeds as one program on a GPU, and
carries out the mean of every component in every test context.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import jax
import numpy as np

from vigor.demonstrations import dataset as demonstrations
from vigor.demonstrations import splits
from vigor.learning import algorithm
from vigor.learning.problem import batch, problem
from vigor.runs.presets import preset
from vigor.tasks import load_task
from vigor.tasks.box_pusher import geometry, pushes


def measure(seeds: int, training: int) -> list[dict[str, Any]]:
    """Error and way of every component [context, component] by seed; also how far off an untouched box is."""
    task, settings = load_task("box-pusher"), preset("box-pusher")
    shown = demonstrations.load(task.source.shipped)
    drawn = [splits.draw(shown, task, seed, training, 6, 3) for seed in range(seeds)]
    problems = [problem(task, shown, split, seed) for seed, split in enumerate(drawn)]
    at_once, means = 1 if jax.default_backend() == "cpu" else seeds, []
    for first in range(0, seeds, at_once):
        learned = algorithm.fit(task, settings, batch(problems[first : first + at_once]))
        means += list(np.asarray(learned.mixtures.means[:, training:]))
    rows = []
    for seed, (split, mean) in enumerate(zip(drawn, means, strict=True)):
        paths = pushes.paths(mean.reshape(-1, task.promp.weights))
        contexts = np.repeat(split.test_contexts, mean.shape[1], axis=0)
        rows.append(
            {
                "seed": seed,
                "error": task.distances(paths, contexts).reshape(mean.shape[:2]).tolist(),
                "inside": geometry.inside(paths[:, 0]).reshape(mean.shape[:2]).tolist(),
                "untouched": geometry.initial_distance(split.test_contexts).tolist(),
            }
        )
    return rows


def summary(rows: list[dict[str, Any]], success: float) -> str:
    """Numbers of successes, in words."""
    error, inside = (np.array([row[name] for row in rows]) for name in ("error", "inside"))
    works = error < success
    both = np.any(works & inside, axis=-1) & np.any(works & ~inside, axis=-1)
    return (
        f"{works.sum()} of {works.size} components succeed: {(works & inside).sum()} of {inside.sum()} from inside, "
        f"{(works & ~inside).sum()} of {(~inside).sum()} from outside. Of {both.size} test contexts "
        f"{np.any(works, axis=-1).sum()} are solved, {both.sum()} from inside and from outside. Untouched, the box is "
        f"{100 * np.mean([row['untouched'] for row in rows]):.1f} cm off."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--training", type=int, default=6, help="training contexts")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    rows = measure(given.seeds, given.training)
    print(summary(rows, load_task("box-pusher").judge.success_distance))
    if given.out:
        given.out.write_text(json.dumps(rows) + "\n")


if __name__ == "__main__":
    main()
