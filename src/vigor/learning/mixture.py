"""Gaussian mixtures with full covariances, one per context, as a pytree of arrays.

Every function takes one mixture and is lifted over contexts and runs with `jax.vmap`. A component is
N(mean, A A^T) with A any square root of the covariance; a sample is mean + A z with z standard normal.
"""

import math
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray


class Mixture(NamedTuple):
    """A mixture, or many with leading axes."""

    log_weights: Float[Array, "*batch component"]
    means: Float[Array, "*batch component weight"]
    roots: Float[Array, "*batch component weight weight"]


def normal(key: PRNGKeyArray, components: int, dimension: int) -> Mixture:
    """Equal weights, means drawn from N(0, I), covariances I (the authors' start)."""
    return Mixture(
        jnp.full((components,), -math.log(components)),
        jax.random.normal(key, (components, dimension)),
        jnp.broadcast_to(jnp.eye(dimension), (components, dimension, dimension)),
    )


def sample_components(key: PRNGKeyArray, mixture: Mixture, samples: int) -> Float[Array, "component sample weight"]:
    """Samples of every component."""
    noise = jax.random.normal(key, (mixture.means.shape[0], samples, mixture.means.shape[1]))
    return place(mixture, noise)


def place(mixture: Mixture, noise: Float[Array, "component sample weight"]) -> Float[Array, "component sample weight"]:
    """Samples of every component from standard normal noise."""
    return mixture.means[:, None] + jnp.einsum("kij,ksj->ksi", mixture.roots, noise, precision="highest")


def sample(key: PRNGKeyArray, mixture: Mixture, samples: int) -> Float[Array, "sample weight"]:
    """Samples of the mixture: components by weight."""
    return sample_with_components(key, mixture, samples)[0]


@partial(jax.jit, static_argnames="samples")
def sample_with_components(
    key: PRNGKeyArray, mixture: Mixture, samples: int
) -> tuple[Float[Array, "sample weight"], Int[Array, " sample"]]:
    """Samples of the mixture, and the component that each comes from."""
    key_component, key_noise = jax.random.split(key)
    component = jax.random.categorical(key_component, mixture.log_weights, shape=(samples,))
    noise = jax.random.normal(key_noise, (samples, mixture.means.shape[1]))
    turned = jnp.einsum("sij,sj->si", mixture.roots[component], noise, precision="highest")
    return mixture.means[component] + turned, component


def log_density(mixture: Mixture, noise: Float[Array, "component sample weight"]) -> Float[Array, "component sample"]:
    """Log density of the mixture at the samples that `place` makes of each component's noise.

    What a sample is to its own component is its noise, exactly: only for the others a root is inverted, whose errors
    are as large as the component is narrow.
    """
    points = place(mixture, noise)

    def by_component(own: Int[Array, ""], mean: Float[Array, " weight"], root: Float[Array, "weight weight"]) -> Array:
        """Log density of all samples in one component."""
        there = jnp.einsum("ij,ksj->ksi", jnp.linalg.inv(root), points - mean, precision="highest")
        here = (jnp.arange(noise.shape[0]) == own)[:, None, None]
        squares = jnp.sum(jnp.where(here, noise, there) ** 2, axis=-1)
        return -0.5 * squares - jnp.linalg.slogdet(root)[1] - 0.5 * mean.shape[0] * math.log(2 * math.pi)

    densities = jax.vmap(by_component)(jnp.arange(noise.shape[0]), mixture.means, mixture.roots)
    return jax.scipy.special.logsumexp(mixture.log_weights[:, None, None] + densities, axis=0)
