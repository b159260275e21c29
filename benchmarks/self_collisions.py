"""Plans of the Panda reacher and the robot itself: how many collide, and keep-outs for the whole arm.

    vigor train panda-reacher --test-contexts 0 --out RUN
    python benchmarks/self_collisions.py RUN [--contexts 100] [--obstacles 0] [--every 1] [--minutes 60]
                                         [--out FILE.json]

RUN learns from generated demonstrations. All solutions for new contexts, planned with and without the robot's capsules,
and the best of each context, are looked at in ten times the steps of the ProMP. Then, with capsules, keep-outs on the
path of the best plan. Contexts are planned for a few at a time; what is in FILE is not done again, and nothing is begun
after so many minutes, so that the command can be given again until all is there.
"""

import argparse
import json
import time
from dataclasses import replace
from functools import partial
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
from vigor.planning.plans import Solution
from vigor.tasks import Task, load_task

SEED, PIECE = 7, 10
"""Seed of the contexts, and how many are planned for at once."""
KINDS = {"all": "all solutions", "best": "best of each context", "that hold": "solutions that hold"}
"""Words for the plans that are counted."""
COUNTS = ("in collision with itself", "deeper than a centimetre", "solve their context")


def measure(made: Planner, contexts: np.ndarray) -> dict[str, dict[str, int]]:
    """Plans for contexts [n, C]: how many there are, how many collide, and how many solve their context."""
    plans = made.plan(contexts)
    chosen = {"all": [item for plan in plans for item in plan.solutions], "best": [plan.best for plan in plans]}
    chosen["that hold"] = [item for item in chosen["all"] if item.holds]
    return {name: _counted(made.task, own) for name, own in chosen.items()}


def _counted(task: Task, chosen: list[Solution]) -> dict[str, int]:
    distances = np.array([_apart(task, jnp.asarray(item.movement, jnp.float32)) for item in chosen])
    solved = sum(item.solves for item in chosen)
    counts = (int(np.sum(distances < 0)), int(np.sum(distances < -0.01)), solved)
    return {"plans": len(chosen)} | dict(zip(COUNTS, counts, strict=True))


@partial(jax.jit, static_argnums=0)
def _apart(task: Task, movement: jax.Array) -> jax.Array:
    """Least distance of the links from each other, negative where they collide, at ten times the steps."""
    joints = task.arm.joints(rollout(task.promp, movement, constraints.FINE * task.promp.steps))
    return jnp.min(self_clearance(PANDA, joints))


def table(found: dict[str, Any]) -> str:
    """Numbers of plans as Markdown."""
    lines = ["| planned | plans | " + " | ".join(COUNTS) + " |", "| --- " * (2 + len(COUNTS)) + "|"]
    for way in ("without capsules", "with capsules"):
        for name, words in KINDS.items():
            part = found[way][name]
            counts = " | ".join(str(part[count]) for count in ("plans", *COUNTS))
            lines.append(f"| {way}, {words} | {counts} |")
    if around := found["obstacles"]:
        held = sum(row["holds"] for row in around)
        lines += ["", f"Panda: {held} of {len(around)} contexts have a plan around a sphere on their best path."]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, metavar="RUN")
    parser.add_argument("--contexts", type=int, default=100)
    parser.add_argument("--obstacles", type=int, default=0, help="contexts with a keep-out")
    parser.add_argument("--every", type=int, default=1, help="plan with every n-th of the run's ensembles")
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--device", choices=get_args(Device), default="auto")
    parser.add_argument("--out", type=Path, default=Path("runs/self_collisions.json"))
    asked = parser.parse_args()
    use_device(asked.device)
    task, begun = load_task("panda-reacher"), time.monotonic()
    bare = replace(task, arm=replace(task.arm, robot=replace(PANDA, capsules=(), pairs=())))
    contexts = task.sample_contexts(np.random.default_rng(SEED), max(asked.contexts, asked.obstacles))
    asked.out.parent.mkdir(parents=True, exist_ok=True)
    found: dict[str, Any] = json.loads(asked.out.read_text()) if asked.out.exists() else {"obstacles": []}

    def going_on() -> bool:
        """Write what is there; whether there is time for more."""
        asked.out.write_text(json.dumps(found, indent=1) + "\n")
        return time.monotonic() - begun < 60 * asked.minutes

    for name, own in {"with capsules": task, "without capsules": bare}.items():
        made, counts = planner.load(asked.run, asked.every, own), found.setdefault(name, {})
        while going_on() and (done := counts.get("best", {}).get("plans", 0)) < asked.contexts:
            for kind, part in measure(made, contexts[done : min(done + PIECE, asked.contexts)]).items():
                known = counts.setdefault(kind, dict.fromkeys(part, 0))
                counts[kind] = {count: known[count] + value for count, value in part.items()}
    made, around = planner.load(asked.run, asked.every, task), found["obstacles"]
    while going_on() and len(around) < asked.obstacles:
        around += avoid(made, contexts[len(around)][None])["contexts"]
    print(json.dumps({name: found[name] for name in ("with capsules", "without capsules")}, indent=1))


if __name__ == "__main__":
    main()
