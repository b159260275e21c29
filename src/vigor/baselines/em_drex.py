"""EM+D-REX (paper, appendix B.1): a reward from demonstrations ranked by noise, then the project's own policy update.

A mixture is fitted to the movement-primitive weights of each training context's demonstrations by EM. Its covariances
are multiplied by growing noise, and samples of all noise levels are drawn. Networks learn to rank them: less noise is
better. The policies of all contexts, demonstrated or not, then maximise scale * reward + log prior - log q. The prior
is wide, and keeps entropy finite along what the reward does not see. Beyond what it was learned from, a reward may grow
without end, faster than any prior falls: it is asked for the nearest descriptors that were ranked.
"""

import math
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from vigor.basics.batching import each
from vigor.basics.errors import UserError
from vigor.basics.install import missing
from vigor.learning import network_training, networks, policy_update
from vigor.learning.mixture import Mixture
from vigor.learning.network_training import Fit, NetworkTraining
from vigor.learning.networks import Architecture
from vigor.learning.policy_update import PolicyUpdate
from vigor.learning.problem import Problem, single
from vigor.tasks.task import Task

Array = jax.Array

EPOCHS = 10
"""Epochs of the reward's training that count as one step of a run."""
FLOOR = 0.05
"""Addition to every variance that EM finds, as a share of the weights' mean variance in their context."""
WIDE = 5.0
"""Deviation of the prior of movements around demonstrations, in deviations of their weights."""
_START, _TRAINING, _POLICIES = 2**31 - 1, 2**31 - 2, 2**31 - 3


@dataclass(frozen=True)
class EMDREXSettings:
    """Settings of EM+D-REX."""

    update: PolicyUpdate = PolicyUpdate(iterations=100, components=5, kl_bound=0.5, samples=50)
    training: NetworkTraining = NetworkTraining(
        Architecture(width=64, batch_norm=True),
        learning_rate=1e-3,
        batch=128,
        validation=0.1,
        epochs=40,
        patience=50,
    )
    em_components: int = 5
    """Gaussians that EM fits to the demonstrations of a training context."""
    em_samples: int = 4096
    """Samples that the reward learns from, of all contexts and noise levels together."""
    base_noise: float = 0.3
    """Factor on the covariances at the first noise level."""
    noise_levels: int = 10
    """Noise levels."""
    noise_multiplier: float = 30.0
    """Covariances at the last noise level, as a multiple of those at the first; the others lie on a straight line."""
    reward_scale: float = 100.0
    """Factor on the learned reward, a mean over time steps."""

    def __post_init__(self) -> None:
        self.update.check_networks(self.training.networks)
        if min(self.em_components, self.em_samples) < 1 or self.noise_levels < 2:
            raise UserError("em_components and em_samples must be positive, and noise_levels at least 2")
        if max(self.em_components, self.em_samples, self.noise_levels) > 10**6:
            raise UserError("em_components, em_samples and noise_levels must be at most a million")
        if not 0 < self.base_noise < math.inf or not 0 < self.reward_scale < math.inf:
            raise UserError("base_noise and reward_scale must be positive and finite")
        if not 1 < self.noise_multiplier < math.inf:
            raise UserError("noise_multiplier must be above 1 and finite")

    @property
    def reward_steps(self) -> int:
        """Steps of a run in which the reward is learned; the policies follow."""
        return -(-self.training.epochs // EPOCHS)


class Ranked(NamedTuple):
    """Samples of all noise levels."""

    descriptors: Array
    """[sample, T, features]"""
    noise: Array
    """[sample]: noise level, 0 the least."""


class RankedProblem(NamedTuple):
    """Everything a run learns from; [run, ...] in a batch."""

    problem: Problem
    ranked: Ranked
    """In random order, so that the first can be held out."""


class EMDREXState(NamedTuple):
    """Everything a step changes."""

    iteration: Array
    """Steps done."""
    rewards: Fit
    """[network, ...]"""
    mixtures: Mixture
    """[context, ...]"""


def em(weights: np.ndarray, components: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Shares [component], means [component, D] and covariances [component, D, D] fitted to weights [n, D] by EM.

    So few demonstrations leave most directions of a covariance without data; FLOOR keeps noise in all of them.
    """
    if len(weights) < 2:
        raise UserError("EM+D-REX needs at least two demonstrations of every training context")
    try:
        from sklearn.mixture import GaussianMixture
        from threadpoolctl import threadpool_limits
    except ImportError:
        raise missing("EM+D-REX needs scikit-learn", "baselines") from None
    floor = max(1e-6, FLOOR * float(np.mean(np.var(weights, axis=0))))
    unfitted = GaussianMixture(
        min(components, len(np.unique(weights, axis=0))),
        covariance_type="full",
        reg_covar=floor,
        n_init=5,
        random_state=seed,
    )
    with threadpool_limits(1):  # With more threads, matrices so small are ten times slower.
        fitted = unfitted.fit(weights)
    return fitted.weights_, fitted.means_, fitted.covariances_


def rank(task: Task, settings: EMDREXSettings, problem: Problem, seed: int) -> Ranked:
    """Samples of every training context and noise level, in random order."""
    rng = np.random.default_rng([seed, 1])
    contexts = np.asarray(problem.shown_contexts)
    shown = np.asarray(problem.starts.weights, np.float64).reshape(len(contexts), -1, task.promp.weights)
    noises = settings.base_noise * np.linspace(1.0, settings.noise_multiplier, settings.noise_levels)
    count = -(-settings.em_samples // (len(contexts) * settings.noise_levels))
    weights, owner, levels = [], [], []
    for context, demonstrations in enumerate(shown):
        shares, means, covariances = em(demonstrations, settings.em_components, seed)
        for level, noise in enumerate(noises):
            component = rng.choice(len(shares), count, p=shares)
            roots = np.linalg.cholesky(noise * covariances)
            drawn = rng.standard_normal((count, task.promp.weights))
            weights.append(means[component] + np.einsum("sij,sj->si", roots[component], drawn))
            owner += [context] * count
            levels += [level] * count
    order = rng.permutation(len(owner))[: settings.em_samples]
    flat = np.concatenate(weights)[order].astype(np.float32)
    return Ranked(
        _describe(task, flat, contexts[np.asarray(owner)[order]]), jnp.asarray(np.asarray(levels)[order], jnp.int32)
    )


@partial(jax.jit, static_argnums=0)
def _describe(task: Task, weights: Array, contexts: Array) -> Array:
    """Descriptors [n, T, features] of weights [n, D] in contexts [n, C]; compiled once for all runs."""
    return jax.vmap(task.describe_weights)(weights, contexts)


def ranking_loss(step_logits: Array, rows: Ranked) -> Array:
    """Cross-entropy of all pairs of a batch with different noise: the reward of less noise should be larger.

    step_logits: [N, T]; a sample's reward is their mean over time.
    """
    rewards = jnp.mean(step_logits, axis=1)
    better = (rows.noise[:, None] < rows.noise[None, :]).astype(rewards.dtype)
    errors = jax.nn.softplus(rewards[None, :] - rewards[:, None])
    return jnp.sum(better * errors) / jnp.maximum(jnp.sum(better), 1.0)


def prepare(task: Task, settings: EMDREXSettings, problems: Problem) -> RankedProblem:
    """Fit mixtures to the demonstrations of a batch of runs [run, ...] and draw the samples to rank."""
    seeds = np.asarray(jax.random.key_data(problems.key))[:, -1].tolist()
    ranked = [rank(task, settings, problem, seed) for problem, seed in zip(single(problems), seeds, strict=True)]
    return RankedProblem(problems, jax.device_put(jax.tree.map(lambda *leaves: np.stack(leaves), *ranked)))


@partial(jax.jit, static_argnums=(0, 1))
def start(task: Task, settings: EMDREXSettings, data: RankedProblem) -> EMDREXState:
    """A batch of runs [run, ...] before the first step."""

    def one(data: RankedProblem) -> EMDREXState:
        key_networks, key_mixtures = jax.random.split(jax.random.fold_in(data.problem.key, _START))
        fresh = jax.vmap(
            lambda key: network_training.begin(network_training.new_network(key, settings.training, task.features))
        )
        mixtures = jax.vmap(
            lambda key, context: policy_update.first_mixture(
                key, task, settings.update, data.problem.starts, data.problem.invariants, context
            )
        )(jax.random.split(key_mixtures, data.problem.contexts.shape[0]), data.problem.contexts)
        return EMDREXState(
            jnp.zeros((), jnp.int32), fresh(jax.random.split(key_networks, settings.training.networks)), mixtures
        )

    return jax.vmap(one)(data)


@partial(jax.jit, static_argnums=(0, 1), donate_argnums=(3,))
def advance(
    task: Task, settings: EMDREXSettings, data: RankedProblem, states: EMDREXState, steps: int | Array
) -> EMDREXState:
    """Take a batch of runs [run, ...] through some steps."""

    def learn_reward(data: RankedProblem, state: EMDREXState) -> EMDREXState:
        held = network_training.held_out(settings.training, data.ranked.noise.shape[0])
        kept, rows = (Ranked(*(leaf[part] for leaf in data.ranked)) for part in (slice(held), slice(held, None)))
        keys = jax.random.split(jax.random.fold_in(data.problem.key, _TRAINING), settings.training.networks)
        until = (state.iteration + 1) * EPOCHS
        rewards = each(
            lambda key, fit: network_training.train(key, fit, settings.training, ranking_loss, rows, kept, until),
            keys,
            state.rewards,
        )
        return state._replace(iteration=state.iteration + 1, rewards=rewards)

    def improve(data: RankedProblem, state: EMDREXState) -> EMDREXState:
        key = jax.random.fold_in(jax.random.fold_in(data.problem.key, _POLICIES), state.iteration)
        ensemble = jax.vmap(partial(network_training.end, settings.training))(state.rewards).parameters
        known = jnp.min(data.ranked.descriptors, axis=(0, 1)), jnp.max(data.ranked.descriptors, axis=(0, 1))
        mixtures, _ = policy_update.update(
            key,
            task,
            settings.update,
            partial(_reward, settings, known),
            ensemble,
            data.problem.contexts,
            state.mixtures,
            partial(_less_prior, data.problem.starts.weights),
            less_density=True,
        )
        return state._replace(iteration=state.iteration + 1, mixtures=mixtures)

    def step(states: EMDREXState) -> EMDREXState:
        # All runs of a batch are at the same step, so that only one of the two is worked out.
        return jax.lax.cond(
            states.iteration[0] < settings.reward_steps,
            lambda states: each(learn_reward, data, states),
            lambda states: each(improve, data, states),
            states,
        )

    return jax.lax.fori_loop(0, steps, lambda _, states: step(states), states)


def _reward(settings: EMDREXSettings, known: tuple[Array, Array], parameters: Any, descriptors: Array) -> Array:
    """Scaled rewards [n] of descriptors [n, T, features]; known: the least and the largest that were ranked."""
    step_logits = networks.logits(parameters, settings.training.architecture, jnp.clip(descriptors, *known))
    return settings.reward_scale * jnp.mean(step_logits, axis=-1)


def _less_prior(shown: Array, weights: Array) -> Array:
    """Negative log density, up to a constant, of a movement's weights [D] in the prior around those shown [n, D]."""
    deviation = jnp.sqrt(jnp.mean(jnp.var(shown, axis=0))) + 1e-6
    return 0.5 * jnp.sum(((weights - jnp.mean(shown, axis=0)) / (WIDE * deviation)) ** 2)
