"""A task of your own, in one file: pass a gate, go around an obstacle on either side, end at a goal.

Train it with:  vigor train examples/01_own_task.py:TASK
"""

import jax.numpy as jnp
import numpy as np
from scipy.interpolate import CubicSpline

import vigor
from vigor import descriptors

GOAL = (1.5, 0.0)
GATE, OBSTACLE, REACHED = 0.1, 0.2, 0.1  # Radii of the gate's opening, of the obstacle, of the goal.


def to_goal(motion):
    """Distance [T] to the goal."""
    return descriptors.distance(motion.effector, jnp.asarray(GOAL))


def missed(motion):
    """Distance by which the gate was missed, the obstacle entered, and the goal missed at the end, added up."""
    gate = jnp.min(descriptors.distance(motion.effector, motion.context[:2])) - GATE
    obstacle = OBSTACLE - jnp.min(descriptors.distance(motion.effector, motion.context[2:]))
    return sum(jnp.maximum(0.0, part) for part in (gate, obstacle, to_goal(motion)[-1] - REACHED))


def generate(rng, context, count):
    """Recordings [60, 2] that pass the obstacle above or below, by splines through a few points."""
    recordings = []
    for side in rng.choice([-1.0, 1.0], count) * rng.uniform(0.3, 0.5, count):
        via = np.array([(0.0, 0.0), context[:2], (context[2], context[3] + side), GOAL])
        via[1:] += rng.normal(0.0, 0.02, (3, 2))
        pace = np.cumsum([0.0, *(np.linalg.norm(np.diff(via, axis=0), axis=1) * rng.uniform(0.8, 1.2, 3))])
        recordings.append(CubicSpline(pace, via, bc_type="clamped")(np.linspace(0.0, pace[-1], 60)))
    return recordings


def regions(context):
    """Circles that figures show."""
    places = (context[:2], GATE, "gate"), (context[2:], OBSTACLE, "obstacle"), (GOAL, REACHED, "goal")
    return [vigor.Region(tuple(map(float, centre)), radius, label) for centre, radius, label in places]


TASK = vigor.Task(
    name="gate-and-obstacle",
    promp=vigor.ProMP(bases=6, dimensions=2, steps=30, scale=0.2),
    context_names=("gate x", "gate y", "obstacle x", "obstacle y"),
    sample_contexts=lambda rng, n: rng.uniform((0.35, -0.2, 0.95, -0.1), (0.5, 0.2, 1.1, 0.1), (n, 4)),
    kinematics=vigor.kinematics.path,
    descriptors=(
        *(descriptors.distance_to(part) for part in (slice(0, 2), slice(2, 4))),
        *(to_goal, descriptors.squared_velocity, descriptors.squared_acceleration),
    ),
    judge=vigor.Judge(distance=missed, distinct=0.2),
    display=vigor.Display(regions, instruction="Drag the ball through the gate, around the obstacle, to the goal."),
    source=vigor.Source(generate=generate),
)
