"""Gaussian mixtures with full covariances, one per context, as a pytree of arrays.

Every function takes one mixture and is lifted over contexts and runs with `jax.vmap`. A component is
N(mean, A A^T) with A any square root of the covariance; a sample is mean + A z with z standard normal.
"""

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp

Array = jax.Array

_ROOM = 0.8
"""Standard deviation around means that begin among points, over that of the points."""


class Mixture(NamedTuple):
    """log_weights: [..., component], means: [..., component, D], roots: [..., component, D, D]."""

    log_weights: Array
    means: Array
    roots: Array


def normal(key: Array, components: int, dimension: int) -> Mixture:
    """Equal weights, means drawn from N(0, I), covariances I (the authors' start)."""
    return Mixture(
        jnp.full((components,), -math.log(components)),
        jax.random.normal(key, (components, dimension)),
        jnp.broadcast_to(jnp.eye(dimension), (components, dimension, dimension)),
    )


def among(key: Array, points: Array, components: int) -> Mixture:
    """Equal weights, means at different ones of the points [n, D], and room around them.

    The first mean is any point, each next one a point drawn by its squared distance from the nearest mean before it (as
    k-means++ begins), so that means tend to be far apart. Covariances are diagonal: a share of the points' own.
    """
    key_first, key_next = jax.random.split(key)
    points = jnp.asarray(points)
    first = points[jax.random.randint(key_first, (), 0, points.shape[0])]

    def draw(away: Array, key: Array) -> tuple[Array, Array]:
        chosen = points[jax.random.categorical(key, jnp.log(away + 1e-12))]
        return jnp.minimum(away, _squared_distance(points, chosen)), chosen

    _, rest = jax.lax.scan(draw, _squared_distance(points, first), jax.random.split(key_next, components - 1))
    deviations = jnp.std(points, axis=0)
    usual = jnp.sqrt(jnp.mean(deviations**2))
    room = jnp.where(usual > 0, _ROOM * jnp.maximum(deviations, 0.1 * usual), 1.0)
    return Mixture(
        jnp.full((components,), -math.log(components)),
        jnp.concatenate([first[None], rest]),
        jnp.broadcast_to(jnp.diag(room), (components, *room.shape, *room.shape)),
    )


def _squared_distance(points: Array, point: Array) -> Array:
    """Squared distances [n] of points [n, D] from a point [D]."""
    return jnp.sum((points - point) ** 2, axis=-1)


def sample_components(key: Array, mixture: Mixture, samples: int) -> Array:
    """Samples [component, sample, D] of every component."""
    noise = jax.random.normal(key, (mixture.means.shape[0], samples, mixture.means.shape[1]))
    return place(mixture, noise)


def place(mixture: Mixture, noise: Array) -> Array:
    """Weights [component, sample, D] of standard normal noise of the same shape."""
    return mixture.means[:, None] + jnp.einsum("kij,ksj->ksi", mixture.roots, noise, precision="highest")


def sample(key: Array, mixture: Mixture, samples: int) -> Array:
    """Samples [sample, D] of the mixture: components by weight."""
    return sample_with_components(key, mixture, samples)[0]


def sample_with_components(key: Array, mixture: Mixture, samples: int) -> tuple[Array, Array]:
    """Samples [sample, D] of the mixture, and the component [sample] that each comes from."""
    key_component, key_noise = jax.random.split(key)
    component = jax.random.categorical(key_component, mixture.log_weights, shape=(samples,))
    noise = jax.random.normal(key_noise, (samples, mixture.means.shape[1]))
    turned = jnp.einsum("sij,sj->si", mixture.roots[component], noise, precision="highest")
    return mixture.means[component] + turned, component


def log_prob(mixture: Mixture, points: Array) -> Array:
    """Log density [sample] of points [sample, D]."""

    def component(mean: Array, root: Array) -> Array:
        noise = jnp.linalg.solve(root, (points - mean).T)
        log_determinant = jnp.linalg.slogdet(root)[1]
        return -0.5 * jnp.sum(noise**2, axis=0) - log_determinant - 0.5 * mean.shape[0] * math.log(2 * math.pi)

    densities = jax.vmap(component)(mixture.means, mixture.roots)
    return jax.scipy.special.logsumexp(mixture.log_weights[:, None] + densities, axis=0)
