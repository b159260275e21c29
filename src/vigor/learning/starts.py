"""Starts of mixtures: at demonstrations, with room around each. Beyond the paper.

A mixture has a component for every demonstration, or for those that differ most: ways that people go are there from the
beginning, and need not be found. How much room a component begins with says how far it may have to go: about as far as
a demonstration is from the most similar one of another context. Where people solve a task in several ways, that is much
less than how far demonstrations are apart.
"""

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from vigor.basics.contents import Contents, Numbers
from vigor.learning.mixture import Mixture

_LEAST = 0.1
"""Least room along a weight, as a share of the usual one."""


class Starts(NamedTuple):
    """Demonstrations that mixtures begin at; of many runs with a leading axis."""

    weights: Float[Array, "*run demonstration weight"]
    """Their movement-primitive weights."""
    room: Float[Array, "*run weight"]
    """Standard deviation of a component that begins at one of them."""


_FINITE = float(np.finfo(np.float32).max)
CONTENTS: Contents = {
    "weights": Numbers(("demonstration", "weight"), -_FINITE, _FINITE),
    "room": Numbers(("weight",), 0.0, _FINITE),
}
"""Arrays of one run's starts."""


def starts(weights: np.ndarray, contexts: np.ndarray) -> Starts:
    """Starts at demonstrations with weights [n, D] of contexts [n]."""
    points = np.asarray(weights, np.float64)
    spread = np.maximum(points.std(axis=0), 1e-12)
    distances = np.sum(((points[:, None] - points[None]) / spread) ** 2, axis=-1)
    same = contexts[:, None] == contexts
    distances[same if not np.all(same) else np.eye(len(points), dtype=bool)] = np.inf
    apart = points - points[distances.argmin(axis=1)]
    deviation = np.sqrt(np.mean(apart**2, axis=0) / 2)
    usual = np.sqrt(np.mean(deviation**2))
    room = np.maximum(deviation, _LEAST * usual) if usual > 0 else np.ones_like(deviation)
    return Starts(jnp.asarray(weights, jnp.float32), jnp.asarray(room, jnp.float32))


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
