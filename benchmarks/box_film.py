"""A film of the same goal from inside and from outside, before and after practice.

    python benchmarks/box_film.py [--runs RUN PRACTISED] [--plans FILE] [--out FILE.gif]

With `--runs`, folders of a run and of what practice made of it, their plans for one context are chosen and kept in FILE
(docs/results/box_film.json): among their test contexts the one where practice helps most, of each run and side the
component that is likeliest. Chosen to show something: how often pushes succeed is in docs/results/box_pusher.md.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from vigor.evaluation.policies import Policies
from vigor.runs import run
from vigor.tasks import load_task
from vigor.tasks.box_pusher import geometry, pictures, pushes, simulation

NEAR = np.s_[200:440, 130:450]
"""Part of a picture with the box, a quarter of it."""
STAGES, SIDES = ("before", "after"), ("inside", "outside")


def likeliest(folder: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Test contexts [n, 3] of a run, and its likeliest plans [n, 2, T, 2] from inside and outside with their errors."""
    task, policies = load_task("box-pusher"), run.load_policies(folder)[2]
    assert isinstance(policies, Policies)
    rows = slice(policies.training, None)
    means, weights = (np.asarray(part)[rows] for part in (policies.mixtures.means, policies.mixtures.log_weights))
    paths = pushes.paths(means.reshape(-1, task.promp.weights)).reshape(*means.shape[:2], -1, 2)
    inside = geometry.inside(paths[:, :, 0])
    chosen = np.stack([np.where(side, weights, -np.inf).argmax(axis=1) for side in (inside, ~inside)], axis=1)
    known = np.stack([np.any(side, axis=1) for side in (inside, ~inside)], axis=1)
    plans = np.take_along_axis(paths, chosen[:, :, None, None], axis=1)
    contexts = policies.contexts[rows]
    errors = task.distances(plans.reshape(-1, *plans.shape[2:]), np.repeat(contexts, 2, axis=0)).reshape(-1, 2)
    return contexts, plans, np.where(known, errors, np.inf)


def choose(folders: list[Path]) -> dict[str, Any]:
    """The context in which practice helps most, and the plans for it."""
    found = [likeliest(folder) for folder in folders]
    contexts, (before, after) = found[0][0], (errors for _, _, errors in found)
    np.testing.assert_allclose(contexts, found[1][0], atol=1e-6)
    works = np.all(after < load_task("box-pusher").judge.success_distance, axis=1)
    gain = np.where(works & np.all(np.isfinite(before), axis=1), before.sum(axis=1) - after.sum(axis=1), -np.inf)
    which = int(gain.argmax())
    plans = [plans[which].tolist() for _, plans, _ in found]
    return {
        "context": contexts[which].tolist(),
        "plans": plans,
        "errors": [before[which].tolist(), after[which].tolist()],
    }


def draw(shown: dict[str, Any], out: Path) -> None:
    """Write the film: above before, below after practice; to the left from inside, to the right from outside."""
    plans, context = np.asarray(shown["plans"]), np.asarray(shown["context"])
    every = simulation.RATE // pictures.FRAMES
    states = simulation.roll_out(plans.reshape(-1, *plans.shape[2:])).states[:, ::every]
    films = [[picture[NEAR] for picture in pictures.frames(own, context)] for own in states]
    grid = [
        np.concatenate([np.concatenate(four[:2], axis=1), np.concatenate(four[2:], axis=1)])
        for four in zip(*films, strict=True)
    ]
    pictures.write_film(out, [*grid, *[grid[-1]] * pictures.FRAMES])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=Path, nargs=2, metavar=("RUN", "PRACTISED"))
    parser.add_argument("--plans", type=Path, default=Path("docs/results/box_film.json"))
    parser.add_argument("--out", type=Path, default=Path("docs/pictures/box_practice.gif"))
    given = parser.parse_args()
    if given.runs:
        given.plans.write_text(json.dumps(choose(given.runs)) + "\n")
    shown = json.loads(given.plans.read_text())
    draw(shown, given.out)
    print(dict(zip(STAGES, shown["errors"], strict=True)), SIDES)


if __name__ == "__main__":
    main()
