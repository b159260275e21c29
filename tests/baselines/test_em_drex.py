"""EM+D-REX: mixtures that are known, noise that is measured, rankings by hand and on a small task."""

import sys
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import spearmanr

from helpers import POINT, assert_same, member, quick
from vigor.baselines import em_drex
from vigor.baselines.em_drex import EMDREXSettings, Ranked
from vigor.basics.errors import UserError
from vigor.basics.settings import with_values
from vigor.demonstrations import preprocessing as recordings
from vigor.demonstrations import splits
from vigor.learning import mixture
from vigor.learning.problem import Problem, batch, problem
from vigor.learning.starts import Starts
from vigor.motion import descriptors

WEIGHTS = POINT.promp.weights
SETTINGS = with_values(
    EMDREXSettings(),
    iterations=3,
    components=2,
    samples=24,
    networks=2,
    kernel=3,
    layers=1,
    width=12,
    learning_rate=1e-2,
    epochs=25,
    warmup=5,
    patience=30,
    em_components=1,
    em_samples=600,
    noise_levels=3,
    noise_multiplier=20.0,
)


# EM ------------------------------------------------------------------------------------------------------------------


def test_em_recovers_a_known_mixture():
    rng = np.random.default_rng(0)
    shares = np.array([0.2, 0.5, 0.3])
    means = np.array([[-6.0, 0.0, 1.0], [0.0, 5.0, -1.0], [6.0, -4.0, 0.0]])
    variances = np.array([[1.0, 0.5, 0.25], [0.3, 0.8, 0.5], [0.5, 0.4, 1.2]])
    component = rng.choice(3, 6_000, p=shares)
    weights = means[component] + np.sqrt(variances[component]) * rng.normal(size=(6_000, 3))
    found_shares, found_means, covariances = em_drex.em(weights, 3, seed=0)
    order = np.argsort(found_means[:, 0])
    np.testing.assert_allclose(found_shares[order], shares, atol=0.02)
    np.testing.assert_allclose(found_means[order], means, atol=0.1)
    # What keeps variances from vanishing is added to all of them.
    added = em_drex.FLOOR * np.mean(np.var(weights, axis=0)) * np.eye(3)
    for found, expected in zip(covariances[order], variances, strict=True):
        np.testing.assert_allclose(found - added, np.diag(expected), atol=0.12)


@pytest.mark.parametrize("components", [1, 3, 5, 10])
def test_five_demonstrations_give_covariances_that_can_be_used(components):
    weights = np.random.default_rng(1).normal(size=(5, WEIGHTS)) * np.linspace(0.01, 2, WEIGHTS)
    shares, means, covariances = em_drex.em(weights, components, seed=0)
    count = min(components, 5)
    assert (shares.shape, means.shape) == ((count,), (count, WEIGHTS))
    assert shares.sum() == pytest.approx(1)
    np.linalg.cholesky(covariances)
    assert np.linalg.eigvalsh(covariances).min() >= em_drex.FLOOR * np.mean(np.var(weights, axis=0)) * (1 - 1e-6)


def test_em_is_repeatable():
    weights = np.random.default_rng(2).normal(size=(30, 4))
    assert_same(em_drex.em(weights, 3, seed=5), em_drex.em(weights, 3, seed=5), rtol=0)


def test_a_missing_scikit_learn_is_one_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.mixture", None)
    with pytest.raises(UserError, match=r"needs scikit-learn; install it with: pip install"):
        em_drex.em(np.zeros((5, 2)), 1, seed=0)


# Samples of all noise levels -----------------------------------------------------------------------------------------

OPEN = replace(POINT, descriptors=(descriptors.joint_angles, descriptors.context))
"""Descriptors that tell the weights and the context."""


def problem_with(contexts, each=5):
    """A problem whose demonstrations do not matter."""
    rng = np.random.default_rng(0)
    return Problem(
        jax.random.key(0),
        jnp.arange(2.0 * contexts).reshape(contexts, 2),
        jnp.zeros((1, 2)),
        jnp.arange(2.0 * contexts).reshape(contexts, 2),
        jnp.zeros((contexts * each, 25, 4)),
        Starts(
            jnp.asarray(rng.normal(size=(contexts * each, WEIGHTS)), jnp.float32),
            jnp.zeros((contexts * each, 2)),
            jnp.ones(WEIGHTS),
        ),
        jnp.zeros((contexts * each, 25, 2)),
        jnp.zeros(()),
    )


def test_noise_levels_multiply_the_covariances(monkeypatch):
    rng = np.random.default_rng(0)
    shares, means = np.array([0.3, 0.7]), np.zeros((2, WEIGHTS))
    means[:, 0] = -100.0, 100.0
    roots = 0.3 * rng.normal(size=(2, WEIGHTS, WEIGHTS)) + np.eye(WEIGHTS)
    monkeypatch.setattr(em_drex, "em", lambda *given: (shares, means, roots @ np.swapaxes(roots, 1, 2)))
    settings = with_values(SETTINGS, em_samples=16_000, base_noise=0.4, noise_multiplier=7.0, noise_levels=4)
    drawn = em_drex.rank(OPEN, settings, problem_with(1), seed=3)
    weights = POINT.promp.fit(np.asarray(drawn.descriptors[..., :2]))
    for level, noise in enumerate([0.4, 1.2, 2.0, 2.8]):
        chosen = weights[np.asarray(drawn.noise) == level]
        first = chosen[:, 0] < 0
        assert first.mean() == pytest.approx(0.3, abs=0.04)
        for component, part in enumerate((chosen[first], chosen[~first])):
            standard = np.linalg.solve(roots[component], (part - means[component]).T)
            covariance = np.cov(standard) / noise
            assert np.trace(covariance) / WEIGHTS == pytest.approx(1, abs=0.06)
            np.testing.assert_allclose(covariance, np.eye(WEIGHTS), atol=0.17)
            np.testing.assert_allclose(standard.mean(axis=1), 0, atol=0.15 * np.sqrt(noise))


@pytest.mark.parametrize(("samples", "least"), [(600, 50), (593, 43), (601, 40), (12, 1), (5, 0)])
def test_samples_come_evenly_from_all_contexts_and_levels(samples, least):
    """Samples of 3 contexts and 4 levels. The few that are too many are left out at random."""
    known = problem_with(3)
    settings = with_values(SETTINGS, em_samples=samples, noise_levels=4)
    drawn = em_drex.rank(OPEN, settings, known, seed=0)
    assert drawn.descriptors.shape == (samples, 25, 4)
    assert drawn.noise.shape == (samples,)
    owner = np.argmin(np.abs(np.asarray(drawn.descriptors)[:, 0, 2, None] - known.train_contexts[:, 0]), axis=1)
    counts = np.bincount(4 * owner + np.asarray(drawn.noise), minlength=12)
    assert counts.max() <= -(-samples // 12)
    assert counts.min() >= least


def test_samples_come_in_random_order():
    """So that the first can be held out."""
    drawn = em_drex.rank(OPEN, with_values(SETTINGS, em_samples=900), problem_with(3), seed=0)
    np.testing.assert_allclose(np.bincount(drawn.noise[:300], minlength=3), 100, atol=30)
    other = em_drex.rank(OPEN, with_values(SETTINGS, em_samples=900), problem_with(3), seed=1)
    assert np.any(other.noise != drawn.noise)


# Ranking -------------------------------------------------------------------------------------------------------------


def ranking_loss(rewards, noise):
    """Loss of rewards [n]: logits that have them as their mean over time."""
    steps = np.random.default_rng(0).normal(size=(len(rewards), 5))
    logits = steps - steps.mean(axis=1, keepdims=True) + np.asarray(rewards)[:, None]
    rows = Ranked(jnp.zeros((len(rewards), 5, 1)), jnp.asarray(noise))
    return float(em_drex.ranking_loss(jnp.asarray(logits, jnp.float32), rows))


def test_the_ranking_loss_is_that_of_all_pairs():
    rng = np.random.default_rng(1)
    rewards, noise = rng.normal(size=20), rng.integers(0, 4, 20)
    # Bradley and Terry: the probability that the less noisy one is better.
    errors = [
        -np.log(np.exp(rewards[i]) / (np.exp(rewards[i]) + np.exp(rewards[j])))
        for i in range(20)
        for j in range(20)
        if noise[i] < noise[j]
    ]
    assert ranking_loss(rewards, noise) == pytest.approx(np.mean(errors), rel=1e-5)


def test_the_ranking_loss_is_least_for_the_right_order_with_large_margins():
    noise = np.repeat(np.arange(4), 3)
    assert ranking_loss(-50.0 * noise, noise) == pytest.approx(0, abs=1e-6)
    assert 0 < ranking_loss(-2.0 * noise, noise) < ranking_loss(-1.0 * noise, noise)
    assert ranking_loss(0.0 * noise, noise) == pytest.approx(np.log(2), rel=1e-5)
    assert ranking_loss(50.0 * noise, noise) > 50
    swapped = -2.0 * noise
    swapped[[0, 3]] = swapped[[3, 0]]
    assert ranking_loss(swapped, noise) > ranking_loss(-2.0 * noise, noise)


def test_a_batch_of_one_noise_level_teaches_nothing():
    rows = Ranked(jnp.zeros((4, 5, 1)), jnp.ones(4, jnp.int32))
    loss, slope = jax.value_and_grad(em_drex.ranking_loss)(jnp.ones((4, 5)), rows)
    assert loss == 0
    np.testing.assert_array_equal(slope, 0)


# A small task --------------------------------------------------------------------------------------------------------

advance = quick(em_drex.advance, static_argnums=(0, 1))
reward = quick(jax.vmap(em_drex._reward, (None, None, 0, None)), static_argnums=0)
EVERYWHERE = (jnp.float32(-jnp.inf), jnp.float32(jnp.inf))


@pytest.fixture(scope="module")
def data():
    """Two runs on the point."""
    shown = recordings.generate(POINT, seed=0, contexts=4, per_context=5, spare=4)
    problems = [problem(POINT, shown, splits.draw(shown, POINT, seed, 3, 2, 5), seed) for seed in range(2)]
    return em_drex.prepare(POINT, SETTINGS, batch(problems))


@pytest.fixture(scope="module")
def fresh(data):
    return em_drex.start(POINT, SETTINGS, data)


@pytest.fixture(scope="module")
def learned(data, fresh):
    """After all steps of the reward's training."""
    return advance(POINT, SETTINGS, data, fresh, SETTINGS.reward_steps)


def test_a_trained_reward_ranks_noise(data, learned):
    """On samples that it has not seen."""
    for run in range(2):
        unseen = em_drex.rank(POINT, SETTINGS, member(data.problem, run), seed=100 + run)
        ensemble = member(learned.rewards, run).network.parameters
        rewards = np.mean(reward(SETTINGS, EVERYWHERE, ensemble, unseen.descriptors), axis=0)
        assert spearmanr(rewards, -np.asarray(unseen.noise)).statistic > 0.5
        by_level = [rewards[np.asarray(unseen.noise) == level].mean() for level in range(SETTINGS.noise_levels)]
        assert np.all(np.diff(by_level) < 0)


def test_first_the_reward_is_learned_and_then_the_policies(data, fresh, learned):
    assert SETTINGS.reward_steps == 3
    np.testing.assert_array_equal(learned.iteration, 3)
    np.testing.assert_array_equal(learned.rewards.epoch, 25)
    assert_same(learned.mixtures, fresh.mixtures, rtol=0)
    after = advance(POINT, SETTINGS, data, learned, 2)
    np.testing.assert_array_equal(after.iteration, 5)
    assert_same(after.rewards, learned.rewards, rtol=0)
    assert np.all(np.abs(after.mixtures.means - learned.mixtures.means).max(axis=(1, 2, 3)) > 0.1)


def test_the_policies_earn_more_and_more(data, learned):
    after = advance(POINT, SETTINGS, data, learned, 30)
    for run in range(2):
        ensemble = member(learned.rewards, run).network.parameters
        contexts = member(data.problem, run).contexts
        earned = []
        for mixtures in (learned.mixtures, after.mixtures):
            drawn = jax.vmap(lambda own: mixture.sample_components(jax.random.key(0), own, 20))(member(mixtures, run))
            owners = jnp.repeat(contexts, drawn[0].size // WEIGHTS, axis=0)
            movements = jax.vmap(POINT.describe_weights)(drawn.reshape(-1, WEIGHTS), owners)
            rewards = np.mean(reward(SETTINGS, EVERYWHERE, ensemble, movements), axis=0)
            earned.append(rewards.reshape(drawn.shape[:3]).mean(axis=2))
        assert np.mean(earned[1] > earned[0]) > 0.9


def test_where_the_reward_says_nothing_the_policies_become_the_prior(data, learned):
    """Without it their entropy would grow as long as they are improved, up to numbers that are none."""
    single = with_values(SETTINGS, components=1, samples=4 * WEIGHTS)  # Exact for a quadratic reward.
    begun = em_drex.start(POINT, single, data).mixtures
    silent = learned._replace(rewards=jax.tree.map(jnp.zeros_like, learned.rewards), mixtures=begun)
    after = advance(POINT, single, data, silent, 100).mixtures
    for means, roots, shown in zip(after.means, after.roots, data.problem.starts.weights, strict=True):
        wide = em_drex.WIDE * np.sqrt(np.mean(np.var(shown, axis=0)))
        np.testing.assert_allclose(means[:, 0], np.tile(np.mean(shown, axis=0), (5, 1)), atol=0.01 * wide)
        covariances = np.asarray(roots @ roots.swapaxes(2, 3))[:, 0]
        np.testing.assert_allclose(covariances / wide**2, np.tile(np.eye(WEIGHTS), (5, 1, 1)), atol=0.01)


def test_a_reward_is_asked_for_the_nearest_descriptors_that_were_ranked(data, learned):
    """Beyond them it might grow without end, and take the policies along."""
    ensemble = member(learned.rewards, 0).network.parameters
    ranked = data.ranked.descriptors[0]
    known = ranked.min(axis=(0, 1)), ranked.max(axis=(0, 1))
    assert_same(
        reward(SETTINGS, known, ensemble, ranked[:8]), reward(SETTINGS, EVERYWHERE, ensemble, ranked[:8]), rtol=0
    )
    far = 100.0 * ranked[:8]
    nearest = np.clip(far, *map(np.asarray, known))
    assert_same(reward(SETTINGS, known, ensemble, far), reward(SETTINGS, EVERYWHERE, ensemble, nearest), rtol=0)


def test_steps_in_pieces_are_steps_at_once(data, fresh, learned):
    """Also where pieces go from the reward over to the policies."""
    pieces = fresh
    for count in (1, 4):
        pieces = advance(POINT, SETTINGS, data, pieces, count)
    assert_same(pieces, advance(POINT, SETTINGS, data, learned, 2), rtol=0)


def test_runs_have_samples_of_their_own(data):
    again = em_drex.prepare(POINT, SETTINGS, data.problem)
    assert_same(again.ranked, data.ranked, rtol=0)
    assert np.abs(data.ranked.descriptors[0] - data.ranked.descriptors[1]).max() > 0.1


@pytest.mark.parametrize(
    "wrong",
    [
        {"em_components": 0},
        {"em_samples": 0},
        {"noise_levels": 1},
        {"base_noise": 0.0},
        {"base_noise": -1.0},
        {"noise_multiplier": 1.0},
        {"reward_scale": 0.0},
        {"reward_scale": float("inf")},
        {"reward_scale": float("nan")},
        {"networks": 3},
        {"epochs": 5},
        {"learning_rate": 0.0},
        {"components": 0},
        {"surrogate": "splines"},
    ],
    ids=str,
)
def test_impossible_settings_are_one_sentence(wrong):
    with pytest.raises(UserError, match=next(iter(wrong))) as refusal:
        with_values(EMDREXSettings(), **wrong)
    assert "\n" not in str(refusal.value)
