"""Density-ratio estimation on sequences of descriptors: small networks that tell demonstrations from policy samples.

A network maps descriptors [T, features] to a logit per step. Trained by logistic regression (paper, Eq. 2 and 3) its
summed logits estimate log p(descriptors) / q(descriptors), demonstrations p over policies q: the reward of the policy
update. Functions take one network; `jax.vmap` lifts them over the ensemble and over runs.
"""

import math
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import optax

from vigor.errors import UserError, check_choices

Array = jax.Array
Parameters = dict[str, Any]


@dataclass(frozen=True)
class DensityRatio:
    """What the networks are and how they are trained."""

    network: Literal["cnn", "mlp", "lstm"] = "cnn"
    """1d-CNN, MLP shared by all steps, or LSTM. All see the phase of each step beside its descriptors."""
    layers: int = 2
    """Hidden layers."""
    width: int = 32
    """Channels, neurons or LSTM units per hidden layer."""
    kernel: int = 5
    """Steps a convolution sees (cnn only, odd)."""
    networks: int = 5
    """Networks in the ensemble; the reward is their mean."""
    dropout: float = 0.2
    """Probability of dropping a unit after each hidden layer while training."""
    batch_norm: bool = False
    """Normalise every hidden layer over batch and steps."""
    loss: Literal["stepwise", "trajectory"] = "stepwise"
    """Classify every step (paper, Eq. 3) or the sum over all steps (Eq. 2)."""
    learning_rate: float = 3e-4
    """Of Adam, whose state lives through all iterations."""
    batch: int = 64
    """Trajectories per gradient step, both classes together."""
    epochs: int = 50
    """At most this many passes over the samples in an iteration."""
    warmup: int = 11
    """Epochs before early stopping looks at the validation loss."""
    patience: int = 10
    """Epochs without a better validation loss after which training stops and the best weights return."""
    validation: float = 0.1
    """Share of each class held out for early stopping; 0 trains all epochs."""

    def __post_init__(self) -> None:
        check_choices(self)
        if self.layers < 1 or self.width < 1 or self.networks < 1 or self.batch < 2:
            raise UserError("layers, width and networks must be at least 1, and batch at least 2")
        if max(self.layers, self.width, self.networks, self.kernel) > 10**4:
            raise UserError("layers, width, networks and kernel must be at most 10,000")
        if self.kernel < 1 or self.kernel % 2 == 0:
            raise UserError(f"kernel must be odd and positive, not {self.kernel}")
        if not 0 <= self.dropout <= 0.9 or not 0 <= self.validation <= 0.5:
            raise UserError("dropout must be from 0 to .9 and validation from 0 to .5")
        if self.warmup < 1 or self.patience < 1:
            raise UserError("warmup and patience must be positive")
        if self.epochs < self.warmup:
            raise UserError(f"epochs ({self.epochs}) must be at least warmup ({self.warmup}); lower warmup")
        if not 0 < self.learning_rate < math.inf:
            raise UserError(f"learning_rate must be positive and finite, not {self.learning_rate}")


class Training(NamedTuple):
    """A network and its optimiser, as they live through the iterations."""

    parameters: Parameters
    optimiser: Any


# Networks ------------------------------------------------------------------------------------------------------------


def initial(key: Array, settings: DensityRatio, features: int) -> Training:
    """A network for `features` descriptors per step, and its optimiser."""
    inputs = features + 1
    layers = []
    for _ in range(settings.layers):
        key, part = jax.random.split(key)
        layers.append(_initial_layer(part, settings, inputs))
        inputs = settings.width
    window = settings.kernel if settings.network == "cnn" else 1
    parameters: Parameters = {"layers": layers, "output": _uniform(key, window * inputs, 1)}
    return Training(parameters, _optimiser(settings).init(parameters))


def _initial_layer(key: Array, settings: DensityRatio, inputs: int) -> Parameters:
    width = settings.width
    if settings.network == "lstm":
        layer = _uniform(key, inputs + width, 4 * width, 1 / math.sqrt(width))
    else:
        layer = _uniform(key, (settings.kernel if settings.network == "cnn" else 1) * inputs, width)
    if settings.batch_norm:
        layer |= {"scale": jnp.ones(width), "shift": jnp.zeros(width)}
        layer |= {"running_mean": jnp.zeros(width), "running_variance": jnp.ones(width)}
    return layer


def _uniform(key: Array, inputs: int, outputs: int, limit: float | None = None) -> Parameters:
    """Weights and biases drawn evenly from +-1/sqrt(inputs)."""
    limit = 1 / math.sqrt(inputs) if limit is None else limit
    key_weight, key_bias = jax.random.split(key)
    return {
        "weight": jax.random.uniform(key_weight, (inputs, outputs), minval=-limit, maxval=limit),
        "bias": jax.random.uniform(key_bias, (outputs,), minval=-limit, maxval=limit),
    }


def logits(parameters: Parameters, settings: DensityRatio, descriptors: Array) -> Array:
    """Logit of every step, [N, T], of descriptors [N, T, features]; evaluation mode."""
    return _forward(parameters, settings, descriptors, None)[0]


def reward(parameters: Parameters, settings: DensityRatio, descriptors: Array) -> Array:
    """One network's log density ratio, [N], of descriptors [N, T, features]: the sum of its logits."""
    return jnp.sum(logits(parameters, settings, descriptors), axis=-1)


def _forward(
    parameters: Parameters, settings: DensityRatio, descriptors: Array, dropout: tuple[Array, Array] | None
) -> tuple[Array, list[Parameters]]:
    """Logits [N, T], and the layers with their running statistics updated.

    Training mode if a key and random bytes for dropout are given.
    """
    # Time comes first inside the networks: a shift in time is then a shift of whole blocks of memory.
    hidden = jnp.swapaxes(descriptors, 0, 1)
    phase = jnp.linspace(0.0, 1.0, hidden.shape[0])[:, None, None]
    hidden = jnp.concatenate([hidden, jnp.broadcast_to(phase, (*hidden.shape[:2], 1))], axis=-1)
    kernel = settings.kernel if settings.network == "cnn" else 1
    layers: list[Parameters] = []
    for layer in parameters["layers"]:
        if settings.network == "lstm":
            hidden = _lstm(layer, hidden)
        else:
            hidden = _convolve(layer["weight"], hidden, kernel) + layer["bias"]
        if settings.batch_norm:
            hidden, layer = _normalise(layer, hidden, training=dropout is not None)
        if settings.network != "lstm":
            hidden = jax.nn.leaky_relu(hidden)
        if dropout is not None and settings.dropout > 0:
            key, noise = dropout
            hidden = _dropout(jax.random.fold_in(key, len(layers)), hidden, settings.dropout, noise)
        layers.append(layer)
    output = _convolve(parameters["output"]["weight"], hidden, kernel) + parameters["output"]["bias"]
    return output[..., 0].T, layers


@partial(jax.custom_vjp, nondiff_argnums=(2,))
def _convolve(weight: Array, hidden: Array, kernel: int) -> Array:
    """Convolution over time with zero padding, [T, N, in] to [T, N, out], as one product of unfolded windows.

    weight: [kernel * in, out]. XLA's own convolution is many times slower on a CPU, and so is the gradient that it
    derives for the unfolding; the gradient by the input is written as what it is, a convolution with the kernel turned.
    """
    return _unfold(hidden, kernel) @ weight


def _unfold(hidden: Array, kernel: int) -> Array:
    """Windows [T, N, kernel * in] around every step of [T, N, in]."""
    if kernel == 1:
        return hidden
    steps, reach = hidden.shape[0], kernel // 2
    padded = jnp.pad(hidden, ((reach, reach), (0, 0), (0, 0)))
    return jnp.concatenate([padded[i : i + steps] for i in range(kernel)], axis=-1)


def _convolve_forward(weight: Array, hidden: Array, kernel: int) -> tuple[Array, tuple[Array, Array]]:
    windows = _unfold(hidden, kernel)
    return windows @ weight, (weight, windows)


def _convolve_backward(kernel: int, residuals: tuple[Array, Array], slope: Array) -> tuple[Array, Array]:
    weight, windows = residuals
    turned = weight.reshape(kernel, -1, weight.shape[1])[::-1].swapaxes(1, 2).reshape(kernel * weight.shape[1], -1)
    return jnp.einsum("tni,tno->io", windows, slope), _unfold(slope, kernel) @ turned


_convolve.defvjp(_convolve_forward, _convolve_backward)


def _lstm(layer: Parameters, hidden: Array) -> Array:
    """Long short-term memory over time: [T, N, in] to [T, N, width]."""
    width = layer["weight"].shape[1] // 4
    inputs = hidden.shape[-1]
    incoming = hidden @ layer["weight"][:inputs] + layer["bias"]
    recurrent = layer["weight"][inputs:]

    def step(state: tuple[Array, Array], x: Array) -> tuple[tuple[Array, Array], Array]:
        output, cell = state
        gate_in, gate_forget, candidate, gate_out = jnp.split(x + output @ recurrent, 4, axis=-1)
        cell = jax.nn.sigmoid(gate_forget) * cell + jax.nn.sigmoid(gate_in) * jnp.tanh(candidate)
        output = jax.nn.sigmoid(gate_out) * jnp.tanh(cell)
        return (output, cell), output

    zero = jnp.zeros((hidden.shape[1], width), hidden.dtype)
    return jax.lax.scan(step, (zero, zero), incoming)[1]


def _normalise(layer: Parameters, hidden: Array, training: bool) -> tuple[Array, Parameters]:
    """Batch normalisation over batch and steps, with running statistics of momentum .1."""
    if training:
        mean, variance = jnp.mean(hidden, axis=(0, 1)), jnp.var(hidden, axis=(0, 1))
        running = {
            "running_mean": 0.9 * layer["running_mean"] + 0.1 * jax.lax.stop_gradient(mean),
            "running_variance": 0.9 * layer["running_variance"] + 0.1 * jax.lax.stop_gradient(variance),
        }
    else:
        mean, variance = layer["running_mean"], layer["running_variance"]
        running = {}
    hidden = (hidden - mean) * jax.lax.rsqrt(variance + 1e-5) * layer["scale"] + layer["shift"]
    return hidden, layer | running


def _dropout(key: Array, hidden: Array, probability: float, noise: Array) -> Array:
    """Zero a share of the units and scale the rest; one random byte a unit, so the share is a multiple of 1/256.

    The bytes begin at a random place of the noise: drawing new ones for every step would cost as much as a layer.
    """
    dropped = max(1, round(256 * probability))
    place = jax.random.randint(key, (), 0, noise.shape[0] - hidden.size)
    kept = jax.lax.dynamic_slice(noise, (place,), (hidden.size,)).reshape(hidden.shape) >= dropped
    return jnp.where(kept, hidden * (256 / (256 - dropped)), 0.0)


# Training ------------------------------------------------------------------------------------------------------------


def _optimiser(settings: DensityRatio) -> optax.GradientTransformation:
    return optax.adam(settings.learning_rate)


def loss(step_logits: Array, demonstrated: Array, weights: Array, settings: DensityRatio) -> Array:
    """Binary cross-entropy of logits [N, T] (paper, Eq. 3; Eq. 2 on their sum), weighted by trajectory [N].

    demonstrated: [N], 1 for demonstrations and 0 for policy samples.
    """
    if settings.loss == "trajectory":
        step_logits = jnp.sum(step_logits, axis=1, keepdims=True)
    errors = jax.nn.softplus(step_logits) - demonstrated[:, None] * step_logits
    return jnp.sum(weights * jnp.mean(errors, axis=1)) / jnp.sum(weights)


class Classes(NamedTuple):
    """Descriptors of both classes."""

    demonstrations: Array
    """[n, T, features]"""
    policy: Array
    """[m, T, features]"""
    shares: Array
    """[m]: how much each policy sample counts among the policy samples."""

    def rows(self) -> tuple[Array, Array, Array]:
        """Samples, labels and weights of both classes together; each class weighs the same whatever its number."""
        n, m = self.demonstrations.shape[0], self.policy.shape[0]
        labels = jnp.concatenate([jnp.ones(n), jnp.zeros(m)])
        shares = self.shares / jnp.maximum(jnp.sum(self.shares), 1e-6)
        weights = jnp.concatenate([jnp.full(n, 1 / max(n, 1)), shares])
        return jnp.concatenate([self.demonstrations, self.policy]), labels, weights


def held_out(settings: DensityRatio, samples: int) -> int:
    """How many of a class's samples early stopping keeps for itself: at least one, unless it is off."""
    return max(1, round(settings.validation * samples)) if settings.validation > 0 else 0


def train(
    key: Array, state: Training, settings: DensityRatio, training: Classes, validation: Classes
) -> tuple[Training, Array]:
    """Train one network for one iteration of Algorithm 1; vmap for an ensemble. Also returns the epochs trained.

    Early stopping looks at the validation loss after the warm-up, restores the best weights when patience runs out, and
    keeps the last ones when all epochs were run. Since networks live through all iterations, validation demonstrations
    must be the same in every iteration: drawn anew each time, they would be known from earlier training, and the loss
    on them would not tell when the network starts to learn the demonstrations by heart.
    """
    samples, labels, weights = training.rows()
    held_samples, held_labels, held_weights = validation.rows()
    optimiser = _optimiser(settings)
    batches = -(-samples.shape[0] // settings.batch)
    key, key_noise = jax.random.split(key)
    units = min(samples.shape[0], settings.batch) * samples.shape[1] * settings.width
    noise = jax.random.bits(key_noise, (4 * units + 1,), jnp.uint8)

    def batch_loss(parameters: Parameters, key: Array, rows: tuple[Array, Array, Array]) -> tuple[Array, list]:
        batch_samples, batch_labels, batch_weights = rows
        step_logits, layers = _forward(parameters, settings, batch_samples, (key, noise))
        return loss(step_logits, batch_labels, batch_weights, settings), layers

    def gradient_step(state: Training, key: Array, rows: tuple[Array, Array, Array]) -> Training:
        gradients, layers = jax.grad(batch_loss, has_aux=True)(state.parameters, key, rows)
        updates, moments = optimiser.update(gradients, state.optimiser)
        parameters = optax.apply_updates(state.parameters, updates)
        if settings.batch_norm:
            running = ("running_mean", "running_variance")
            parameters["layers"] = [
                new | {name: layer[name] for name in running}
                for new, layer in zip(parameters["layers"], layers, strict=True)
            ]
        return Training(parameters, moments)

    def epoch(state: Training, number: Array) -> Training:
        key_shuffle, key_dropout = jax.random.split(jax.random.fold_in(key, number))
        if batches == 1:
            return gradient_step(state, key_dropout, (samples, labels, weights))
        # The last batch is filled up with rows of the first, so that all have one shape and none counts for nothing.
        order = jax.random.permutation(key_shuffle, samples.shape[0])
        order = jnp.resize(order, (batches * settings.batch,))

        def one_batch(state: Training, item: tuple[Array, Array]) -> tuple[Training, None]:
            number, index = item
            rows = (samples[index], labels[index], weights[index])
            return gradient_step(state, jax.random.fold_in(key_dropout, number), rows), None

        items = (jnp.arange(batches), order.reshape(batches, settings.batch))
        return jax.lax.scan(one_batch, state, items)[0]

    stops_early = held_samples.shape[0] > 0
    unwatched = settings.warmup if stops_early else settings.epochs
    state = jax.lax.fori_loop(0, unwatched, lambda i, state: epoch(state, i), state)
    if not stops_early:
        return state, jnp.asarray(unwatched)

    def watched(carry):
        number, waited, best_loss, best, state = carry
        state = epoch(state, number)
        held_loss = loss(logits(state.parameters, settings, held_samples), held_labels, held_weights, settings)
        better = held_loss < best_loss
        best = jax.tree.map(lambda new, old: jnp.where(better, new, old), state.parameters, best)
        return number + 1, jnp.where(better, 0, waited + 1), jnp.minimum(held_loss, best_loss), best, state

    def goes_on(carry):
        return (carry[0] < settings.epochs) & (carry[1] < settings.patience)

    start = (jnp.asarray(unwatched), jnp.asarray(0), jnp.asarray(jnp.inf), state.parameters, state)
    number, waited, _, best, state = jax.lax.while_loop(goes_on, watched, start)
    out_of_patience = waited >= settings.patience
    parameters = jax.tree.map(lambda b, last: jnp.where(out_of_patience, b, last), best, state.parameters)
    return Training(parameters, state.optimiser), number
