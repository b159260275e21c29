"""The replay of a run's updates for contexts that it never saw: networks stored, and nothing trained."""

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import jax
import jax.numpy as jnp

from vigor.basics.settings import with_values
from vigor.learning import density_ratio, policy_update, prediction, shares
from vigor.learning.algorithm import VigorSettings
from vigor.learning.invariants import Invariants
from vigor.learning.mixture import Mixture
from vigor.learning.starts import Starts
from vigor.planning import constraints
from vigor.planning.constraints import Bounds
from vigor.tasks.task import Task

Array = jax.Array

UPDATES = 50
"""Updates with which a plan that may have to go elsewhere than was shown gets there; fewer take larger steps."""


def replay(
    key: Array,
    task: Task,
    settings: VigorSettings,
    at: Starts,
    common: Invariants,
    ensembles: Any,
    contexts: Array,
    limits: Bounds | None,
    every: Array | int = 1,
) -> tuple[Mixture, Array]:
    """Mixtures of contexts [context, C] after an update with each ensemble; also the last rewards [context, component].

    at: the run's demonstrations, where mixtures may begin; common: what they have in common; ensembles: [iteration,
    network, ...]; every: use every n-th of these only, the last one among them.
    Constraints count in the second half: mixtures know then how to solve their contexts, and are still wide enough to
    go another way. All share their random numbers, so that but for rounding a context's plan does not depend on which
    others are planned with it.
    """
    mixtures, rewards = lead(key, task, settings, at, common, ensembles, contexts, limits, every)
    return weigh(key, task, settings, at, common, contexts, limits, mixtures), rewards


def lead(
    key: Array,
    task: Task,
    settings: VigorSettings,
    at: Starts,
    common: Invariants,
    ensembles: Any,
    contexts: Array,
    limits: Bounds | None,
    every: Array | int = 1,
) -> tuple[Mixture, Array]:
    """`replay` without the weights that components have in the end."""
    key_start, key_updates = jax.random.split(key)
    start = jax.vmap(partial(policy_update.first_mixture, key_start, task, settings.update, at, common))(contexts)
    stored = jax.tree.leaves(ensembles)[0].shape[0]
    updates = (stored - 1) // every + 1
    reward = partial(density_ratio.reward, settings.density_ratio, common)

    # A condition within one loop: two loops would take twice as long to compile.
    def late(number: Array, limits: Bounds, weights: Array) -> Array:
        cost = partial(constraints.cost, task, limits)
        return jax.lax.cond(number < updates // 2, lambda _: jnp.zeros(()), cost, weights)

    def one(number: Array, before: tuple[Mixture, Array]) -> tuple[Mixture, Array]:
        place = stored - 1 - (updates - 1 - number) * every
        ensemble = jax.tree.map(lambda leaf: leaf[place].astype(jnp.float32), ensembles)
        key = jax.random.fold_in(key_updates, number)
        cost = None if limits is None else partial(late, number, limits)
        return policy_update.update(key, task, settings.update, reward, ensemble, contexts, before[0], cost)

    # A loop of as many steps as it is told: one program, however many of the ensembles are used.
    return jax.lax.fori_loop(0, updates, one, (start, jnp.zeros_like(start.log_weights)))


def weigh(
    key: Array,
    task: Task,
    settings: VigorSettings,
    at: Starts,
    common: Invariants,
    contexts: Array,
    limits: Bounds | None,
    mixtures: Mixture,
) -> Mixture:
    """Mixtures [context, ...] with the weights that components have in the end."""
    if settings.update.weights == "fixed":
        return mixtures
    key_start, _ = jax.random.split(key)
    success = prediction.component_success(key_start, task, common, contexts, mixtures)
    mixtures = shares.weighed(task, at, common, contexts, mixtures, success)
    if limits is None:
        return mixtures
    # Rewards, which have the cost in them, count within a way alone.
    cost = jax.vmap(jax.vmap(partial(constraints.cost, task, limits)))(mixtures.means)
    return mixtures._replace(log_weights=jax.nn.log_softmax(mixtures.log_weights - cost / constraints.STRENGTH))


def farther(settings: VigorSettings, updates: int) -> VigorSettings:
    """Settings for plans that may have to go elsewhere than was shown: with few updates, more room and larger steps."""
    update, times = settings.update, max(1.0, UPDATES / updates)
    room = max(update.room, min(1.0, times * update.room))
    return with_values(settings, room=room, kl_bound=times * update.kl_bound)


@cache
def compiled(step: Callable[..., Any], backend: str) -> Callable[..., Any]:
    """`lead` or `weigh` from a seed, compiled: with less care on a CPU, where that takes a quarter less time and
    computes as fast. They are two programs, so that the second is compiled while the first computes."""

    def seeded(seed: Array, task: Task, settings: VigorSettings, *others: Any) -> Any:
        return step(jax.random.key(seed), task, settings, *others)

    careless = {"xla_backend_optimization_level": 1} if backend == "cpu" else None
    return jax.jit(seeded, static_argnums=(1, 2), compiler_options=careless)
