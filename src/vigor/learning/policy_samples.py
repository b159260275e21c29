"""Policy samples: what the networks tell demonstrations from, and what of both they stop early by."""

from functools import partial

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from vigor.learning import mixture, network_training
from vigor.learning.density_ratio import Classes
from vigor.learning.mixture import Mixture
from vigor.learning.network_training import NetworkTraining
from vigor.learning.problem import Problem
from vigor.tasks.task import Task

_SPLIT = 2**31 - 2
"""Number that the run's key is folded with, beside those of iterations."""


def draw(
    key: PRNGKeyArray, task: Task, networks: int, problem: Problem, mixtures: Mixture
) -> Float[Array, "network sample time feature"]:
    """Descriptors of fresh policy samples in random order.

    They are about as many as the demonstrations. Every network draws its own, evenly from all contexts; from some
    of them if these are more than the demonstrations.
    """
    contexts = problem.contexts
    count = contexts.shape[0]
    shown = problem.demonstrations.shape[0]
    per_context = -(-shown // count)
    key_weights, key_order = jax.random.split(key)
    weights = jax.vmap(partial(mixture.sample, samples=networks * per_context))(
        jax.random.split(key_weights, count), mixtures
    )
    descriptors = jax.vmap(jax.vmap(task.describe_weights, (0, None)))(weights, contexts)
    descriptors = descriptors.reshape(count, networks, per_context, *descriptors.shape[2:])
    descriptors = jnp.swapaxes(descriptors, 0, 1).reshape(networks, count * per_context, *descriptors.shape[3:])
    kept = count * per_context if per_context > 1 else shown
    order = jnp.argsort(jax.random.uniform(key_order, descriptors.shape[:2]))[:, :kept]
    return jax.vmap(lambda samples, order: samples[order])(descriptors, order)


def split(
    settings: NetworkTraining, problem: Problem, samples: Float[Array, "network sample time feature"]
) -> tuple[Classes, Classes]:
    """Training and validation samples of every network, [network, sample, ...].

    samples: policy samples in random order. Each network holds out demonstrations of its own, the same throughout the
    run.
    """
    networks = samples.shape[0]
    key = jax.random.fold_in(problem.key, _SPLIT)
    order = jnp.argsort(jax.random.uniform(key, (networks, problem.demonstrations.shape[0])))
    demonstrations = problem.demonstrations[order]
    held_p = network_training.held_out(settings, demonstrations.shape[1])
    held_q = network_training.held_out(settings, samples.shape[1])

    def classes(
        demonstrations: Float[Array, "network demonstration time feature"],
        policy: Float[Array, "network sample time feature"],
    ) -> Classes:
        return Classes(demonstrations, policy, jnp.ones(policy.shape[:2]))

    return classes(demonstrations[:, held_p:], samples[:, held_q:]), classes(
        demonstrations[:, :held_p], samples[:, :held_q]
    )
