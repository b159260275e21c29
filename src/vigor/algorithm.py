"""Algorithm 1 of the paper: match the descriptors of demonstrations in every context, demonstrated or not.

One iteration is one pure function of a state; many iterations, or a batch of runs, are one compiled program.
Randomness comes from the run's key folded with the iteration, so a resumed run repeats the uninterrupted one exactly.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from vigor import density_ratio, mixture, surrogate
from vigor.demonstrations import Demonstrations, Split, trajectories
from vigor.density_ratio import Classes, DensityRatio
from vigor.errors import UserError, check_choices
from vigor.mixture import Mixture
from vigor.tasks.task import Task
from vigor.trust_region import kl_bounded_step, reweight

Array = jax.Array

# What keys are folded with, beside the iteration's number.
_START, _SPLIT = 2**31 - 1, 2**31 - 2


@dataclass(frozen=True)
class Config:
    """Settings of VIGOR."""

    iterations: int = 200
    """Iterations of Algorithm 1."""
    components: int = 5
    """Gaussians in the mixture of each context."""
    kl_bound: float = 0.5
    """Largest KL divergence of a component's step."""
    surrogate: Literal["gradients", "values"] = "gradients"
    """Quadratic model of the reward from first-order samples, or from values by least squares (the paper's)."""
    samples: int = 100
    """Samples per component for the quadratic model; with gradients a multiple of the number of networks."""
    weights: Literal["fixed", "closed-form", "kl-bounded"] = "fixed"
    """Component weights: equal throughout (the paper's), or trained."""
    memory: int = 1
    """Iterations whose policy samples the networks are trained on; 1 is the paper's."""
    compared: Literal["attained", "all", "training"] = "attained"
    """Contexts whose policy samples the networks see: all, those out of reach less; all (paper); demonstrated ones."""
    chunk: int | None = None
    """Most trajectories that a network scores at once; lower it where memory is short. By default what is fast: 64 on
    a CPU, whose cache they fit, 8192 on a GPU."""
    density_ratio: DensityRatio = field(default_factory=DensityRatio)
    """The networks and their training."""

    def __post_init__(self) -> None:
        check_choices(self)
        if min(self.iterations, self.components, self.samples, self.memory) < 1:
            raise UserError("iterations, components, samples and memory must be positive")
        if max(self.iterations, self.components, self.samples, self.memory) > 10**6:
            raise UserError("iterations, components, samples and memory must be at most a million")
        if self.chunk is not None and self.chunk < 1:
            raise UserError(f"chunk must be positive, not {self.chunk}")
        if not 0 < self.kl_bound < math.inf:
            raise UserError(f"kl_bound must be positive and finite, not {self.kl_bound}")
        if self.surrogate == "gradients" and self.samples % self.density_ratio.networks:
            raise UserError(
                f"samples ({self.samples}) must be a multiple of the number of networks ({self.density_ratio.networks})"
            )


class Problem(NamedTuple):
    """What one run learns from. A batch of runs has a leading axis on every array."""

    key: Array
    """Random key of the run."""
    train_contexts: Array
    """[context, C]: contexts with demonstrations."""
    test_contexts: Array
    """[context, C]: contexts without."""
    demonstrations: Array
    """[demonstration, T, features]: descriptors of the training contexts' demonstrations."""

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
    ensemble: density_ratio.Training
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
    needed = task.promp.weights * (task.promp.weights + 3) // 2 + 2
    if config.surrogate == "values" and config.samples < needed:
        raise UserError(
            f"a quadratic model from values of {task.promp.weights} weights needs at least {needed} samples, not "
            f"{config.samples}; raise --samples or use --surrogate gradients"
        )
    contexts = problem.contexts.shape[0]
    key = jax.random.fold_in(problem.key, _START)
    key_mixtures, key_networks = jax.random.split(key)
    mixtures = jax.vmap(partial(mixture.initial, components=config.components, dimension=task.promp.weights))(
        jax.random.split(key_mixtures, contexts)
    )
    ensemble = jax.vmap(lambda key: density_ratio.initial(key, config.density_ratio, task.features))(
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
    ensemble, epochs = _each(
        lambda key, network, training, validation: density_ratio.train(
            key, network, config.density_ratio, training, validation, rate
        ),
        keys,
        state.ensemble,
        *_split(config, problem, known, state.shares),
    )

    # Update the policy of every context with the discriminators (Eq. 1).
    mixtures, rewards = update(key_update, task, config, problem.contexts, state.mixtures, ensemble.parameters)
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
    held_p = density_ratio.held_out(config.density_ratio, demonstrations.shape[1])
    held_q = density_ratio.held_out(config.density_ratio, known.context.shape[2])
    policy, counts = jnp.swapaxes(known.descriptors, 0, 1), jnp.swapaxes(shares[known.context], 0, 1)

    def flat(samples: Array) -> Array:
        return samples.reshape(networks, -1, *samples.shape[3:])

    validation = Classes(demonstrations[:, :held_p], flat(policy[:, :, :held_q]), flat(counts[:, :, :held_q]))
    return Classes(demonstrations[:, held_p:], flat(policy[:, :, held_q:]), flat(counts[:, :, held_q:])), validation


def update(
    key: Array, task: Task, config: Config, contexts: Array, mixtures: Mixture, ensemble: Any
) -> tuple[Mixture, Array]:
    """One trust-region step of every component of every context; also the mean rewards [context, component].

    contexts: [context, C], mixtures: [context, ...], ensemble: parameters [network, ...].
    """
    dimension = task.promp.weights
    count, components = mixtures.means.shape[:2]
    networks = config.density_ratio.networks
    samples = config.samples

    def reward(network: Any, weights: Array, contexts: Array) -> Array:
        """One network's rewards [n] of weights [n, D] in contexts [n, C]."""
        descriptors = jax.vmap(lambda w, c: task.describe(task.promp.rollout(w), c))(weights, contexts)
        return density_ratio.reward(network, config.density_ratio, descriptors)

    if config.surrogate == "gradients":
        noise = surrogate.design(key, samples, dimension)
        noise = jnp.broadcast_to(noise, (count, components, samples, dimension))

        def value_and_slope(network: Any, weights: Array, contexts: Array) -> tuple[Array, Array]:
            values, pull = jax.vjp(lambda w: reward(network, w, contexts), weights)
            return values, pull(jnp.ones_like(values))[0]

        # Samples are dealt out to the networks: [network, context, component, sample / networks, D].
        dealt = jax.vmap(mixture.place)(mixtures, noise).reshape(count, components, networks, -1, dimension)
        flat = jnp.moveaxis(dealt, 2, 0).reshape(networks, -1, dimension)
        owner = jnp.repeat(contexts, flat.shape[1] // count, axis=0)
        values, slopes = _each(
            lambda network, w: _by_chunks(config.chunk, partial(value_and_slope, network), w, owner),
            ensemble,
            flat,
        )

        def collect(dealt: Array) -> Array:
            dealt = dealt.reshape(networks, count, components, samples // networks, *dealt.shape[2:])
            return jnp.moveaxis(dealt, 0, 2).reshape(count, components, samples, *dealt.shape[4:])

        slopes = jnp.einsum("ckij,cksi->cksj", mixtures.roots, collect(slopes), precision="highest")
        model = jax.vmap(jax.vmap(surrogate.from_gradients))(noise, collect(values), slopes)
    else:
        noise = jax.random.normal(key, (count, components, samples, dimension))
        flat = jax.vmap(mixture.place)(mixtures, noise).reshape(-1, dimension)
        owner = jnp.repeat(contexts, components * samples, axis=0)
        scored = jax.vmap(reward, (0, None, None))
        values = _by_chunks(config.chunk, lambda w, c: jnp.mean(scored(ensemble, w, c), axis=0), flat, owner)
        model = jax.vmap(jax.vmap(surrogate.from_values))(noise, values.reshape(count, components, samples))

    step = jax.vmap(jax.vmap(lambda model: kl_bounded_step(model, config.kl_bound)))(model)
    means = mixtures.means + jnp.einsum("ckij,ckj->cki", mixtures.roots, step.mean, precision="highest")
    roots = jnp.matmul(mixtures.roots, step.root, precision="highest")
    log_weights = mixtures.log_weights
    if config.weights != "fixed":
        bound = config.kl_bound if config.weights == "kl-bounded" else jnp.inf
        gain = model.value + step.gain - step.kl
        log_weights = jax.vmap(lambda old, value: reweight(old, value, bound))(log_weights, gain)
    return Mixture(log_weights, means, roots), model.value


def _each(function: Callable, *trees: Any) -> Any:
    """`function` of every element along the leading axis: at once on a GPU, one after the other on a CPU.

    A CPU then works on what fits its cache, and training stops early for each network on its own.
    """
    if jax.default_backend() == "cpu":
        return jax.lax.map(lambda parts: function(*parts), trees)
    return jax.vmap(function)(*trees)


def _by_chunks(size: int | None, function: Callable, *arrays: Array) -> Any:
    """`function` of chunks of the arrays' leading axis, one after the other."""
    if size is None:
        size = 64 if jax.default_backend() == "cpu" else 8192
    total = arrays[0].shape[0]
    chunks = -(-total // size)
    padding = -total % chunks

    def dealt(array: Array) -> Array:
        return jnp.concatenate([array, array[:padding]]).reshape(chunks, -1, *array.shape[1:])

    parts = jax.lax.map(lambda part: function(*part), [dealt(array) for array in arrays])
    return jax.tree.map(lambda part: part.reshape(total + padding, *part.shape[2:])[:total], parts)


CHUNK = 10
"""Most iterations that one call of `advance` can do."""


@partial(jax.jit, static_argnums=(0, 1), donate_argnums=(3,))
def advance(task: Task, config: Config, problems: Problem, states: State, iterations: int | Array) -> tuple[State, Any]:
    """Take a batch of runs [run, ...] through at most CHUNK iterations as one program, whatever their number.

    Also returns the networks after each iteration, [iteration, run, network, ...] in half precision; those beyond
    `iterations` mean nothing.
    """

    def step(states: State) -> State:
        return _each(lambda problem, state: iterate(task, config, problem, state), problems, states)

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
    )
