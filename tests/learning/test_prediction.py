"""Predicted success of components: that of their samples."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from helpers import quick
from two_targets import CONTEXTS, TASK, describe, problem, rollout
from vigor.learning import invariants, mixture, prediction
from vigor.learning.mixture import Mixture

KEY = jax.random.key(3)


def mixtures() -> Mixture:
    """In every context a component at a demonstration of the first, and one that does not move; both narrow."""
    means = jnp.stack([problem().starts.weights[0], jnp.zeros_like(problem().starts.weights[0])])
    alone = Mixture(jnp.log(jnp.array([0.25, 0.75])), means, 0.01 * jnp.tile(jnp.eye(6), (2, 1, 1)))
    return jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (CONTEXTS, *leaf.shape)), alone)


success = quick(partial(prediction.component_success, KEY, TASK))


def test_a_components_success_is_that_of_its_samples():
    found = success(problem().invariants, problem().contexts, mixtures())
    assert found.shape == (CONTEXTS, 2)
    drawn = mixture.sample_components(KEY, jax.tree.map(lambda leaf: leaf[1], mixtures()), prediction.SAMPLES)
    described = describe(drawn[0], np.repeat(problem().contexts[1:2], prediction.SAMPLES, axis=0))
    expected = invariants.predicted_success(problem().invariants, described).mean()
    np.testing.assert_allclose(found[1, 0], expected, rtol=1e-3)
    assert found[0, 0] > 0.8 > 0.2 > found[0, 1]


def test_movements_are_predicted_one_by_one():
    paths = rollout(problem().starts.weights)
    contexts = np.repeat(np.asarray(problem().train_contexts), 5, axis=0)
    found = prediction.movement_success(TASK, problem().invariants, np.asarray(paths), contexts)
    expected = invariants.predicted_success(problem().invariants, problem().demonstrations)
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4)
    assert np.mean(found) > 0.9
