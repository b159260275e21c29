"""Checkpoints of a run to go on from, and the networks of all its iterations, as safetensors files in its folder.

A checkpoint is one file that is written whole. Networks are stored in parts as they come, and put into one file at the
end; the checkpoint says of how many iterations they are. What each file holds is described once (see
`vigor.basics.contents`), and checked when it is written and when it is read.
"""

import math
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jax
import numpy as np

from vigor.basics import contents, files
from vigor.basics.contents import Contents, Numbers
from vigor.basics.errors import UserError
from vigor.basics.version import __version__
from vigor.learning import invariants, starts
from vigor.learning.invariants import Invariants
from vigor.learning.starts import Starts

CHECKPOINT, STATE, ENSEMBLES, PARTS = "checkpoint.safetensors", "state.json", "ensembles.safetensors", "ensembles"
INVARIANTS, STARTS = "invariants.safetensors", "starts.safetensors"
FLOAT = float(np.finfo(np.float32).max)
"""Largest number of single precision."""
HALF = float(np.finfo(np.float16).max)
"""Largest number of half precision."""
AGAIN, ANEW = "delete it to start this run again", "train the run again"
"""Remedies, in words."""


def state_contents(states: Any, steps: int) -> Contents:
    """Description of a run's states after at most so many steps; states: [run, ...], or others like them.

    Numbers are infinite only where they begin so: the best loss before the first validation.
    """
    described = {}
    for name, leaf in named(states).items():
        array = np.asarray(leaf)
        whole = array.dtype.kind in "iub"
        most = math.inf if whole or np.any(np.isinf(array)) else FLOAT
        described[name] = Numbers(array.shape, -most, most, whole)
    described[ITERATION] = Numbers(described[ITERATION].axes, 0, steps, whole=True)
    return described


ITERATION = ".iteration"
"""Name of the number of steps done among a state's arrays."""


def network_contents(like: Any) -> Contents:
    """Description of the networks of some iterations; like: a network's parameters, or their shapes."""
    return {name: _networks(leaf.shape) for name, leaf in named(like).items()}


def _networks(shape: tuple[int, ...]) -> Numbers:
    return Numbers(("iteration", "network", *shape), -HALF, HALF)


def save(folder: Path, states: Any, described: Contents, seconds: float) -> None:
    """Write a checkpoint; described: see `state_contents`."""
    arrays = {name: np.asarray(leaf) for name, leaf in named(states).items()}
    iteration = int(states.iteration[0])
    metadata = {"iteration": str(iteration), "seconds": repr(seconds), "networks": str(_stored(folder))}
    contents.write_tensors(folder / CHECKPOINT, arrays, described, metadata)
    files.write_json(folder / STATE, {"iteration": iteration, "seconds": seconds, "version": __version__})


def load(folder: Path, states: Any, described: Contents) -> tuple[Any, float]:
    """The states and seconds of the folder's checkpoint; those given if there is none yet.

    Networks of later iterations, written just before the run was killed, are removed: they are made again.
    """
    path = folder / CHECKPOINT
    if not path.exists():
        _forget_networks_after(folder, 0)
        return states, 0.0
    try:
        arrays, metadata = contents.read_tensors(path, described)
        seconds, networks = (_number(metadata, name) for name in ("seconds", "networks"))
    except UserError as error:
        raise UserError(f"{path} is damaged or of another run: {error}; {AGAIN}") from None
    _forget_networks_after(folder, int(arrays[ITERATION].reshape(-1)[0]))
    if _stored(folder) != networks:
        found = f"networks of {_stored(folder)} iterations where its checkpoint has {networks:g}"
        raise UserError(f"the run in {folder} has {found}; {ANEW}")
    # Copies: a step takes the memory of the states before it.
    return tree_of(states, jax.device_put(arrays, may_alias=False)), seconds


def _number(metadata: dict[str, str], name: str) -> float:
    """A number of a checkpoint's metadata."""
    text = metadata.get(name, "")
    if not files.NUMBER.fullmatch(text) or not 0 <= float(text) <= contents.LARGEST:
        raise UserError(f"its number of {name} is {text[:20]!r}")
    return float(text)


def named(tree: Any) -> dict[str, Any]:
    """The leaves of a pytree by their path."""
    return {jax.tree_util.keystr(path): leaf for path, leaf in jax.tree_util.tree_leaves_with_path(tree)}


def tree_of(like: Any, arrays: Mapping[str, Any]) -> Any:
    """A pytree such as another, of the leaves that `named` would give."""
    return jax.tree.unflatten(jax.tree.structure(like), [arrays[name] for name in named(like)])


# Networks of all iterations


def keep_networks(folder: Path, done: int, networks: list[Any]) -> None:
    """Store the networks of the iterations up to `done`, a list of [iteration, network, ...]."""
    together = named(jax.tree.map(lambda *leaves: np.concatenate(leaves), *networks))
    described = {name: _networks(array.shape[2:]) for name, array in together.items()}
    contents.write_tensors(folder / PARTS / f"{done:06d}.safetensors", together, described)


def merge_networks(folder: Path) -> None:
    """Put the networks of all iterations into one file, [iteration, network, ...]."""
    parts = network_parts(folder)
    if parts and not (folder / ENSEMBLES).exists():
        together = _joined(folder)
        described = {name: _networks(array.shape[2:]) for name, array in together.items()}
        contents.write_tensors(folder / ENSEMBLES, together, described)
    # Only now, when all are in one file, are the parts removed.
    shutil.rmtree(folder / PARTS, ignore_errors=True)


def _joined(folder: Path) -> dict[str, np.ndarray]:
    """Networks of all parts in their order."""
    iterations = _stored(folder)
    try:
        loaded = [contents.read_tensors(part)[0] for part in network_parts(folder)]
        described = {name: _networks(array.shape[2:]) for name, array in loaded[0].items()}
        for arrays in loaded:
            contents.check(described, arrays)
        together = {name: np.concatenate([arrays[name] for arrays in loaded]) for name in described}
        contents.check(described, together, iteration=iterations)
    except (UserError, ValueError) as error:
        raise UserError(f"{folder / PARTS} is damaged: {error}; start the run again elsewhere") from None
    return together


def network_parts(folder: Path) -> list[Path]:
    """Files with networks, each named by the number of its last iteration, in their order."""
    found = [part for part in (folder / PARTS).glob("*.safetensors") if re.fullmatch("[0-9]{6,9}", part.stem)]
    return sorted(found, key=lambda part: int(part.stem))


def _stored(folder: Path) -> int:
    """Number of iterations whose networks are stored, from the first one on."""
    if (folder / ENSEMBLES).exists():
        return _iterations(folder / ENSEMBLES)
    total = 0
    for part in network_parts(folder):
        total += _iterations(part)
        if total != int(part.stem):
            raise UserError(f"{folder / PARTS} is damaged: networks before {part.name} are missing; {ANEW}")
    return total


def _iterations(path: Path) -> int:
    """Number of iterations whose networks are in a file."""
    try:
        shapes = contents.tensor_shapes(path)
        return next(iter(shapes.values()))[0]
    except (UserError, StopIteration, IndexError) as error:
        raise UserError(f"{path} is damaged: {error}; {ANEW}") from None


def _forget_networks_after(folder: Path, done: int) -> None:
    for part in network_parts(folder):
        if int(part.stem) > done:
            part.unlink()


def load_networks(folder: Path, like: Any, **sizes: int) -> Any:
    """The networks of all iterations of a run so far, [iteration, network, ...] in half precision.

    like: a network's parameters, or their shapes; sizes: of `iteration` and `network`, if they are known.
    """
    if network_parts(folder) and not (folder / ENSEMBLES).exists():
        arrays = _joined(folder)
        contents.check(network_contents(like), arrays, **sizes)
    else:
        arrays = _of_finished(folder / ENSEMBLES, network_contents(like), **sizes)
    return tree_of(like, arrays)


# What a run has of its demonstrations


def save_shown(folder: Path, at: Starts, common: Invariants) -> None:
    """Store where the mixtures of a run begin, and what its demonstrations have in common."""
    for name, part, described in (
        (STARTS, at._asdict(), starts.CONTENTS),
        (INVARIANTS, common._asdict(), invariants.CONTENTS),
    ):
        contents.write_tensors(folder / name, {field: np.asarray(array) for field, array in part.items()}, described)


def load_starts(folder: Path, weights: int) -> Starts:
    """The demonstrations that mixtures of a run begin at, for so many movement-primitive weights."""
    arrays = _of_finished(folder / STARTS, starts.CONTENTS, weight=weights)
    return Starts(**jax.device_put(arrays))


def load_invariants(folder: Path, features: int) -> Invariants:
    """Invariants of a run, what its demonstrations have in common, for so many descriptors."""
    arrays = _of_finished(folder / INVARIANTS, invariants.CONTENTS, feature=features, statistic=2 * features)
    return Invariants(**jax.device_put(arrays))


def _of_finished(path: Path, described: Contents, **sizes: int) -> dict[str, np.ndarray]:
    """Arrays of a file that a finished run has."""
    if not path.exists():
        raise UserError(f"{path} does not exist; only a finished run of the method vigor has it")
    try:
        return contents.read_tensors(path, described, **sizes)[0]
    except UserError as error:
        raise UserError(f"{path} is damaged or of another run: {error}; {ANEW}") from None
