"""Algorithm 1 of the paper: match the descriptors of demonstrations in every context, demonstrated or not.

One iteration is one pure function of a state; many iterations, or a batch of runs, are one compiled program.
Randomness comes from the run's key folded with the iteration, so a resumed run repeats the uninterrupted one exactly.
"""

from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp

from vigor import density_ratio, mixture, surrogate
from vigor.density_ratio import DensityRatio
from vigor.errors import UserError
from vigor.mixture import Mixture
from vigor.tasks.task import Task
from vigor.trust_region import kl_bounded_step, reweight

Array = jax.Array


@dataclass(frozen=True)
class Config:
    """Settings of VIGOR."""

    iterations: int = 300
    """Iterations of Algorithm 1."""
    components: int = 5
    """Gaussians in the mixture of each context."""
    kl_bound: float = 0.2
    """Largest KL divergence of a component's step."""
    surrogate: Literal["gradients", "values"] = "gradients"
    """Quadratic model of the reward from first-order samples, or from values by least squares (the paper's)."""
    samples: int = 64
    """Samples per component for the quadratic model."""
    weights: Literal["fixed", "closed-form", "kl-bounded"] = "fixed"
    """Component weights: equal throughout (the paper's), or trained."""
    memory: int = 1
    """Iterations whose policy samples the networks are trained on; 1 is the paper's."""
    density_ratio: DensityRatio = field(default_factory=DensityRatio)
    """The networks and their training."""

    def __post_init__(self) -> None:
        if min(self.iterations, self.components, self.samples, self.memory) < 1 or self.kl_bound <= 0:
            raise UserError("iterations, components, samples, memory and kl_bound must be positive")


class Problem(NamedTuple):
    """What one run learns from. A batch of runs has a leading axis on every array."""

    key: Array
    """Random key of the run."""
    contexts: Array
    """[context, C]: training contexts first, then test contexts."""
    demonstrations: Array
    """[demonstration, T, features]: descriptors of the training contexts' demonstrations."""


class State(NamedTuple):
    """Everything an iteration changes."""

    iteration: Array
    """Iterations done."""
    mixtures: Mixture
    """One mixture per context."""
    ensemble: density_ratio.Training
    """[network, ...]"""
    memory: Array
    """[memory, network, sample, T, features]: descriptors of recent policy samples, newest first."""
    epochs: Array
    """[network]: epochs trained in the last iteration."""
    reward: Array
    """[context, component]: mean reward in the last iteration."""


def initial(task: Task, config: Config, problem: Problem) -> State:
    """Mixtures and networks before the first iteration."""
    contexts = problem.contexts.shape[0]
    key_mixtures, key_networks, key_memory = jax.random.split(jax.random.fold_in(problem.key, 0xFFFF), 3)
    mixtures = jax.vmap(partial(mixture.initial, components=config.components, dimension=task.promp.weights))(
        jax.random.split(key_mixtures, contexts)
    )
    ensemble = jax.vmap(lambda key: density_ratio.initial(key, config.density_ratio, task.features))(
        jax.random.split(key_networks, config.density_ratio.networks)
    )
    memory = jnp.stack(
        [_policy_samples(key, task, config, problem, mixtures) for key in jax.random.split(key_memory, config.memory)]
    )
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
    key_samples, key_networks, key_update = jax.random.split(key, 3)

    # Gather new policy samples.
    fresh = _policy_samples(key_samples, task, config, problem, state.mixtures)
    memory = jnp.concatenate([fresh[None], state.memory[:-1]])

    # Train the discriminators (Eq. 3).
    policy = jnp.moveaxis(memory, 1, 0).reshape(fresh.shape[0], -1, *fresh.shape[2:])
    ensemble, epochs = jax.vmap(
        lambda key, network, samples: density_ratio.train(
            key, network, config.density_ratio, problem.demonstrations, samples
        )
    )(jax.random.split(key_networks, config.density_ratio.networks), state.ensemble, policy)

    # Update the policy of every context with the discriminators (Eq. 1).
    mixtures, rewards = update(key_update, task, config, problem.contexts, state.mixtures, ensemble.parameters)
    return State(state.iteration + 1, mixtures, ensemble, memory, epochs, rewards)


def _policy_samples(key: Array, task: Task, config: Config, problem: Problem, mixtures: Mixture) -> Array:
    """Descriptors [network, sample, T, features] of fresh samples of all contexts, as many as demonstrations.

    Every network draws its own, evenly from all contexts.
    """
    contexts = problem.contexts.shape[0]
    each = -(-problem.demonstrations.shape[0] // contexts)
    networks = config.density_ratio.networks
    weights = jax.vmap(partial(mixture.sample, samples=networks * each))(jax.random.split(key, contexts), mixtures)
    descriptors = jax.vmap(lambda w, c: jax.vmap(lambda w: task.describe(task.promp.rollout(w), c))(w))(
        weights, problem.contexts
    )
    descriptors = descriptors.reshape(contexts, networks, each, *descriptors.shape[2:])
    return jnp.swapaxes(descriptors, 0, 1).reshape(networks, contexts * each, *descriptors.shape[3:])


def update(
    key: Array, task: Task, config: Config, contexts: Array, mixtures: Mixture, ensemble: Any
) -> tuple[Mixture, Array]:
    """One trust-region step of every component of every context; also the mean rewards [context, component].

    contexts: [context, C], mixtures: [context, ...], ensemble: parameters [network, ...].
    """
    dimension = task.promp.weights
    count, components = mixtures.means.shape[:2]
    if config.surrogate == "gradients":
        noise = surrogate.design(key, config.samples, dimension)
        noise = jnp.broadcast_to(noise, (count, components, *noise.shape))
    else:
        noise = jax.random.normal(key, (count, components, config.samples, dimension))
    weights = jax.vmap(mixture.place)(mixtures, noise)

    def reward(weights: Array, context: Array) -> Array:
        """Rewards [n] of weights [n, D] in contexts [n, C]."""
        descriptors = jax.vmap(lambda w, c: task.describe(task.promp.rollout(w), c))(weights, context)
        return density_ratio.reward(ensemble, config.density_ratio, descriptors)

    flat = weights.reshape(-1, dimension)
    owner = jnp.repeat(contexts, components * config.samples, axis=0)
    chunks = _chunks(flat.shape[0])
    parts = (flat.reshape(chunks, -1, dimension), owner.reshape(chunks, -1, contexts.shape[1]))
    if config.surrogate == "gradients":

        def value_and_slope(part):
            values, pull = jax.vjp(lambda w: reward(w, part[1]), part[0])
            return values, pull(jnp.ones_like(values))[0]

        values, slopes = jax.lax.map(value_and_slope, parts)
        values = values.reshape(count, components, config.samples)
        slopes = slopes.reshape(count, components, config.samples, dimension)
        slopes = jnp.einsum("ckij,cksi->cksj", mixtures.roots, slopes, precision="highest")
        model = jax.vmap(jax.vmap(surrogate.from_gradients))(noise, values, slopes)
    else:
        values = jax.lax.map(lambda part: reward(*part), parts).reshape(count, components, config.samples)
        model = jax.vmap(jax.vmap(surrogate.from_values))(noise, values)

    step = jax.vmap(jax.vmap(lambda model: kl_bounded_step(model, config.kl_bound)))(model)
    means = mixtures.means + jnp.einsum("ckij,ckj->cki", mixtures.roots, step.mean, precision="highest")
    roots = jnp.matmul(mixtures.roots, step.root, precision="highest")
    log_weights = mixtures.log_weights
    if config.weights != "fixed":
        bound = config.kl_bound if config.weights == "kl-bounded" else jnp.inf
        gain = model.value + step.gain - step.kl
        log_weights = jax.vmap(lambda old, value: reweight(old, value, bound))(log_weights, gain)
    return Mixture(log_weights, means, roots), model.value


def _chunks(total: int, size: int = 32) -> int:
    """Number of equal chunks of about `size` that `total` divides into."""
    if jax.default_backend() == "gpu":
        return 1
    chunks = max(1, total // size)
    while total % chunks:
        chunks -= 1
    return chunks


@partial(jax.jit, static_argnums=(0, 1), donate_argnums=(3,))
def advance(task: Task, config: Config, problems: Problem, states: State, iterations: Array) -> State:
    """Run a batch of runs [run, ...] through a number of iterations, as one program."""

    def step(_, states: State) -> State:
        return jax.vmap(lambda problem, state: iterate(task, config, problem, state))(problems, states)

    return jax.lax.fori_loop(0, iterations, step, states)
