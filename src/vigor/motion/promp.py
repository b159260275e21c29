"""Probabilistic movement primitives: a short weight vector describes a whole trajectory.

A trajectory at phase z in [0, 1] is `start + basis(z) @ (scale * weights)`. The basis functions are normalised
Gaussian bumps at evenly spaced centres. Because the phase is continuous, a weight vector can be rolled out at any
resolution and differentiated exactly.

A movement can begin elsewhere than where its weights say, with the pose p: what is missing at its first moment is added
there, and less and less of it until `LED` of the movement, by a smooth step h from 1 to 0:

    start + basis(z) @ w + h(z) * (p - start - basis(0) @ w)

which is linear in the weights as before, with the basis `basis(z) - h(z) * basis(0)`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from vigor.basics.errors import UserError

LED = 0.5
"""Phase at which a movement that begins elsewhere is the one that its weights say."""


@dataclass(frozen=True)
class ProMP:
    """A family of trajectories with `bases * dimensions` weights, flat in the order [base, dimension]."""

    bases: int
    """Basis functions per dimension."""
    dimensions: int
    """Moved joints, or coordinates of a path."""
    steps: int
    """Time steps T of a rollout, unless a rollout asks for another number."""
    start: tuple[float, ...] | None = None
    """Pose [dimensions] added to every step; zeros by default."""
    free_start: bool = False
    """False: the first two of `bases + 2` basis functions are dropped, so that every movement leaves `start` from rest.
    True: all basis functions are kept and the weights choose the first pose."""
    scale: float = 1.0
    """Factor on the weights: a standard normal weight moves a joint by about this much."""
    span: tuple[float, float] = (-0.01, 1.01)
    """Phase of the first and of the last centre."""
    width: float = 0.005
    """Variance of a basis function, in squared phase."""
    begin: tuple[float, ...] | None = None
    """Pose [dimensions] that every movement begins with exactly, and is led from to what its weights say; None if it
    begins as they say."""

    def __post_init__(self) -> None:
        if not all(isinstance(value, int) for value in (self.bases, self.dimensions, self.steps)):
            raise UserError("a ProMP's bases, dimensions and steps must be whole numbers")
        for name in ("start", "begin"):
            if (pose := getattr(self, name)) is not None:  # A list or an array serves, but must not change later.
                object.__setattr__(self, name, tuple(float(value) for value in pose))
        if self.bases < 1 or self.dimensions < 1 or self.steps < 3:
            raise UserError("a ProMP needs at least 1 basis function, 1 dimension and 3 steps")
        for pose in (self.start, self.begin):
            if pose is not None and len(pose) != self.dimensions:
                raise UserError(f"the ProMP's start has {len(pose)} values for {self.dimensions} dimensions")
        if self.scale <= 0 or self.width <= 0 or self.span[0] >= self.span[1]:
            raise UserError("a ProMP needs a positive scale, a positive width and an increasing span of centres")

    @property
    def weights(self) -> int:
        """Length D of a weight vector."""
        return self.bases * self.dimensions

    @partial(jax.jit, static_argnames=("self", "derivative"), inline=True)
    def basis(self, phase: Float[Array, " time"], derivative: int = 0) -> Float[Array, "time base"]:
        """Values of the basis functions at phases, or of a derivative by the phase."""
        dropped = 0 if self.free_start else 2
        centres = jnp.linspace(*self.span, self.bases + dropped)

        def bumps(z: Float[Array, ""]) -> Float[Array, " base"]:
            return jax.nn.softmax(-((z - centres) ** 2) / (2 * self.width))[dropped:]

        def led(z: Float[Array, ""]) -> Float[Array, " base"]:
            return bumps(z) - _missing(z) * bumps(jnp.zeros_like(z))

        return jax.vmap(_derived(bumps if self.begin is None else led, derivative))(phase)

    @partial(jax.jit, static_argnames=("self", "derivative"), inline=True)
    def offset(self, phase: Float[Array, " time"], derivative: int = 0) -> Float[Array, "time dimension"]:
        """Part of every movement that no weight changes, at phases, or a derivative of it by the phase."""
        start = jnp.zeros(self.dimensions) if self.start is None else jnp.asarray(self.start)

        def at(z: Float[Array, ""]) -> Float[Array, " dimension"]:
            rest = start.astype(z.dtype)
            return rest if self.begin is None else rest + _missing(z) * (jnp.asarray(self.begin, z.dtype) - rest)

        return jax.vmap(_derived(at, derivative))(phase)

    def at(self, weights: Float[Array, " weight"], phase: Float[Array, " time"]) -> Float[Array, "time dimension"]:
        """Poses of one weight vector at phases; can be differentiated by the phase."""
        matrix = jnp.reshape(weights, (self.bases, self.dimensions)) * self.scale
        path = jnp.matmul(self.basis(phase), matrix, precision="highest")
        return path + self.offset(phase).astype(path.dtype)

    def rollout(
        self, weights: Float[Array, "*batch weight"], steps: int | None = None, derivative: int = 0
    ) -> Float[Array, "*batch time dimension"]:
        """Trajectories of weights; derivatives are by the phase."""
        phase = jnp.linspace(0.0, 1.0, self.steps if steps is None else steps)
        matrix = jnp.reshape(weights, (*weights.shape[:-1], self.bases, self.dimensions)) * self.scale
        path = jnp.einsum("tb,...bd->...td", self.basis(phase, derivative), matrix, precision="highest")
        return path + self.offset(phase, derivative).astype(path.dtype)

    def parts(self, steps: int) -> tuple[Float[np.ndarray, "time base"], Float[np.ndarray, "time dimension"]]:
        """Values of the basis functions at evenly spaced phases, and what no weight changes, in double precision."""
        with jax.enable_x64(True):
            basis, offset = _parts(self, np.linspace(0.0, 1.0, steps))
        return np.asarray(basis), np.asarray(offset)

    def fit(
        self, trajectories: Float[np.ndarray, "*batch time dimension"], ridge: float = 1e-6
    ) -> Float[np.ndarray, "*batch weight"]:
        """Weights of trajectories by ridge regression, in double precision."""
        trajectories = np.asarray(trajectories, np.float64)
        basis, offset = self.parts(trajectories.shape[-2])
        gram = basis.T @ basis + ridge * np.eye(self.bases)
        solution = np.linalg.solve(gram, basis.T @ (trajectories - offset)) / self.scale
        return solution.reshape(*trajectories.shape[:-2], self.weights)


@partial(jax.jit, static_argnums=0)
def _parts(promp: ProMP, phase: Float[Array, " time"]) -> tuple[Array, Array]:
    return promp.basis(phase), promp.offset(phase)


def _missing(z: Float[Array, ""]) -> Float[Array, ""]:
    """Share of the way to where a movement begins that is added at a phase: a smooth step, with no jump of speed or
    acceleration, from 1 to 0."""
    u = jnp.clip(z / LED, 0.0, 1.0)
    return 1 - u**3 * (10 - 15 * u + 6 * u**2)


def _derived(path: Callable[[Array], Array], times: int) -> Callable[[Array], Array]:
    """A function of the phase, derived by it so many times."""
    for _ in range(times):
        path = jax.jacfwd(path)
    return path


@partial(jax.jit, static_argnames=("promp", "steps"))
def rollout(
    promp: ProMP, weights: Float[Array, "*batch weight"], steps: int | None = None
) -> Float[Array, "*batch time dimension"]:
    """`promp.rollout`, compiled."""
    return promp.rollout(weights, steps)
