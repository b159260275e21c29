"""Behavioural cloning: an MLP maps inputs to a Gaussian mixture over outputs, by maximum likelihood of what was
demonstrated with a small reward for entropy (paper, appendix B). What BC and BC-GMM share, by trajectory or by step."""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from vigor.baselines import mixture_network
from vigor.baselines.mixture_network import Gaussians
from vigor.basics.errors import UserError

Array = jax.Array

EPOCHS = 100
"""Epochs that count as one step of a run."""
_START, _SPLIT = 2**31 - 1, 2**31 - 2


@dataclass(frozen=True)
class CloningSettings:
    """Settings of behavioural cloning."""

    components: int = 5
    """Gaussians in the mixture; 1 is plain behavioural cloning."""
    layers: int = 2
    """Hidden layers."""
    width: int = 64
    """Neurons per hidden layer."""
    batch: int = 64
    """Demonstrated pairs of input and output per gradient step."""
    learning_rate: float = 3e-4
    """Learning rate of Adam."""
    epochs: int = 3000
    """Passes over the demonstrations."""
    entropy: float = 1e-3
    """Weight of the entropy beside the likelihood."""
    train_weights: bool = False
    """Learn the weights of the components; otherwise they stay equal."""
    validation: float = 0.0
    """Share of the pairs held out for early stopping; 0 trains all epochs."""
    patience: int = 10
    """Steps of 100 epochs without a better validation loss after which training stops; the best parameters return."""

    def __post_init__(self) -> None:
        if min(self.components, self.layers, self.width, self.batch, self.epochs, self.patience) < 1:
            raise UserError("components, layers, width, batch, epochs and patience must be positive")
        if max(self.components, self.layers, self.width, self.batch) > 10**4:
            raise UserError("components, layers, width and batch must be at most 10,000")
        if not 0 < self.learning_rate < math.inf or not 0 <= self.entropy < math.inf:
            raise UserError("learning_rate must be positive, and entropy not negative")
        if not 0 <= self.validation <= 0.5:
            raise UserError("validation must be from 0 to .5")

    @property
    def steps(self) -> int:
        return -(-self.epochs // EPOCHS)


class CloningState(NamedTuple):
    """Everything a step changes."""

    iteration: Array
    """Steps done."""
    parameters: Any
    optimiser: Any
    best: Any
    """Parameters at the best validation loss."""
    best_loss: Array
    waited: Array
    """Steps since the validation loss was best."""


def policy(parameters: Any, settings: CloningSettings, inputs: Array) -> Gaussians:
    """Mixtures for inputs [n, I]."""
    return mixture_network.apply(parameters, inputs, settings.components, settings.train_weights)


def loss(parameters: Any, settings: CloningSettings, inputs: Array, outputs: Array) -> Array:
    """Negative log likelihood of outputs [n, D] for inputs [n, I], less the weighted entropy."""
    found = policy(parameters, settings, inputs)
    likelihood = mixture_network.log_likelihoods(found, outputs)
    return -jnp.mean(likelihood + settings.entropy * mixture_network.entropies(found))


def _optimiser(settings: CloningSettings) -> Any:
    import optax  # To load it takes as long as to plan, which does without.

    return optax.adam(settings.learning_rate)


def start(key: Array, settings: CloningSettings, inputs: int, outputs: int) -> CloningState:
    """A run before the first step, for so many numbers of input and output."""
    parameters = mixture_network.random_parameters(
        jax.random.fold_in(key, _START), inputs, settings.width, settings.layers, settings.components, outputs
    )
    moments = _optimiser(settings).init(parameters)
    zero = jnp.zeros((), jnp.int32)
    return CloningState(zero, parameters, moments, parameters, jnp.full((), jnp.inf, jnp.float32), zero)


def step(key: Array, settings: CloningSettings, inputs: Array, outputs: Array, state: CloningState) -> CloningState:
    """One step of a run: EPOCHS passes over inputs [n, I] and outputs [n, D]."""
    shown = outputs.shape[0]
    order = jax.random.permutation(jax.random.fold_in(key, _SPLIT), shown)
    held = max(1, round(settings.validation * shown)) if settings.validation > 0 else 0
    kept, learned = order[:held], order[held:]
    batches = -(-learned.shape[0] // settings.batch)
    first = state.iteration * EPOCHS

    def epoch(number: Array, carry: tuple[Any, Any]) -> tuple[Any, Any]:
        shuffled = jax.random.permutation(jax.random.fold_in(key, number), learned)
        index = jnp.resize(shuffled, (batches, settings.batch))

        def gradient_step(carry: tuple[Any, Any], index: Array) -> tuple[tuple[Any, Any], None]:
            parameters, moments = carry
            slopes = jax.grad(loss)(parameters, settings, inputs[index], outputs[index])
            updates, moments = _optimiser(settings).update(slopes, moments)
            return (jax.tree.map(jnp.add, parameters, updates), moments), None

        return jax.lax.scan(gradient_step, carry, index)[0]

    stopped = state.waited >= settings.patience
    last = jnp.where(stopped, first, jnp.minimum(first + EPOCHS, settings.epochs))
    parameters, moments = jax.lax.fori_loop(first, last, epoch, (state.parameters, state.optimiser))
    state = state._replace(iteration=state.iteration + 1, parameters=parameters, optimiser=moments)
    if not held:
        return state._replace(best=parameters)
    found = loss(parameters, settings, inputs[kept], outputs[kept])
    better = found < state.best_loss
    best = jax.tree.map(lambda new, old: jnp.where(better, new, old), parameters, state.best)
    waited = jnp.where(better, 0, state.waited + 1)
    return state._replace(best=best, best_loss=jnp.minimum(found, state.best_loss), waited=waited)
