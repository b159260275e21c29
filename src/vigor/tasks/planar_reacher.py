"""A planar arm with 5 joints passes through a first circle and ends in a second (paper, section 5 and appendix C.1)."""

import numpy as np

from vigor.kinematics import PlanarChain
from vigor.promp import ProMP
from vigor.tasks import reaching
from vigor.tasks.task import Region, Task

FIRST, SECOND = slice(0, 2), slice(2, 4)
RADIUS = 0.5
MEANS = (0.5, 2.5, 0.5, -2.5)
DEVIATION = 0.5


def sample_contexts(rng: np.random.Generator, count: int) -> np.ndarray:
    """Targets [count, 4] around (.5, 2.5) and (.5, -2.5), standard deviation .5."""
    return rng.normal(MEANS, DEVIATION, (count, 4))


def regions(context: np.ndarray) -> tuple[Region, ...]:
    return (
        Region(tuple(map(float, context[FIRST])), RADIUS, "first target"),
        Region(tuple(map(float, context[SECOND])), RADIUS, "last target"),
    )


TASK = Task(
    name="planar-reacher",
    promp=ProMP(bases=5, dimensions=5, steps=30, scale=0.5),
    context_names=("first x", "first y", "last x", "last y"),
    sample_contexts=sample_contexts,
    kinematics=PlanarChain((1.0,) * 5),
    descriptors=reaching.geometric(FIRST, SECOND),
    other_descriptors=reaching.ablations(FIRST, SECOND),
    distance=lambda motion: reaching.distance_to_boundaries(motion, FIRST, SECOND, RADIUS),
    regions=regions,
)
