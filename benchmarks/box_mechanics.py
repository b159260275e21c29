"""Mechanics that descriptors are made of, beside MuJoCo: how well they foretell it, and where their constants are from.

    python benchmarks/box_mechanics.py [--fit 160] [--test 160] [--out FILE]

The constants are those with the smallest error on random pushes, none of which aims at a goal. The error is the mean
distance of the box's corners from where MuJoCo leaves them, looked at up to 3 cm. Rounded they stand in
`vigor.tasks.box_pusher.mechanics`, and are judged here on other random pushes and on the demonstrations of the task.
"""

import argparse
import json
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from scipy.optimize import minimize

from vigor.basics.device import use_device
from vigor.runs.setup import own_demonstrations
from vigor.tasks import load_task
from vigor.tasks.box_pusher import geometry, mechanics, pushes, simulation

LARGEST = 0.03
"""Error beyond which it does not matter how large it is."""


def errors(constants: mechanics.Constants, paths: np.ndarray, outcomes: np.ndarray) -> np.ndarray:
    """Mean distances [n] of the box's corners from outcomes [n, 3], by the mechanics of planned paths [n, T, 2]."""
    found = np.asarray(_ends(jnp.asarray(paths), constants))
    return geometry.corner_distance(geometry.goal(found), geometry.goal(outcomes))


@jax.jit
def _ends(paths: jax.Array, constants: mechanics.Constants) -> jax.Array:
    return jax.vmap(lambda path: mechanics.poses(path, constants)[-1])(paths)


def fitted(paths: np.ndarray, outcomes: np.ndarray) -> mechanics.Constants:
    """Constants with the smallest error on pushes, in the root mean square."""
    usual = np.array(mechanics.CONSTANTS)

    def cost(factors: np.ndarray) -> float:
        away = errors(mechanics.Constants(*(usual * factors)), paths, outcomes)
        return float(np.sqrt(np.mean(np.minimum(away, LARGEST) ** 2)))

    found = minimize(cost, np.full(3, 1.2), method="Nelder-Mead", options={"maxiter": 120, "xatol": 1e-3})
    return mechanics.Constants(*(usual * found.x))


def figures(which: str, away: np.ndarray, outcomes: np.ndarray) -> dict[str, str]:
    """A line of the table."""
    return {
        "pushes": which,
        "number": str(len(away)),
        "box moved": f"{100 * geometry.initial_distance(outcomes).mean():.1f} cm",
        "error, median": f"{100 * np.median(away):.2f} cm",
        "mean": f"{100 * away.mean():.2f} cm",
        "nine of ten below": f"{100 * np.quantile(away, 0.9):.2f} cm",
        "below 1.5 cm": f"{np.mean(away < 0.015):.2f}",
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fit", type=int, default=160)
    parser.add_argument("--test", type=int, default=160)
    parser.add_argument("--out", type=Path, default=Path("docs/results/box_mechanics.json"))
    given = parser.parse_args()
    use_device("cpu")
    rng, shown = np.random.default_rng(7), own_demonstrations(load_task("box-pusher"))
    paths = pushes.paths(np.concatenate([pushes.draw(rng, np.arange(given.fit + given.test) % 8), shown.weights]))
    outcomes = simulation.outcomes(paths) - geometry.goal(np.zeros(3))
    fit = slice(given.fit)
    found = fitted(paths[fit], outcomes[fit])
    parts = {
        "random, fitted to": fit,
        "random, others": slice(given.fit, given.fit + given.test),
        "demonstrations": slice(given.fit + given.test, None),
    }
    away = errors(mechanics.CONSTANTS, paths, outcomes)
    lines = [figures(name, away[part], outcomes[part]) for name, part in parts.items()]
    row = {"fitted": dict(zip(found._fields, np.round(found, 4).tolist(), strict=True)), "lines": lines}
    given.out.write_text(json.dumps(row, indent=1) + "\n")
    print(row)


if __name__ == "__main__":
    main()
