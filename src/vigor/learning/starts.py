"""Starts of mixtures: at demonstrations, with room around each. Beyond the paper.

A mixture has a component for every demonstration, or for those that differ most: ways that people go are there from the
beginning, and need not be found. How much room a component begins with says how far it may have to go: about as far as
a demonstration is from the most similar one of another context. Where people solve a task in several ways, that is much
less than how far demonstrations are apart.

Where a task says how movements are carried to other contexts (see `vigor.tasks.task.Transfer`), every mixture begins at
demonstrations carried into its own context: at those of the nearest contexts, or at those which, carried, do most of
what all demonstrations do in theirs.
"""

import math
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from vigor.basics.batching import by_chunks
from vigor.basics.contents import Contents, Numbers
from vigor.learning import invariants
from vigor.learning.invariants import Invariants
from vigor.learning.mixture import Mixture
from vigor.tasks.task import Task

_CHUNK = 32
"""Demonstrations that are compared with all at once, to bound memory."""
_LEAST = 0.1
"""Least room along a weight, as a share of the usual one."""


class Starts(NamedTuple):
    """Demonstrations that mixtures begin at; of many runs with a leading axis."""

    weights: Float[Array, "*run demonstration weight"]
    """Their movement-primitive weights."""
    contexts: Float[Array, "*run demonstration coordinate"]
    """Context of each."""
    room: Float[Array, "*run weight"]
    """Standard deviation of a component that begins at one of them."""


CONTENTS: Contents = {
    "weights": Numbers(("demonstration", "weight")),
    "contexts": Numbers(("demonstration", "coordinate")),
    "room": Numbers(("weight",), 0.0),
}
"""Arrays of one run's starts."""


def starts(task: Task, weights: np.ndarray, contexts: np.ndarray) -> Starts:
    """Starts at demonstrations with weights [n, D] of contexts [n, C]."""
    points, own = np.asarray(weights, np.float64), np.asarray(contexts, np.float32)
    brought = points[None]  # [to, from, D]
    if task.transfer.carry is not None:
        brought = np.asarray(_brought(task, points.astype(np.float32), own), np.float64)
    spread = np.maximum(points.std(axis=0), 1e-12)
    distances = np.sum(((points[:, None] - brought) / spread) ** 2, axis=-1)
    same = np.all(own[:, None] == own, axis=-1)
    distances[same if not np.all(same) else np.eye(len(points), dtype=bool)] = np.inf
    apart = (
        points
        - np.broadcast_to(brought, (len(points), *points.shape))[np.arange(len(points)), distances.argmin(axis=1)]
    )
    deviation = np.sqrt(np.mean(apart**2, axis=0) / 2)
    usual = np.sqrt(np.mean(deviation**2))
    room = np.maximum(deviation, _LEAST * usual) if usual > 0 else np.ones_like(deviation)
    return Starts(*jax.device_put((points.astype(np.float32), own, room.astype(np.float32))))


@partial(jax.jit, static_argnums=0)
def _brought(
    task: Task, weights: Float[Array, "demonstration weight"], contexts: Float[Array, "demonstration coordinate"]
) -> Float[Array, "to from weight"]:
    """Weights of all demonstrations in the contexts of all."""
    return jax.vmap(lambda to: carried(task, weights, contexts, to))(contexts)


@partial(jax.jit, static_argnums=0)  # Traced once, though first mixtures, shares and plans all have it.
def carried(
    task: Task,
    weights: Float[Array, "demonstration weight"],
    contexts: Float[Array, "demonstration coordinate"],
    to: Float[Array, " coordinate"],
) -> Float[Array, "demonstration weight"]:
    """Weights of demonstrations, carried from their contexts to one where the task says how."""
    if task.transfer.carry is None:
        return weights
    return jax.vmap(task.transfer.carry, (0, 0, None))(weights, contexts, to)


def in_context(task: Task, at: Starts, context: Float[Array, " coordinate"], components: int) -> Starts:
    """Starts of a context: all of them, or, where they are carried, so many of the nearest contexts."""
    if task.transfer.carry is None:
        return at
    nearest = jnp.argsort(away(task, at.contexts, context), stable=True)[:components]
    weights, contexts = at.weights[nearest], at.contexts[nearest]
    return Starts(carried(task, weights, contexts, context), contexts, at.room)


def likeliest(
    task: Task, at: Starts, common: Invariants, context: Float[Array, " coordinate"], components: int
) -> Starts:
    """Starts of a context: all of them, or, where they are carried, so many that are likeliest there, by invariants."""
    if task.transfer.carry is None:
        return at
    weights = carried(task, at.weights, at.contexts, context)

    def energies(weights: Float[Array, "demonstration weight"]) -> Float[Array, " demonstration"]:
        return invariants.energy(common, jax.vmap(lambda w: task.describe_weights(w, context))(weights))

    chosen = jnp.argsort(by_chunks(min(_CHUNK, len(weights)), energies, weights), stable=True)[:components]
    return Starts(weights[chosen], at.contexts[chosen], at.room)


def away(
    task: Task, contexts: Float[Array, "shown coordinate"], to: Float[Array, " coordinate"]
) -> Float[Array, " shown"]:
    """Distances of contexts from one: the task's own, or in deviations of the contexts."""
    if task.transfer.away is not None:
        return jax.vmap(task.transfer.away, (0, None))(contexts, to)
    return apart(task, contexts, to)


def apart(
    task: Task, contexts: Float[Array, "shown coordinate"], to: Float[Array, " coordinate"]
) -> Float[Array, " shown"]:
    """Squared distances of contexts from one, in deviations of the contexts."""
    contexts = jax.vmap(task.transfer.as_near, (0, None))(contexts, to)
    unit = jnp.maximum(jnp.std(contexts, axis=0), 1e-12) if contexts.shape[0] > 1 else 1.0
    return jnp.sum(((contexts - to) / unit) ** 2, axis=-1)


def mixture(key: PRNGKeyArray, at: Starts, components: int) -> Mixture:
    """A mixture with equal weights and a component at every demonstration, or at as many as are asked for.

    Of more demonstrations the first is any one, each next one is drawn by its squared distance from the nearest before
    it (as k-means++ begins), so that they tend to be far apart. Covariances are diagonal.
    """
    points, components = at.weights, min(components, at.weights.shape[0])
    key_first, key_next = jax.random.split(key)
    first = points[jax.random.randint(key_first, (), 0, points.shape[0])]

    def draw(away: Float[Array, " point"], key: PRNGKeyArray) -> tuple[Float[Array, " point"], Float[Array, " weight"]]:
        chosen = points[jax.random.categorical(key, jnp.log(away + 1e-12))]
        return jnp.minimum(away, _squared_distance(points, chosen)), chosen

    _, rest = jax.lax.scan(draw, _squared_distance(points, first), jax.random.split(key_next, components - 1))
    means = jnp.concatenate([first[None], rest]) if components < points.shape[0] else points
    return Mixture(
        jnp.full((components,), -math.log(components)),
        means,
        jnp.broadcast_to(jnp.diag(at.room), (components, *at.room.shape, *at.room.shape)),
    )


def _squared_distance(points: Float[Array, "point weight"], point: Float[Array, " weight"]) -> Float[Array, " point"]:
    """Squared distances of points from one."""
    return jnp.sum((points - point) ** 2, axis=-1)
