"""Misplaced demonstrations: what is demonstrated for one context, seen in another. Beyond the paper.

A misplaced demonstration is as smooth as a demonstration and misses by little or much, so it shows the networks what
policies near the edge of the demonstrations show too seldom: that only the context makes it wrong.
"""

import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from vigor.learning.density_ratio import Classes
from vigor.learning.problem import Problem
from vigor.tasks.task import Task


def with_misplaced(key: PRNGKeyArray, task: Task, share: float, problem: Problem, samples: Classes) -> Classes:
    """Training samples [network, sample, ...] with misplaced demonstrations among those to tell demonstrations from.

    A demonstration is described as if its context were another: one on the straight line to the context of other
    demonstrations, anywhere on it. Every network draws its own. share: how much they count beside policy samples.
    """
    contexts, networks = problem.shown_contexts, samples.shares.shape[0]
    count, shown = contexts.shape[0], problem.trajectories.shape[0]
    if not share or count == 1:
        return samples
    own = jnp.repeat(jnp.arange(count), shown // count)
    key_other, key_place = jax.random.split(key)
    other = (own + jax.random.randint(key_other, (networks, shown), 1, count)) % count
    place = jax.random.uniform(key_place, (networks, shown, 1))
    seen = contexts[own] + place * (contexts[other] - contexts[own])
    misplaced = jax.vmap(lambda seen: jax.vmap(task.describe)(problem.trajectories, seen))(seen)
    total = jnp.sum(samples.shares, axis=1, keepdims=True)
    shares = jnp.broadcast_to(share * total / shown, (networks, shown))
    return samples._replace(
        policy=jnp.concatenate([samples.policy, misplaced], axis=1),
        shares=jnp.concatenate([samples.shares, shares], axis=1),
    )
