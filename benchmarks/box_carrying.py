"""Pushes carried to other contexts: how many succeed, by two measures of how far apart contexts are.

    python benchmarks/box_carrying.py [--pairs 300] [--out FILE]

Demonstrations of the box pusher and their mirror images, carried to contexts of other demonstrations, drawn among the
25 that are nearest by the numbers of the contexts and by the motion that they ask for, in turn.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from vigor.basics.device import use_device
from vigor.learning import problem, starts
from vigor.motion.promp import rollout
from vigor.runs.setup import own_demonstrations
from vigor.tasks import load_task

NEAREST, PARTS = 25, 5
"""Demonstrations that a pair is drawn among; parts of equal size that pairs are shown in."""


def measure(pairs: int) -> list[dict[str, float]]:
    """Angle, distance in deviations of the contexts, and success of each pair."""
    task = load_task("box-pusher")
    shown, rng = own_demonstrations(task), np.random.default_rng(5)
    weights, own = (
        np.asarray(part) for part in problem._with_images(task, shown.weights, shown.contexts[shown.context_of])
    )
    to = shown.contexts[rng.integers(0, len(shown.demonstrated), pairs)]
    chosen, found = [], []
    for i, context in enumerate(to):
        by = {
            "deviations": np.sqrt(np.asarray(starts.apart(task, jnp.asarray(own), jnp.asarray(context)))),
            "angle": np.asarray(starts.away(task, jnp.asarray(own), jnp.asarray(context))),
        }
        same = by["deviations"] < 1e-3
        order = np.argsort(np.where(same, np.inf, by["angle" if i % 2 else "deviations"]))
        chosen.append(rng.choice(order[:NEAREST]))
        found.append({name: round(float(values[chosen[-1]]), 4) for name, values in by.items()})
    carried = jax.vmap(task.transfer.carry)(
        *(jnp.asarray(part, jnp.float32) for part in (weights[chosen], own[chosen], to))
    )
    success = task.succeeds(task.distances(np.asarray(rollout(task.promp, carried)), to))
    return [row | {"success": float(one)} for row, one in zip(found, success, strict=True)]


def table(rows: list[dict[str, float]]) -> list[dict[str, str]]:
    """Success of the nearest fifth of the pairs, of the next, and so on, by both measures."""
    lines = []
    for name, words in {"angle": "motion asked for, radians", "deviations": "numbers, deviations"}.items():
        parts = np.array_split(sorted(rows, key=lambda row: row[name]), PARTS)
        cells = {
            f"fifth {i}": f"{np.mean([row['success'] for row in part]):.2f} (to {part[-1][name]:.2f})"
            for i, part in enumerate(parts, start=1)
        }
        lines.append({"contexts compared by": words, **cells})
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=300)
    parser.add_argument("--out", type=Path, default=Path("docs/results/box_carrying.json"))
    given = parser.parse_args()
    use_device("auto")
    rows: list[dict[str, Any]] = measure(given.pairs)
    given.out.write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")
    print(*table(rows), sep="\n")


if __name__ == "__main__":
    main()
