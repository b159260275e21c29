"""Descriptors of movements to goals on a line, in their own contexts and misplaced."""

import numpy as np

from vigor.learning import agreement

CONTEXTS, EACH, STEPS = 4, 5, 12
OWNERS = np.repeat(np.arange(CONTEXTS), EACH)
RAMP = np.linspace(0.0, 1.0, STEPS)


def movements(rng, sides=(0.0,)):
    """Descriptors [shift, n, T, 3] of movements to goals on a line, the first in their own contexts.

    The distance to the goal falls from 2 to nearly 0, at the wrong goal to how far apart goals are; a second descriptor
    ends at any of `sides`, whatever the context; a third is noise.
    """
    goals, count = np.linspace(-1.5, 1.5, CONTEXTS), len(OWNERS)
    ends = goals[OWNERS] + rng.normal(0.0, 0.02, count)
    side = rng.choice(sides, count) + rng.normal(0.0, 0.02, count)
    noise = rng.normal(size=(count, STEPS))
    shifts = []
    for shift in range(CONTEXTS):
        away = np.abs(ends - goals[(OWNERS + shift) % CONTEXTS])
        distance = 2.0 + RAMP * (away[:, None] - 2.0)
        shifts.append(np.stack([distance, RAMP * side[:, None], noise], axis=-1))
    return np.stack(shifts)


def learn(described):
    """Invariants of the first of such descriptors, the others misplaced."""
    return agreement.learn(described[0], described[1:], np.zeros((len(OWNERS), 3, 1)), OWNERS[:, None])
