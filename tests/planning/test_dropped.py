import jax.numpy as jnp
import numpy as np
import pytest

from helpers import POINT
from vigor.learning.starts import Starts
from vigor.motion.promp import rollout
from vigor.planning import dropped

SIZE = POINT.promp.weights
SHOWN = np.outer([1, 1, -1, 3], np.ones(SIZE, np.float32)) * 10
"""Weights of demonstrations that go three ways."""


@pytest.mark.parametrize(
    ("means", "holds", "said"),
    [
        ([1, -1, 3], [True, True, True], None),
        ([1, -1, 3], [False, False, False], None),
        (
            [1, -1, 3],
            [True, False, True],
            "1 of 3 ways that were demonstrated is left out here (25% of demonstrations)",
        ),
        ([-1.01, -1, 8], [True] * 3, "2 of 3 ways that were demonstrated are left out here (75% of demonstrations)"),
    ],
    ids=["all", "nothing holds", "one fails", "far from all demonstrations"],
)
def test_ways_that_are_left_out_are_said(means, holds, said):
    at = Starts(jnp.asarray(SHOWN), jnp.zeros((4, 2)), jnp.ones(SIZE))
    joints = np.asarray(rollout(POINT.promp, 10 * np.outer(means, np.ones(SIZE)).astype(np.float32)))
    (shown,) = np.asarray(dropped.demonstrated(POINT, at, np.zeros((1, 2), np.float32), len(means)))
    assert dropped.in_words(0.1, shown, joints, np.array(holds)) == said
