"""A Franka Panda passes through a first sphere and ends in a second (paper, section 5 and appendix C.2)."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from vigor.motion import panda
from vigor.motion.descriptors import mean_squared_acceleration, mean_squared_velocity
from vigor.motion.panda import PANDA
from vigor.motion.promp import ProMP
from vigor.tasks import arms
from vigor.tasks.arms import DraggedArm
from vigor.tasks.reachers import generation, reaching
from vigor.tasks.reachers.stage import INSTRUCTION, reacher
from vigor.tasks.stage import View
from vigor.tasks.task import Arm, Display, Judge, Region, Source, Task

FIRST, SECOND = slice(0, 3), slice(3, 6)
RADIUS = 0.05
CENTRES = (0.5, 0.2, 0.6, 0.3, -0.1, 0.3)
REACH = 0.1
REST = (-0.00164022617, 0.273055217, -0.00226748028, -2.08909049, 0.000784062309, 2.32405213)
"""Resting pose of the human demonstrations, joints 1 to 6; joint 7 stays at 0."""

POSTURE = (0.0, 0.1, 0.0, -1.9, 0.0, 1.7)
POSTURE_DEVIATION = (1.0, 0.5, 1.0, 0.45, 0.9, 0.55)
"""Joints that generated demonstrations prefer, mean and standard deviation: about as people did."""


def sample_contexts(rng: np.random.Generator, count: int) -> np.ndarray:
    """Targets [count, 6] drawn evenly within .1 m of (.5, .2, .6) and (.3, -.1, .3), by coordinate."""
    return np.asarray(CENTRES) + rng.uniform(-REACH, REACH, (count, 6))


def regions(context: np.ndarray) -> tuple[Region, ...]:
    return (
        Region(tuple(map(float, context[FIRST])), RADIUS, "first target"),
        Region(tuple(map(float, context[SECOND])), RADIUS, "last target"),
    )


def postures(rng: np.random.Generator, count: int) -> np.ndarray:
    """Postures [count, 6] with the elbow up and the arm in front, turned in many ways."""
    return rng.normal(POSTURE, POSTURE_DEVIATION, (count, 6))


def robot_joints(joints: jax.Array) -> jax.Array:
    """All joints [..., 7]; the last stays at 0."""
    return jnp.concatenate([joints, jnp.zeros_like(joints[..., :1])], axis=-1)


def film(path: Path, joints: np.ndarray, context: np.ndarray, keep_out: Sequence[Any]) -> None:
    from vigor.tasks.reachers.panda_film import write

    write(path, joints, regions(context), keep_out)


def load_stage(task: Task) -> DraggedArm:
    """The arm from the side and a little from above."""
    view = View(
        camera=(1.6, -1.2, 0.95),
        look_at=(0.25, 0.0, 0.42),
        up=(0, 0, 1),
        field=0.7,
        flat=False,
        link=0.04,
        ball=0.03,
        low=(-0.9, -0.9, 0.0),
        high=(0.9, 0.9, 1.2),
    )
    skin = arms.skin_of(PANDA, task.arm.joints, arms.capsules(PANDA))
    return reacher(task, view, PANDA.position[: task.promp.dimensions], min(PANDA.velocity), skin)


SETTINGS: dict[tuple[str, str], dict[str, Any]] = {
    ("default", "vigor"): {
        "samples": 70,
        "misplaced": 0.3,
        "layers": 3,
        "width": 64,
        "kernel": 7,
        "learning_rate": 2.3e-4,
        "epochs": 13,
    },
    ("paper", "vigor"): {"samples": 1536},
    ("default", "em-drex"): {"layers": 2, "width": 64, "kernel": 7},
    ("paper", "em-drex"): {
        "em_components": 1,
        "em_samples": 16384,
        "noise_levels": 10,
        "noise_multiplier": 10.0,
        "reward_scale": 1e3,
        "samples": 1536,
    },
    ("default", "bc-t"): {"components": 1, "layers": 4, "width": 64},
    ("default", "bc-gmm-t"): {"layers": 2, "width": 256, "epochs": 3000},
    ("paper", "bc-gmm-t"): {"layers": 3, "width": 64, "epochs": 30_000},
    ("default", "bc-s"): {"components": 1, "width": 32, "target_encoding": True},
    ("default", "bc-gmm-s"): {"target_encoding": True, "train_weights": True},
    ("default", "gail"): {"frames": 5, "width": 64, "batch": 64, "policy_batch": 64, "timesteps": 3_000_000},
}
"""Settings by preset and method; the paper's are those of its appendix E."""


TASK = Task(
    name="panda-reacher",
    promp=ProMP(bases=8, dimensions=6, steps=50, start=REST, span=(0.01, 1.01)),
    context_names=("first x", "first y", "first z", "last x", "last y", "last z"),
    sample_contexts=sample_contexts,
    kinematics=panda.chain(),
    descriptors=reaching.distances_and(FIRST, SECOND, mean_squared_velocity, mean_squared_acceleration),
    other_descriptors=reaching.ablations(FIRST, SECOND),
    reached=reaching.reached(FIRST, SECOND, RADIUS),
    judge=Judge(distance=lambda motion: reaching.distance_to_boundaries(motion, FIRST, SECOND, RADIUS), distinct=1.0),
    display=Display(unit="m", regions=regions, film=film, instruction=INSTRUCTION, stage=load_stage),
    source=Source(
        generate=generation.reacher(
            panda.chain(), REST, PANDA.position[:6], postures, FIRST, SECOND, RADIUS, wander=0.3, floor=0.1
        )
    ),
    # Nine tenths of the human demonstrations keep to the Panda's largest speeds if they take so long.
    arm=Arm(robot=PANDA, joints=robot_joints, seconds=8.0),
    settings=SETTINGS,
)
