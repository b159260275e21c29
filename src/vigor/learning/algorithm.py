"""Algorithm 1 of the paper: match the descriptors of demonstrations in every context, demonstrated or not.

One iteration is one pure function of a state; many iterations, or a batch of runs, are one compiled program.
Randomness comes from the run's key folded with the iteration, so a resumed run repeats the uninterrupted one exactly.
"""

import math
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from vigor.basics.batching import each
from vigor.basics.errors import UserError
from vigor.demonstrations.dataset import Demonstrations, Split, trajectories
from vigor.learning import density_ratio, mixture, policy_update
from vigor.learning import network_training as training
from vigor.learning.density_ratio import Classes, DensityRatio
from vigor.learning.mixture import Mixture
from vigor.learning.policy_update import PolicyUpdate
from vigor.tasks.task import Task

Array = jax.Array

# What keys are folded with, beside the iteration's number.
_START, _SPLIT = 2**31 - 1, 2**31 - 2


@dataclass(frozen=True)
class Config(PolicyUpdate):
    """Settings of VIGOR."""

    memory: int = 1
    """Iterations whose policy samples the networks are trained on; 1 is the paper's."""
    misplaced: float = 1.0
    """How much demonstrations seen in other contexts than their own count beside policy samples, as what the networks
    tell demonstrations from; 0 is the paper's."""
    sharpness: float = 0.3
    weights: Literal["fixed", "rewarded", "closed-form", "kl-bounded"] = "rewarded"
    density_ratio: DensityRatio = field(default_factory=DensityRatio)
    """The networks and their training."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 1 <= self.memory <= 10**6:
            raise UserError("memory must be from 1 to a million")
        if not 0 <= self.misplaced < math.inf:
            raise UserError(f"misplaced must be 0 or more, and finite, not {self.misplaced}")
        self.check_networks(self.density_ratio.networks)


class Problem(NamedTuple):
    """What one run learns from. A batch of runs has a leading axis on every array."""

    key: Array
    """Random key of the run."""
    train_contexts: Array
    """[context, C]: contexts with demonstrations."""
    test_contexts: Array
    """[context, C]: contexts without."""
    demonstrations: Array
    """[demonstration, T, features]: descriptors of the training contexts' demonstrations, context by context."""
    weights: Array
    """[demonstration, D]: their movement-primitive weights."""
    trajectories: Array
    """[demonstration, T, dimensions]: their trajectories."""

    @property
    def contexts(self) -> Array:
        """All contexts, training contexts first."""
        return jnp.concatenate([self.train_contexts, self.test_contexts])


class State(NamedTuple):
    """Everything an iteration changes."""

    iteration: Array
    """Iterations done."""
    mixtures: Mixture
    """One mixture per context."""
    ensemble: training.Network
    """[network, ...]"""
    memory: Array
    """[memory - 1, network, sample, T, features]: policy samples of the iterations before, newest first."""
    epochs: Array
    """[network]: epochs trained in the last iteration."""
    reward: Array
    """[context, component]: mean reward in the last iteration."""


def initial(task: Task, config: Config, problem: Problem) -> State:
    """Mixtures and networks before the first iteration."""
    contexts = problem.contexts.shape[0]
    key = jax.random.fold_in(problem.key, _START)
    key_mixtures, key_networks = jax.random.split(key)
    mixtures = jax.vmap(lambda key: policy_update.initial(key, task, config, problem.weights))(
        jax.random.split(key_mixtures, contexts)
    )
    ensemble = jax.vmap(lambda key: density_ratio.initial(key, config.density_ratio, problem.demonstrations))(
        jax.random.split(key_networks, config.density_ratio.networks)
    )
    samples = jax.eval_shape(lambda key: _policy_samples(key, task, config, problem, mixtures), key)
    memory = jnp.zeros((config.memory - 1, *samples.shape), samples.dtype)
    return State(
        jnp.zeros((), jnp.int32),
        mixtures,
        ensemble,
        memory,
        jnp.zeros(config.density_ratio.networks, jnp.int32),
        jnp.zeros((contexts, config.components)),
    )


def iterate(task: Task, config: Config, problem: Problem, state: State) -> State:
    """One iteration of Algorithm 1."""
    key = jax.random.fold_in(problem.key, state.iteration)
    key_samples, key_misplaced, key_networks, key_update = jax.random.split(key, 4)

    # Gather new policy samples.
    fresh = _policy_samples(key_samples, task, config, problem, state.mixtures)[None]
    # In the first iteration they stand in for those of earlier ones.
    known = jnp.concatenate([fresh, jnp.where(state.iteration == 0, fresh, state.memory)])

    # Train the discriminators (Eq. 3).
    samples, held = _split(config, problem, known)
    if config.misplaced and problem.train_contexts.shape[0] > 1:
        samples = _with_misplaced(key_misplaced, task, config, problem, samples)
    keys = jax.random.split(key_networks, config.density_ratio.networks)
    rate = 1 - (1 - config.density_ratio.decay) * state.iteration / config.iterations
    ensemble, epochs = each(
        lambda key, network, rows, held: density_ratio.train(key, network, config.density_ratio, rows, held, rate),
        keys,
        state.ensemble,
        samples,
        held,
    )

    # Update the policy of every context with the discriminators (Eq. 1).
    reward = partial(density_ratio.reward, config.density_ratio)
    mixtures, rewards = policy_update.update(
        key_update, task, config, reward, ensemble.parameters, problem.contexts, state.mixtures
    )
    return State(state.iteration + 1, mixtures, ensemble, known[:-1], epochs, rewards)


def _policy_samples(key: Array, task: Task, config: Config, problem: Problem, mixtures: Mixture) -> Array:
    """Descriptors of fresh policy samples [network, sample, T, features] in random order.

    They are about as many as the demonstrations. Every network draws its own, evenly from all contexts; from some
    of them if these are more than the demonstrations.
    """
    contexts = problem.contexts
    count, networks = contexts.shape[0], config.density_ratio.networks
    shown = problem.demonstrations.shape[0]
    per_context = -(-shown // count)
    key_weights, key_order = jax.random.split(key)
    if config.weights == "rewarded":
        # Components that fail must be seen, or the networks forget what is wrong with them.
        mixtures = mixtures._replace(log_weights=jnp.zeros_like(mixtures.log_weights))
    weights = jax.vmap(partial(mixture.sample, samples=networks * per_context))(
        jax.random.split(key_weights, count), mixtures
    )
    descriptors = jax.vmap(jax.vmap(task.describe_weights, (0, None)))(weights, contexts)
    descriptors = descriptors.reshape(count, networks, per_context, *descriptors.shape[2:])
    descriptors = jnp.swapaxes(descriptors, 0, 1).reshape(networks, count * per_context, *descriptors.shape[3:])
    kept = count * per_context if per_context > 1 else shown
    order = jnp.argsort(jax.random.uniform(key_order, descriptors.shape[:2]))[:, :kept]
    return jax.vmap(lambda samples, order: samples[order])(descriptors, order)


def _split(config: Config, problem: Problem, known: Array) -> tuple[Classes, Classes]:
    """Training and validation samples of every network, [network, sample, ...].

    known: [memory, network, sample, T, features]. Each network holds out demonstrations of its own, the same throughout
    the run. Policy samples come in random order, so those held out when they were fresh stay held out while they are
    remembered.
    """
    networks = known.shape[1]
    key = jax.random.fold_in(problem.key, _SPLIT)
    order = jnp.argsort(jax.random.uniform(key, (networks, problem.demonstrations.shape[0])))
    demonstrations, policy = problem.demonstrations[order], jnp.swapaxes(known, 0, 1)
    held_p = training.held_out(config.density_ratio, demonstrations.shape[1])
    held_q = training.held_out(config.density_ratio, known.shape[2])

    def classes(demonstrations: Array, policy: Array) -> Classes:
        policy = policy.reshape(networks, -1, *policy.shape[3:])
        return Classes(demonstrations, policy, jnp.ones(policy.shape[:2]))

    return classes(demonstrations[:, held_p:], policy[:, :, held_q:]), classes(
        demonstrations[:, :held_p], policy[:, :, :held_q]
    )


def _with_misplaced(key: Array, task: Task, config: Config, problem: Problem, samples: Classes) -> Classes:
    """Training samples [network, sample, ...] with misplaced demonstrations among those to tell demonstrations from.

    A demonstration is described as if its context were another: one on the straight line to the context of other
    demonstrations, anywhere on it. It is as smooth as a demonstration and misses by little or much, so it shows the
    networks what policies near the edge of what was demonstrated show too seldom: that only the context makes it wrong.
    Every network draws its own.
    """
    contexts, networks = problem.train_contexts, samples.shares.shape[0]
    count, shown = contexts.shape[0], problem.trajectories.shape[0]
    own = jnp.repeat(jnp.arange(count), shown // count)
    key_other, key_way = jax.random.split(key)
    other = (own + jax.random.randint(key_other, (networks, shown), 1, count)) % count
    way = jax.random.uniform(key_way, (networks, shown, 1))
    seen = contexts[own] + way * (contexts[other] - contexts[own])
    misplaced = jax.vmap(lambda seen: jax.vmap(task.describe)(problem.trajectories, seen))(seen)
    total = jnp.sum(samples.shares, axis=1, keepdims=True)
    shares = jnp.broadcast_to(config.misplaced * total / shown, (networks, shown))
    return samples._replace(
        policy=jnp.concatenate([samples.policy, misplaced], axis=1),
        shares=jnp.concatenate([samples.shares, shares], axis=1),
    )


CHUNK = 10
"""Most iterations that one call of `advance` can do."""


@partial(jax.jit, static_argnums=(0, 1), donate_argnums=(3,))
def advance(task: Task, config: Config, problems: Problem, states: State, iterations: int | Array) -> tuple[State, Any]:
    """Take a batch of runs [run, ...] through at most CHUNK iterations as one program, whatever their number.

    Also returns the networks after each iteration, [iteration, run, network, ...] in half precision; those beyond
    `iterations` mean nothing.
    """

    def step(states: State) -> State:
        return each(lambda problem, state: iterate(task, config, problem, state), problems, states)

    def one(states: State, number: Array) -> tuple[State, Any]:
        states = jax.lax.cond(number < iterations, step, lambda states: states, states)
        return states, jax.tree.map(lambda leaf: leaf.astype(jnp.float16), states.ensemble.parameters)

    return jax.lax.scan(one, states, jnp.arange(CHUNK))


@partial(jax.jit, static_argnums=(0, 1))
def start(task: Task, config: Config, problems: Problem) -> State:
    """A batch of runs [run, ...] before the first iteration."""
    return jax.vmap(lambda problem: initial(task, config, problem))(problems)


def fit(task: Task, config: Config, problems: Problem) -> State:
    """Algorithm 1 from start to end, for a batch of runs [run, ...]."""
    states = start(task, config, problems)
    for done in range(0, config.iterations, CHUNK):
        states, _ = advance(task, config, problems, states, min(CHUNK, config.iterations - done))
    return states


def problem(task: Task, demonstrations: Demonstrations, split: Split, seed: int, raw: bool = False) -> Problem:
    """What a run with this seed and split learns from. Stack several with `jax.tree.map` for a batch of runs."""
    chosen = split.demonstrations.reshape(-1)
    joints = jnp.asarray(trajectories(task, demonstrations, raw)[chosen], jnp.float32)
    contexts = demonstrations.contexts[demonstrations.context_of[chosen]]
    descriptors = jax.jit(jax.vmap(task.describe))(joints, contexts.astype(np.float32))
    return Problem(
        jax.random.key(seed),
        jnp.asarray(split.train_contexts, jnp.float32),
        jnp.asarray(split.test_contexts, jnp.float32).reshape(-1, task.context_dimension),
        descriptors,
        jnp.asarray(demonstrations.weights[chosen], jnp.float32),
        joints,
    )
