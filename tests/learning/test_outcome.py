"""What comes of movements, against scipy's normal distribution and by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from helpers import quick
from vigor.learning import outcome

NEAR = (0.05, 0.5)
learn = quick(outcome.learn, static_argnums=0)
log_density = quick(outcome.log_density, static_argnums=1)


def some_distances(seed: int, count: int = 6) -> np.ndarray:
    """[count, T, features]: a distance that is smallest on the way, one that is so at the end, and no distance."""
    distances = np.random.default_rng(seed).uniform(0, 2, (count, 9, 3)).astype(np.float32)
    distances[:, -1, 0] = 3.0
    distances[:, -1, 1] = 0.9 * distances[:, :-1, 1].min(axis=1)
    return distances


def values(distances: np.ndarray) -> np.ndarray:
    """The smallest first and the last second distance; arsinh by its definition."""
    chosen = np.stack([distances[..., 0].min(axis=1), distances[:, -1, 1]], axis=1)
    scaled = chosen.astype(np.float64) / NEAR
    return np.log(scaled + np.sqrt(scaled**2 + 1))


@settings(deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_log_density_is_that_of_a_normal_distribution_of_smallest_or_last_distances(seed):
    shown, own = some_distances(seed), np.random.default_rng(seed).uniform(0, 2, (4, 9, 3)).astype(np.float32)
    known = learn(NEAR, shown)
    np.testing.assert_array_equal(known.last, [0, 1])
    mean, deviation = values(shown).mean(axis=0), np.maximum(values(shown).std(axis=0), 0.15)
    np.testing.assert_allclose(known.mean, mean, rtol=1e-4)
    np.testing.assert_allclose(known.deviation, deviation, rtol=1e-3)
    expected = norm.logpdf(values(own), mean, deviation) - norm.logpdf(mean, mean, deviation)
    np.testing.assert_allclose(log_density(known, NEAR, own), expected.sum(axis=1), rtol=1e-2, atol=1e-3)


def test_when_a_movement_comes_near_does_not_matter_but_where_it_ends():
    shown, own = some_distances(0), some_distances(1)
    known = learn(NEAR, shown)
    shuffled = np.concatenate([np.random.default_rng(2).permutation(own[:, :-1], axis=1), own[:, -1:]], axis=1)
    np.testing.assert_allclose(log_density(known, NEAR, shuffled), log_density(known, NEAR, own), rtol=1e-5)
    assert np.all(log_density(known, NEAR, own[:, ::-1]) != log_density(known, NEAR, own))


@pytest.mark.parametrize("away", [0.1, 0.2, 0.4, 0.8])
def test_the_further_off_a_movement_stays_or_ends_the_less_likely_it_is(away):
    shown = np.full((5, 9, 3), 0.03, np.float32)
    shown[:, -1, 0] = 3.0
    known = learn(NEAR, shown)
    np.testing.assert_allclose(known.deviation, [0.15, 0.15], rtol=1e-5)
    for steps, distance in ((slice(None, -1), 0), (slice(-1, None), 1)):
        likely = []
        for far in (away, 1.1 * away):
            movement = shown[:1].copy()
            movement[:, steps, distance] = far
            likely.append(float(log_density(known, NEAR, movement)[0]))
        assert likely[1] < likely[0] < 0
