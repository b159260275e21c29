"""Networks whose output is a mixture: densities and entropies against scipy."""

import jax
import jax.numpy as jnp
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

from vigor.baselines import mixture_network
from vigor.baselines.mixture_network import Gaussians


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**31 - 1))
def test_densities_and_entropies_are_those_of_scipy(seed):
    rng = np.random.default_rng(seed)
    weights = rng.dirichlet(np.ones(3), 4)
    means, log_deviations = rng.normal(size=(4, 3, 2)), rng.uniform(-1, 1, (4, 3, 2))
    points = rng.normal(size=(4, 2))
    mixtures = Gaussians(*(jnp.asarray(part, jnp.float32) for part in (np.log(weights), means, log_deviations)))
    density, spread = np.zeros(4), np.zeros(4)
    for n in range(4):
        for k in range(3):
            part = multivariate_normal(means[n, k], np.diag(np.exp(2 * log_deviations[n, k])))
            density[n] += weights[n, k] * part.pdf(points[n])
            spread[n] += weights[n, k] * (part.entropy() - np.log(weights[n, k]))
    np.testing.assert_allclose(mixture_network.log_likelihoods(mixtures, points), np.log(density), atol=1e-3)
    constant = 1 + np.log(2 * np.pi)
    np.testing.assert_allclose(mixture_network.entropies(mixtures), spread - constant, atol=1e-4)


def test_weights_that_are_not_trained_are_equal_and_activations_differ():
    parameters = mixture_network.random_parameters(jax.random.key(0), 3, 8, 2, 4, 2)
    inputs = jax.random.normal(jax.random.key(1), (5, 3))
    found = mixture_network.apply(parameters, inputs, 4)
    assert (found.means.shape, found.log_weights.shape) == ((5, 4, 2), (5, 4))
    np.testing.assert_allclose(np.exp(found.log_weights).sum(axis=1), 1, rtol=1e-5)
    assert np.ptp(found.log_weights) > 0.1
    fixed = mixture_network.apply(parameters, inputs, 4, train_weights=False)
    np.testing.assert_allclose(fixed.log_weights, -np.log(4), rtol=1e-6)
    np.testing.assert_array_equal(fixed.means, found.means)
    other = mixture_network.apply(parameters, inputs, 4, activation="tanh")
    assert np.abs(other.means - found.means).max() > 0.01
