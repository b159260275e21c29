"""Policies of all contexts of a run, which evaluation, figures and plans take: components that move.

`Learned` is all that they need: movements of every component of a context. `Policies` are mixtures over
movement-primitive weights, one for every context; `StepPolicies` are one actor for all contexts.
"""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np

from vigor.baselines import actors
from vigor.baselines.actors import Actor
from vigor.basics import files
from vigor.basics.errors import UserError
from vigor.learning import mixture
from vigor.learning.mixture import Mixture
from vigor.motion.promp import rollout
from vigor.tasks.task import Task


class Movements(NamedTuple):
    """Movements of the components of some contexts."""

    weights: np.ndarray
    """[context, component]: how likely each component is."""
    means: np.ndarray
    """[context, component, T, dimensions]: each component without its noise."""
    samples: np.ndarray
    """[context, component, sample, T, dimensions]"""


class Learned(Protocol):
    """Policies that training leaves; training contexts come first."""

    @property
    def contexts(self) -> np.ndarray:
        """[context, C]"""

    @property
    def training(self) -> int:
        """Number of training contexts among the contexts."""

    @property
    def components(self) -> int:
        """Components of every context."""

    def fits(self, task: Task) -> bool:
        """Whether these are policies of the task."""

    def movements(self, task: Task, rows: slice, samples: int, seed: int, steps: int | None = None) -> Movements:
        """Movements in some of the contexts. A context's samples do not depend on which others are asked for.

        steps: T of movement primitives, as many as the task says by default.
        """

    def save(self, path: Path) -> None: ...


@jax.jit
def _keys(key: jax.Array, rows: jax.Array) -> jax.Array:
    """A random key for every context."""
    return jax.vmap(partial(jax.random.fold_in, key))(rows)


@partial(jax.jit, static_argnums=2)
def _sample(keys: jax.Array, mixtures: Mixture, samples: int) -> jax.Array:
    return jax.vmap(partial(mixture.sample_components, samples=samples))(keys, mixtures)


@dataclass(frozen=True, repr=False)
class Policies:
    """One mixture over ProMP weights per context; training contexts come first."""

    contexts: np.ndarray
    """[context, C]"""
    training: int
    """Number of training contexts among the contexts."""
    mixtures: Mixture
    """[context, ...]"""

    def __post_init__(self) -> None:
        shape = self.mixtures.means.shape
        if len(shape) != 3 or self.contexts.ndim != 2 or len(self.contexts) != shape[0]:
            raise UserError("policies need a mixture for every context")
        if self.mixtures.log_weights.shape != shape[:2] or self.mixtures.roots.shape != (*shape, shape[2]):
            raise UserError("policies need a weight, a mean and a square root of the covariance for every component")
        if not 0 <= self.training <= shape[0]:
            raise UserError("policies cannot have more training contexts than contexts")

    @property
    def components(self) -> int:
        return self.mixtures.means.shape[1]

    def __repr__(self) -> str:
        return _words(self)

    def fits(self, task: Task) -> bool:
        return self.mixtures.means.shape[2] == task.promp.weights and self.contexts.shape[1] == task.context_dimension

    def movements(self, task: Task, rows: slice, samples: int, seed: int, steps: int | None = None) -> Movements:
        own = jax.tree.map(lambda leaf: np.asarray(leaf)[rows], self.mixtures)
        drawn = _sample(_keys(jax.random.key(seed), np.arange(len(self.contexts))[rows]), own, samples)
        means, drawn = (np.asarray(rollout(task.promp, weights, steps)) for weights in (own.means, drawn))
        return Movements(np.exp(np.asarray(own.log_weights, np.float64)), means, drawn)

    def save(self, path: Path) -> None:
        arrays = {name: np.asarray(value) for name, value in self.mixtures._asdict().items()}
        files.write_arrays(path, {"contexts": self.contexts, "training": np.asarray(self.training), **arrays})


@dataclass(frozen=True, repr=False)
class StepPolicies:
    """One actor for all contexts; training contexts come first."""

    contexts: np.ndarray
    """[context, C]"""
    training: int
    """Number of training contexts among the contexts."""
    actor: Actor

    def __post_init__(self) -> None:
        if self.contexts.ndim != 2 or not 0 <= self.training <= len(self.contexts):
            raise UserError("policies need contexts [context, C], and no more training contexts than contexts")

    @property
    def components(self) -> int:
        return self.actor.components if self.actor.hold_component else 1

    def __repr__(self) -> str:
        return _words(self)

    def fits(self, task: Task) -> bool:
        return self.contexts.shape[1] == task.context_dimension and actors.fits(task, self.actor)

    def movements(self, task: Task, rows: slice, samples: int, seed: int, steps: int | None = None) -> Movements:
        contexts = jnp.asarray(self.contexts[rows], jnp.float32)
        keys = _keys(jax.random.key(seed), np.arange(len(self.contexts))[rows])
        return Movements(*map(np.asarray, actors.movements(task, self.actor, contexts, keys, samples)))

    def save(self, path: Path) -> None:
        known = {"contexts": self.contexts, "training": np.asarray(self.training)}
        files.write_arrays(path, known | actors.to_arrays(self.actor))


def _words(learned: Learned) -> str:
    """Policies in short."""
    counts = f"{learned.training} training contexts of {len(learned.contexts)}, {learned.components} components each"
    return f"{type(learned).__name__}({counts})"


def of(contexts: np.ndarray, training: int, learned: Mixture | Actor) -> Learned:
    """The policies of contexts [context, C], the first of which are training contexts."""
    kind: type = Policies if isinstance(learned, Mixture) else StepPolicies
    return kind(contexts, training, learned)


def load(path: Path) -> Learned:
    arrays = files.read_arrays(path)
    names = {"contexts", *(arrays.keys() - {"training", "settings"} if "settings" in arrays else Mixture._fields)}
    missing = {"training", *names} - arrays.keys()
    if missing:
        raise UserError(f"{path} lacks {', '.join(sorted(missing))}; it is not a policies file")
    numbers = all(np.issubdtype(arrays[name].dtype, np.number) for name in names)
    if arrays["training"].shape != () or not np.issubdtype(arrays["training"].dtype, np.integer) or not numbers:
        raise UserError(f"{path} holds arrays of the wrong kind; it is not a policies file")
    if not all(np.all(np.isfinite(arrays[name])) for name in names - {"log_weights"}):
        raise UserError(f"{path} holds numbers that are not finite; evaluate another run")
    try:
        learned: Mixture | Actor
        if "settings" in arrays:
            learned = actors.from_arrays(arrays)
        else:
            learned = Mixture(*(jnp.asarray(arrays[name]) for name in Mixture._fields))
        return of(arrays["contexts"], int(arrays["training"]), learned)
    except UserError as error:
        raise UserError(f"{path}: {error}") from None
