"""Behavioural cloning of whole trajectories (paper, appendix B.3): BC(T), and BC-GMM(T) with several components.

An MLP maps a context to a Gaussian mixture over movement-primitive weights, by maximum likelihood of the demonstrated
weights with a small reward for entropy.
"""

import math
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax

from vigor.algorithm import Problem
from vigor.errors import UserError
from vigor.mixture import Mixture
from vigor.tasks.task import Task

Array = jax.Array

EPOCHS = 100
"""Epochs that count as one step of a run."""
_START, _SPLIT = 2**31 - 1, 2**31 - 2
_LOG_DEVIATIONS = (-5.0, 2.0)
"""Range of the logarithm of standard deviations; without one the likelihood of so few demonstrations has no bound."""


@dataclass(frozen=True)
class Config:
    """Settings of BC(T) and BC-GMM(T)."""

    components: int = 5
    """Gaussians in the mixture; 1 is BC(T)."""
    layers: int = 4
    """Hidden layers."""
    width: int = 64
    """Neurons per hidden layer."""
    batch: int = 4
    """Demonstrations per gradient step."""
    learning_rate: float = 3e-4
    """Of Adam."""
    epochs: int = 30_000
    """Passes over the demonstrations."""
    entropy: float = 1e-3
    """Weight of the entropy beside the likelihood."""
    train_weights: bool = False
    """Learn the weights of the components; otherwise they stay equal."""
    validation: float = 0.0
    """Share of the demonstrations held out for early stopping; 0 trains all epochs."""
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


class State(NamedTuple):
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


def policy(parameters: Any, config: Config, contexts: Array) -> tuple[Array, Array, Array]:
    """Log weights [n, component], means and log deviations [n, component, D] for standardised contexts [n, C]."""
    hidden = contexts
    for layer in parameters["layers"]:
        hidden = jax.nn.leaky_relu(hidden @ layer["weight"] + layer["bias"])
    output = hidden @ parameters["output"]["weight"] + parameters["output"]["bias"]
    logits, numbers = output[:, : config.components], output[:, config.components :]
    means, deviations = jnp.split(numbers.reshape(len(contexts), config.components, -1), 2, axis=-1)
    low, high = _LOG_DEVIATIONS
    weights = jax.nn.log_softmax(logits if config.train_weights else jnp.zeros_like(logits))
    return weights, means, low + (high - low) * jax.nn.sigmoid(deviations)


def loss(parameters: Any, config: Config, contexts: Array, weights: Array) -> Array:
    """Negative log likelihood of weights [n, D] in contexts [n, C], less the weighted entropy of the components."""
    log_weights, means, log_deviations = policy(parameters, config, contexts)
    standard = (weights[:, None] - means) * jnp.exp(-log_deviations)
    densities = -0.5 * jnp.sum(standard**2 + 2 * log_deviations + math.log(2 * math.pi), axis=-1)
    likelihood = jax.scipy.special.logsumexp(log_weights + densities, axis=1)
    spread = jnp.sum(jnp.exp(log_weights) * (jnp.sum(log_deviations, axis=-1) - log_weights), axis=1)
    return -jnp.mean(likelihood + config.entropy * spread)


def _standardised(problem: Problem, contexts: Array) -> Array:
    """Contexts [n, C] relative to the mean and spread of the training contexts."""
    known = problem.train_contexts
    return (contexts - jnp.mean(known, axis=0)) / (jnp.std(known, axis=0) + 1e-3)


def _optimiser(config: Config) -> optax.GradientTransformation:
    return optax.adam(config.learning_rate)


@partial(jax.jit, static_argnums=(0, 1))
def start(task: Task, config: Config, problems: Problem) -> State:
    """A batch of runs [run, ...] before the first step."""

    def one(problem: Problem) -> State:
        key = jax.random.fold_in(problem.key, _START)
        sizes = [task.context_dimension] + [config.width] * config.layers
        outputs = config.components * (1 + 2 * task.promp.weights)
        layers = []
        for number, (inputs, size) in enumerate(zip(sizes, [*sizes[1:], outputs], strict=True)):
            weight = jax.random.normal(jax.random.fold_in(key, number), (inputs, size)) / math.sqrt(inputs)
            layers.append({"weight": weight, "bias": jnp.zeros(size)})
        parameters = {"layers": layers[:-1], "output": layers[-1]}
        moments = _optimiser(config).init(parameters)
        zero = jnp.zeros((), jnp.int32)
        return State(zero, parameters, moments, parameters, jnp.full((), jnp.inf, jnp.float32), zero)

    return jax.vmap(one)(problems)


@partial(jax.jit, static_argnums=(0, 1), donate_argnums=(3,))
def advance(task: Task, config: Config, problems: Problem, states: State, steps: int | Array) -> State:
    """Take a batch of runs [run, ...] through some steps."""

    def step(problem: Problem, state: State) -> State:
        shown = problem.weights.shape[0]
        owner = jnp.repeat(_standardised(problem, problem.train_contexts), shown // len(problem.train_contexts), axis=0)
        order = jax.random.permutation(jax.random.fold_in(problem.key, _SPLIT), shown)
        held = max(1, round(config.validation * shown)) if config.validation > 0 else 0
        kept, learned = order[:held], order[held:]
        batches = -(-learned.shape[0] // config.batch)
        first = state.iteration * EPOCHS

        def epoch(number: Array, carry: tuple[Any, Any]) -> tuple[Any, Any]:
            shuffled = jax.random.permutation(jax.random.fold_in(problem.key, number), learned)
            index = jnp.resize(shuffled, (batches, config.batch))

            def gradient_step(carry: tuple[Any, Any], index: Array) -> tuple[tuple[Any, Any], None]:
                parameters, moments = carry
                slopes = jax.grad(loss)(parameters, config, owner[index], problem.weights[index])
                updates, moments = _optimiser(config).update(slopes, moments)
                return (optax.apply_updates(parameters, updates), moments), None

            return jax.lax.scan(gradient_step, carry, index)[0]

        stopped = state.waited >= config.patience
        last = jnp.where(stopped, first, jnp.minimum(first + EPOCHS, config.epochs))
        parameters, moments = jax.lax.fori_loop(first, last, epoch, (state.parameters, state.optimiser))
        state = state._replace(iteration=state.iteration + 1, parameters=parameters, optimiser=moments)
        if not held:
            return state._replace(best=parameters)
        found = loss(parameters, config, owner[kept], problem.weights[kept])
        better = found < state.best_loss
        best = jax.tree.map(lambda new, old: jnp.where(better, new, old), parameters, state.best)
        waited = jnp.where(better, 0, state.waited + 1)
        return state._replace(best=best, best_loss=jnp.minimum(found, state.best_loss), waited=waited)

    return jax.lax.fori_loop(0, steps, lambda _, states: jax.vmap(step)(problems, states), states)


@partial(jax.jit, static_argnums=(0, 1))
def mixtures(task: Task, config: Config, problems: Problem, states: State) -> Mixture:
    """The policies of all contexts of a batch of runs, [run, context, ...]."""

    def one(problem: Problem, state: State) -> Mixture:
        known = _standardised(problem, problem.contexts)
        log_weights, means, log_deviations = policy(state.best, config, known)
        return Mixture(log_weights, means, jax.vmap(jax.vmap(jnp.diag))(jnp.exp(log_deviations)))

    return jax.vmap(one)(problems, states)
