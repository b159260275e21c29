"""An SO-101 picks up a cube and puts it on a tray, learned from a scene file without code.

Run it with:  python examples/06_pick_and_place.py [FOLDER]

The demonstrations are generated, by inverse kinematics; recordings of a real arm are read in their place by
vigor train 06_pick_and_place.toml --demos RECORDINGS. Writes a run, a plan and its trajectory into FOLDER.
"""

import sys
from pathlib import Path

import numpy as np
from scipy.interpolate import CubicSpline

import vigor

SCENE, HOME = Path(__file__).with_suffix(".toml"), (0.0, -1.2, 1.2, 0.6, 0.0)


def down(heading: float) -> np.ndarray:
    """The tool points down, turned by a heading."""
    cos, sin = np.cos(heading), np.sin(heading)
    return np.array([[-cos, -sin, 0.0], [-sin, cos, 0.0], [0.0, 0.0, -1.0]])


def context(rng: np.random.Generator) -> np.ndarray:
    """Cube (x, y, z, heading) on the right, tray (x, y, z) on the left."""
    far, side = rng.uniform(0.16, 0.21, 2), rng.uniform((-0.9, 0.2), (-0.2, 0.9))
    cube, tray = np.stack([far * np.cos(side), far * np.sin(side), [0.02, 0.03]], axis=1)
    return np.concatenate([cube, [rng.uniform(-0.4, 0.4)], tray])


def demonstration(robot: vigor.Robot, where: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Joints and gripper [T, 6]: from above to the cube, close, up and from above to the tray, open."""
    cube, tray, up = where[:3], where[4:], (0.0, 0.0, rng.uniform(0.03, 0.05))
    turn = down(where[3] + rng.choice([-np.pi / 2, 0.0]))  # A cube can be taken in two ways.
    low = (-np.arctan2(cube[1], cube[0]), -0.1, 0.6, 1.1, 0.0)  # A pose low above the table.
    over, beyond = robot.reach(cube + up, turn, low), robot.reach(tray + up, down(0.0), (-low[0], *low[1:]))
    taken, put = robot.reach(cube, turn, over), robot.reach(tray, down(0.0), beyond)
    at = np.array([0.0, 1.5, 2.5, 3.0, 3.8, 4.8, 5.5, 6.0]) * rng.uniform(0.9, 1.1)
    path = CubicSpline(at, [HOME, over, taken, taken, over, beyond, put, put], bc_type="clamped")
    times = np.linspace(0.0, at[-1], rng.integers(150, 200))
    return np.column_stack([path(times), np.interp(times, at, [0, 0, 0, 1, 1, 1, 1, 0])])


def main(folder: Path, contexts: int = 6, **settings: int) -> vigor.Run:
    task, rng = vigor.load_task(str(SCENE)), np.random.default_rng(0)
    where = [context(rng) for _ in range(contexts)]
    shown = [demonstration(task.arm.robot, place, rng) for place in where for _ in range(5)]
    made = vigor.Demonstrations.from_recordings(task, where, shown, np.repeat(range(contexts), 5), "generated")
    run = vigor.train(task, made, out=folder, **settings)
    plans = run.plan(context(rng))
    print(run, plans[0], sep="\n")
    plans[0].best.trajectory(rate=50).save(folder / "moved.csv")
    return run


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "runs/pick_and_place"))
