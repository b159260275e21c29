"""The KL-bounded steps against a generic optimiser, and their guarantees on problems of every scale."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from vigor.learning.surrogate import Quadratic
from vigor.learning.trust_region import kl_bounded_step

compiled_step = jax.jit(kl_bounded_step)


def single(*values):
    return (jnp.asarray(value, jnp.float32) for value in values)


def solve(gradient, curvature, bound):
    """A step in single precision as float64 arrays: mean, covariance, root, and what it reports of KL and gain."""
    slope, square, bound = single(gradient, curvature, bound)
    found = compiled_step(Quadratic(jnp.zeros(()), slope, square), bound)
    mean, root = np.asarray(found.mean, np.float64), np.asarray(found.root, np.float64)
    return mean, root @ root.T, root, float(found.kl), float(found.gain)


def kl(mean, covariance):
    """KL(N(mean, covariance) || N(0, I))."""
    sign, log_determinant = np.linalg.slogdet(covariance)
    assert sign > 0
    return 0.5 * (np.trace(covariance) - len(mean) - log_determinant + mean @ mean)


def gain(gradient, curvature, mean, covariance):
    """E_new[r] - E_old[r] of r(z) = gradient . z - z . curvature z / 2."""
    return gradient @ mean - 0.5 * np.trace(curvature @ (covariance - np.eye(len(mean)) + np.outer(mean, mean)))


def problem(seed, dimension, gradient_scale, curvature_scale, signs):
    """A random gradient and a curvature with random eigenvectors."""
    rng = np.random.default_rng(seed)
    axes = np.linalg.qr(rng.normal(size=(dimension, dimension)))[0]
    spectrum = curvature_scale * rng.uniform(0.1, 1, dimension) * {"+": 1, "-": -1}.get(signs, rng.choice([-1, 1]))
    if signs == "both":
        spectrum *= rng.choice([-1, 1], dimension)
    curvature = (axes * spectrum) @ axes.T
    return gradient_scale * rng.normal(size=dimension), (curvature + curvature.T) / 2


def best_by_slsqp(gradient, curvature, bound):
    """The objective's maximum over means and Cholesky factors by a generic optimiser, from several starts."""
    dimension = len(gradient)
    lower = np.tril_indices(dimension, -1)
    # Every feasible Gaussian lies in this box.
    reach = [(-np.sqrt(2 * bound), np.sqrt(2 * bound))] * dimension
    largest = np.sqrt(2 + 4 * bound)
    box = reach + [(-bound - 0.5, np.log(largest))] * dimension + [(-largest, largest)] * len(lower[0])

    def gaussian(parameters):
        root = np.diag(np.exp(parameters[dimension : 2 * dimension]))
        root[lower] = parameters[2 * dimension :]
        return parameters[:dimension], root @ root.T

    def objective(parameters):
        mean, covariance = gaussian(parameters)
        return (kl(mean, covariance) - gain(gradient, curvature, mean, covariance)) / scale

    scale = np.abs(gradient).max() + np.abs(curvature).max()
    constraint = {"type": "ineq", "fun": lambda parameters: bound - kl(*gaussian(parameters))}
    rng = np.random.default_rng(0)
    found = []
    for _ in range(4):
        start = 0.1 * np.sqrt(bound) * rng.normal(size=len(box))
        options = {"maxiter": 300, "ftol": 1e-9}
        result = minimize(objective, start, method="SLSQP", bounds=box, constraints=constraint, options=options)
        if kl(*gaussian(result.x)) <= bound * (1 + 1e-4):
            found.append(-result.fun * scale)
    return max(found)


problems = {
    "seed": st.integers(0, 2**32 - 1),
    "gradient_scale": st.floats(-6, 6).map(lambda power: 10**power),
    "curvature_scale": st.floats(-6, 6).map(lambda power: 10**power),
    "signs": st.sampled_from(["+", "-", "both"]),
}


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("signs", ["+", "-", "both"])
@pytest.mark.parametrize(("scale", "bound"), [(0.3, 10.0), (3.0, 0.2), (30.0, 0.05)])
def test_step_is_as_good_as_a_generic_optimisers(dimension, signs, scale, bound):
    for seed in range(2):
        gradient, curvature = problem(seed, dimension, scale, scale, signs)
        mean, covariance, *_ = solve(gradient, curvature, bound)
        assert kl(mean, covariance) <= bound * (1 + 1e-4)
        found = gain(gradient, curvature, mean, covariance) - kl(mean, covariance)
        assert found == pytest.approx(best_by_slsqp(gradient, curvature, bound), rel=1e-3, abs=1e-5)


@given(**problems, dimension=st.sampled_from([1, 3, 8]), bound=st.floats(-4, 1).map(lambda power: 10**power))
@settings(max_examples=200, deadline=None)
def test_step_keeps_its_promises_at_every_scale(seed, dimension, gradient_scale, curvature_scale, signs, bound):
    gradient, curvature = problem(seed, dimension, gradient_scale, curvature_scale, signs)
    mean, covariance, root, reported_kl, reported_gain = solve(gradient, curvature, bound)
    assert np.all(np.isfinite(mean))
    assert np.all(np.isfinite(root))
    assert np.linalg.eigvalsh(covariance)[0] > 0
    assert kl(mean, covariance) <= bound * (1 + 1e-3) + 1e-5
    assert reported_kl == pytest.approx(kl(mean, covariance), rel=1e-2, abs=1e-5)
    rounding = 1e-5 * dimension * (gradient_scale * np.sqrt(bound) + curvature_scale * (1 + bound))
    found = gain(gradient, curvature, mean, covariance)
    assert reported_gain == pytest.approx(found, rel=1e-3, abs=rounding)
    assert found - kl(mean, covariance) >= -rounding - 1e-5


@given(seed=problems["seed"], power=st.floats(-6, 6))
@settings(max_examples=50, deadline=None)
def test_step_copes_with_a_spectrum_of_many_scales(seed, power):
    rng = np.random.default_rng(seed)
    axes = np.linalg.qr(rng.normal(size=(8, 8)))[0]
    curvature = (axes * (rng.choice([-1, 1], 8) * 10 ** rng.uniform(-6, 6, 8))) @ axes.T
    mean, covariance, root, *_ = solve(10**power * rng.normal(size=8), (curvature + curvature.T) / 2, 0.2)
    assert np.all(np.isfinite(mean))
    assert np.all(np.isfinite(root))
    assert np.linalg.eigvalsh(covariance)[0] > 0
    assert kl(mean, covariance) <= 0.2 * (1 + 1e-3) + 1e-5


@given(seed=problems["seed"], scale=st.floats(-3, 3).map(lambda power: 10**power))
@settings(max_examples=50, deadline=None)
def test_step_is_the_closed_form_where_the_bound_is_inactive(seed, scale):
    gradient, curvature = problem(seed, 3, 1.0, scale, "+")
    covariance = np.linalg.inv(np.eye(3) + curvature)
    mean = covariance @ gradient
    found_mean, found_covariance, *_ = solve(gradient, curvature, 1.5 * kl(mean, covariance))
    np.testing.assert_allclose(found_mean, mean, atol=1e-4)
    np.testing.assert_allclose(found_covariance, covariance, atol=1e-4)


@pytest.mark.parametrize("scale", [2.0, 1e3])
def test_step_exhausts_an_active_bound(scale):
    for signs in ("+", "-", "both"):
        gradient, curvature = problem(0, 3, scale, scale, signs)
        mean, covariance, *_ = solve(gradient, curvature, 0.1)
        assert kl(mean, covariance) == pytest.approx(0.1, rel=1e-3)


def test_step_stays_where_there_is_nothing_to_gain():
    mean, covariance, *_ = solve(np.zeros(3), np.zeros((3, 3)), 0.2)
    np.testing.assert_allclose(mean, 0.0)
    np.testing.assert_allclose(covariance, np.eye(3), atol=1e-6)


def test_steps_of_a_batch_are_those_of_one():
    every = [problem(seed, 3, 5.0, 5.0, "both") for seed in range(4)]
    gradients, curvatures = single(*(np.stack(part) for part in zip(*every, strict=True)))
    batch = jax.jit(jax.vmap(lambda model: kl_bounded_step(model, 0.2)))(Quadratic(jnp.zeros(4), gradients, curvatures))
    for i, (gradient, curvature) in enumerate(every):
        mean, covariance, *_ = solve(gradient, curvature, 0.2)
        np.testing.assert_allclose(batch.mean[i], mean, atol=1e-4)
        np.testing.assert_allclose(batch.root[i] @ batch.root[i].T, covariance, atol=1e-4)
