"""An xArm7 passes a first target and ends at a last one, with its elbow on either side.

Run it with:  python examples/08_two_targets.py [FOLDER]

The demonstrations are generated, by inverse kinematics. Writes a run and the figure of a plan into FOLDER.
"""

import sys
from pathlib import Path

import numpy as np
from scipy.interpolate import CubicSpline

import vigor

SCENE = Path(__file__).with_suffix(".toml")
HOME = np.array((0.0, -0.6, 0.0, 0.9, 0.0, 1.5, 0.0))
ASIDE = np.array((0.0, 0.0, 0.8, 0.0, -0.8, 0.0, 0.0))
"""Turns of joints 3 and 5 that bring the elbow to a side."""


def context(rng: np.random.Generator) -> np.ndarray:
    """Both targets, (x, y, z) each."""
    low, high = (0.3, 0.1, 0.3, 0.3, -0.3, 0.1), (0.45, 0.3, 0.5, 0.45, -0.1, 0.3)
    return rng.uniform(low, high)


def demonstration(robot: vigor.Robot, where: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Joints [T, 7]: from rest over the first target to the last."""
    bent = HOME + rng.choice([-1, 1]) * rng.uniform(0.8, 1.2) * ASIDE
    first = robot.reach(where[:3], near=bent)
    last = robot.reach(where[3:], near=first)
    path = CubicSpline([0.0, 0.5, 1.0], [HOME, first, last], bc_type="clamped")
    return path(np.linspace(0.0, 1.0, rng.integers(80, 120)))


def main(folder: Path, contexts: int = 6, **settings: int) -> vigor.Run:
    task, rng = vigor.load_task(str(SCENE)), np.random.default_rng(0)
    where = [context(rng) for _ in range(contexts)]
    shown = [demonstration(task.arm.robot, place, rng) for place in where for _ in range(5)]
    of = np.repeat(range(contexts), 5)
    demonstrations = vigor.Demonstrations.from_recordings(task, where, shown, of, "generated")
    run = vigor.train(task, demonstrations, out=folder, **settings)
    plans = run.plan(context(rng))
    print(run, plans[0], sep="\n")
    plans.plot().savefig(folder / "plan.png")
    return run


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "runs/two_targets"))
