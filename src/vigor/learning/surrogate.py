"""A quadratic model of a reward around a Gaussian component, in whitened coordinates.

With w = mean + A z the model is r(z) = value + gradient . z - (z^T curvature z - trace curvature) / 2, where value is
the mean reward E[r] of the component.
Two estimates from samples z ~ N(0, I):

- from gradients, by Stein's identities E[dr/dz] = gradient and E[z (dr/dz)^T] = -curvature. On the points of `design`
  with S = 2 D samples (or a multiple) they are exact for a quadratic reward;
- from values, by least squares on (z_i z_j, z_i, 1), as in the paper; needs more than D (D + 3) / 2 + 1 samples.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray


class Quadratic(NamedTuple):
    """The model's three parts; the curvature is symmetric. Of many components with leading axes."""

    value: Float[Array, "*batch"]
    gradient: Float[Array, "*batch weight"]
    curvature: Float[Array, "*batch weight weight"]


def design(key: PRNGKeyArray, samples: int, dimension: int) -> Float[Array, "sample weight"]:
    """Points z for `from_gradients`: pairs z, -z along random orthogonal directions of length sqrt(D), D the dimension.

    Their mean is zero and, for 2 D samples, their covariance the identity, so that neither adds noise to the estimate.
    """
    blocks = -(-samples // (2 * dimension))
    key_directions, key_signs = jax.random.split(key)
    directions = jnp.linalg.qr(jax.random.normal(key_directions, (blocks, dimension, dimension)))[0]
    # The decomposition fixes signs; random ones keep a last point without its opposite unbiased.
    directions = directions * jax.random.rademacher(key_signs, (blocks, dimension, 1), directions.dtype)
    half = directions.reshape(-1, dimension)[: -(-samples // 2)] * jnp.sqrt(dimension)
    return jnp.stack([half, -half], axis=1).reshape(-1, dimension)[:samples]


def from_gradients(
    noise: Float[Array, "sample weight"], values: Float[Array, " sample"], gradients: Float[Array, "sample weight"]
) -> Quadratic:
    """Stein estimate from points z, r(z) and dr/dz. One component; vmap for more."""
    gradient = jnp.mean(gradients, axis=0)
    product = jnp.einsum("si,sj->ij", noise, gradients - gradient, precision="highest") / noise.shape[0]
    return Quadratic(jnp.mean(values), gradient, -(product + product.T) / 2)


def from_values(
    noise: Float[Array, "sample weight"], values: Float[Array, "*batch sample"], ridge: float = 1e-6
) -> Quadratic:
    """Least-squares fit to points z and r(z), of any number of components that share their points."""
    dimension = noise.shape[1]
    rows, columns = jnp.triu_indices(dimension)
    features = jnp.concatenate([noise[:, rows] * noise[:, columns], noise, jnp.ones_like(noise[:, :1])], axis=1)
    centre = jnp.mean(values, axis=-1, keepdims=True)
    gram = jnp.einsum("si,sj->ij", features, features, precision="highest") / noise.shape[0]
    moment = jnp.einsum("si,...s->i...", features, values - centre, precision="highest") / noise.shape[0]
    factor = jax.scipy.linalg.cho_factor(gram + ridge * jnp.eye(gram.shape[0]))
    solved = jax.scipy.linalg.cho_solve(factor, moment.reshape(moment.shape[0], -1)).reshape(moment.shape)
    coefficients = jnp.moveaxis(solved, 0, -1)
    pairs = rows.shape[0]
    half = jnp.zeros((*values.shape[:-1], dimension, dimension)).at[..., rows, columns].set(coefficients[..., :pairs])
    value = centre[..., 0] + coefficients[..., -1] + jnp.trace(half, axis1=-2, axis2=-1)
    return Quadratic(value, coefficients[..., pairs:-1], -(half + jnp.swapaxes(half, -1, -2)))
