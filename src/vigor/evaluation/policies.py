"""Policies of all contexts of a run, which evaluation, figures and plans take: components that move.

`Learned` is all that they need: movements of every component of a context. `Policies` are mixtures over
movement-primitive weights, one for every context; `StepPolicies` are one actor for all contexts.
"""

import math
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np

from vigor.baselines import actors
from vigor.baselines.actors import Actor
from vigor.basics import contents, files
from vigor.basics.contents import Contents, Numbers
from vigor.basics.errors import OutOfRange, UserError
from vigor.demonstrations.dataset import LARGEST
from vigor.learning import mixture
from vigor.learning.mixture import Mixture
from vigor.motion.promp import ProMP
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


@partial(jax.jit, static_argnums=(0, 4, 5))
def _movements(
    promp: ProMP, seed: np.uint32, rows: np.ndarray, mixtures: Mixture, samples: int, steps: int | None
) -> tuple[jax.Array, jax.Array]:
    """Means [context, component, T, dimensions] and samples [context, component, sample, T, dimensions] of mixtures."""
    keys = _keys(jax.random.key(seed), rows)
    drawn = jax.vmap(partial(mixture.sample_components, samples=samples))(keys, mixtures)
    return promp.rollout(mixtures.means, steps), promp.rollout(drawn, steps)


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
        asked = np.arange(len(self.contexts))[rows]
        made = _movements(task.promp, np.uint32(seed), asked, own, samples, steps)
        return Movements(np.exp(np.asarray(own.log_weights, np.float64)), *map(np.asarray, made))

    def save(self, path: Path) -> None:
        arrays = {name: np.asarray(value) for name, value in self.mixtures._asdict().items()}
        _write(path, {"contexts": self.contexts, "training": np.asarray(self.training), **arrays}, CONTENTS)


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
        arrays = actors.to_arrays(self.actor)
        known = {"contexts": self.contexts, "training": np.asarray(self.training)}
        _write(path, known | arrays, KNOWN | actors.contents(arrays))


def _words(learned: Learned) -> str:
    """Policies in short."""
    counts = f"{learned.training} training contexts of {len(learned.contexts)}, {learned.components} components each"
    return f"{type(learned).__name__}({counts})"


def of(contexts: np.ndarray, training: int, learned: Mixture | Actor) -> Learned:
    """The policies of contexts [context, C], the first of which are training contexts."""
    kind: type = Policies if isinstance(learned, Mixture) else StepPolicies
    return kind(contexts, training, learned)


# Files

KNOWN: dict[str, Numbers] = {
    "contexts": Numbers(("context", "context number"), -LARGEST, LARGEST),
    "training": Numbers((), 0, whole=True),
}
"""Arrays of all policies."""
CONTENTS: Contents = KNOWN | {
    "log_weights": Numbers(("context", "component"), -math.inf, 1e-3),
    "means": Numbers(("context", "component", "weight")),
    "roots": Numbers(("context", "component", "weight", "weight")),
}
"""Arrays of mixtures."""


def _write(path: Path, arrays: dict[str, np.ndarray], described: Contents) -> None:
    _check(arrays, described)
    files.write_arrays(path, arrays)


def _check(arrays: dict[str, np.ndarray], described: Contents) -> None:
    """Refuse arrays that are no policies."""
    contents.check(described, {name: array for name, array in arrays.items() if name != actors.SETTINGS})
    if "log_weights" in described:
        sums = np.sum(np.exp(arrays["log_weights"].astype(np.float64)), axis=-1)
        if not np.allclose(sums, 1.0, atol=1e-3):
            raise OutOfRange("the weights of a context's components must sum to 1")


def load(path: Path) -> Learned:
    arrays = files.read_arrays(path)
    try:
        acts = actors.SETTINGS in arrays
        _check(arrays, KNOWN | actors.contents(arrays) if acts else CONTENTS)
        learned: Mixture | Actor = (
            actors.from_arrays(arrays) if acts else Mixture(*jax.device_put([arrays[name] for name in Mixture._fields]))
        )
        return of(arrays["contexts"], int(arrays["training"]), learned)
    except UserError as error:
        raise UserError(f"{path} holds no policies that can be used: {error}") from None
