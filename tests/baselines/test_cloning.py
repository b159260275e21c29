"""Common parts of behavioural cloning by trajectory and by step: the loss by hand, its settings."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import norm

from vigor.baselines import cloning
from vigor.baselines.cloning import CloningSettings
from vigor.basics.errors import UserError

SMALL = CloningSettings(components=2, layers=1, width=8)


def some_parameters(settings):
    return jax.tree.map(lambda leaf: leaf + 0.1, cloning.start(jax.random.key(0), settings, 1, 2).parameters)


@pytest.mark.parametrize("train_weights", [False, True])
def test_the_loss_is_that_of_a_mixture_of_diagonal_gaussians(train_weights):
    settings = replace(SMALL, components=3, entropy=0.2, train_weights=train_weights)
    rng = np.random.default_rng(0)
    contexts, weights = rng.normal(size=(6, 1)), rng.normal(size=(6, 2))
    given = jnp.asarray(contexts, jnp.float32), jnp.asarray(weights, jnp.float32)
    parameters = some_parameters(settings)
    log_weights, means, log_deviations = (
        np.asarray(part, np.float64) for part in cloning.policy(parameters, settings, given[0])
    )
    assert (np.ptp(log_weights) > 1e-3) == train_weights
    expected = []
    for n in range(6):
        densities = [norm.logpdf(weights[n], means[n, k], np.exp(log_deviations[n, k])).sum() for k in range(3)]
        # The entropy of the categorical, and of every Gaussian but for a constant.
        shares = np.exp(log_weights[n])
        entropy = -np.sum(shares * log_weights[n]) + sum(shares[k] * log_deviations[n, k].sum() for k in range(3))
        expected.append(logsumexp(log_weights[n] + densities) + 0.2 * entropy)
    assert float(cloning.loss(parameters, settings, *given)) == pytest.approx(-np.mean(expected), rel=1e-5)


def test_deviations_stay_within_their_range():
    contexts = jnp.asarray([[-1e6], [-3.0], [0.0], [3.0], [1e6]])
    _, means, log_deviations = cloning.policy(some_parameters(SMALL), SMALL, contexts)
    assert np.all((log_deviations >= -5) & (log_deviations <= 2))
    assert np.all(np.isfinite(means))


@pytest.mark.parametrize(
    "wrong",
    [
        {"components": 0},
        {"layers": 0},
        {"width": 10**5},
        {"batch": 0},
        {"epochs": 0},
        {"patience": 0},
        {"learning_rate": 0.0},
        {"learning_rate": float("nan")},
        {"entropy": -1.0},
        {"validation": 0.6},
        {"validation": float("nan")},
    ],
    ids=str,
)
def test_impossible_settings_are_one_sentence(wrong):
    with pytest.raises(UserError, match=next(iter(wrong))) as refusal:
        CloningSettings(**wrong)
    assert "\n" not in str(refusal.value)
