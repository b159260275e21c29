"""Plans for contexts outside training, on the published human demonstrations, against joint training on them.

    python benchmarks/plans.py PATH [--tasks ...] [--seeds 5] [--contexts 60] [--drawn] [--every 1 2] [--many 1000]
                               [--obstacles 20] [--no-joint] [--quick] [--out DIR]

PATH is a clone of github.com/NiklasFreymuth/VIGOR. All seeds of a task train as one program: with 6 training and 6 test
contexts, and again with the planned contexts as test contexts. Needs jax, numpy, scipy, optax and safetensors; a GPU
for the Panda, or hours. Planned contexts are published ones that a run did not see, then drawn anew: all 60 of the
planar reacher's are published, 12 of the Panda's are drawn; --drawn draws all. Writes plans.json and plans_table.md
into DIR (runs/plans).
"""

import argparse
import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from vigor import __version__
from vigor.basics.settings import with_values
from vigor.demonstrations import splits
from vigor.demonstrations.dataset import Demonstrations
from vigor.demonstrations.formats import published
from vigor.demonstrations.splits import Split
from vigor.evaluation import evaluation
from vigor.evaluation.policies import Policies
from vigor.learning import algorithm
from vigor.learning.algorithm import VigorSettings
from vigor.learning.problem import batch, problem
from vigor.motion.shapes import Sphere
from vigor.planning import constraints
from vigor.planning.planner import Planner
from vigor.planning.plans import Plan
from vigor.runs.presets import preset
from vigor.tasks import Task, load_task

REACHERS = ("planar-reacher", "panda-reacher")
RADIUS = {"planar-reacher": 0.25}
USUAL = 0.05
"""Radii of the keep-out sphere: half the targets' radius; elsewhere the radius of the Panda's targets."""


def train(
    task: Task, settings: VigorSettings, shown: Demonstrations, drawn: list[Split]
) -> tuple[list[Policies], list[Any], float]:
    """Policies and ensembles [iteration, network, ...] of every split's run, trained as one program, and seconds."""
    problems = batch([problem(task, shown, split, seed) for seed, split in enumerate(drawn)])
    begun = time.perf_counter()
    states = algorithm.start(task, settings, problems)
    states, ensembles = algorithm.advance(task, settings, problems, states, settings.update.iterations)
    ensembles = jax.tree.map(np.asarray, ensembles)
    seconds = time.perf_counter() - begun
    learned = []
    for run, split in enumerate(drawn):
        contexts = np.concatenate([split.train_contexts, split.test_contexts])
        mixtures = jax.tree.map(lambda leaf, run=run: leaf[run], states.mixtures)
        learned.append(Policies(contexts, len(split.train_contexts), mixtures))
    return learned, [jax.tree.map(lambda leaf, run=run: leaf[:, run], ensembles) for run in range(len(drawn))], seconds


def others(task: Task, shown: Demonstrations, split: Split, count: int, seed: int, drawn: bool) -> np.ndarray:
    """Contexts [count, C] that a run never saw: of the data unless all are drawn, then from the task's distribution."""
    seen = np.concatenate([split.train_contexts, split.test_contexts])
    known = () if drawn else shown.contexts
    new = [context for context in known if not np.any(np.all(context == seen, axis=1))][:count]
    rng = np.random.default_rng(seed)
    return np.concatenate([np.reshape(new, (-1, task.context_dimension)), task.sample_contexts(rng, count - len(new))])


def obstacle(task: Task, plan: Plan) -> Sphere:
    """A sphere on the path of a plan's best solution: where it leaves most room to the targets and the resting arm."""
    joints = task.promp.rollout(jnp.asarray(plan.solutions[0].movement))
    points = np.asarray(task.kinematics(joints))
    path, arm = points[:, -1], points[0]
    along = np.linspace(0, 1, 20)[:, None, None]
    resting = ((1 - along) * arm[:-1] + along * arm[1:]).reshape(-1, path.shape[1])
    room = np.linalg.norm(path[:, None] - resting, axis=-1).min(axis=1)
    for region in task.display.regions(np.asarray(plan.context)):
        room = np.minimum(room, np.linalg.norm(path - region.centre, axis=-1) - region.radius)
    return Sphere(tuple(map(float, path[np.argmax(room)])), RADIUS.get(task.name, USUAL))


def avoid(planner: Planner, contexts: np.ndarray) -> dict[str, Any]:
    """Contexts with a sphere on the path of their best plan, and whether each still has a plan that holds."""
    rows = []
    for context in contexts:
        free = planner.plan(context).plans[0]
        sphere = obstacle(planner.task, free)
        plan = planner.plan(context, constraints.of_task(planner.task, (sphere,))).plans[0]
        rows.append(
            {
                "context": context.tolist(),
                "sphere": [*sphere.centre, sphere.radius],
                "without": free.failure is None,
                "holds": plan.failure is None,
                "failure": plan.failure,
                "margin": plan.solutions[0].margins["keep-out 1"],
            }
        )
    return {"held": sum(row["holds"] for row in rows), "of": len(rows), "contexts": rows}


def timed(planner: Planner, contexts: np.ndarray) -> dict[str, float]:
    """Seconds of a plan with compilation, and of one more without."""
    seconds = []
    for _ in range(2):
        begun = time.perf_counter()
        planner.plan(contexts)
        seconds.append(time.perf_counter() - begun)
    return {"contexts": len(contexts), "first": seconds[0], "again": seconds[1]}


def measure(name: str, given: argparse.Namespace) -> dict[str, Any]:
    task, settings = load_task(name), preset(name)
    if given.quick:
        settings = with_values(settings, iterations=20)
    shown = published.load(task, given.path)
    drawn = [splits.draw(shown, task, seed, 6, 6, 5) for seed in range(given.seeds)]
    learned, ensembles, seconds = train(task, settings, shown, drawn)
    new = [others(task, shown, split, given.contexts, seed, given.drawn) for seed, split in enumerate(drawn)]
    item: dict[str, Any] = {
        "task": name,
        "iterations": settings.update.iterations,
        "device": jax.devices()[0].device_kind,
        "version": __version__,
        "training_seconds": seconds,
        "runs": [],
    }
    planners = []
    for seed, (known, networks) in enumerate(zip(learned, ensembles, strict=True)):
        posed, trained = problem(task, shown, drawn[seed], seed), known.contexts[: known.training]
        run: dict[str, Any] = {"seed": seed, "test": evaluation.evaluate(task, known).test}
        for every in given.every:
            planner = Planner(task, settings, trained, posed.starts, posed.invariants, networks, Path(), every)
            mixtures, _ = planner.mixtures(new[seed], constraints.of_task(task))
            part = "plans" if every == given.every[0] else f"every {every}"
            run[part] = evaluation.evaluate(task, Policies(new[seed], 0, mixtures)).test
            print(f"{name} seed {seed}, {part}: {run[part]['success_best']:.4f}", flush=True)
        planner = Planner(task, settings, trained, posed.starts, posed.invariants, networks, Path(), given.every[0])
        planners.append(planner)
        if given.obstacles:
            contexts = np.concatenate([known.contexts[6:], new[seed]])[: given.obstacles]
            run["obstacles"] = avoid(planner, contexts)
        item["runs"].append(run)
    item["one"] = timed(planners[0], new[0][:1])
    if given.many:
        many = task.sample_contexts(np.random.default_rng(0), given.many)
        item["many"] = timed(planners[0], many)
    if not given.no_joint:
        joint = [replace(split, test_contexts=contexts) for split, contexts in zip(drawn, new, strict=True)]
        for run, known in zip(item["runs"], train(task, settings, shown, joint)[0], strict=True):
            run["joint"] = evaluation.evaluate(task, known).test
    return item


def table(measured: list[dict[str, Any]]) -> str:
    """Means over seeds as Markdown."""
    rows = [
        "| task | contexts | success, best component | success, mixture | components ranked | distinct solutions |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    names = {"plans": "planned", "joint": "the same, trained jointly", "test": "test contexts of the same runs"}
    for item in measured:
        thinned = [part for part in item["runs"][0] if part.startswith("every ")]
        for part, label in (names | {part: f"planned, {part}" for part in thinned}).items():
            parts = [run[part] for run in item["runs"] if part in run]
            if parts:
                ranked = np.mean([one["success_components"] for one in parts], axis=0)
                rows.append(
                    f"| {item['task']} | {label} ({len(parts[0]['contexts'])} x {len(parts)} seeds) "
                    f"| {np.mean([one['success_best'] for one in parts]):.4f} "
                    f"| {np.mean([one['success_mixture'] for one in parts]):.3f} "
                    f"| {' '.join(f'{value:.2f}' for value in ranked)} "
                    f"| {np.mean([one['versatility']['distinct_solutions'] for one in parts]):.2f} |"
                )
    rows.append("")
    for item in measured:
        held = [run["obstacles"] for run in item["runs"] if "obstacles" in run]
        if held:
            count, total = sum(one["held"] for one in held), sum(one["of"] for one in held)
            rows.append(f"{item['task']}: {count} of {total} contexts have a plan around a sphere on their best path.")
        for part in ("one", "many"):
            if part in item:
                seconds = item[part]
                rows.append(
                    f"{item['task']}: {seconds['contexts']} contexts in {seconds['again']:.2f} s, with compilation "
                    f"{seconds['first']:.1f} s ({item['device']})."
                )
    return "\n".join(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path)
    parser.add_argument("--tasks", nargs="+", default=list(REACHERS), choices=REACHERS)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--contexts", type=int, default=60, help="planned contexts of each seed")
    parser.add_argument("--drawn", action="store_true", help="draw all of them anew, none of the data's")
    parser.add_argument("--every", nargs="+", type=int, default=[1], help="use every n-th ensemble, for each of these")
    parser.add_argument("--many", type=int, default=1000, help="contexts of the large batch; 0 for none")
    parser.add_argument("--obstacles", type=int, default=20, help="contexts of each seed with a keep-out; 0 for none")
    parser.add_argument("--no-joint", action="store_true", help="without joint training on the planned contexts")
    parser.add_argument("--quick", action="store_true", help="20 iterations: only to see that it runs")
    parser.add_argument("--out", type=Path, default=Path("runs/plans"))
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    measured = []
    for name in given.tasks:
        measured.append(measure(name, given))
        (given.out / "plans.json").write_text(json.dumps(measured) + "\n")
        print(table(measured), flush=True)
    (given.out / "plans_table.md").write_text(table(measured) + "\n")


if __name__ == "__main__":
    main()
