"""Mixtures against scipy's densities and against the moments of their samples."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import multivariate_normal, ortho_group

from helpers import quick
from vigor.learning import mixture
from vigor.learning.mixture import Mixture

COMPONENTS, DIMENSION = 3, 4
SAMPLES = 20_000

log_density = quick(mixture.log_density)
place = quick(mixture.place)
sample = quick(mixture.sample, static_argnums=2)
sample_components = quick(mixture.sample_components, static_argnums=2)
sample_with_components = quick(mixture.sample_with_components, static_argnums=2)


@pytest.fixture(scope="module")
def some():
    """A mixture of full covariances and unequal weights, as float64 arrays: weights, means, covariances."""
    rng = np.random.default_rng(0)
    spread = rng.normal(size=(COMPONENTS, DIMENSION, DIMENSION))
    covariances = spread @ spread.transpose(0, 2, 1) + 0.3 * np.eye(DIMENSION)
    return np.array([0.2, 0.7, 0.1]), 3 * rng.normal(size=(COMPONENTS, DIMENSION)), covariances


def build(weights, means, covariances, rotate=False):
    roots = np.linalg.cholesky(covariances)
    if rotate:
        roots = roots @ ortho_group.rvs(DIMENSION, size=COMPONENTS, random_state=1)
    return Mixture(*(jnp.asarray(x, jnp.float32) for x in (np.log(weights), means, roots)))


def moments_of(samples):
    return samples.mean(axis=0), np.cov(samples.T)


def assert_moments(samples, mean, covariance):
    """Mean and covariance within five standard errors."""
    found_mean, found_covariance = moments_of(np.asarray(samples, np.float64))
    variances = np.diag(covariance)
    assert np.all(np.abs(found_mean - mean) < 5 * np.sqrt(variances / len(samples)))
    error = np.sqrt((covariance**2 + np.outer(variances, variances)) / len(samples))
    assert np.all(np.abs(found_covariance - covariance) < 5 * error)


@pytest.mark.parametrize("rotate", [False, True], ids=["triangular roots", "other roots"])
def test_the_density_of_samples_is_scipys(some, rotate):
    weights, means, covariances = some
    one = build(*some, rotate=rotate)
    noise = np.random.default_rng(2).normal(scale=2, size=(COMPONENTS, 50, DIMENSION)).astype(np.float32)
    points = np.asarray(place(one, noise), np.float64)
    densities = [multivariate_normal(m, c).logpdf(points) for m, c in zip(means, covariances, strict=True)]
    expected = logsumexp(np.log(weights)[:, None, None] + np.array(densities), axis=0)
    np.testing.assert_allclose(log_density(one, noise), expected, rtol=2e-4, atol=2e-4)


def test_the_density_survives_far_samples_and_flipped_roots(some):
    one = build(*some)
    flipped = one._replace(roots=-one.roots)
    noise = jnp.full((COMPONENTS, 50, DIMENSION), 1e3)
    far = log_density(one, noise)
    assert np.all(np.isfinite(far))
    np.testing.assert_allclose(log_density(flipped, -noise), far, rtol=1e-5)


def test_the_density_of_a_narrow_component_loses_nothing(some):
    """A root whose inverse is worthless in single precision: the own noise says where a sample is."""
    root = np.diag(np.geomspace(1e-12, 1e12, DIMENSION)) @ ortho_group.rvs(DIMENSION, random_state=1)
    one = Mixture(jnp.zeros(1), jnp.zeros((1, DIMENSION)), jnp.asarray(root, jnp.float32)[None])
    noise = np.random.default_rng(3).normal(size=(1, 50, DIMENSION)).astype(np.float32)
    away = np.asarray(log_density(one, noise) - log_density(one, np.zeros_like(noise)))
    np.testing.assert_allclose(away, -0.5 * np.sum(noise**2, axis=-1), rtol=1e-5)


def test_every_component_has_its_moments(some):
    samples = sample_components(jax.random.key(0), build(*some, rotate=True), SAMPLES)
    assert samples.shape == (COMPONENTS, SAMPLES, DIMENSION)
    for component, mean, covariance in zip(samples, *some[1:], strict=True):
        assert_moments(component, mean, covariance)


def test_components_are_drawn_by_weight(some):
    weights, means, _ = some
    narrow = build(weights, 100 * means, 1e-4 * some[2])
    samples = np.asarray(sample(jax.random.key(1), narrow, SAMPLES))
    owner = np.argmin(np.linalg.norm(samples[:, None] - 100 * means, axis=-1), axis=1)
    share = np.bincount(owner, minlength=COMPONENTS) / SAMPLES
    assert np.all(np.abs(share - weights) < 5 * np.sqrt(weights * (1 - weights) / SAMPLES))


def test_samples_of_the_mixture_have_its_components_moments(some):
    _, means, covariances = some
    single = build(np.array([1e-30, 1.0, 1e-30]), means, covariances, rotate=True)
    assert_moments(sample(jax.random.key(2), single, SAMPLES), means[1], covariances[1])


def test_noise_is_placed_by_mean_and_root(some):
    one = build(*some, rotate=True)
    noise = np.random.default_rng(3).normal(size=(COMPONENTS, 6, DIMENSION)).astype(np.float32)
    placed = mixture.place(one, jnp.asarray(noise))
    for k in range(COMPONENTS):
        for s in range(6):
            expected = np.asarray(one.means[k]) + np.asarray(one.roots[k]) @ noise[k, s]
            np.testing.assert_allclose(placed[k, s], expected, rtol=1e-4, atol=1e-5)


def test_the_first_mixture_has_equal_weights_and_standard_normal_components():
    many = mixture.normal(jax.random.key(0), 2_000, DIMENSION)
    np.testing.assert_allclose(np.exp(many.log_weights), 1 / 2_000, rtol=1e-5)
    np.testing.assert_array_equal(many.roots, np.broadcast_to(np.eye(DIMENSION), (2_000, DIMENSION, DIMENSION)))
    assert_moments(many.means, np.zeros(DIMENSION), np.eye(DIMENSION))


def test_samples_know_their_component(some):
    weights, means, _ = some
    tight = build(weights, means, np.tile(1e-6 * np.eye(DIMENSION), (COMPONENTS, 1, 1)))
    points, component = sample_with_components(jax.random.key(0), tight, 50)
    np.testing.assert_allclose(points, means[np.asarray(component)], atol=0.01)
    assert set(np.asarray(component).tolist()) == {0, 1, 2}
