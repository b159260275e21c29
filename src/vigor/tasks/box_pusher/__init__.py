"""A Panda with a rod pushes an open box to a goal, from inside or outside (paper, section 5 and appendix C.3).

Training looks at planned paths only. Contexts, demonstrations and evaluations need MuJoCo, which is imported when it is
first needed: `pip install "vigor-skills[sim]"`.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from vigor.basics.errors import UserError
from vigor.motion.descriptors import Motion, offsets_to, scaled, squared_acceleration, squared_velocity
from vigor.motion.kinematics import path
from vigor.motion.panda import PANDA
from vigor.tasks.box_pusher import geometry, mechanics, transfer
from vigor.tasks.box_pusher.control import PROMP, joint_angles
from vigor.tasks.box_pusher.settings import SETTINGS
from vigor.tasks.stage import Stage
from vigor.tasks.task import Arm, Display, Judge, Outline, Source, Task, Transfer

Array = jax.Array

LENGTH, VELOCITY, ACCELERATION = 0.1, 0.02**2, 0.005**2
"""Units of the descriptors: 10 cm, the square of 2 cm a step, the square of 5 mm a step and step."""


def box_corners(context: Array) -> Array:
    """Corners [8, 2] of the box where it starts, then of the box where it is to go."""
    cos, sin = jnp.cos(context[2]), jnp.sin(context[2])
    x, y = jnp.asarray(geometry.CORNERS.T)
    turned = jnp.stack([cos * x - sin * y, sin * x + cos * y], axis=-1)
    return jnp.concatenate([geometry.CORNERS, turned + context[:2]]) + jnp.asarray(geometry.START)


def box_to_goal(motion: Motion) -> Array:
    """Predicted movement of the box that is missing at each step [T, 3], in the goal's frame: place, and angle by half
    the box's length."""
    missing = mechanics.poses(motion.effector[:, :2]) - motion.context
    cos, sin = jnp.cos(motion.context[2]), jnp.sin(motion.context[2])
    x, y, angle = missing.T
    return jnp.stack([cos * x + sin * y, cos * y - sin * x, angle * geometry.SIZE[1] / 2], axis=-1)


box_to_goal.names = ["box to goal, x", "box to goal, y", "box to goal, angle"]  # type: ignore[attr-defined]


def sample_contexts(rng: np.random.Generator, count: int) -> np.ndarray:
    """Contexts [count, 3] that a single push can reach."""
    from vigor.tasks.box_pusher import pushes

    return pushes.sample_contexts(rng, count)


def simulate(paths: np.ndarray, contexts: np.ndarray) -> np.ndarray:
    """Mean distance [n] of the box's corners from the goal's after planned paths [n, T, 2] in contexts [n, 3]."""
    from vigor.tasks.box_pusher import simulation

    return simulation.distances(paths, contexts)


def generate(rng: np.random.Generator, context: np.ndarray, count: int) -> list[np.ndarray]:
    """Plans [T, 2] of different pushes that solve a context [3]."""
    from vigor.tasks.box_pusher import search

    return search.generate(rng, context, count)


def film(path: Path, plan: np.ndarray, context: np.ndarray, keep_out: Sequence[Any]) -> None:
    """An mp4 of a plan [T, 2] carried out in simulation; keep-outs are not drawn."""
    from vigor.tasks.box_pusher import pictures

    pictures.video(path, plan, context)


def outlines(context: np.ndarray) -> tuple[Outline, ...]:
    poses = geometry.goal(np.stack([np.zeros(3), context]))
    start, goal = (tuple((float(x), float(y)) for x, y in corners) for corners in geometry.corners(poses))
    return Outline(start, "box at the start"), Outline(goal, "goal")


def outcomes(contexts: np.ndarray, means: np.ndarray, success: np.ndarray) -> dict[str, Any]:
    """Planned and executed paths in the context that goes best, and where the box ends, if that can be rendered."""
    from vigor.tasks.box_pusher import pictures

    best, shown = success.argmax(axis=1), int(success.max(axis=1).argmax())
    made = {"planned_and_executed": pictures.planned_and_executed(means[shown], contexts[shown])}
    with suppress(UserError):
        made["final_states"] = pictures.final_states(means[np.arange(len(best)), best], contexts)
    return made


def load_stage(task: Task) -> Stage:
    """The rod and the box in live physics."""
    from vigor.tasks.box_pusher.stage import Pusher

    return Pusher(task)


CAPTIONS = {
    "planned_and_executed": "Plans of the components in the test context that goes best, and what the rod does.",
    "final_states": "Where the box ends with the best component of each test context; the goal is green.",
}

PATH = (
    # The paper counts 19: with these 18 the time step, which the networks are given as the phase.
    scaled(offsets_to(box_corners, lambda context: context[2]), LENGTH),
    scaled(squared_velocity, VELOCITY),
    scaled(squared_acceleration, ACCELERATION),
)

TASK = Task(
    name="box-pusher",
    promp=PROMP,
    context_names=("dx", "dy", "rotation"),
    sample_contexts=sample_contexts,
    kinematics=path,
    # The paper counts 19: with these 18 the time step, which the networks are given as the phase.
    descriptors=(*PATH, scaled(box_to_goal, LENGTH)),
    other_descriptors={"paper": PATH},
    judge=Judge(simulate=simulate, success_distance=0.015, distinct=0.03, samples=5),
    source=Source(
        per_context=3,
        generate=generate,
        exact=True,
        shipped=Path(__file__).parent / "demonstrations",
        group=geometry.sign_combination,
    ),
    display=Display(unit="m", outlines=outlines, pictures=outcomes, captions=CAPTIONS, film=film, stage=load_stage),
    # Of the arm only the rod reaches down to the table.
    arm=Arm(robot=replace(PANDA, thickness=geometry.ROD), joints=joint_angles),
    transfer=Transfer(transfer.carry, transfer.away, images=transfer.IMAGES),
    settings=SETTINGS,
)
