"""Networks against plain loops, gradients against finite differences, blocks of steps against single steps."""

import math
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import kstest

from helpers import FEATURES, STEPS, assert_same, logits, quick, some_descriptors
from vigor.basics.errors import UserError
from vigor.learning import networks
from vigor.learning.networks import Architecture

SMALL = Architecture(layers=2, width=6, kernel=3, dropout=0.0)
KINDS = pytest.mark.parametrize("kind", ["cnn", "mlp", "lstm"])


random_parameters = quick(networks.random_parameters, static_argnums=(1, 2))
forward = quick(networks.forward, static_argnums=1)


def initial(architecture, seed=0, features=FEATURES):
    return random_parameters(jax.random.key(seed), architecture, features)


def doubled(tree):
    """In double precision."""
    return jax.tree.map(lambda leaf: np.asarray(leaf, np.float64), tree)


def dropout(architecture, samples, steps, seed=0):
    """A key and noise that put a network in training mode."""
    key, key_noise = jax.random.split(jax.random.key(seed))
    return key, networks.noise(key_noise, architecture, samples, steps)


def pretend_gpu(monkeypatch):
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")


# Forward -------------------------------------------------------------------------------------------------------------


def expected_logits(parameters, architecture, descriptors):
    """The network of one trajectory [T, features] in loops over steps and window positions."""
    phase = np.linspace(0, 1, len(descriptors))[:, None]
    hidden = np.concatenate([descriptors, phase], axis=1).astype(np.float64)
    for layer in doubled(parameters["layers"]):
        if architecture.network == "lstm":
            hidden = expected_lstm(layer, hidden)
        else:
            hidden = expected_convolution(layer, hidden, architecture)
        if architecture.network != "lstm":
            hidden = np.where(hidden > 0, hidden, 0.01 * hidden)
        if architecture.batch_norm:
            hidden = (hidden - layer["running_mean"]) / np.sqrt(layer["running_variance"] + 1e-5)
            hidden = hidden * layer["scale"] + layer["shift"]
    return expected_convolution(parameters["output"], hidden, architecture)[:, 0]


def expected_convolution(layer, hidden, architecture):
    kernel = architecture.kernel if architecture.network == "cnn" else 1
    weight = np.asarray(layer["weight"], np.float64).reshape(kernel, hidden.shape[1], -1)
    rows = []
    for t in range(len(hidden)):
        row = np.asarray(layer["bias"], np.float64)
        for i in range(kernel):
            seen = t + i - kernel // 2
            if 0 <= seen < len(hidden):
                row = row + hidden[seen] @ weight[i]
        rows.append(row)
    return np.array(rows)


def expected_lstm(layer, hidden):
    width = layer["bias"].size // 4
    output, cell, rows = np.zeros(width), np.zeros(width), []
    for x in hidden:
        gates = np.concatenate([x, output]) @ layer["weight"] + layer["bias"]
        enter, forget, candidate, leave = gates.reshape(4, width)
        cell = expit(forget) * cell + expit(enter) * np.tanh(candidate)
        output = expit(leave) * np.tanh(cell)
        rows.append(output)
    return np.array(rows)


def shake_statistics(parameters):
    """The same network with running statistics, scales and shifts that are not the initial ones."""
    rng = np.random.default_rng(5)
    names = ("scale", "shift", "running_mean", "running_variance")
    layers = [
        layer | {name: jnp.asarray(rng.uniform(0.5, 2, layer[name].shape), jnp.float32) for name in names}
        for layer in parameters["layers"]
    ]
    return parameters | {"layers": layers}


@pytest.mark.parametrize(
    "architecture",
    [
        SMALL,
        replace(SMALL, kernel=5, layers=1, batch_norm=True),
        replace(SMALL, network="mlp"),
        replace(SMALL, network="lstm", batch_norm=True),
    ],
    ids=["cnn", "wide cnn with batch norm", "mlp", "lstm with batch norm"],
)
def test_logits_are_those_of_plain_loops(architecture):
    parameters = initial(architecture)
    if architecture.batch_norm:
        parameters = shake_statistics(parameters)
    descriptors = some_descriptors()
    found = logits(parameters, architecture, descriptors)
    assert found.shape == (4, STEPS)
    expected = [expected_logits(parameters, architecture, one) for one in descriptors]
    np.testing.assert_allclose(found, expected, atol=1e-5)


@KINDS
def test_a_step_sees_what_its_layers_reach(kind):
    """A cnn with two hidden layers and an output layer of kernel 3 reaches 3 steps to either side."""
    architecture, steps = replace(SMALL, network=kind), 12
    parameters = initial(architecture)
    slopes = quick(jax.jacrev(lambda one: networks.logits(parameters, architecture, one[None])[0]))(
        some_descriptors(steps=steps)[0]
    )
    gap = np.subtract.outer(np.arange(steps), np.arange(steps))
    seen = {"cnn": np.abs(gap) <= 3, "mlp": gap == 0, "lstm": gap >= 0}[kind]
    np.testing.assert_array_equal(np.any(np.asarray(slopes) != 0, axis=-1), seen)


# Gradients and blocks ------------------------------------------------------------------------------------------------


@KINDS
def test_gradients_are_those_of_finite_differences(kind):
    architecture = replace(SMALL, network=kind, kernel=5)
    parameters, descriptors = doubled(initial(architecture)), doubled(some_descriptors(3))
    rng = np.random.default_rng(1)
    weights = rng.normal(size=(3, STEPS))
    direction = jax.tree.map(lambda leaf: rng.normal(size=leaf.shape), (parameters, descriptors))

    def value(parameters, descriptors):
        return jnp.sum(weights * networks.logits(parameters, architecture, descriptors))

    def moved(step):
        return jax.tree.map(lambda leaf, along: leaf + step * along, (parameters, descriptors), direction)

    with jax.enable_x64(True):
        value_and_slopes = quick(jax.value_and_grad(value, argnums=(0, 1)))
        _, slopes = value_and_slopes(parameters, descriptors)
        expected = float(value_and_slopes(*moved(1e-6))[0] - value_and_slopes(*moved(-1e-6))[0]) / 2e-6
    pairs = zip(jax.tree.leaves(slopes), jax.tree.leaves(direction), strict=True)
    assert sum(np.sum(np.asarray(slope) * along) for slope, along in pairs) == pytest.approx(expected, rel=1e-6)


def trained_in_blocks(monkeypatch, block, architecture, steps):
    """Logits in training mode, layers, and a sum of logits' slopes by parameters and descriptors, all in double."""
    parameters, descriptors = doubled(initial(architecture)), doubled(some_descriptors(2, steps))
    weights = np.random.default_rng(1).normal(size=(2, steps))
    mode = dropout(architecture, 2, steps)

    def value(parameters, descriptors):
        found, layers = networks.forward(parameters, architecture, descriptors, mode)
        return jnp.sum(weights * found), (found, layers)

    monkeypatch.setattr(networks, "_block", lambda architecture, steps: block)
    with jax.enable_x64(True):
        (_, found), slopes = quick(jax.value_and_grad(value, argnums=(0, 1), has_aux=True))(parameters, descriptors)
    return found, slopes


@pytest.mark.parametrize(
    ("kernel", "batch_norm", "block"), [(3, False, 6), (5, True, 3), (7, False, 2)], ids=["3", "5 norm", "7"]
)
def test_blocks_of_steps_change_nothing(monkeypatch, kernel, batch_norm, block):
    """A block of 2 is smaller than what a kernel of 7 reaches."""
    architecture = replace(SMALL, layers=1, kernel=kernel, batch_norm=batch_norm)
    expected = trained_in_blocks(monkeypatch, 1, architecture, 30)
    found = trained_in_blocks(monkeypatch, block, architecture, 30)
    assert_same(found, expected, rtol=1e-9, atol=1e-12)


def convolved_in_blocks(block, kernel, steps):
    """A convolution of [T, N, in] to [T, N, out] in blocks, and its slopes by weight and input, in double."""
    rng = np.random.default_rng(2)
    weight, hidden, slope = (rng.normal(size=shape) for shape in ((kernel * 3, 4), (steps, 2, 3), (steps, 2, 4)))

    def convolve(weight, hidden):
        blocks = hidden.reshape(-1, block, 2, 3).swapaxes(1, 2).reshape(-1, 2, block * 3)
        found = networks._convolve(weight, blocks, kernel, block, hidden.dtype)
        return found.reshape(-1, 2, block, 4).swapaxes(1, 2).reshape(steps, 2, 4)

    def found_and_slopes(weight, hidden, slope):
        found, pull = jax.vjp(convolve, weight, hidden)
        return found, pull(slope)

    with jax.enable_x64(True):
        return quick(found_and_slopes)(weight, hidden, slope)


@pytest.mark.parametrize("kernel", [3, 5, 7])
def test_convolutions_in_blocks_of_any_size_are_those_of_single_steps(kernel):
    expected = convolved_in_blocks(1, kernel, 30)
    for block in (2, 3, 5, 6):
        assert_same(convolved_in_blocks(block, kernel, 30), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("block", [2, 3, 6])
def test_sequences_shorter_than_a_kernel_are_convolved_too(block):
    """A single block, whose neighbours on both sides are padding."""
    expected = convolved_in_blocks(1, 7, block)
    assert_same(convolved_in_blocks(block, 7, block), expected, rtol=1e-9, atol=1e-12)


def test_a_cpu_takes_single_steps():
    assert networks._block(SMALL, 48) == 1


@pytest.mark.parametrize(("steps", "block"), [(48, 8), (50, 5), (49, 7), (100, 5), (12, 6), (9, 3), (4, 4), (101, 1)])
def test_a_gpu_takes_blocks_that_divide_the_steps(monkeypatch, steps, block):
    pretend_gpu(monkeypatch)
    assert networks._block(SMALL, steps) == block
    assert networks._block(replace(SMALL, network="mlp"), steps) == 1
    assert networks._block(replace(SMALL, network="lstm"), steps) == 1


@KINDS
def test_half_precision_is_close_to_single(monkeypatch, kind):
    """Numbers that a GPU computes, on this machine: hidden units in bfloat16, of two to three digits."""
    architecture, descriptors = replace(SMALL, network=kind), some_descriptors(8, steps=24)
    parameters = initial(architecture)

    def found():
        return np.asarray(quick(lambda: networks.logits(parameters, architecture, descriptors))())

    single = found()
    pretend_gpu(monkeypatch)
    half = found()
    assert half.dtype == np.float32
    assert 1e-6 < np.abs(half - single).max() < 0.03 * np.abs(single).max()


# Training mode -------------------------------------------------------------------------------------------------------


def single_units(layers):
    """Networks of one unit per layer that pass a 1 on to the logit."""
    first = {"weight": jnp.zeros((FEATURES + 1, 1)), "bias": jnp.ones(1)}
    later = {"weight": jnp.ones((1, 1)), "bias": jnp.zeros(1)}
    return {"layers": [first] + [later] * (layers - 1), "output": later}


@pytest.mark.parametrize(("probability", "layers"), [(0.05, 1), (0.2, 2), (0.5, 2)])
def test_dropout_drops_every_layers_units_on_their_own_and_keeps_the_mean(probability, layers):
    architecture = Architecture(network="mlp", layers=layers, width=1, dropout=probability)
    samples, steps = 60, 100
    parameters, nothing = single_units(layers), jnp.zeros((samples, steps, FEATURES))
    one, same, other = (
        np.asarray(forward(parameters, architecture, nothing, dropout(architecture, samples, steps, seed))[0])
        for seed in (0, 0, 1)
    )
    kept, share = one != 0, (1 - probability) ** layers
    spread = math.sqrt(share * (1 - share) / one.size)
    # One random byte decides: the share of each layer may be off by half of 1/256.
    assert abs(kept.mean() - share) < 4 * spread + 0.002 * layers
    np.testing.assert_allclose(one[kept], one.max(), rtol=1e-6)
    assert one.max() == pytest.approx(1 / share, rel=0.01)
    assert one.mean() == pytest.approx(1, abs=4 * spread / share + 1e-6)
    # Samples and steps are dropped on their own too.
    for axis in (0, 1):
        rows = kept.mean(axis=axis)
        assert np.var(rows) == pytest.approx(share * (1 - share) / kept.shape[axis], rel=0.6)
    np.testing.assert_array_equal(one, same)
    assert np.mean((one != 0) & (other != 0)) == pytest.approx(share**2, abs=0.05)


def test_nothing_is_dropped_in_evaluation():
    architecture = Architecture(network="mlp", layers=2, width=1, dropout=0.5)
    found = logits(single_units(2), architecture, jnp.zeros((3, STEPS, FEATURES)))
    np.testing.assert_array_equal(found, 1.0)


@KINDS
def test_batch_norm_uses_the_batch_while_training_and_remembers_a_tenth_of_it(kind):
    architecture, mode = replace(SMALL, network=kind, batch_norm=True), dropout(SMALL, 5, STEPS)
    before, descriptors = doubled(shake_statistics(initial(architecture))), doubled(some_descriptors(5))
    with jax.enable_x64(True):
        found, layers = doubled(forward(before, architecture, descriptors, mode))
    # A running statistic after: nine tenths of the one before and a tenth of the batch's.
    batch = [
        layer | {name: (new[name] - 0.9 * layer[name]) / 0.1 for name in ("running_mean", "running_variance")}
        for layer, new in zip(before["layers"], layers, strict=True)
    ]
    expected = [expected_logits(before | {"layers": batch}, architecture, one) for one in descriptors]
    np.testing.assert_allclose(found, expected, atol=1e-9)
    # The batch's, of the first layer.
    inputs = [np.concatenate([one, np.linspace(0, 1, STEPS)[:, None]], axis=1) for one in descriptors]
    layer = before["layers"][0]
    if kind == "lstm":
        hidden = np.concatenate([expected_lstm(layer, one) for one in inputs])
    else:
        hidden = np.concatenate([expected_convolution(layer, one, architecture) for one in inputs])
        hidden = np.where(hidden > 0, hidden, 0.01 * hidden)
    np.testing.assert_allclose(batch[0]["running_mean"], hidden.mean(axis=0), atol=1e-9)
    np.testing.assert_allclose(batch[0]["running_variance"], hidden.var(axis=0), atol=1e-9)


def test_evaluation_leaves_running_statistics_alone():
    architecture = replace(SMALL, batch_norm=True)
    parameters = initial(architecture)
    _, layers = forward(parameters, architecture, some_descriptors(), None)
    assert_same(layers, parameters["layers"], rtol=0)


# Initial parameters --------------------------------------------------------------------------------------------------


@KINDS
def test_initial_parameters_are_spread_evenly(kind):
    width, kernel, features = 40, 3, 11
    parameters = initial(Architecture(network=kind, layers=3, width=width, kernel=kernel), features=features)
    reach = kernel if kind == "cnn" else 1
    gates, recurrent = (4, width) if kind == "lstm" else (1, 0)
    inputs = [reach * (features + 1) + recurrent] + [reach * width + recurrent] * 2
    expected = [(n, gates * width, width if kind == "lstm" else n) for n in inputs]
    expected.append((reach * width, 1, reach * width))
    assert len(parameters["layers"]) == 3
    normalised = []
    for layer, (rows, columns, fan) in zip([*parameters["layers"], parameters["output"]], expected, strict=True):
        assert set(layer) == {"weight", "bias"}
        assert layer["weight"].shape == (rows, columns)
        assert layer["bias"].shape == (columns,)
        for values in layer.values():
            scaled = np.ravel(values) * math.sqrt(fan)
            assert np.abs(scaled).max() <= 1 + 1e-6
            assert kstest(scaled, "uniform", (-1, 2)).pvalue > 0.001
            normalised.append(scaled)
    # No number is used twice.
    everything = np.concatenate(normalised)
    assert kstest(everything, "uniform", (-1, 2)).pvalue > 0.001
    assert len(np.unique(np.round(everything, 6))) > 0.95 * everything.size


def test_initial_networks_differ_by_their_keys():
    one, same, other = (initial(SMALL, seed)["output"]["weight"] for seed in (0, 0, 1))
    np.testing.assert_array_equal(one, same)
    assert np.abs(one - other).max() > 0.1


def test_batch_norm_changes_nothing_at_first():
    architecture = replace(SMALL, batch_norm=True)
    with_norm, without = initial(architecture), initial(SMALL)
    descriptors = some_descriptors()
    np.testing.assert_allclose(
        logits(with_norm, architecture, descriptors), logits(without, SMALL, descriptors), atol=1e-4
    )


@pytest.mark.parametrize(
    "wrong",
    [
        {"network": "rnn"},
        {"layers": 0},
        {"layers": 10**5},
        {"width": 0},
        {"width": 10**5},
        {"kernel": 4},
        {"kernel": -1},
        {"kernel": 10**5 + 1},
        {"dropout": -0.1},
        {"dropout": 1.0},
    ],
    ids=str,
)
def test_impossible_architectures_are_refused(wrong):
    with pytest.raises(UserError, match=next(iter(wrong))):
        Architecture(**wrong)
