"""Plans made by hand, without a run: what tests of planning share."""

from dataclasses import replace

import numpy as np

from vigor.motion.robots import Robot
from vigor.motion.shapes import Box, Sphere
from vigor.planning.constraints import Constraints
from vigor.planning.plans import Approach, Plan, Plans, Solution, of_situation
from vigor.planning.violations import Violation
from vigor.tasks.reachers.planar_reacher import TASK as PLANAR

ROBOT = Robot(
    "five links", tuple("abcde"), ((-9.0, 9.0),) * 4 + ((-np.inf, np.inf),), (9.0,) * 5, (90.0,) * 5, thickness=0.01
)
"""A robot for the planar reacher, with a joint that turns without end."""
LIMITS = Constraints(ROBOT, 3.0, (Sphere((-4.0, 0.0), 0.2), Box((-4.0, -4.0), (-3.0, -3.0))))
"""Limits that the solutions hold."""
CONTEXT = (0.5, 2.2, 0.3, -2.8)


def solution(**values) -> Solution:
    """A solution that holds, with some other values."""
    plain = Solution((0.0,), 0, 1.0, 0.0, 0.75, 0.5, 0.0, True, 1, {}, {}, None)
    return replace(plain, **values)


def movement(seed: int) -> tuple[float, ...]:
    """Weights of a small movement of the planar reacher."""
    return tuple((0.3 * np.random.default_rng(seed).normal(size=PLANAR.promp.weights)).tolist())


def planar(samples: int = 1) -> Plans:
    """Plans of the planar reacher for two contexts, with two solutions each."""
    known = {
        "targets": {"first target": Approach(0.1, 0.2), "last target": Approach(-0.1, -0.05)},
        "margins": {"position": 1.5, "velocity": 0.5, "keep-out 1": 1.0, "keep-out 2": 2.0},
    }
    plans = []
    for context in range(2):
        ranked = tuple(
            solution(movement=movement(2 * context + i), component=i, weight=0.5, group=i + 1, **known)
            for i in range(2)
        )
        further = (replace(ranked[0], success=None, reward=None),) * samples
        plans.append(of_situation(Plan(CONTEXT, 0.0, None, ranked, further), PLANAR, LIMITS))
    return Plans(PLANAR.name, LIMITS, tuple(plans), "runs/some", loaded=PLANAR)


def failing() -> Plans:
    """The same with a first context that fails, and words that look like HTML and like markup."""
    plans = planar()
    broken = tuple(replace(row, violated=Violation("keep-out", "<b>1</b>", 0.1)) for row in plans[0].solutions)
    return replace(plans, plans=(replace(plans[0], solutions=broken, warning="far [out]"), plans[1]))
