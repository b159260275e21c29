"""The exact KL-bounded step of a Gaussian component (paper, Eq. 1).

It maximises E_new[r] - KL(new || old) subject to KL(new || old) <= bound. The KL term of the objective and the
multiplier of the constraint add up to one temperature eta >= 1; KL falls with eta, so eta = 1 is the answer where it is
feasible and bisection on log eta finds the boundary elsewhere. No optimiser library, nothing that can fail to converge.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from vigor.learning.surrogate import Quadratic

_BISECTIONS = 40
_MAX_LOG_ETA = 60.0


class Step(NamedTuple):
    """A Gaussian in the old component's whitened coordinates: z_new = mean + root z."""

    mean: Float[Array, "*batch weight"]
    root: Float[Array, "*batch weight weight"]
    kl: Float[Array, "*batch"]
    """KL(new || old)."""
    gain: Float[Array, "*batch"]
    """E_new[r] - E_old[r] under the quadratic model."""


def kl_bounded_step(model: Quadratic, bound: float | Float[Array, ""]) -> Step:
    """Best Gaussian step under KL(new || old) <= bound. One component; vmap for more.

    Along the eigenvectors U of the curvature with eigenvalues m and h = U^T gradient the solution has variances
    v = eta / (eta + m) and means h / (eta + m); its KL is sum(v - 1 - ln v + mean^2) / 2.
    """
    spectrum, axes = jnp.linalg.eigh(model.curvature)
    slope = jnp.matmul(axes.T, model.gradient, precision="highest")
    smallest = jnp.minimum(spectrum[0], 0.0)

    def moments(log_excess: Float[Array, ""]) -> tuple[Float[Array, " weight"], Float[Array, " weight"]]:
        """Means and variances less one, for an eta above the smallest that keeps all variances positive."""
        denominator = jnp.maximum(1.0, -smallest) + jnp.expm1(log_excess) + spectrum
        return slope / denominator, -spectrum / denominator

    def kl(log_excess: Float[Array, ""]) -> Float[Array, ""]:
        mean, growth = moments(log_excess)
        value = 0.5 * jnp.sum(growth - jnp.log1p(growth) + mean**2)
        return jnp.where(jnp.all(growth > -1) & jnp.isfinite(value), value, jnp.inf)

    zero = jnp.zeros_like(smallest)
    log_excess = _bisect(kl, bound, zero, zero + _MAX_LOG_ETA)
    mean, growth = moments(log_excess)
    gain = jnp.sum(slope * mean - 0.5 * spectrum * (growth + mean**2))
    return Step(jnp.matmul(axes, mean, precision="highest"), axes * jnp.sqrt(1 + growth), kl(log_excess), gain)


Ends = tuple[Float[Array, ""], Float[Array, ""]]


def _bisect(
    kl: Callable[[Array], Array], bound: float | Float[Array, ""], low: Float[Array, ""], high: Float[Array, ""]
) -> Float[Array, ""]:
    """Smallest x in [low, high] with kl(x) <= bound, for a kl that falls with x."""
    feasible = kl(low) <= bound

    def halve(_: Int[Array, ""], ends: Ends) -> Ends:
        low, high = ends
        middle = (low + high) / 2
        fits = kl(middle) <= bound
        return jnp.where(fits, low, middle), jnp.where(fits, middle, high)

    _, found = jax.lax.fori_loop(0, _BISECTIONS, halve, (low, high))
    return jnp.where(feasible, low, found)
