"""Gradient steps by hand, early stopping epoch by epoch, and training in pieces."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from helpers import (
    FEATURES,
    STEPS,
    assert_same,
    constant_network,
    member,
    output_gradient,
    quick,
    some_descriptors,
    stacked,
)
from vigor.basics.errors import UserError
from vigor.basics.settings import with_values
from vigor.learning import network_training as training
from vigor.learning import networks
from vigor.learning.network_training import Network, NetworkTraining

SMALL = with_values(NetworkTraining(), layers=2, width=6, kernel=3, networks=3, dropout=0.0, learning_rate=1e-3)

new_network = quick(training.new_network, static_argnums=(1, 2))


def cross_entropy(step_logits, rows):
    """Loss of rows (descriptors, labels)."""
    labels = rows[1][:, None]
    return jnp.mean(jax.nn.softplus(step_logits) - labels * step_logits)


def network(settings, seed=0):
    return new_network(jax.random.key(seed), settings, FEATURES)


def rows_of(ones, zeros):
    """Descriptors with label 1 and descriptors with label 0."""
    labels = np.repeat(np.array([1, 0], np.float32), [len(ones), len(zeros)])
    return np.concatenate([ones, zeros]), labels


def none_of(rows):
    return jax.tree.map(lambda leaf: leaf[:0], rows)


compiled_fit = quick(
    lambda key, fit, settings, rows, held, until, rate: training.train(
        key, fit, settings, cross_entropy, rows, held, until, rate
    ),
    static_argnums=2,
)


compiled_loss = quick(
    lambda parameters, settings, rows: cross_entropy(networks.logits(parameters, settings.architecture, rows[0]), rows),
    static_argnums=1,
)
begin, end = quick(training.begin), quick(training.end, static_argnums=0)


def train(seed, start, settings, rows, held=None, until=10**6, rate=1.0):
    """Network and epochs after training; without held samples all epochs are trained."""
    held = none_of(rows) if held is None else held
    fit = compiled_fit(jax.random.key(seed), begin(start), settings, rows, held, until, rate)
    return end(settings, fit), fit.epoch


# One step ------------------------------------------------------------------------------------------------------------


def one_epoch(**changes):
    return with_values(
        NetworkTraining(), **{"network": "mlp", "layers": 1, "epochs": 1, "warmup": 1, "dropout": 0.0} | changes
    )


def test_dropout_drops_its_share_and_keeps_the_mean():
    width, probability = 4_000, 0.2
    parameters = constant_network(width, 20.0)
    nothing = np.zeros((1, 1, FEATURES), np.float32)
    # A network sure of label 1 has an error of 1 on the sample with label 0 alone: its gradient is half the units.
    after, _ = train(
        0,
        Network(parameters, optax.adam(1.0).init(parameters)),
        one_epoch(width=width, dropout=probability),
        rows_of(nothing, nothing),
    )
    units = 2 * output_gradient(after.optimiser)["weight"][:, 0]
    dropped = np.abs(units) < 1e-6
    # One random byte decides: the share may be off by half of 1/256.
    assert abs(dropped.mean() - probability) < 4 * np.sqrt(probability * (1 - probability) / width) + 0.002
    np.testing.assert_allclose(units[~dropped], 1 / (1 - probability), rtol=0.01)
    assert units.mean() == pytest.approx(1, abs=0.08)


NORMALISED = one_epoch(width=5, batch_norm=True, epochs=30)
FIFTY = rows_of(3 + some_descriptors(20), 2 * some_descriptors(30, seed=1))


def test_the_rate_is_a_share_of_every_step():
    """The first step: later ones start elsewhere."""
    start = network(NORMALISED)
    full, tenth, none = (train(0, start, NORMALISED, FIFTY, until=1, rate=rate)[0] for rate in (1.0, 0.1, 0.0))
    learned = trained(start.parameters)
    moves = jax.tree.map(lambda new, old: new - old, trained(full.parameters), learned)
    # Adam's first step is the learning rate by every parameter whose slope is not tiny.
    assert np.median(np.abs(np.concatenate([np.ravel(leaf) for leaf in jax.tree.leaves(moves)]))) == pytest.approx(
        NORMALISED.learning_rate, rel=1e-3
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
    start = network(NORMALISED)
    after, _ = train(0, start, NORMALISED, FIFTY, rate=0.0)
    phase = np.broadcast_to(np.linspace(0, 1, STEPS)[:, None], (50, STEPS, 1))
    before, layer = start.parameters["layers"][0], after.parameters["layers"][0]
    hidden = np.concatenate([FIFTY[0], phase], axis=2) @ np.asarray(before["weight"]) + np.asarray(before["bias"])
    hidden = np.where(hidden > 0, hidden, 0.01 * hidden)
    left = 0.9**30
    np.testing.assert_allclose(layer["running_mean"], (1 - left) * hidden.mean(axis=(0, 1)), atol=1e-4)
    np.testing.assert_allclose(layer["running_variance"], (1 - left) * hidden.var(axis=(0, 1)) + left, rtol=1e-3)


# Batches -------------------------------------------------------------------------------------------------------------


def noise_rows(seed=0):
    """Two classes that do not differ."""
    return rows_of(*np.random.default_rng(seed).normal(size=(2, 20, 3, FEATURES)).astype(np.float32))


def updates(state):
    """Gradient steps that Adam has counted."""
    return int(optax.tree.get(state.optimiser, "count"))


MINIBATCHES = with_values(SMALL, dropout=0.3, epochs=4, warmup=1, patience=1, batch=16)


def test_without_validation_all_epochs_are_trained_in_all_batches():
    after, epochs = train(0, network(MINIBATCHES), MINIBATCHES, noise_rows())
    assert epochs == 4
    assert updates(after) == 4 * 3
    for leaf in jax.tree.leaves(after.parameters):
        assert np.all(np.isfinite(leaf))


def batches_seen(samples, settings, *seeds):
    """Samples in every batch, [seed, epoch, batch, sample]."""
    seen = []

    def watched(step_logits, rows):
        jax.debug.callback(lambda numbers: seen.append(np.asarray(numbers)), rows[1], ordered=True)
        return jnp.mean(step_logits)

    rows = some_descriptors(samples), jnp.arange(samples)
    train_watched = quick(lambda key, fit: training.train(key, fit, settings, watched, rows, none_of(rows)))
    for seed in seeds:
        jax.block_until_ready(train_watched(jax.random.key(seed), begin(network(settings))))
        jax.effects_barrier()
    return np.array(seen).reshape(len(seeds), settings.epochs, -1, min(samples, settings.batch))


def test_every_epoch_shuffles_and_fills_the_last_batch_with_rows_of_the_first():
    seen, other = batches_seen(10, one_epoch(width=4, epochs=3, batch=4), 0, 1)
    assert seen.shape == (3, 3, 4)
    for order in seen.reshape(3, 12):
        np.testing.assert_array_equal(np.sort(order[:10]), np.arange(10))
        np.testing.assert_array_equal(order[10:], order[:2])
    assert len({tuple(order) for order in seen.reshape(3, 12).tolist()}) == 3
    assert np.any(other != seen)


@pytest.mark.parametrize("samples", [3, 4])
def test_samples_that_fit_one_batch_are_trained_at_once(samples):
    (seen,) = batches_seen(samples, one_epoch(width=4, epochs=2, batch=4), 0)
    assert seen.shape == (2, 1, samples)
    np.testing.assert_array_equal(np.sort(seen[:, 0]), np.broadcast_to(np.arange(samples), (2, samples)))


def test_training_is_repeatable_and_its_key_matters():
    one, same, other = (
        train(seed, network(MINIBATCHES), MINIBATCHES, noise_rows())[0].parameters for seed in (0, 0, 1)
    )
    assert_same(one, same, rtol=0)
    assert np.abs(one["output"]["weight"] - other["output"]["weight"]).max() > 1e-5


# Early stopping ------------------------------------------------------------------------------------------------------

IMPATIENT = with_values(SMALL, epochs=200, warmup=5, patience=3, learning_rate=0.003, dropout=0.2)


def test_noise_stops_early_but_not_before_the_warmup():
    for seed in range(3):
        after, epochs = train(seed, network(IMPATIENT), IMPATIENT, noise_rows(seed), noise_rows(seed + 10))
        assert IMPATIENT.warmup <= epochs < 100
        assert updates(after) == epochs


def test_an_ensemble_trains_like_its_networks_one_by_one():
    start = stacked([network(IMPATIENT, seed) for seed in range(3)])
    rows, held = (stacked(map(noise_rows, seeds)) for seeds in ((0, 1, 2), (7, 8, 9)))

    def one(key, start, rows, held):
        fit = training.train(key, training.begin(start), IMPATIENT, cross_entropy, rows, held)
        return training.end(IMPATIENT, fit), fit.epoch

    together, epochs = quick(jax.vmap(one))(jax.vmap(jax.random.key)(jnp.arange(3)), start, rows, held)
    assert len(set(epochs.tolist())) > 1
    for i in range(3):
        alone, alone_epochs = train(i, member(start, i), IMPATIENT, member(rows, i), member(held, i))
        assert alone_epochs == epochs[i]
        assert_same(member(together.parameters, i), alone.parameters, atol=1e-3)


def two_kinds(first, second):
    """Labels of 5 samples each that are all +.5 or -.5, the first so many of them those of their own label."""
    signs = np.array([[1] * first + [-1] * second, [-1] * first + [1] * second])
    return rows_of(*np.broadcast_to(0.5 * signs[..., None, None], (2, 5, 3, FEATURES)).astype(np.float32))


PURE, MIXED = two_kinds(5, 0), two_kinds(3, 2)
"""Training on pure labels makes the networks ever surer, which the mixed ones reward only up to log 3/2."""
STEADY = one_epoch(width=8, learning_rate=0.02)


@pytest.fixture(scope="module")
def by_epoch():
    """Networks after each of 41 epochs on pure labels. These differ in nothing random: they can be repeated one by
    one."""
    state, every = network(STEADY), {}
    for number in range(1, 42):
        state, _ = train(0, state, STEADY, PURE)
        every[number] = state.parameters
    return every


def mixed_loss(parameters):
    return compiled_loss(parameters, STEADY, MIXED)


def test_training_returns_the_best_network_when_patience_runs_out(by_epoch):
    settings = with_values(STEADY, epochs=100, warmup=2, patience=3)
    after, epochs = train(0, network(settings), settings, PURE, MIXED)
    assert epochs < 41
    every = {number: by_epoch[number] for number in range(1, int(epochs) + 1)}
    best = min(every, key=lambda number: mixed_loss(every[number]))
    assert best > settings.warmup + 1
    assert epochs == best + settings.patience
    assert_same(after.parameters, every[best], rtol=1e-4, atol=1e-5)


def test_training_keeps_the_last_network_when_all_epochs_were_run(by_epoch):
    settings = with_values(STEADY, epochs=30, warmup=1, patience=100)
    after, epochs = train(0, network(settings), settings, PURE, MIXED)
    assert epochs == 30
    assert mixed_loss(by_epoch[30]) > min(mixed_loss(by_epoch[number]) for number in range(1, 31)) + 1e-3
    assert_same(after.parameters, by_epoch[30], rtol=1e-4, atol=1e-5)


def test_early_stopping_looks_at_the_loss_only_after_the_warmup(by_epoch):
    settings = with_values(STEADY, epochs=100, warmup=40, patience=3)
    after, epochs = train(0, network(settings), settings, PURE, MIXED)
    # By then the loss rises: the first network looked at is the best.
    assert epochs == 40 + 1 + 3
    assert_same(after.parameters, by_epoch[41], rtol=1e-4, atol=1e-5)


# In pieces -----------------------------------------------------------------------------------------------------------

PIECES = with_values(
    SMALL, layers=1, batch_norm=True, dropout=0.3, epochs=60, warmup=4, patience=5, batch=16, learning_rate=0.03
)


def pieces(settings, held, *untils):
    """The fits after training until each of these epochs, one after the other."""
    fits = [begin(network(settings))]
    for until in untils:
        fits.append(compiled_fit(jax.random.key(3), fits[-1], settings, noise_rows(), held, until, 0.5))
    return fits[1:]


@pytest.mark.parametrize("stops_early", [False, True])
def test_training_in_pieces_is_training_at_once(stops_early):
    """To the bit: shuffling, dropout, running statistics, Adam's moments, and what early stopping has seen."""
    held = noise_rows(10) if stops_early else none_of(noise_rows())
    settings = PIECES if stops_early else with_values(PIECES, epochs=12)
    (whole,) = pieces(settings, held, settings.epochs)
    first, second, last = pieces(settings, held, 3, 7, settings.epochs)
    assert (first.epoch, second.epoch) == (3, 7)
    assert 7 < last.epoch < 60
    assert (last.waited == settings.patience) == stops_early
    assert_same(last, whole, rtol=0)
    assert_same(end(settings, last), end(settings, whole), rtol=0)
    assert np.abs(first.network.parameters["output"]["weight"] - last.network.parameters["output"]["weight"]).max() > 0


@pytest.mark.parametrize("stops_early", [False, True])
def test_nothing_is_trained_beyond_the_end(stops_early):
    """Neither an earlier epoch than the one reached, nor a later one than the last."""
    held = noise_rows(10) if stops_early else none_of(noise_rows())
    settings = PIECES if stops_early else with_values(PIECES, epochs=12)
    reached, back, last, beyond = pieces(settings, held, 5, 2, settings.epochs, 10**6)
    assert_same(back, reached, rtol=0)
    assert_same(beyond, last, rtol=0)


@pytest.mark.parametrize(
    ("share", "samples", "held"), [(0.1, 30, 3), (0.0, 30, 0), (0.25, 10, 2), (0.1, 3, 1), (0.5, 1, 1)]
)
def test_a_share_of_the_samples_is_held_out(share, samples, held):
    assert training.held_out(with_values(SMALL, validation=share), samples) == held


@pytest.mark.parametrize(
    "wrong",
    [
        {"networks": 0},
        {"networks": 10**5},
        {"batch": 1},
        {"validation": 1.0},
        {"validation": float("nan")},
        {"warmup": 26},
        {"warmup": 0},
        {"patience": 0},
        {"learning_rate": 0.0},
        {"learning_rate": float("nan")},
        {"learning_rate": float("inf")},
    ],
    ids=str,
)
def test_impossible_settings_are_refused(wrong):
    with pytest.raises(UserError, match=next(iter(wrong))):
        NetworkTraining(**wrong)
