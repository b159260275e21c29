"""Invariants: densities and energies are those of their formulas, and what is missed is named."""

import jax.numpy as jnp
import numpy as np
import pytest

from goals import RAMP, learn, movements
from vigor.learning import invariants
from vigor.learning.invariants import ESSENTIAL, LARGEST, NARROWEST, STRENGTH, TAIL


def test_more_is_allowed_where_a_context_is_far_from_those_demonstrated():
    """Contexts 0 to 3 on a line: neighbours are 1 apart, or 1.5 where the nearer half of three others counts."""
    found = learn(movements(np.random.default_rng(0)))
    near = (1 + 2 + 1 + 1 + 1 + 1 + 1 + 2) / 8
    stretch = invariants.stretch(found, jnp.array([[0.0], [3.0 + near], [3.0 + 2 * near], [-100.0]]))
    np.testing.assert_allclose(stretch, [1.0, 1.0, 2.0, invariants.FARTHEST], rtol=1e-5)
    probes = jnp.asarray(movements(np.random.default_rng(1))[1], jnp.float32)
    assert np.all(invariants.energy(found, probes, 2.0) < invariants.energy(found, probes))


def test_the_density_is_that_of_the_formula():
    described = movements(np.random.default_rng(0))
    found, probes = learn(described), movements(np.random.default_rng(1))[1]
    part = {name: np.asarray(value, np.float64) for name, value in found._asdict().items()}
    statistics = np.concatenate([probes[:, -1], probes.min(axis=1)], axis=1)
    projected = (statistics - part["origin"]) @ part["directions"]
    squares = ((projected[:, None] - part["known"]) / (np.sqrt(part["ratios"]) + NARROWEST)) ** 2
    weights = np.maximum(0.0, 1 - part["ratios"] / LARGEST)
    exponents = -0.5 * (weights * TAIL * np.log1p(squares / TAIL)).sum(axis=-1)
    expected = STRENGTH * np.log(np.exp(exponents).sum(axis=-1))
    values = invariants.log_density(found, jnp.asarray(probes, jnp.float32))
    np.testing.assert_allclose(values, expected, rtol=2e-3, atol=2e-2)
    needed = np.maximum(0.0, 1 - part["ratios"] / ESSENTIAL)
    energy = (needed * squares).sum(axis=-1).min(axis=-1)
    np.testing.assert_allclose(invariants.energy(found, jnp.asarray(probes, jnp.float32)), energy, rtol=1e-2)


def test_what_is_missed_most_is_named():
    described = movements(np.random.default_rng(0))
    found = learn(described)
    wrong = described[0][0].copy()
    wrong[:, 0] = 2.0 - 0.5 * RAMP
    which, value, usual = invariants.most_missed(found, jnp.asarray(wrong, jnp.float32))
    assert which % 3 == 0
    assert value == pytest.approx(1.5, abs=1e-3)
    assert usual == pytest.approx(0.0, abs=0.1)
