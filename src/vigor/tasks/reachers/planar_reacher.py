"""A planar arm with 5 joints passes through a first circle and ends in a second (paper, section 5 and appendix C.1)."""

from typing import Any

import numpy as np

from vigor.motion.descriptors import squared_acceleration, squared_velocity
from vigor.motion.kinematics import PlanarChain
from vigor.motion.promp import ProMP
from vigor.tasks.arms import DraggedArm
from vigor.tasks.reachers import generation, reaching
from vigor.tasks.reachers.stage import INSTRUCTION, reacher
from vigor.tasks.stage import View
from vigor.tasks.task import Display, Judge, Region, Source, Task

FIRST, SECOND = slice(0, 2), slice(2, 4)
RADIUS = 0.5
MEANS = (0.5, 2.5, 0.5, -2.5)
DEVIATION = 0.5
LINKS = PlanarChain((1.0,) * 5)
LIMITS = ((-3.3, 3.3), *((-2.3, 2.3),) * 4)
"""Range of each joint in generated demonstrations and on the stage, in radians: about that of people's."""


def sample_contexts(rng: np.random.Generator, count: int) -> np.ndarray:
    """Targets [count, 4] around (.5, 2.5) and (.5, -2.5), standard deviation .5."""
    return rng.normal(MEANS, DEVIATION, (count, 4))


def regions(context: np.ndarray) -> tuple[Region, ...]:
    return (
        Region(tuple(map(float, context[FIRST])), RADIUS, "first target"),
        Region(tuple(map(float, context[SECOND])), RADIUS, "last target"),
    )


def postures(rng: np.random.Generator, count: int) -> np.ndarray:
    """Postures [count, 5] curled to either side."""
    base = rng.normal((0.3, 0.0), (1.0, 0.4), (count, 2))
    curl = rng.choice([-1.0, 1.0], (count, 1)) * rng.uniform(0.3, 0.9, (count, 1))
    return np.concatenate([base, curl + rng.normal(0.0, 0.2, (count, 3))], axis=1)


def load_stage(task: Task) -> DraggedArm:
    """The arm from above."""
    view = View(
        camera=(1.0, 0.0, 10.5),
        look_at=(1.0, 0.0, 0.0),
        up=(0, 1, 0),
        field=0.8,
        flat=True,
        link=0.09,
        ball=0.16,
        low=(-6.0, -6.0, 0.0),
        high=(6.0, 6.0, 0.0),
    )
    return reacher(task, view, LIMITS, speed=6.0)


SETTINGS: dict[tuple[str, str], dict[str, Any]] = {
    ("default", "vigor"): {"samples": 50, "layers": 2, "width": 32, "kernel": 5},
    ("default", "em-drex"): {"layers": 2, "width": 64, "kernel": 5},
    ("paper", "em-drex"): {"em_components": 3, "em_samples": 8192, "noise_levels": 5, "noise_multiplier": 5.0},
    ("default", "bc-t"): {"components": 1, "layers": 4, "width": 256},
    ("default", "bc-gmm-t"): {"layers": 4, "width": 64},
    ("default", "bc-s"): {"components": 1, "batch": 128},
    ("default", "bc-gmm-s"): {"frames": 5, "train_weights": True},
    ("default", "gail"): {"frames": 5, "target_encoding": True},
}
"""Settings by preset and method; the paper's are those of its appendix E."""


TASK = Task(
    name="planar-reacher",
    promp=ProMP(bases=5, dimensions=5, steps=30, scale=0.5),
    context_names=("first x", "first y", "last x", "last y"),
    sample_contexts=sample_contexts,
    kinematics=LINKS,
    descriptors=reaching.distances_and(FIRST, SECOND, squared_velocity, squared_acceleration),
    other_descriptors=reaching.ablations(FIRST, SECOND),
    reached=reaching.reached(FIRST, SECOND, RADIUS),
    judge=Judge(distance=lambda motion: reaching.distance_to_boundaries(motion, FIRST, SECOND, RADIUS), distinct=1.0),
    display=Display(regions=regions, instruction=INSTRUCTION, stage=load_stage),
    source=Source(generate=generation.reacher(LINKS, (0.0,) * 5, LIMITS, postures, FIRST, SECOND, RADIUS, wander=0.15)),
    settings=SETTINGS,
)
