"""Density-ratio estimation on sequences of descriptors: small networks that tell demonstrations from policy samples.

A network maps descriptors [T, features] to a logit per step. Trained by logistic regression (paper, Eq. 2 and 3) its
summed logits estimate log p(descriptors) / q(descriptors), demonstrations p over policies q: the reward of the policy
update. Functions take one network; `jax.vmap` lifts them over the ensemble and over runs.
"""

import math
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import optax

from vigor import networks
from vigor.errors import UserError
from vigor.networks import Architecture, Parameters

Array = jax.Array


@dataclass(frozen=True)
class DensityRatio(Architecture):
    """What the networks are made of and how they are trained."""

    networks: int = 5
    """Networks in the ensemble; the reward is their mean."""
    loss: Literal["stepwise", "trajectory"] = "stepwise"
    """Classify every step (paper, Eq. 3) or the sum over all steps (Eq. 2)."""
    learning_rate: float = 2e-3
    """Of Adam in the first iteration; its state lives through all iterations."""
    decay: float = 0.1
    """The learning rate falls in a straight line to this share of itself in the last iteration."""
    batch: int = 64
    """Trajectories per gradient step, both classes together."""
    epochs: int = 25
    """At most this many passes over the samples in an iteration."""
    warmup: int = 11
    """Epochs before early stopping looks at the validation loss."""
    patience: int = 10
    """Epochs without a better validation loss after which training stops and the best weights return."""
    validation: float = 0.1
    """Share of each class held out for early stopping; 0 trains all epochs."""

    def __post_init__(self) -> None:
        super().__post_init__()
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
        if not 0 <= self.decay <= 1:
            raise UserError(f"decay must be from 0 to 1, not {self.decay}")


class Training(NamedTuple):
    """A network and its optimiser, as they live through the iterations."""

    parameters: Parameters
    optimiser: Any


def initial(key: Array, settings: DensityRatio, features: int) -> Training:
    """A network for `features` descriptors per step, and its optimiser."""
    parameters = networks.initial(key, settings, features)
    return Training(parameters, _optimiser(settings).init(parameters))


def reward(parameters: Parameters, settings: DensityRatio, descriptors: Array) -> Array:
    """One network's log density ratio, [N], of descriptors [N, T, features]: the sum of its logits."""
    return jnp.sum(networks.logits(parameters, settings, descriptors), axis=-1)


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
    key: Array,
    state: Training,
    settings: DensityRatio,
    training: Classes,
    validation: Classes,
    rate: float | Array = 1.0,
) -> tuple[Training, Array]:
    """Train one network for one iteration of Algorithm 1; vmap for an ensemble. Also returns the epochs trained.

    rate: share of the learning rate.

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
    noise = networks.noise(key_noise, settings, min(samples.shape[0], settings.batch), samples.shape[1])

    def batch_loss(parameters: Parameters, key: Array, rows: tuple[Array, Array, Array]) -> tuple[Array, list]:
        batch_samples, batch_labels, batch_weights = rows
        step_logits, layers = networks.forward(parameters, settings, batch_samples, (key, noise))
        return loss(step_logits, batch_labels, batch_weights, settings), layers

    def gradient_step(state: Training, key: Array, rows: tuple[Array, Array, Array]) -> Training:
        gradients, layers = jax.grad(batch_loss, has_aux=True)(state.parameters, key, rows)
        updates, moments = optimiser.update(gradients, state.optimiser)
        parameters = jax.tree.map(lambda old, update: old + rate * update, state.parameters, updates)
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

    if not held_samples.shape[0]:
        state = jax.lax.fori_loop(0, settings.epochs, lambda number, state: epoch(state, number), state)
        return state, jnp.asarray(settings.epochs)

    def held_loss(parameters: Parameters) -> Array:
        return loss(networks.logits(parameters, settings, held_samples), held_labels, held_weights, settings)

    def watched(carry):
        number, waited, best_loss, best, state = carry
        state = epoch(state, number)
        warm = number >= settings.warmup
        found = jax.lax.cond(warm, held_loss, lambda _: jnp.inf, state.parameters)
        better = found < best_loss
        best = jax.tree.map(lambda new, old: jnp.where(better, new, old), state.parameters, best)
        waited = jnp.where(better | ~warm, 0, waited + 1)
        return number + 1, waited, jnp.minimum(found, best_loss), best, state

    def goes_on(carry):
        return (carry[0] < settings.epochs) & (carry[1] < settings.patience)

    start = (jnp.asarray(0), jnp.asarray(0), jnp.asarray(jnp.inf), state.parameters, state)
    number, waited, _, best, state = jax.lax.while_loop(goes_on, watched, start)
    out_of_patience = waited >= settings.patience
    parameters = jax.tree.map(lambda b, last: jnp.where(out_of_patience, b, last), best, state.parameters)
    return Training(parameters, state.optimiser), number
