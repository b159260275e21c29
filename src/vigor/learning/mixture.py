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


def log_prob(mixture: Mixture, points: Float[Array, "point weight"]) -> Float[Array, " point"]:
    """Log density of points."""

    def component(mean: Float[Array, " weight"], root: Float[Array, "weight weight"]) -> Float[Array, " point"]:
        # Inverted once, and multiplied in full precision: a GPU's own is too coarse for narrow components.
        noise = jnp.einsum("ij,pj->pi", jnp.linalg.inv(root), points - mean, precision="highest")
        log_determinant = jnp.linalg.slogdet(root)[1]
        return -0.5 * jnp.sum(noise**2, axis=1) - log_determinant - 0.5 * mean.shape[0] * math.log(2 * math.pi)

    densities = jax.vmap(component)(mixture.means, mixture.roots)
    return jax.scipy.special.logsumexp(mixture.log_weights[:, None] + densities, axis=0)
