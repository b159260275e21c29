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
        contexts = self.mixtures.means.shape[0]
        if self.contexts.ndim != 2 or self.contexts.shape[0] != contexts or not 0 <= self.training <= contexts:
            raise UserError("policies need a mixture for every context")

    def save(self, path: Path) -> None:
        arrays = {name: np.asarray(value) for name, value in self.mixtures._asdict().items()}
        files.write_arrays(path, {"contexts": self.contexts, "training": np.asarray(self.training), **arrays})


def load(path: Path) -> Policies:
    arrays = files.read_arrays(path)
    missing = {"contexts", "training", *Mixture._fields} - arrays.keys()
    if missing:
        raise UserError(f"{path} lacks {', '.join(sorted(missing))}; it is not a policies file")
    mixtures = Mixture(*(jnp.asarray(arrays[name]) for name in Mixture._fields))
    return Policies(arrays["contexts"], int(arrays["training"]), mixtures)
