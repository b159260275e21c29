"""Plans of the Panda reacher and the robot itself: how many collide, and keep-outs for the whole arm.

    python benchmarks/self_collisions.py RUN [--contexts 100] [--obstacles 0] [--every 1] [--out FILE.json]

RUN: the folder of a finished run of the Panda reacher, or a place for one that is trained first, from generated
demonstrations. All solutions for new contexts, planned with and without the robot's capsules, and the best of each
context, are looked at in ten times the steps of the ProMP. Then, with capsules, keep-outs on the path of the best plan.
Needs neither matplotlib nor a network.
"""

import argparse
import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import jax
import jax.numpy as jnp
import numpy as np

from plans import avoid
from vigor.basics.device import Device, use_device
from vigor.motion.collisions import self_clearance
from vigor.motion.panda import PANDA
from vigor.motion.promp import rollout
from vigor.planning import constraints, planner
from vigor.planning.planner import Planner
from vigor.runs import presets, run
from vigor.runs.setup import Setup
from vigor.tasks import load_task

SEED = 7
"""Seed of the contexts."""


def measure(made: Planner, contexts: np.ndarray) -> dict[str, Any]:
    """Plans for contexts [n, C]: how many there are, how many collide, solve their context, and hold altogether."""
    begun, task = time.perf_counter(), made.task
    plans = made.plan(contexts)
    seconds = time.perf_counter() - begun
    steps = constraints.FINE * task.promp.steps

    @jax.jit
    def apart(movement: jax.Array) -> jax.Array:
        return jnp.min(self_clearance(PANDA, task.arm.joints(rollout(task.promp, movement, steps))))

    found: dict[str, Any] = {"seconds": round(seconds, 1)}
    for name, chosen in {
        "all": [item for plan in plans for item in plan.solutions],
        "best": [plan.best for plan in plans],
        "that hold": [item for plan in plans for item in plan.solutions if item.holds],
    }.items():
        distances = np.array([apart(jnp.asarray(solution.movement, jnp.float32)) for solution in chosen])
        found[name] = {
            "plans": len(chosen),
            "in collision with itself": int(np.sum(distances < 0)),
            "deeper than a centimetre": int(np.sum(distances < -0.01)),
            "solve their context": int(np.sum([solution.solves for solution in chosen])),
            "hold": int(np.sum([solution.holds for solution in chosen])),
        }
    return found


def table(found: dict[str, Any]) -> str:
    """Numbers of plans as Markdown."""
    lines = [
        "| planned | plans | in collision with the robot itself | deeper than a centimetre | solve their context |"
    ]
    lines.append("| --- | --- | --- | --- | --- |")
    for way in ("without capsules", "with capsules"):
        for name, part in found[way].items():
            if name != "seconds":
                words = {"all": "all solutions", "best": "best of each context", "that hold": "solutions that hold"}
                lines.append(
                    f"| {way}, {words[name]} | {part['plans']} | {part['in collision with itself']} | "
                    f"{part['deeper than a centimetre']} | {part['solve their context']} |"
                )
    if (around := found["obstacles"])["of"]:
        lines += [
            "",
            f"Panda: {around['held']} of {around['of']} contexts have a plan around a sphere on their best path.",
        ]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, metavar="RUN")
    parser.add_argument("--contexts", type=int, default=100)
    parser.add_argument("--obstacles", type=int, default=0, help="contexts with a keep-out")
    parser.add_argument("--every", type=int, default=1, help="plan with every n-th of the run's ensembles")
    parser.add_argument("--device", choices=get_args(Device), default="auto")
    parser.add_argument("--out", type=Path, default=Path("runs/self_collisions.json"))
    asked = parser.parse_args()
    use_device(asked.device)
    task = load_task("panda-reacher")
    if not asked.run.exists():
        run.train(Setup(task=task.name, settings=presets.preset(task), test_contexts=0), asked.run)
    bare = replace(task, arm=replace(task.arm, robot=replace(PANDA, capsules=(), pairs=())))
    contexts = task.sample_contexts(np.random.default_rng(SEED), max(asked.contexts, asked.obstacles))
    asked.out.parent.mkdir(parents=True, exist_ok=True)
    found: dict[str, Any] = json.loads(asked.out.read_text()) if asked.out.exists() else {}
    for name, own in {"with capsules": task, "without capsules": bare}.items():
        if name not in found:  # What is there already is not done again.
            made = planner.load(asked.run, asked.every, own, stopped=True)
            found[name] = measure(made, contexts[: asked.contexts])
            asked.out.write_text(json.dumps(found, indent=1) + "\n")
    rows = found.setdefault("obstacles", {"held": 0, "of": 0, "contexts": []})
    made = planner.load(asked.run, asked.every, task, stopped=True)
    for context in contexts[len(rows["contexts"]) : asked.obstacles]:
        rows["contexts"] += avoid(made, context[None])["contexts"]
        rows |= {"held": sum(row["holds"] for row in rows["contexts"]), "of": len(rows["contexts"])}
        asked.out.write_text(json.dumps(found, indent=1) + "\n")
    print(table(found))


if __name__ == "__main__":
    main()
