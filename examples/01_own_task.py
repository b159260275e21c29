"""A task of your own, in one file: pass a gate, go around an obstacle on either side, end at a goal.

Train it with:  vigor train examples/01_own_task.py:TASK
"""

import jax.numpy as jnp
import numpy as np
from scipy.interpolate import CubicSpline

from vigor.motion.descriptors import Motion, distance, distance_to, squared_acceleration, squared_velocity
from vigor.motion.kinematics import path
from vigor.motion.promp import ProMP
from vigor.tasks import Region, Task
from vigor.tasks.task import Display, Judge, Source

GOAL = (1.5, 0.0)
GATE, OBSTACLE, REACHED = 0.1, 0.2, 0.1  # Radii: of the gate's opening, of the obstacle, of the goal.


def sample_contexts(rng: np.random.Generator, count: int) -> np.ndarray:
    """Gate (x, y) and obstacle (x, y)."""
    return rng.uniform((0.35, -0.2, 0.95, -0.1), (0.5, 0.2, 1.1, 0.1), (count, 4))


def distance_to_goal(motion: Motion) -> jnp.ndarray:
    return distance(motion.effector, jnp.asarray(GOAL))


def missed(motion: Motion) -> jnp.ndarray:
    """How far the gate was missed, how deep the obstacle was entered, how far from the goal it ended."""
    gate = jnp.min(distance(motion.effector, motion.context[:2])) - GATE
    obstacle = OBSTACLE - jnp.min(distance(motion.effector, motion.context[2:]))
    goal = distance_to_goal(motion)[-1] - REACHED
    return sum(jnp.maximum(0.0, part) for part in (gate, obstacle, goal))


def generate(rng: np.random.Generator, context: np.ndarray, count: int) -> list[np.ndarray]:
    """Recordings [T, 2] that pass the obstacle above or below, by splines through a few points."""
    recordings = []
    for side in rng.choice([-1.0, 1.0], count) * rng.uniform(0.3, 0.5, count):
        via = np.array([(0.0, 0.0), context[:2], (context[2], context[3] + side), GOAL])
        via[1:] += rng.normal(0.0, 0.02, (3, 2))
        pace = np.cumsum([0.0, *(np.linalg.norm(np.diff(via, axis=0), axis=1) * rng.uniform(0.8, 1.2, 3))])
        recordings.append(CubicSpline(pace, via, bc_type="clamped")(np.linspace(0.0, pace[-1], 60)))
    return recordings


def regions(context: np.ndarray) -> tuple[Region, ...]:
    places = (context[:2], GATE, "gate"), (context[2:], OBSTACLE, "obstacle"), (GOAL, REACHED, "goal")
    return tuple(Region(tuple(map(float, centre)), radius, label) for centre, radius, label in places)


TASK = Task(
    name="gate-and-obstacle",
    promp=ProMP(bases=6, dimensions=2, steps=30, scale=0.2),
    context_names=("gate x", "gate y", "obstacle x", "obstacle y"),
    sample_contexts=sample_contexts,
    kinematics=path,
    descriptors=(
        distance_to(slice(0, 2)),
        distance_to(slice(2, 4)),
        distance_to_goal,
        squared_velocity,
        squared_acceleration,
    ),
    judge=Judge(distance=missed, distinct=0.2),
    display=Display(regions=regions),
    source=Source(generate=generate),
)
