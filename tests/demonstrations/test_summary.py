"""Demonstrations at a glance: counted by context, judged, compared."""

import jax.numpy as jnp
import numpy as np

from helpers import POINT, movement
from vigor.demonstrations.dataset import Demonstrations
from vigor.demonstrations.summary import summarise


def test_summary():
    goals = np.array([[1.0, 0.0], [1.0, 0.05], [-1.0, 0.0], [0.0, 1.0]])
    weights = POINT.promp.fit(np.stack([movement(tuple(goal)) for goal in goals]))
    contexts = np.array([[9.0, 9.0], [1.0, 0.0], [0.0, 1.0]])
    set_ = Demonstrations("point", contexts, np.array([1, 1, 1, 2]), weights, None, "test")
    summary = summarise(POINT, set_)
    assert summary.contexts.tolist() == [1, 2]
    assert summary.counts.tolist() == [3, 1]
    np.testing.assert_allclose(summary.success, [2 / 3, 1.0])
    np.testing.assert_allclose(summary.distance, [1.9 / 3, 0.0], atol=0.02)
    assert summary.solutions.tolist() == [2, 1]
    movements = np.asarray(POINT.promp.rollout(jnp.asarray(weights)))
    pairs = [(0, 1), (0, 2), (1, 2)]
    apart = [np.sqrt(np.mean(np.sum((movements[i] - movements[j]) ** 2, axis=1))) for i, j in pairs]
    np.testing.assert_allclose(summary.spread, [np.mean(apart), 0.0], rtol=1e-5)
