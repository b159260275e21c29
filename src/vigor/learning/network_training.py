"""Gradient training of one network with early stopping, in pieces that can be continued exactly.

`Fit` is everything that training changes; `train` takes it through epochs on the device. What is learned is a loss of
the network's logits on batches of rows: any pytree of arrays with samples first and descriptors as its first leaf.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from vigor.basics.errors import UserError
from vigor.learning import networks
from vigor.learning.networks import Architecture, Parameters

Array = jax.Array
Loss = Callable[[Array, Any], Array]
"""A loss of logits [N, T] and the rest of the rows they belong to."""


@dataclass(frozen=True)
class NetworkTraining:
    """An ensemble of networks and how it is trained."""

    architecture: Architecture = Architecture()
    networks: int = 5
    """Networks in the ensemble; the reward is their mean."""
    learning_rate: float = 2e-3
    """Learning rate of Adam."""
    batch: int = 64
    """Trajectories per gradient step."""
    epochs: int = 16
    """At most this many passes over the samples."""
    warmup: int = 11
    """Epochs before early stopping looks at the validation loss."""
    patience: int = 10
    """Epochs without a better validation loss after which training stops and the best weights return."""
    validation: float = 0.0
    """Share of the samples held out for early stopping; 0 trains all epochs."""

    def __post_init__(self) -> None:
        if self.networks < 1 or self.batch < 2:
            raise UserError("networks must be at least 1, and batch at least 2")
        if self.networks > 10**4:
            raise UserError("networks must be at most 10,000")
        if not 0 <= self.validation <= 0.5:
            raise UserError("validation must be from 0 to .5")
        if self.warmup < 1 or self.patience < 1:
            raise UserError("warmup and patience must be positive")
        if self.epochs < self.warmup:
            raise UserError(f"epochs ({self.epochs}) must be at least warmup ({self.warmup}); lower warmup")
        if not 0 < self.learning_rate < math.inf:
            raise UserError(f"learning_rate must be positive and finite, not {self.learning_rate}")


class Network(NamedTuple):
    """A network and its optimiser."""

    parameters: Parameters
    optimiser: Any


class Fit(NamedTuple):
    """A network on its way through the epochs."""

    epoch: Array
    """Epochs done."""
    waited: Array
    """Epochs since the validation loss was best."""
    best_loss: Array
    best: Parameters
    """Parameters at the best validation loss."""
    network: Network


def parameters_like(settings: NetworkTraining, features: int) -> Parameters:
    """Shapes of a network's parameters."""
    return jax.eval_shape(lambda: networks.random_parameters(jax.random.key(0), settings.architecture, features))


def new_network(key: Array, settings: NetworkTraining, features: int) -> Network:
    """A network for `features` descriptors per step, and its optimiser."""
    parameters = networks.random_parameters(key, settings.architecture, features)
    return Network(parameters, _optimiser(settings).init(parameters))


def begin(network: Network) -> Fit:
    zero = jnp.zeros((), jnp.int32)
    return Fit(zero, zero, jnp.full((), jnp.inf, jnp.float32), network.parameters, network)


def end(settings: NetworkTraining, fit: Fit) -> Network:
    """The best weights if patience ran out, and the last ones when all epochs were run."""
    stopped = fit.waited >= settings.patience
    parameters = jax.tree.map(lambda best, last: jnp.where(stopped, best, last), fit.best, fit.network.parameters)
    return Network(parameters, fit.network.optimiser)


def held_out(settings: NetworkTraining, samples: int) -> int:
    """Number of samples that early stopping keeps for itself: at least one, unless it is off."""
    return max(1, round(settings.validation * samples)) if settings.validation > 0 else 0


def _optimiser(settings: NetworkTraining) -> Any:
    import optax  # To load it takes as long as to plan, which does without.

    return optax.adam(settings.learning_rate)


def train(
    key: Array,
    fit: Fit,
    settings: NetworkTraining,
    loss: Loss,
    rows: Any,
    held: Any,
    until: int | Array | None = None,
    rate: float | Array = 1.0,
) -> Fit:
    """Train up to an epoch (by default all), or until patience runs out; vmap for an ensemble.

    rows, held: samples to learn from and to stop early by, [sample, ...]; rate: share of the learning rate. Random
    numbers come from the key and the epoch, so that training in pieces is the same as at once.
    """
    descriptors = jax.tree.leaves(rows)[0]
    samples, steps = descriptors.shape[:2]
    batches = -(-samples // settings.batch)
    optimiser = _optimiser(settings)
    key, key_noise = jax.random.split(key)
    noise = networks.noise(key_noise, settings.architecture, min(samples, settings.batch), steps)

    def batch_loss(parameters: Parameters, key: Array, batch: Any) -> tuple[Array, list[Parameters]]:
        step_logits, layers = networks.forward(
            parameters, settings.architecture, jax.tree.leaves(batch)[0], (key, noise)
        )
        return loss(step_logits, batch), layers

    def gradient_step(network: Network, key: Array, batch: Any) -> Network:
        gradients, layers = jax.grad(batch_loss, has_aux=True)(network.parameters, key, batch)
        updates, moments = optimiser.update(gradients, network.optimiser)
        parameters = jax.tree.map(lambda old, update: old + rate * update, network.parameters, updates)
        if settings.architecture.batch_norm:
            running = ("running_mean", "running_variance")
            parameters["layers"] = [
                new | {name: layer[name] for name in running}
                for new, layer in zip(parameters["layers"], layers, strict=True)
            ]
        return Network(parameters, moments)

    def epoch(network: Network, number: Array) -> Network:
        key_shuffle, key_dropout = jax.random.split(jax.random.fold_in(key, number))
        if batches == 1:
            return gradient_step(network, key_dropout, rows)
        # The last batch is filled up with rows of the first, so that all have one shape and none counts for nothing.
        order = jax.random.permutation(key_shuffle, samples)
        order = jnp.resize(order, (batches * settings.batch,))

        def one_batch(network: Network, item: tuple[Array, Array]) -> tuple[Network, None]:
            number, index = item
            batch = jax.tree.map(lambda leaf: leaf[index], rows)
            return gradient_step(network, jax.random.fold_in(key_dropout, number), batch), None

        items = (jnp.arange(batches), order.reshape(batches, settings.batch))
        return jax.lax.scan(one_batch, network, items)[0]

    def held_loss(parameters: Parameters) -> Array:
        return loss(networks.logits(parameters, settings.architecture, jax.tree.leaves(held)[0]), held)

    def one_epoch(fit: Fit) -> Fit:
        network = epoch(fit.network, fit.epoch)
        warm = fit.epoch >= settings.warmup
        found = jax.lax.cond(warm, held_loss, lambda _: jnp.inf, network.parameters)
        better = found < fit.best_loss
        best = jax.tree.map(lambda new, old: jnp.where(better, new, old), network.parameters, fit.best)
        waited = jnp.where(better | ~warm, 0, fit.waited + 1)
        return Fit(fit.epoch + 1, waited, jnp.minimum(found, fit.best_loss), best, network)

    last = settings.epochs if until is None else jnp.minimum(until, settings.epochs)
    if jax.tree.leaves(held)[0].shape[0]:
        return jax.lax.while_loop(lambda fit: (fit.epoch < last) & (fit.waited < settings.patience), one_epoch, fit)
    network = jax.lax.fori_loop(fit.epoch, last, lambda number, network: epoch(network, number), fit.network)
    return fit._replace(epoch=jnp.maximum(fit.epoch, last), network=network)
