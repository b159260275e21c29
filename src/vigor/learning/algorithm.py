"""Algorithm 1 of the paper: match the descriptors of demonstrations in every context, demonstrated or not.

One iteration is one pure function of a state; many iterations, or a batch of runs, are one compiled program.
Randomness comes from the run's key folded with the iteration, so a resumed run repeats the uninterrupted one exactly.
"""

import math
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from vigor.basics.batching import each
from vigor.basics.errors import UserError
from vigor.learning import density_ratio, network_training, policy_samples, policy_update, prediction, shares
from vigor.learning.density_ratio import DensityRatio
from vigor.learning.misplaced import with_misplaced
from vigor.learning.mixture import Mixture
from vigor.learning.network_training import Network
from vigor.learning.policy_update import PolicyUpdate
from vigor.learning.problem import Problem
from vigor.tasks.task import Task

Array = jax.Array

_START, _WEIGHTS = 2**31 - 1, 2**31 - 3
"""Numbers that the run's key is folded with, beside those of iterations."""


@dataclass(frozen=True)
class VigorSettings:
    """Settings of VIGOR."""

    update: PolicyUpdate = PolicyUpdate(sharpness=0.3, weights="rewarded")
    density_ratio: DensityRatio = DensityRatio()
    stall: int = 20
    """Iterations in which predicted success must rise, or training stops; 0 for all iterations, whatever is predicted
    (the paper's)."""
    misplaced: float = 1.0
    """Share of demonstrations seen in other contexts than their own, beside policy samples, in what the networks tell
    demonstrations from; 0 is the paper's."""

    def __post_init__(self) -> None:
        if not 0 <= self.misplaced < math.inf:
            raise UserError(f"misplaced must be 0 or more, and finite, not {self.misplaced}")
        if not 0 <= self.stall <= 10**6:
            raise UserError(f"stall must be from 0 to a million, not {self.stall}")
        self.update.check_networks(self.density_ratio.training.networks)


class VigorState(NamedTuple):
    """Everything an iteration changes."""

    iteration: Array
    """Iterations done."""
    mixtures: Mixture
    """One mixture per context."""
    ensemble: Network
    """[network, ...]"""
    epochs: Array
    """[network]: epochs trained in the last iteration."""
    reward: Array
    """[context, component]: mean reward in the last iteration."""


def first_state(task: Task, settings: VigorSettings, problem: Problem) -> VigorState:
    """Mixtures and networks before the first iteration."""
    contexts, networks = problem.contexts.shape[0], settings.density_ratio.training.networks
    key_mixtures, key_networks = jax.random.split(jax.random.fold_in(problem.key, _START))
    mixtures = jax.vmap(
        lambda key, context: policy_update.first_mixture(
            key, task, settings.update, problem.starts, problem.invariants, context
        )
    )(jax.random.split(key_mixtures, contexts), problem.contexts)
    training = settings.density_ratio.training
    ensemble = jax.vmap(lambda key: network_training.new_network(key, training, task.features))(
        jax.random.split(key_networks, networks)
    )
    zero, epochs = jnp.zeros((), jnp.int32), jnp.zeros(networks, jnp.int32)
    return VigorState(zero, mixtures, ensemble, epochs, jnp.zeros_like(mixtures.log_weights))


def iterate(task: Task, settings: VigorSettings, problem: Problem, state: VigorState) -> VigorState:
    """One iteration of Algorithm 1."""
    key = jax.random.fold_in(problem.key, state.iteration)
    key_samples, key_misplaced, key_networks, key_update = jax.random.split(key, 4)
    networks = settings.density_ratio.training.networks

    # Gather new policy samples.
    drawn_from = policy_update.with_equal_weights(settings.update, state.mixtures)
    fresh = policy_samples.draw(key_samples, task, networks, problem, drawn_from)

    # Train the discriminators (Eq. 3).
    samples, held = policy_samples.split(settings.density_ratio.training, problem, fresh)
    samples = with_misplaced(key_misplaced, task, settings.misplaced, problem, samples)
    view = partial(density_ratio.view, settings.density_ratio, problem.invariants)
    samples, held = samples.seen(view), held.seen(view)
    keys = jax.random.split(key_networks, networks)
    rate = 1 - (1 - settings.density_ratio.decay) * state.iteration / settings.update.iterations
    ensemble, epochs = each(
        lambda key, network, rows, held: density_ratio.train(key, network, settings.density_ratio, rows, held, rate),
        keys,
        state.ensemble,
        samples,
        held,
    )

    # Update the policy of every context with the discriminators (Eq. 1).
    reward = partial(density_ratio.reward, settings.density_ratio, problem.invariants)
    mixtures, rewards = policy_update.update(
        key_update, task, settings.update, reward, ensemble.parameters, problem.contexts, state.mixtures
    )
    return VigorState(state.iteration + 1, mixtures, ensemble, epochs, rewards)


@partial(jax.jit, static_argnums=(0, 1))
def start(task: Task, settings: VigorSettings, problems: Problem) -> VigorState:
    """A batch of runs [run, ...] before the first iteration."""
    return jax.vmap(lambda problem: first_state(task, settings, problem))(problems)


def advance(
    task: Task, settings: VigorSettings, problems: Problem, states: VigorState, iterations: int
) -> tuple[VigorState, Any]:
    """Take a batch of runs [run, ...] through some iterations.

    Also returns the networks after each iteration, [iteration, run, network, ...] in half precision.
    """
    parts = []
    for done in range(0, max(iterations, 1), CHUNK):
        count = min(CHUNK, iterations - done)
        states, networks = _advance(task, settings, problems, states, count)
        parts.append(networks if count == CHUNK else _first(count, networks))
    return states, parts[0] if len(parts) == 1 else jax.tree.map(lambda *leaves: jnp.concatenate(leaves), *parts)


CHUNK = 10
"""Most iterations of one compiled program, whatever their number."""


@partial(jax.jit, static_argnums=0)
def _first(count: int, networks: Any) -> Any:
    """Networks of the first so many iterations."""
    return jax.tree.map(lambda leaf: leaf[:count], networks)


@partial(jax.jit, static_argnums=(0, 1), donate_argnums=(3,))
def _advance(
    task: Task, settings: VigorSettings, problems: Problem, states: VigorState, iterations: Array
) -> tuple[VigorState, Any]:
    """`advance` by at most CHUNK iterations; networks beyond these mean nothing."""

    def step(states: VigorState) -> VigorState:
        return each(lambda problem, state: iterate(task, settings, problem, state), problems, states)

    def one(states: VigorState, number: Array) -> tuple[VigorState, Any]:
        states = jax.lax.cond(number < iterations, step, lambda states: states, states)
        return states, jax.tree.map(lambda leaf: leaf.astype(jnp.float16), states.ensemble.parameters)

    return jax.lax.scan(one, states, jnp.arange(CHUNK))


@partial(jax.jit, static_argnums=(0, 1))
def policies(task: Task, settings: VigorSettings, problems: Problem, states: VigorState) -> Mixture:
    """Mixtures of all contexts [run, context, ...], their components drawn as often as is shown if so set."""
    if settings.update.weights == "fixed":
        return states.mixtures
    return jax.vmap(lambda *one: _judged(task, settings, *one)[0])(problems, states.mixtures)


@partial(jax.jit, static_argnums=(0, 1))
def promise(task: Task, settings: VigorSettings, problems: Problem, states: VigorState) -> Array:
    """Predicted success of components as they are drawn, in log odds, a mean over all contexts [run]: when to stop."""

    def one(problem: Problem, mixtures: Mixture) -> Array:
        weighed, success = _judged(task, settings, problem, mixtures)
        odds = jax.scipy.special.logit(jnp.clip(success, 1e-6, 1 - 1e-6))
        return jnp.mean(jnp.sum(jnp.exp(weighed.log_weights) * odds, axis=-1))

    return jax.vmap(one)(problems, states.mixtures)


def _judged(task: Task, settings: VigorSettings, problem: Problem, mixtures: Mixture) -> tuple[Mixture, Array]:
    """A run's mixtures [context, ...] as its policies have them, and their components' predicted success."""
    key = jax.random.fold_in(problem.key, _WEIGHTS)
    success = prediction.component_success(key, task, problem.invariants, problem.contexts, mixtures)
    fixed = settings.update.weights == "fixed"
    if fixed:
        return mixtures, success
    return shares.weighed(task, problem.starts, problem.invariants, problem.contexts, mixtures, success), success


def fit(task: Task, settings: VigorSettings, problems: Problem) -> VigorState:
    """Algorithm 1 from start to end, for a batch of runs [run, ...]."""
    states = start(task, settings, problems)
    return advance(task, settings, problems, states, settings.update.iterations)[0]
