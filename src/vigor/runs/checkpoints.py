"""Checkpoints of a run to go on from, and the networks of all its iterations, as safetensors files in its folder.

A checkpoint is one file that is written whole. Networks are stored in parts as they come, and put into one file at the
end.
"""

import shutil
from pathlib import Path
from typing import Any

import jax
import numpy as np
import safetensors
import safetensors.numpy

from vigor.basics import files
from vigor.basics.errors import UserError
from vigor.basics.version import __version__
from vigor.learning import invariants
from vigor.learning.invariants import Invariants
from vigor.learning.starts import Starts

CHECKPOINT, STATE, ENSEMBLES, PARTS = "checkpoint.safetensors", "state.json", "ensembles.safetensors", "ensembles"
INVARIANTS, STARTS = "invariants.safetensors", "starts.safetensors"


def save(folder: Path, states: Any, seconds: float) -> None:
    arrays = {name: np.asarray(leaf) for name, leaf in _named(states).items()}
    iteration = int(states.iteration[0])
    metadata = {"iteration": str(iteration), "seconds": repr(seconds)}
    _write_tensors(folder / CHECKPOINT, arrays, metadata)
    files.write_json(folder / STATE, {"iteration": iteration, "seconds": seconds, "version": __version__})


def load(folder: Path, states: Any) -> tuple[Any, float]:
    """The states and seconds of the folder's checkpoint; those given if there is none yet."""
    path = folder / CHECKPOINT
    if not path.exists():
        return states, 0.0
    try:
        with safetensors.safe_open(path, "numpy") as file:
            metadata = file.metadata() or {}
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (OSError, safetensors.SafetensorError) as error:
        raise UserError(f"{path} is damaged: {error}; delete it to start this run again") from None
    expected = _named(states)
    fits = arrays.keys() == expected.keys() and all(arrays[k].shape == v.shape for k, v in expected.items())
    # The best loss before the first validation is infinite; nothing is ever not a number.
    if "seconds" not in metadata or not fits or any(np.any(np.isnan(array)) for array in arrays.values()):
        raise UserError(f"{path} does not fit this run's settings; delete it to start this run again")
    leaves = [jax.numpy.asarray(arrays[name]) for name in expected]
    return jax.tree.unflatten(jax.tree.structure(states), leaves), float(metadata["seconds"])


def _named(tree: Any) -> dict[str, Any]:
    """The leaves of a pytree by their path."""
    return {jax.tree_util.keystr(path): leaf for path, leaf in jax.tree_util.tree_leaves_with_path(tree)}


def _write_tensors(path: Path, arrays: dict[str, np.ndarray], metadata: dict[str, str] | None = None) -> None:
    contiguous = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    files.write_whole(path, lambda temporary: safetensors.numpy.save_file(contiguous, temporary, metadata))


def keep_networks(folder: Path, done: int, networks: list[Any]) -> None:
    """Store the networks of the iterations up to `done`, a list of [iteration, network, ...]."""
    together = jax.tree.map(lambda *leaves: np.concatenate(leaves), *networks)
    _write_tensors(folder / PARTS / f"{done:06d}.safetensors", _named(together))


def merge_networks(folder: Path) -> None:
    """Put the networks of all iterations into one file, [iteration, network, ...]."""
    parts = network_parts(folder)
    if parts and not (folder / ENSEMBLES).exists():
        _write_tensors(folder / ENSEMBLES, _joined(parts))
    # Only now, when all are in one file, are the parts removed.
    shutil.rmtree(folder / PARTS, ignore_errors=True)


def _joined(parts: list[Path]) -> dict[str, np.ndarray]:
    """Networks of all parts in their order."""
    try:
        loaded = [safetensors.numpy.load_file(part) for part in parts]
        return {name: np.concatenate([part[name] for part in loaded]) for name in loaded[0]}
    except (OSError, KeyError, ValueError, safetensors.SafetensorError) as error:
        raise UserError(f"{parts[0].parent} is damaged: {error}; start the run again elsewhere") from None


def network_parts(folder: Path) -> list[Path]:
    return sorted((folder / PARTS).glob("[0-9]*.safetensors"), key=lambda part: int(part.stem))


def forget_networks_after(folder: Path, done: int) -> None:
    """Remove networks of later iterations, written just before a run was killed; they are made again."""
    for part in network_parts(folder):
        if int(part.stem) > done:
            part.unlink()


def save_shown(folder: Path, at: Starts, common: Invariants) -> None:
    """Store what a run has of its demonstrations: where mixtures begin, and what they have in common."""
    for path, part in ((folder / STARTS, at), (folder / INVARIANTS, common)):
        _write_tensors(path, {name: np.asarray(array) for name, array in part._asdict().items()})


def load_starts(folder: Path, weights: int) -> Starts:
    """The demonstrations that mixtures of a run begin at, for so many movement-primitive weights."""
    path = folder / STARTS
    arrays = _read_tensors(path)
    shapes = {name: array.shape for name, array in arrays.items()}
    shown = len(arrays["weights"]) if arrays.get("weights", np.zeros(())).ndim else 0
    if not shown or shapes != {"weights": (shown, weights), "room": (weights,)}:
        raise UserError(f"{path} does not fit this run's task; train the run again")
    return Starts(**_finite(path, arrays))


def load_invariants(folder: Path, features: int) -> Invariants:
    """What the demonstrations of a run have in common, for so many descriptors."""
    path = folder / INVARIANTS
    arrays = _read_tensors(path)
    shown = len(arrays["known"]) if arrays.get("known", np.zeros(())).ndim else 0
    if not shown or {name: array.shape for name, array in arrays.items()} != invariants.shapes(shown, features):
        raise UserError(f"{path} does not fit this run's task; train the run again")
    return Invariants(**_finite(path, arrays))


def _finite(path: Path, arrays: dict[str, np.ndarray]) -> dict[str, jax.Array]:
    """Arrays of a file that must be finite."""
    if not all(np.issubdtype(array.dtype, np.floating) and np.all(np.isfinite(array)) for array in arrays.values()):
        raise UserError(f"{path} holds numbers that are not finite; train the run again")
    return {name: jax.numpy.asarray(array) for name, array in arrays.items()}


def _read_tensors(path: Path) -> dict[str, np.ndarray]:
    """Arrays of a file that a finished run has."""
    try:
        return safetensors.numpy.load_file(path)
    except FileNotFoundError:
        raise UserError(f"{path} does not exist; only a finished run of the method vigor has it") from None
    except (OSError, safetensors.SafetensorError) as error:
        raise UserError(f"{path} is damaged: {error}; train the run again") from None


def load_networks(folder: Path, like: Any) -> Any:
    """The networks of all iterations of a run so far, [iteration, network, ...] in half precision.

    like: a network's parameters, or their shapes.
    """
    path, expected, unfinished = folder / ENSEMBLES, _named(like), network_parts(folder)
    arrays = _joined(unfinished) if unfinished and not path.exists() else _read_tensors(path)
    shapes = {name: leaf.shape for name, leaf in expected.items()}
    counts = {array.shape[:2] for array in arrays.values()}
    if {name: array.shape[2:] for name, array in arrays.items()} != shapes or len(counts) != 1 or 0 in counts.pop():
        raise UserError(f"{path} does not fit this run's settings; train the run again")
    if not all(np.all(np.isfinite(array)) for array in arrays.values()):
        raise UserError(f"{path} holds numbers that are not finite; train the run again")
    return jax.tree.unflatten(jax.tree.structure(like), [arrays[name] for name in expected])
