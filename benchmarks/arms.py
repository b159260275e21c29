"""Time of an iteration and of a plan for arms from URDF files, by joint: the same scene for each.

    python benchmarks/arms.py [ROBOT ...] [--repeats 5] [--out FILE.json]

ROBOT: the Panda and a UR5 by default. A tool goes to a place; 6 contexts with 3 generated demonstrations and 6 without,
ten components, as many basis functions for each. Seconds are those of the processor, the least of all repeats, which
take turns.
"""

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import vigor
from vigor.basics.device import use_device
from vigor.basics.settings import with_values
from vigor.demonstrations import splits
from vigor.demonstrations.preprocessing import settled
from vigor.learning import algorithm
from vigor.learning.problem import batch, problem
from vigor.planning.replay import replay
from vigor.runs.presets import preset
from vigor.tasks.scenes import building, files

SCENE = 'robot = "{}"\nacceleration = 10\ncollisions = false\n[objects.cup]\npose = "position"\n'
BASES, EACH, ITERATIONS = 8, 3, 5
"""Basis functions of a joint, demonstrations of a context, and iterations that are timed at once."""


def programs(name: str, folder: Path) -> tuple[int, dict[str, Callable[[], Any]]]:
    """Joints of a robot, and what is timed with it: some iterations, and a plan by as many networks."""
    (folder / f"{name}.toml").write_text(SCENE.format(name))
    rng, task = np.random.default_rng(0), vigor.load_task(str(folder / f"{name}.toml"))
    robot = task.arm.robot
    assert robot is not None
    assert robot.kinematics is not None
    poses, way = robot.random_poses(7), np.linspace(0, 1, 50)[:, None]
    home, ends = poses[0], poses[0] + 0.2 * (poses[1:] - poses[0])
    contexts = np.asarray(robot.kinematics(jnp.asarray(ends, jnp.float32)))[:, -1]
    bends = rng.normal(0, 0.05, (6, EACH, len(home)))
    shown = [
        home + way**2 * (3 - 2 * way) * (end - home) + np.sin(np.pi * way) ** 2 * bend
        for end, own in zip(ends, bends, strict=True)
        for bend in own
    ]
    made = vigor.Demonstrations.from_recordings(task, contexts, shown, np.repeat(range(6), EACH), "generated")
    scene = files.from_values(json.loads(settled(task, made).data))
    assert scene.decided is not None
    task = building.task(replace(scene, decided=replace(scene.decided, bases=BASES)), "")
    made = replace(made, weights=task.promp.fit(np.stack(shown)))
    settings = with_values(preset(task), stall=0)
    posed = problem(task, made, splits.draw(made, task, 0, 6, 6, EACH), 0)
    problems = batch([posed])
    states, ensembles = algorithm.advance(task, settings, problems, algorithm.start(task, settings, problems), 1)
    networks = jax.tree.map(lambda leaf: jnp.repeat(leaf[:, 0], ITERATIONS, axis=0), ensembles)

    def iterations() -> Any:
        copied = jax.tree.map(jnp.array, states)
        return algorithm.advance(task, settings, problems, copied, ITERATIONS)

    def plan() -> Any:
        key = jax.random.key(0)
        return replay(key, task, settings, posed.starts, posed.invariants, networks, posed.contexts[:6], None)

    return len(robot.joints), {"iteration": iterations, "plan": plan}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("robots", nargs="*", default=["panda", "ur5"], metavar="ROBOT")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--out", type=Path, default=Path("runs/arms.json"))
    given = parser.parse_args()
    use_device("cpu")
    with tempfile.TemporaryDirectory() as folder:
        timed = {name: programs(name, Path(folder)) for name in given.robots}
        found: dict[str, Any] = {name: {"joints": joints} for name, (joints, _) in timed.items()}
        for repeat in range(given.repeats + 1):
            for name, (_, calls) in timed.items():
                for what, call in calls.items():
                    begun = time.process_time()
                    jax.block_until_ready(call())
                    seconds = (time.process_time() - begun) / ITERATIONS
                    if repeat:  # The first has the compilation in it.
                        found[name][what] = min(seconds, found[name].get(what, seconds))
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text(json.dumps({"device": jax.devices()[0].device_kind, "robots": found}, indent=1) + "\n")
    print(json.dumps(found))


if __name__ == "__main__":
    main()
