"""Algorithm 1 of the paper: match the descriptors of demonstrations in every context, demonstrated or not.

One iteration is one pure function of a state; many iterations, or a batch of runs, are one compiled program.
Randomness comes from the run's key folded with the iteration, so a resumed run repeats the uninterrupted one exactly.
"""

from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from vigor import density_ratio, mixture, policy_update, training
from vigor.batching import each
from vigor.demonstrations import Demonstrations, Split, trajectories
from vigor.density_ratio import Classes, DensityRatio
from vigor.errors import UserError
from vigor.mixture import Mixture
from vigor.policy_update import PolicyUpdate
from vigor.tasks.task import Task

Array = jax.Array

# What keys are folded with, beside the iteration's number.
_START, _SPLIT = 2**31 - 1, 2**31 - 2


@dataclass(frozen=True)
class Config(PolicyUpdate):
    """Settings of VIGOR."""

    memory: int = 1
    """Iterations whose policy samples the networks are trained on; 1 is the paper's."""
    compared: Literal["attained", "all", "training"] = "attained"
    """Contexts whose policy samples the networks see: all, those out of reach less; all (paper); demonstrated ones."""
    density_ratio: DensityRatio = field(default_factory=DensityRatio)
    """The networks and their training."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 1 <= self.memory <= 10**6:
            raise UserError("memory must be from 1 to a million")
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

    @property
    def contexts(self) -> Array:
        """All contexts, training contexts first."""
        return jnp.concatenate([self.train_contexts, self.test_contexts])


class PolicySamples(NamedTuple):
    """Descriptors of policy samples."""

    descriptors: Array
    """[..., network, sample, T, features]"""
    context: Array
    """[..., network, sample]: which context each belongs to."""


class State(NamedTuple):
    """Everything an iteration changes."""

    iteration: Array
    """Iterations done."""
    mixtures: Mixture
    """One mixture per context."""
    ensemble: training.Network
    """[network, ...]"""
    memory: PolicySamples
    """[memory - 1, network, sample, ...]: policy samples of the iterations before, newest first."""
    shares: Array
    """[context]: how much a context's policy samples count when the networks are trained."""
    epochs: Array
    """[network]: epochs trained in the last iteration."""
    reward: Array
    """[context, component]: mean reward in the last iteration."""


def initial(task: Task, config: Config, problem: Problem) -> State:
    """Mixtures and networks before the first iteration."""
    contexts = problem.contexts.shape[0]
    key = jax.random.fold_in(problem.key, _START)
    key_mixtures, key_networks = jax.random.split(key)
    mixtures = policy_update.initial(key_mixtures, task, config, contexts)
    ensemble = jax.vmap(lambda key: training.initial(key, config.density_ratio, task.features))(
        jax.random.split(key_networks, config.density_ratio.networks)
    )
    samples = jax.eval_shape(lambda key: _policy_samples(key, task, config, problem, mixtures), key)
    memory = jax.tree.map(lambda leaf: jnp.zeros((config.memory - 1, *leaf.shape), leaf.dtype), samples)
    return State(
        jnp.zeros((), jnp.int32),
        mixtures,
        ensemble,
        memory,
        jnp.ones(contexts),
        jnp.zeros(config.density_ratio.networks, jnp.int32),
        jnp.zeros((contexts, config.components)),
    )


def iterate(task: Task, config: Config, problem: Problem, state: State) -> State:
    """One iteration of Algorithm 1."""
    key = jax.random.fold_in(problem.key, state.iteration)
    key_samples, key_networks, key_update = jax.random.split(key, 3)

    # Gather new policy samples.
    fresh = _policy_samples(key_samples, task, config, problem, state.mixtures)
    known = jax.tree.map(lambda new, old: _remember(state.iteration, new, old), fresh, state.memory)

    # Train the discriminators (Eq. 3).
    keys = jax.random.split(key_networks, config.density_ratio.networks)
    rate = 1 - (1 - config.density_ratio.decay) * state.iteration / config.iterations
    ensemble, epochs = each(
        lambda key, network, rows, held: density_ratio.train(key, network, config.density_ratio, rows, held, rate),
        keys,
        state.ensemble,
        *_split(config, problem, known, state.shares),
    )

    # Update the policy of every context with the discriminators (Eq. 1).
    reward = partial(density_ratio.reward, config.density_ratio)
    mixtures, rewards = policy_update.update(
        key_update, task, config, reward, ensemble.parameters, problem.contexts, state.mixtures
    )
    shares = _shares(task, config, problem, state.shares, rewards)
    memory = jax.tree.map(lambda leaf: leaf[:-1], known)
    return State(state.iteration + 1, mixtures, ensemble, memory, shares, epochs, rewards)


def _policy_samples(key: Array, task: Task, config: Config, problem: Problem, mixtures: Mixture) -> PolicySamples:
    """Fresh policy samples [network, sample, ...] in random order, about as many as demonstrations.

    Every network draws its own, evenly from all compared contexts; from some of them if these are more than the
    demonstrations.
    """
    contexts = problem.train_contexts if config.compared == "training" else problem.contexts
    count, networks = contexts.shape[0], config.density_ratio.networks
    shown = problem.demonstrations.shape[0]
    each = -(-shown // count)
    key_weights, key_order = jax.random.split(key)
    compared = jax.tree.map(lambda leaf: leaf[:count], mixtures)
    weights = jax.vmap(partial(mixture.sample, samples=networks * each))(jax.random.split(key_weights, count), compared)
    descriptors = jax.vmap(lambda w, c: jax.vmap(lambda w: task.describe(task.promp.rollout(w), c))(w))(
        weights, contexts
    )
    descriptors = descriptors.reshape(count, networks, each, *descriptors.shape[2:])
    descriptors = jnp.swapaxes(descriptors, 0, 1).reshape(networks, count * each, *descriptors.shape[3:])
    owner = jnp.broadcast_to(jnp.repeat(jnp.arange(count), each), descriptors.shape[:2])
    kept = count * each if each > 1 else shown
    order = jnp.argsort(jax.random.uniform(key_order, owner.shape))[:, :kept]
    return jax.vmap(lambda samples, order: jax.tree.map(lambda leaf: leaf[order], samples))(
        PolicySamples(descriptors, owner), order
    )


def _remember(iteration: Array, new: Array, old: Array) -> Array:
    """New samples [...] before those of earlier iterations [memory - 1, ...]; in the first they stand in for them."""
    return jnp.concatenate([new[None], jnp.where(iteration == 0, new[None], old)])


def _shares(task: Task, config: Config, problem: Problem, shares: Array, rewards: Array) -> Array:
    """How much each context's policy samples count from now on, [context], after rewards [context, component].

    Some contexts have no motion that looks demonstrated: their targets are closer or further apart than any that were
    shown, say. The better the networks learn to tell these contexts from demonstrations, the more they punish what is
    right there, and in the end such contexts are lost. It shows in the reward of a context's best component, which
    falls behind that of the others; such a context then counts less: fully up to one standard deviation below the
    median of all contexts (both estimated robustly), and exp(-2 excess) beyond. Training contexts always count.
    """
    if config.compared != "attained":
        return shares
    level = jnp.max(rewards, axis=1) / task.promp.steps
    median = jnp.median(level)
    deviation = jnp.maximum(1.4826 * jnp.median(jnp.abs(level - median)), 1e-3)
    count = jnp.exp(2 * jnp.minimum(0.0, (level - median) / deviation + 1))
    demonstrated = jnp.arange(level.shape[0]) < problem.train_contexts.shape[0]
    return jnp.where(demonstrated, 1.0, 0.9 * shares + 0.1 * count)


def _split(config: Config, problem: Problem, known: PolicySamples, shares: Array) -> tuple[Classes, Classes]:
    """Training and validation samples of every network, [network, sample, ...].

    Each network holds out demonstrations of its own, the same throughout the run. Policy samples come in random order,
    so those held out when they were fresh stay held out while they are remembered.
    """
    networks = known.context.shape[1]
    key = jax.random.fold_in(problem.key, _SPLIT)
    order = jnp.argsort(jax.random.uniform(key, (networks, problem.demonstrations.shape[0])))
    demonstrations = problem.demonstrations[order]
    held_p = training.held_out(config.density_ratio, demonstrations.shape[1])
    held_q = training.held_out(config.density_ratio, known.context.shape[2])
    policy, counts = jnp.swapaxes(known.descriptors, 0, 1), jnp.swapaxes(shares[known.context], 0, 1)

    def flat(samples: Array) -> Array:
        return samples.reshape(networks, -1, *samples.shape[3:])

    validation = Classes(demonstrations[:, :held_p], flat(policy[:, :, :held_q]), flat(counts[:, :, :held_q]))
    return Classes(demonstrations[:, held_p:], flat(policy[:, :, held_q:]), flat(counts[:, :, held_q:])), validation


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
    joints = trajectories(task, demonstrations, raw)[chosen]
    contexts = demonstrations.contexts[demonstrations.context_of[chosen]]
    descriptors = jax.jit(jax.vmap(task.describe))(joints.astype(np.float32), contexts.astype(np.float32))
    return Problem(
        jax.random.key(seed),
        jnp.asarray(split.train_contexts, jnp.float32),
        jnp.asarray(split.test_contexts, jnp.float32).reshape(-1, task.context_dimension),
        descriptors,
        jnp.asarray(demonstrations.weights[chosen], jnp.float32),
    )
