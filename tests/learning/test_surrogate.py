"""Quadratic models: exact on quadratics, and the derivatives of the Gaussian-smoothed reward elsewhere."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import quick
from vigor.learning import surrogate

DIMENSION = 4
ENOUGH = 40

design = quick(surrogate.design, static_argnums=(1, 2))
from_gradients = quick(surrogate.from_gradients)
from_values = quick(surrogate.from_values)


class Reward:
    """A reward whose expectations under N(0, I) are known: mean, mean slope and mean curvature (minus the Hessian)."""

    def __init__(self, value, slope, mean, mean_slope, mean_curvature):
        self.value, self.slope = value, slope
        self.mean, self.mean_slope, self.mean_curvature = mean, mean_slope, mean_curvature

    def __call__(self, noise):
        noise = np.asarray(noise, np.float64)
        return np.array([self.value(z) for z in noise]), np.array([self.slope(z) for z in noise])


def quadratic(seed, scale=1.0):
    rng = np.random.default_rng(seed)
    gradient, square = scale * rng.normal(size=DIMENSION), scale * rng.normal(size=(DIMENSION, DIMENSION))
    curvature = square + square.T
    return Reward(
        lambda z: 3 * scale + gradient @ z - z @ curvature @ z / 2,
        lambda z: gradient - curvature @ z,
        3 * scale - np.trace(curvature) / 2,
        gradient,
        curvature,
    )


def wave(axis, offset):
    """sin(axis . z + offset): smoothing damps it by exp(-|axis|^2 / 2)."""
    damped = np.exp(-axis @ axis / 2)
    return Reward(
        lambda z: np.sin(axis @ z + offset),
        lambda z: np.cos(axis @ z + offset) * axis,
        damped * np.sin(offset),
        damped * np.cos(offset) * axis,
        damped * np.sin(offset) * np.outer(axis, axis),
    )


def exponential(axis):
    """exp(axis . z): smoothing raises it by exp(|axis|^2 / 2)."""
    raised = np.exp(axis @ axis / 2)
    return Reward(
        lambda z: np.exp(axis @ z),
        lambda z: np.exp(axis @ z) * axis,
        raised,
        raised * axis,
        -raised * np.outer(axis, axis),
    )


def cubic(axis):
    return Reward(
        lambda z: (axis @ z) ** 3,
        lambda z: 3 * (axis @ z) ** 2 * axis,
        0.0,
        3 * (axis @ axis) * axis,
        np.zeros((DIMENSION, DIMENSION)),
    )


AXIS = np.array([0.6, -0.2, 0.3, 0.1])
SMOOTH = pytest.mark.parametrize(
    "reward", [wave(AXIS, 0.5), wave(-AXIS, -1.2), exponential(AXIS)], ids=["wave", "other wave", "exponential"]
)


def gaussian_noise(samples, seed=0):
    return np.random.default_rng(seed).normal(size=(samples, DIMENSION)).astype(np.float32)


def model_from_gradients(reward, noise):
    values, slopes = reward(noise)
    return from_gradients(noise, jnp.asarray(values, jnp.float32), jnp.asarray(slopes, jnp.float32))


def model_from_values(reward, noise):
    return from_values(noise, jnp.asarray(reward(noise)[0], jnp.float32))


def assert_slope_and_curvature(model, reward, atol):
    np.testing.assert_allclose(model.gradient, reward.mean_slope, atol=atol)
    np.testing.assert_allclose(model.curvature, reward.mean_curvature, atol=atol)


@given(seed=st.integers(0, 2**32 - 1), scale=st.sampled_from([1e-4, 1.0, 1e4]))
@settings(max_examples=30, deadline=None)
def test_gradients_on_the_design_are_exact_for_quadratics(seed, scale):
    reward = quadratic(seed, scale)
    model = model_from_gradients(reward, design(jax.random.key(seed), 2 * DIMENSION, DIMENSION))
    assert_slope_and_curvature(model, reward, 3e-5 * scale)
    np.testing.assert_allclose(model.value, reward.mean, atol=3e-5 * scale)


@given(seed=st.integers(0, 2**32 - 1), scale=st.sampled_from([1e-4, 1.0, 1e4]))
@settings(max_examples=30, deadline=None)
def test_values_are_exact_for_quadratics(seed, scale):
    reward = quadratic(seed, scale)
    model = model_from_values(reward, gaussian_noise(ENOUGH))
    assert_slope_and_curvature(model, reward, 2e-3 * scale)


def test_multiples_of_the_design_are_exact_too():
    reward = quadratic(1)
    model = model_from_gradients(reward, design(jax.random.key(1), 6 * DIMENSION, DIMENSION))
    assert_slope_and_curvature(model, reward, 3e-5)


def test_gradients_on_the_design_are_exact_for_cubics():
    reward = cubic(AXIS)
    model = model_from_gradients(reward, design(jax.random.key(2), 2 * DIMENSION, DIMENSION))
    assert_slope_and_curvature(model, reward, 1e-5)


def test_gradients_give_the_mean_reward_as_value():
    for reward in (quadratic(3), cubic(AXIS)):
        model = model_from_gradients(reward, design(jax.random.key(3), 2 * DIMENSION, DIMENSION))
        np.testing.assert_allclose(model.value, reward.mean, atol=1e-5)


def test_values_give_the_mean_reward_as_value():
    reward = quadratic(3)
    np.testing.assert_allclose(model_from_values(reward, gaussian_noise(ENOUGH)).value, reward.mean, atol=1e-3)


@SMOOTH
def test_gradients_estimate_the_smoothed_reward(reward):
    model = model_from_gradients(reward, gaussian_noise(20_000))
    assert_slope_and_curvature(model, reward, 0.03)
    np.testing.assert_allclose(model.value, reward.mean, atol=0.03)


@SMOOTH
def test_values_estimate_the_smoothed_reward(reward):
    assert_slope_and_curvature(model_from_values(reward, gaussian_noise(20_000)), reward, 0.03)


def test_the_design_needs_few_samples_for_a_smooth_reward():
    reward = wave(AXIS, 0.5)
    model = model_from_gradients(reward, design(jax.random.key(4), 2 * DIMENSION, DIMENSION))
    assert_slope_and_curvature(model, reward, 0.03)


def test_curvature_is_symmetric():
    reward = exponential(AXIS)
    for model in (model_from_gradients(reward, gaussian_noise(7)), model_from_values(reward, gaussian_noise(ENOUGH))):
        np.testing.assert_allclose(model.curvature, model.curvature.T, rtol=1e-5)


@pytest.mark.parametrize("samples", [2, 6, 8, 22])
def test_design_has_mean_zero_and_length_root_dimension(samples):
    points = design(jax.random.key(samples), samples, DIMENSION)
    assert points.shape == (samples, DIMENSION)
    np.testing.assert_allclose(np.mean(points, axis=0), 0.0, atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(points, axis=1), np.sqrt(DIMENSION), rtol=1e-5)


@pytest.mark.parametrize("blocks", [1, 3])
def test_whole_designs_have_covariance_identity(blocks):
    points = np.asarray(design(jax.random.key(blocks), 2 * DIMENSION * blocks, DIMENSION))
    np.testing.assert_allclose(points.T @ points / len(points), np.eye(DIMENSION), atol=1e-5)


@pytest.mark.parametrize("samples", [6, 7, 11])
def test_any_number_of_samples_is_unbiased(samples):
    draws = 8_000
    keys = jax.random.split(jax.random.key(0), draws)
    points = np.asarray(quick(jax.vmap(lambda key: surrogate.design(key, samples, DIMENSION)))(keys), np.float64)
    error = 5 / np.sqrt(draws)
    np.testing.assert_allclose(points.mean(axis=(0, 1)), 0.0, atol=error)
    np.testing.assert_allclose(
        np.einsum("nsi,nsj->ij", points, points) / (draws * samples), np.eye(DIMENSION), atol=3 * error
    )


def test_design_differs_by_key():
    one, other = (design(jax.random.key(seed), 8, DIMENSION) for seed in (0, 1))
    assert np.abs(one - other).max() > 0.1


def test_ridge_and_single_precision_leave_least_squares_as_they_are():
    """Beside a fit in double precision on standardised features with next to no ridge, the authors' way.

    With 5 samples to 4 coefficients, as the paper has them on the Panda, on a reward that is far from quadratic.
    """
    dimension, samples = 12, 114
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(samples, dimension))
    values = np.abs(noise @ rng.normal(size=(dimension, 20)) + 0.3) @ rng.normal(size=20)
    found = from_values(jnp.asarray(noise, jnp.float32), jnp.asarray(values, jnp.float32))
    rows, columns = np.triu_indices(dimension)
    features = np.concatenate([noise[:, rows] * noise[:, columns], noise], axis=1)
    standard = (features - features.mean(axis=0)) / features.std(axis=0)
    gram = standard.T @ standard / samples + 1e-12 * np.eye(features.shape[1])
    solved = np.linalg.solve(gram, standard.T @ (values - values.mean()) / samples) / features.std(axis=0)
    half = np.zeros((dimension, dimension))
    half[rows, columns] = solved[: rows.size]
    np.testing.assert_allclose(found.curvature, -(half + half.T), atol=1e-3 * np.abs(half).max())
    np.testing.assert_allclose(found.gradient, solved[rows.size :], atol=1e-3 * np.abs(solved[rows.size :]).max())
