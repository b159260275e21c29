"""The mixtures of all contexts of a run: what training leaves, and what evaluation, figures and plans take."""

from dataclasses import dataclass
from pathlib import Path

import jax.numpy as jnp
import numpy as np

from vigor import files
from vigor.errors import UserError
from vigor.mixture import Mixture


@dataclass(frozen=True)
class Policies:
    """One mixture over ProMP weights per context; training contexts come first."""

    contexts: np.ndarray
    """[context, C]"""
    training: int
    """How many of the contexts are training contexts."""
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

    def save(self, path: Path) -> None:
        arrays = {name: np.asarray(value) for name, value in self.mixtures._asdict().items()}
        files.write_arrays(path, {"contexts": self.contexts, "training": np.asarray(self.training), **arrays})


def load(path: Path) -> Policies:
    arrays = files.read_arrays(path)
    missing = {"contexts", "training", *Mixture._fields} - arrays.keys()
    if missing:
        raise UserError(f"{path} lacks {', '.join(sorted(missing))}; it is not a policies file")
    numbers = all(np.issubdtype(arrays[name].dtype, np.number) for name in ("contexts", *Mixture._fields))
    if arrays["training"].shape != () or not np.issubdtype(arrays["training"].dtype, np.integer) or not numbers:
        raise UserError(f"{path} holds arrays of the wrong kind; it is not a policies file")
    if not all(np.all(np.isfinite(arrays[name])) for name in ("contexts", "means", "roots")):
        raise UserError(f"{path} holds numbers that are not finite; evaluate another run")
    try:
        mixtures = Mixture(*(jnp.asarray(arrays[name]) for name in Mixture._fields))
        return Policies(arrays["contexts"], int(arrays["training"]), mixtures)
    except UserError as error:
        raise UserError(f"{path}: {error}") from None
