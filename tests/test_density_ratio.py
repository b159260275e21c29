"""Training against log ratios that are known, early stopping step by step."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from scipy.special import expit

from conftest import FEATURES, STEPS, assert_same, logits, quick, some_descriptors
from vigor import density_ratio
from vigor.density_ratio import Classes, DensityRatio, Training
from vigor.errors import UserError

SMALL = DensityRatio(layers=2, width=6, kernel=3, networks=3, dropout=0.0, learning_rate=1e-3)

initial = quick(density_ratio.initial, static_argnums=(1, 2))
compiled_train = quick(density_ratio.train, static_argnums=2)
reward = quick(density_ratio.reward, static_argnums=1)


def network(settings, seed=0, features=FEATURES):
    return initial(jax.random.key(seed), settings, features)


def classes(demonstrations, policy):
    """Both classes, every policy sample counting the same."""
    return Classes(demonstrations, policy, np.ones(len(policy), np.float32))


def samples_of(both):
    return np.concatenate([both.demonstrations, both.policy])


def train(seed, state, settings, training, validation=None, rate=1.0):
    """Network and epochs after training; without validation samples all epochs are trained."""
    if validation is None:
        validation = jax.tree.map(lambda leaf: leaf[:0], training)
    return compiled_train(jax.random.key(seed), state, settings, training, validation, rate)


def ensemble_of(settings, count):
    """Networks stacked along a first axis."""
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *(network(settings, seed) for seed in range(count)))


def member(ensemble, i):
    return jax.tree.map(lambda leaf: leaf[i], ensemble)


def test_reward_is_the_sum_of_logits():
    parameters, descriptors = network(SMALL).parameters, some_descriptors()
    rewards = reward(parameters, SMALL, descriptors)
    assert rewards.shape == (4,)
    np.testing.assert_allclose(rewards, np.sum(logits(parameters, SMALL, descriptors), axis=1), rtol=1e-5, atol=1e-5)


def test_loss_is_weighted_cross_entropy():
    rng = np.random.default_rng(0)
    step_logits = rng.normal(size=(5, 3))
    labels, weights = np.array([1, 1, 0, 0, 0]), np.array([0.5, 0.5, 0.2, 0.4, 0.4])

    def entropy(values):
        return -np.where(labels[:, None] == 1, np.log(expit(values)), np.log(expit(-values))).mean(axis=1)

    for kind, values in (("stepwise", step_logits), ("trajectory", step_logits.sum(axis=1, keepdims=True))):
        found = density_ratio.loss(
            jnp.asarray(step_logits, jnp.float32), jnp.asarray(labels), jnp.asarray(weights), replace(SMALL, loss=kind)
        )
        np.testing.assert_allclose(found, np.average(entropy(values), weights=weights), rtol=1e-5)


def test_loss_is_finite_for_confident_networks():
    extreme = jnp.asarray([[1e6], [-1e6]])
    assert np.isfinite(density_ratio.loss(extreme, jnp.asarray([0, 1]), jnp.ones(2), SMALL))


# One step of training ------------------------------------------------------------------------------------------------


def one_epoch(**changes):
    return replace(DensityRatio(network="mlp", layers=1, epochs=1, warmup=1, dropout=0.0), **changes)


def output_gradient(settings, parameters, training):
    """The gradient of the training loss by the output layer, which Adam's first moment holds after one step."""
    after, _ = train(0, Training(parameters, optax.adam(1.0).init(parameters)), settings, training)
    return jax.tree.map(lambda moment: np.asarray(moment) / 0.1, optax.tree.get(after.optimiser, "mu")["output"])


def constant_network(width, output_bias):
    """Every hidden unit is 1 whatever the input, and so is every logit `output_bias`."""
    return {
        "layers": [{"weight": jnp.zeros((FEATURES + 1, width)), "bias": jnp.ones(width)}],
        "output": {"weight": jnp.zeros((width, 1)), "bias": jnp.full(1, output_bias)},
    }


@pytest.mark.parametrize("probability", [0.2, 0.5])
def test_dropout_drops_its_share_and_keeps_the_mean(probability):
    width = 4_000
    # A network sure of "demonstration" has an error of 1 on the policy sample alone: its gradient is half the units.
    gradient = output_gradient(
        one_epoch(width=width, dropout=probability),
        constant_network(width, 20.0),
        classes(jnp.zeros((1, 1, FEATURES)), jnp.zeros((1, 1, FEATURES))),
    )
    units = 2 * gradient["weight"][:, 0]
    dropped = np.abs(units) < 1e-6
    # One random byte decides: the share may be off by half of 1/256.
    assert abs(dropped.mean() - probability) < 4 * np.sqrt(probability * (1 - probability) / width) + 0.002
    np.testing.assert_allclose(units[~dropped], 1 / (1 - probability), rtol=0.01)
    assert units.mean() == pytest.approx(1, abs=0.08)


@pytest.mark.parametrize(("demonstrations", "policy"), [(3, 40), (20, 2)])
def test_both_classes_weigh_the_same(demonstrations, policy):
    gradient = output_gradient(
        one_epoch(width=4),
        constant_network(4, 0.0),
        classes(jnp.zeros((demonstrations, 3, FEATURES)), jnp.ones((policy, 3, FEATURES))),
    )
    np.testing.assert_allclose(gradient["bias"], 0.0, atol=1e-6)


def test_policy_samples_count_by_their_shares():
    """Samples that do not count leave no trace, and the others weigh as much as all demonstrations."""
    demonstrations, policy = some_descriptors(4), some_descriptors(6, seed=1)
    settings, shares = one_epoch(width=4), np.array([1, 0, 0.5, 0, 0, 0.5], np.float32)
    parameters = network(settings).parameters
    found = output_gradient(settings, parameters, Classes(demonstrations, policy, shares))
    repeated = classes(np.repeat(demonstrations, 2, axis=0), policy[[0, 0, 2, 5]])
    assert_same(found, output_gradient(settings, parameters, repeated), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("batch_norm", [False, True])
def test_the_rate_is_a_share_of_every_step(batch_norm):
    """Of the first step: later ones start elsewhere."""
    settings = one_epoch(width=4, batch_norm=batch_norm)
    start, training = network(settings), classes(some_descriptors(4), some_descriptors(6, seed=1))
    full, tenth, none = (train(0, start, settings, training, rate=rate)[0] for rate in (1.0, 0.1, 0.0))
    learned = trained(start.parameters)
    moves = jax.tree.map(lambda new, old: new - old, trained(full.parameters), learned)
    # Adam's first step is the learning rate by every parameter whose slope is not tiny.
    assert np.median(np.abs(np.concatenate([np.ravel(leaf) for leaf in jax.tree.leaves(moves)]))) == pytest.approx(
        settings.learning_rate, rel=1e-3
    )
    expected = jax.tree.map(lambda old, move: old + 0.1 * move, learned, moves)
    assert_same(trained(tenth.parameters), expected, rtol=0, atol=1e-6)
    assert_same(trained(none.parameters), learned, rtol=0)
    # Adam's moments and the running statistics know nothing of the rate.
    assert_same((tenth.optimiser, running(tenth)), (full.optimiser, running(full)), rtol=0)


def trained(parameters):
    """The parameters that follow a gradient."""
    layers = [
        {name: leaf for name, leaf in layer.items() if not name.startswith("running")} for layer in parameters["layers"]
    ]
    return parameters | {"layers": layers}


def running(state):
    return [
        {name: leaf for name, leaf in layer.items() if name.startswith("running")}
        for layer in state.parameters["layers"]
    ]


def test_running_statistics_become_those_of_the_data():
    settings = one_epoch(width=5, batch_norm=True, learning_rate=1e-9, epochs=30)
    state = network(settings)
    training = classes(3 + some_descriptors(20), 2 * some_descriptors(30, seed=1))
    after, _ = train(0, state, settings, training)
    samples = samples_of(training)
    phase = np.broadcast_to(np.linspace(0, 1, STEPS)[:, None], (50, STEPS, 1))
    before, layer = state.parameters["layers"][0], after.parameters["layers"][0]
    hidden = np.concatenate([samples, phase], axis=2) @ np.asarray(before["weight"]) + np.asarray(before["bias"])
    left = 0.9**30
    np.testing.assert_allclose(layer["running_mean"], (1 - left) * hidden.mean(axis=(0, 1)), atol=1e-4)
    np.testing.assert_allclose(layer["running_variance"], (1 - left) * hidden.var(axis=(0, 1)) + left, rtol=1e-3)


# Known ratios --------------------------------------------------------------------------------------------------------

SHIFT = np.array([0.4, 0.7, 1.0, 1.3])
"""Policy samples are N(0, 1) at every step, demonstrations N(SHIFT, 1), all steps independent."""
LEARNER = DensityRatio(
    layers=1, width=24, kernel=3, dropout=0.0, learning_rate=5e-3, batch=256, epochs=25, warmup=10, patience=5
)


def gaussian_classes(demonstrations, policy, seed=0):
    rng = np.random.default_rng(seed)
    p = rng.normal(SHIFT, 1, (demonstrations, len(SHIFT)))
    q = rng.normal(0, 1, (policy, len(SHIFT)))
    return classes(p[..., None].astype(np.float32), q[..., None].astype(np.float32))


def learned(settings, demonstrations=2_000, policy=2_000):
    """Logits [n, T] on fresh samples of both classes, and the true ratio of every step."""
    training, held = gaussian_classes(demonstrations, policy), gaussian_classes(200, 200, seed=1)
    after, epochs = train(0, network(settings, features=1), settings, training, held)
    assert settings.warmup <= epochs <= settings.epochs
    fresh = samples_of(gaussian_classes(500, 500, seed=2))
    return np.asarray(logits(after.parameters, settings, fresh)), step_ratios(fresh)


def step_ratios(samples):
    """log N(x | SHIFT, 1) - log N(x | 0, 1) at every step: [n, T]."""
    return samples[..., 0] * SHIFT - SHIFT**2 / 2


def seen(settings):
    """Which steps [T, T] each step's logit can see: its ratio is the sum over them."""
    gap = np.subtract.outer(np.arange(len(SHIFT)), np.arange(len(SHIFT)))
    reach = (settings.layers + 1) * (settings.kernel // 2)
    return {"mlp": gap == 0, "cnn": abs(gap) <= reach, "lstm": gap >= 0}[settings.network].astype(float)


def assert_ratio(found, expected, error):
    assert np.corrcoef(np.ravel(found), np.ravel(expected))[0, 1] > 0.97
    assert np.mean(np.abs(found - expected)) < error


@pytest.mark.parametrize("kind", ["mlp", "cnn", "lstm"])
def test_stepwise_training_finds_the_ratio_of_what_each_step_sees(kind):
    settings = replace(LEARNER, network=kind)
    found, ratios = learned(settings)
    assert_ratio(found, ratios @ seen(settings).T, 0.3)


def test_trajectory_training_finds_the_ratio_of_whole_trajectories():
    found, ratios = learned(replace(LEARNER, loss="trajectory"))
    assert_ratio(found.sum(axis=1), ratios.sum(axis=1), 0.3)


def test_unequal_numbers_do_not_shift_the_ratio():
    found, ratios = learned(replace(LEARNER, network="mlp"), 400, 3_600)
    # A network that took the classes at their numbers would be off by log 9 = 2.2.
    assert abs(np.mean(found - ratios)) < 0.15


# Early stopping ------------------------------------------------------------------------------------------------------


def noise_classes(seed=0):
    """Two classes that do not differ."""
    return classes(*np.random.default_rng(seed).normal(size=(2, 20, 3, FEATURES)).astype(np.float32))


def updates(state):
    """Gradient steps that Adam has counted."""
    return int(optax.tree.get(state.optimiser, "count"))


MINIBATCHES = replace(SMALL, dropout=0.3, epochs=4, warmup=1, patience=1, batch=16)


def test_without_validation_all_epochs_are_trained_in_all_batches():
    after, epochs = train(0, network(MINIBATCHES), MINIBATCHES, noise_classes())
    assert epochs == 4
    assert updates(after) == 4 * 3
    for leaf in jax.tree.leaves(after.parameters):
        assert np.all(np.isfinite(leaf))


def test_training_is_repeatable_and_its_key_matters():
    one, same, other = (
        train(seed, network(MINIBATCHES), MINIBATCHES, noise_classes())[0].parameters for seed in (0, 0, 1)
    )
    assert_same(one, same, rtol=0)
    assert np.abs(one["output"]["weight"] - other["output"]["weight"]).max() > 1e-5


def test_the_optimiser_lives_through_iterations():
    once, _ = train(0, network(MINIBATCHES), MINIBATCHES, noise_classes())
    twice, _ = train(1, once, MINIBATCHES, noise_classes())
    assert updates(twice) == 2 * updates(once)


IMPATIENT = replace(SMALL, epochs=200, warmup=5, patience=3, learning_rate=0.003, dropout=0.2)


def test_noise_stops_early_but_not_before_the_warmup():
    for seed in range(3):
        held = noise_classes(seed + 10)
        after, epochs = train(seed, network(IMPATIENT), IMPATIENT, noise_classes(seed), held)
        assert IMPATIENT.warmup <= epochs < 100
        assert updates(after) == epochs


def test_an_ensemble_trains_like_its_networks_one_by_one():
    start = ensemble_of(IMPATIENT, 3)
    training, held = (
        jax.tree.map(lambda *leaves: jnp.stack(leaves), *map(noise_classes, seeds)) for seeds in ((0, 1, 2), (7, 8, 9))
    )
    together, epochs = quick(jax.vmap(lambda key, state, p, q: density_ratio.train(key, state, IMPATIENT, p, q)))(
        jax.vmap(jax.random.key)(jnp.arange(3)), start, training, held
    )
    assert len(set(epochs.tolist())) > 1
    for i in range(3):
        alone, alone_epochs = train(i, member(start, i), IMPATIENT, member(training, i), member(held, i))
        assert alone_epochs == epochs[i]
        assert_same(member(together.parameters, i), alone.parameters, atol=1e-3)


def two_kinds(first, second):
    """Classes of 5 samples that are all +.5 or -.5, the first so many of them those of their own class."""
    signs = np.array([[1] * first + [-1] * second, [-1] * first + [1] * second])
    return classes(*np.broadcast_to(0.5 * signs[..., None, None], (2, 5, 3, FEATURES)).astype(np.float32))


PURE, MIXED = two_kinds(5, 0), two_kinds(3, 2)
"""Training on the pure classes makes the networks ever surer, which the mixed ones reward only up to log 3/2."""
STEADY = one_epoch(width=8, learning_rate=0.02)


def networks_by_epoch(start, epochs):
    """Epochs on pure classes differ in nothing random: they can be repeated one by one."""
    state, every = start, {}
    for number in range(1, epochs + 1):
        state, _ = train(0, state, STEADY, PURE)
        every[number] = state.parameters
    return every


def mixed_loss(parameters):
    step_logits = logits(parameters, STEADY, samples_of(MIXED))
    return float(density_ratio.loss(step_logits, jnp.repeat(jnp.asarray([1, 0]), 5), jnp.ones(10), STEADY))


def test_training_returns_the_best_network_when_patience_runs_out():
    settings = replace(STEADY, epochs=100, warmup=2, patience=3)
    start = network(settings)
    after, epochs = train(0, start, settings, PURE, MIXED)
    assert epochs < 100
    every = networks_by_epoch(start, int(epochs))
    best = min(every, key=lambda number: mixed_loss(every[number]))
    assert best > settings.warmup + 1
    assert epochs == best + settings.patience
    assert_same(after.parameters, every[best], rtol=1e-4, atol=1e-5)


def test_training_keeps_the_last_network_when_all_epochs_were_run():
    settings = replace(STEADY, epochs=30, warmup=1, patience=100)
    start = network(settings)
    after, epochs = train(0, start, settings, PURE, MIXED)
    assert epochs == 30
    every = networks_by_epoch(start, 30)
    assert mixed_loss(every[30]) > min(map(mixed_loss, every.values())) + 1e-3
    assert_same(after.parameters, every[30], rtol=1e-4, atol=1e-5)


def test_early_stopping_looks_at_the_loss_only_after_the_warmup():
    settings = replace(STEADY, epochs=100, warmup=40, patience=3)
    start = network(settings)
    after, epochs = train(0, start, settings, PURE, MIXED)
    # By then the loss rises: the first network looked at is the best.
    assert epochs == 40 + 1 + 3
    assert_same(after.parameters, networks_by_epoch(start, 41)[41], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("share", "samples", "held"), [(0.1, 30, 3), (0.0, 30, 0), (0.25, 10, 2)])
def test_a_share_of_the_samples_is_held_out(share, samples, held):
    assert density_ratio.held_out(replace(SMALL, validation=share), samples) == held


@pytest.mark.parametrize(
    "wrong",
    [
        {"layers": 0},
        {"networks": 0},
        {"networks": 10**5},
        {"loss": "squared"},
        {"batch": 1},
        {"validation": 1.0},
        {"warmup": 26},
        {"warmup": 0},
        {"patience": 0},
        {"learning_rate": 0.0},
        {"decay": -0.1},
        {"decay": 1.1},
        {"decay": float("nan")},
    ],
    ids=str,
)
def test_impossible_settings_are_refused(wrong):
    with pytest.raises(UserError, match=next(iter(wrong))):
        DensityRatio(**wrong)
