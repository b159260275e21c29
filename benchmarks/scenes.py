"""Scenes of the examples, learned whole: pick and place, a fixture from two sides, two targets.

    python benchmarks/scenes.py [--scenes 06 07 08] [--methods ...] [--first 400] [--seeds 5] [--minutes 60]
                                [--no-plans] [--obstacles 0] [--out FILE.json]

Each seed generates 6 contexts with 5 demonstrations each, as the examples do, and as many test contexts, which the
method sees without demonstrations; a run of vigor then plans for as many more, which it never saw. `copied` and
`carried` are floors without learning. What is in FILE already is not done again, and nothing is begun after so many
minutes, so that the command can be given again until all is there. Runs lie beside FILE, with their plans.
"""

import argparse
import json
import runpy
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import vigor
from plans import avoid
from vigor import api
from vigor.basics.device import use_device
from vigor.evaluation import evaluation
from vigor.evaluation.policies import Policies
from vigor.motion import rotations
from vigor.motion.promp import rollout
from vigor.planning import constraints, ranking
from vigor.planning.planner import Planner, keep
from vigor.planning.planner import load as load_planner
from vigor.tasks import Task

EXAMPLES = Path(__file__).parents[1] / "examples"
METHODS = ("vigor", "carried", "copied")
CONTEXTS, EACH = 6, 5
"""Contexts of each kind, and demonstrations of each of those that have some."""
SHARE = 0.05
"""Least share of a mixture with which a way is drawn often enough."""
RATES = ("success_best", "success_chosen", "success_mixture", "predicted_mixture")


def grasp(task: Task, joints: np.ndarray, context: np.ndarray) -> np.ndarray:
    """Whether movements [n, T, dimensions] take the cube by one pair of its sides or by the other."""
    assert task.arm.robot is not None
    frames = task.arm.robot.kinematics.frames(jnp.asarray(joints[..., :5]))  # type: ignore[union-attr]
    away = np.linalg.norm(np.asarray(frames.position[..., 0, :]) - context[:3], axis=-1)
    axes = np.asarray(frames.rotation)[np.arange(len(joints)), away.argmin(axis=1), 0, :, 0]
    return np.abs(axes @ np.asarray(rotations.about_z(jnp.asarray(context[3])))[:, 0]) > np.sqrt(0.5)


def side(task: Task, joints: np.ndarray, context: np.ndarray) -> np.ndarray:
    """Whether movements [n, T, dimensions] come to the fixture from its left or from its right."""
    tips = np.asarray(task.kinematics(jnp.asarray(joints[:, int(0.6 * joints.shape[1])])))[:, -1]
    frame = np.asarray(rotations.of_quaternion(jnp.asarray(context[3:], jnp.float32)))
    return (tips - context[:3]) @ frame[:, 1] > 0


def elbow(task: Task, joints: np.ndarray, context: np.ndarray) -> np.ndarray:
    """Whether movements [n, T, dimensions] have their elbow on one side or on the other."""
    return joints[:, joints.shape[1] // 2, 2] > 0


WAYS: dict[str, Callable[[Task, np.ndarray, np.ndarray], np.ndarray]] = {
    "06_pick_and_place": grasp,
    "07_into_a_fixture": side,
    "08_two_targets": elbow,
}


def both(task: Task, learned: Policies, way: Callable[..., np.ndarray]) -> dict[str, float]:
    """Shares of contexts in which components of both ways succeed, and in which both are drawn often enough."""
    found, drawn = [], []
    for i, context in enumerate(learned.contexts):
        shares = np.exp(np.asarray(learned.mixtures.log_weights[i]))
        joints = np.asarray(rollout(task.promp, jnp.asarray(learned.mixtures.means[i])))
        works = task.succeeds(task.distances(joints, np.repeat(context[None], len(joints), axis=0)))
        kind = way(task, joints, context)
        found.append(all(np.any(works & (kind == one)) for one in (False, True)))
        drawn.append(all(shares[works & (kind == one)].sum() >= SHARE for one in (False, True)))
    return {"both": float(np.mean(found)), "both_drawn": float(np.mean(drawn))}


def learned(name: str, method: str, seed: int, folder: Path) -> tuple[vigor.Run, np.ndarray, np.ndarray]:
    """A run, its test contexts [n, C], and as many new ones; one that was stopped goes on."""
    own, rng = runpy.run_path(str(EXAMPLES / f"{name}.py")), np.random.default_rng(seed)
    task = vigor.load_task(str(EXAMPLES / f"{name}.toml"))
    shown, test, new = (np.array([own["context"](rng) for _ in range(CONTEXTS)]) for _ in range(3))
    if (folder / "config.json").exists():
        return api.resume(folder), test, new
    moved = [own["demonstration"](task.arm.robot, place, rng) for place in shown for _ in range(EACH)]
    made = vigor.Demonstrations.from_recordings(task, shown, moved, np.repeat(range(CONTEXTS), EACH), "generated")
    return vigor.train(task, made, method=method, seed=seed, test_contexts=test, out=folder), test, new


def measure(name: str, run: vigor.Run, test: np.ndarray) -> dict[str, Any]:
    """One run: success in test contexts [n, C]."""
    row = {"scene": name, "method": run.setup.method, "seed": run.setup.seed, "device": jax.devices()[0].device_kind}
    row |= {"iterations": run.result["iterations"], "seconds": run.result["seconds"], "bases": run.task.promp.bases}
    assert isinstance(run.policies, Policies)
    kept = Policies(test, 0, jax.tree.map(lambda leaf: leaf[CONTEXTS:], run.policies.mixtures))
    return row | {"test": _rates(run.task, kept, run.result["test"], WAYS[name])}


def _rates(task: Task, learned: Policies, figures: dict[str, Any], way: Callable[..., np.ndarray]) -> dict[str, Any]:
    return {name: figures[name] for name in RATES if name in figures} | both(task, learned, way)


def plans(run: vigor.Run, contexts: np.ndarray, way: Callable[..., np.ndarray]) -> dict[str, Any]:
    """Plans for contexts [n, C]: success of their mixtures, and how many have a best solution that holds."""
    limits, planner = constraints.of_task(run.task), run.planner()
    mixtures, rewards = planner.mixtures(contexts, limits)
    learned = Policies(contexts, 0, mixtures)
    figures = evaluation.evaluate(run.task, learned, common=run.common).test
    ranked = ranking.rank(
        run.task, contexts, mixtures, rewards, planner.common, limits, planner.trained, planner.starts
    )
    made = vigor.Plans(run.task.origin, limits, ranked, str(run.folder), run.task.digest, loaded=run.task)
    keep(made, run.folder)
    return {"new": _rates(run.task, learned, figures, way) | {"holds": float(np.mean([p.best.holds for p in made]))}}


def around(run: vigor.Run, contexts: np.ndarray) -> dict[str, Any]:
    """Contexts [n, C] with a keep-out on the path of their best plan, for the whole arm in its capsules."""
    assert run.task.arm.robot is not None
    robot = vigor.Robot.load(run.task.arm.robot.name, acceleration=10.0, capsules=True)
    planner: Planner = load_planner(run.folder, 1, replace(run.task, arm=replace(run.task.arm, robot=robot)))
    return avoid(planner, contexts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenes", nargs="+", default=[name[:2] for name in WAYS])
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=METHODS)
    parser.add_argument("--first", type=int, default=400, help="first seed")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--no-plans", dest="plans", action="store_false", help="test contexts alone")
    parser.add_argument("--obstacles", type=int, default=0, help="contexts of each seed with a keep-out")
    parser.add_argument("--out", type=Path, default=Path("runs/scenes.json"))
    given = parser.parse_args()
    use_device("auto")
    given.out.parent.mkdir(parents=True, exist_ok=True)
    rows = json.loads(given.out.read_text()) if given.out.exists() else []
    begun = time.monotonic()
    for seed in range(given.first, given.first + given.seeds):
        for method in given.methods:
            for name in (name for name in WAYS if name[:2] in given.scenes):
                if time.monotonic() - begun < 60 * given.minutes:
                    add(rows, name, method, seed, given)


def add(rows: list[dict[str, Any]], name: str, method: str, seed: int, given: argparse.Namespace) -> None:
    """Measure a run as far as it is not among the rows yet, which are written after every step."""
    row = next((row for row in rows if (row["scene"], row["method"], row["seed"]) == (name, method, seed)), None)
    parts = {"new": given.plans, "obstacles": given.obstacles} if method == "vigor" else {}
    lacking = [part for part, wanted in parts.items() if wanted and part not in (row or {})]
    if row is not None and not lacking:
        return
    run, test, new = learned(name, method, seed, given.out.parent / f"{name}-{method}-{seed}")
    if row is None:
        row = measure(name, run, test)
        rows.append(row)
        given.out.write_text(json.dumps(rows, indent=1) + "\n")
    for part in lacking:
        contexts = np.concatenate([test, new])[: given.obstacles]
        row |= plans(run, new, WAYS[name]) if part == "new" else {"obstacles": around(run, contexts)}
        given.out.write_text(json.dumps(rows, indent=1) + "\n")
    print(json.dumps({k: v for k, v in row.items() if k != "obstacles"}), flush=True)


if __name__ == "__main__":
    main()
