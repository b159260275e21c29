"""A UR5 puts its tool into a fixture that stands anywhere at an angle, coming from the left or from the right.

Run it with:  python examples/07_into_a_fixture.py [FOLDER]

The demonstrations are generated, by inverse kinematics. Writes a run and the figure of a plan into FOLDER.
"""

import sys
from pathlib import Path

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.spatial.transform import Rotation

import vigor

SCENE = Path(__file__).with_suffix(".toml")
HOME = (0.2, -1.7, 1.9, -1.8, -1.57, 0.0)


def context(rng: np.random.Generator) -> np.ndarray:
    """Place (x, y, z) and quaternion (x, y, z, w) of the fixture, tilted by up to half a radian."""
    tilt = Rotation.from_rotvec([*rng.uniform(-0.35, 0.35, 2), 0.0])
    return np.concatenate([rng.uniform((0.4, 0.0, 0.1), (0.6, 0.2, 0.3)), tilt.as_quat()])


def demonstration(robot: vigor.Robot, where: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Joints [T, 6]: to a place above and beside the fixture, then into it against its z axis."""
    frame = Rotation.from_quat(where[3:])
    inwards = (frame * Rotation.from_rotvec([np.pi, 0.0, 0.0])).as_matrix()
    beside = where[:3] + frame.apply([0.0, rng.choice([-0.15, 0.15]), rng.uniform(0.12, 0.18)])
    above = robot.reach(beside, inwards, HOME)
    inside = robot.reach(where[:3], inwards, above)
    path = CubicSpline([0.0, 0.6, 1.0], [HOME, above, inside], bc_type="clamped")
    return path(np.linspace(0.0, 1.0, rng.integers(80, 120)))


def main(folder: Path, contexts: int = 6, **settings: int) -> vigor.Run:
    task, rng = vigor.load_task(str(SCENE)), np.random.default_rng(0)
    where = [context(rng) for _ in range(contexts)]
    shown = [demonstration(task.arm.robot, place, rng) for place in where for _ in range(6)]
    of = np.repeat(range(contexts), 6)
    demonstrations = vigor.Demonstrations.from_recordings(task, where, shown, of, "generated")
    run = vigor.train(task, demonstrations, out=folder, demos_per_context=6, **settings)
    plans = run.plan(context(rng))
    print(run, plans[0], sep="\n")
    plans.plot().savefig(folder / "plan.png")
    return run


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "runs/into_a_fixture"))
