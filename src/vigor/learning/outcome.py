"""Outcomes of movements: how near they come to what their distances are measured from, or how near they end.

A network judges a movement step by step: it cannot tell a target that was passed far off from one that is yet to come,
or long past. The whole movement shows it: by the smallest value of every distance, or by the last one where
demonstrations end where they are nearest.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from vigor.learning.networks import magnified

_NARROWEST = 0.15
"""Least deviation, in units of what is near: a few demonstrations may be alike by chance."""
_AT_THE_END = 0.5
"""Demonstrations end where they are nearest if the last value exceeds the smallest by less, on average; same units."""


class Outcome(NamedTuple):
    """Outcome of demonstrations, by distance; of many networks with a leading axis."""

    last: Float[Array, "*network distance"]
    """1 where the last value counts, 0 where the smallest does."""
    mean: Float[Array, "*network distance"]
    """Mean of these values, magnified."""
    deviation: Float[Array, "*network distance"]


def learn(near: tuple[float, ...], demonstrations: Float[Array, "demonstration time feature"]) -> Outcome:
    """Outcome of demonstrations with these descriptors."""
    distances = magnified(near, demonstrations)
    beyond = jnp.mean(distances[:, -1] - jnp.min(distances, axis=1), axis=0)
    last = (beyond < _AT_THE_END).astype(distances.dtype)
    values = _values(last, distances)
    return Outcome(last, jnp.mean(values, axis=0), jnp.maximum(jnp.std(values, axis=0), _NARROWEST))


def log_density(
    outcome: Outcome, near: tuple[float, ...], descriptors: Float[Array, "*sample time feature"]
) -> Float[Array, "*sample"]:
    """Log density, up to a constant, of what comes of movements with these descriptors."""
    away = (_values(outcome.last, magnified(near, descriptors)) - outcome.mean) / outcome.deviation
    return -0.5 * jnp.sum(away**2, axis=-1)


def _values(
    last: Float[Array, " distance"], distances: Float[Array, "*sample time distance"]
) -> Float[Array, "*sample distance"]:
    """Last or smallest values of magnified distances."""
    return jnp.where(last > 0, distances[..., -1, :], jnp.min(distances, axis=-2))
