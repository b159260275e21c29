"""Demonstrations: the data type and its file format.

A set lives in a folder: `demonstrations.json` says what it is, `demonstrations.npz` holds its arrays. A set that
grows is replaced as a whole: its arrays are in a file that the header names.
"""

import re
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from vigor.basics import contents, files
from vigor.basics.contents import Contents, Numbers
from vigor.basics.errors import UserError
from vigor.basics.serialisation import from_json, is_plain, to_json
from vigor.basics.settings import with_values
from vigor.motion.promp import rollout
from vigor.motion.trajectories import resample
from vigor.tasks.task import Task

HEADER, ARRAYS = "demonstrations.json", "demonstrations.npz"
FORMAT, VERSION = "vigor-demonstrations", 1
LARGEST = 1e6
"""No number of a context may be beyond: descriptors are computed in single precision, and squared."""


@dataclass(frozen=True, eq=False, repr=False)
class Demonstrations:
    """Contexts of a task and what was demonstrated in them; checks itself."""

    task: str
    """Name of the task."""
    contexts: np.ndarray
    """[m, C]: all contexts of the set. Those without demonstrations are there to test on."""
    context_of: np.ndarray
    """[n]: the context of each demonstration, as an index into `contexts`."""
    weights: np.ndarray
    """[n, D]: the ProMP of each demonstration."""
    recordings: tuple[np.ndarray, ...] | None
    """Recordings that were fitted, [T, dimensions] with a T of their own; None where only weights are known."""
    source: str
    """Source of the set, in words."""
    own: np.ndarray | None = None
    """[n]: whether the robot found a movement itself, in practice; None where all were demonstrated."""

    def __post_init__(self) -> None:
        if not is_plain(self.task) or not is_plain(self.source):
            raise UserError("the names of task and source must be one line of characters that can be shown")
        weights = numbers(self.weights, 2, "the weights")
        contexts, context_of = checked_contexts(self.contexts, self.context_of, len(weights))
        recordings = self.recordings
        if recordings is not None:
            recordings = checked_recordings(recordings)
            if len(recordings) != len(weights):
                said = f"there are {len(recordings)} recordings for {len(weights)} weight vectors; give as many"
                raise UserError(said)
        own = self.own
        if own is not None:
            own = np.array(own)
            if own.shape != (len(weights),) or not np.all((own == 0) | (own == 1)):
                raise UserError(f"own must say 0 or 1 for each of the {len(weights)} movements")
            own = own.astype(bool)
        checked = {"contexts": contexts, "context_of": context_of, "weights": weights, "recordings": recordings}
        checked["own"] = own
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    @property
    def demonstrated(self) -> np.ndarray:
        """Sorted indices of the contexts with at least one demonstration."""
        return np.unique(self.context_of)

    def of(self, context: int) -> np.ndarray:
        """Indices of a context's demonstrations."""
        return np.flatnonzero(self.context_of == context)

    @staticmethod
    def load(folder: str | Path, task: Task | None = None) -> "Demonstrations":
        """A set from its folder, checked against the task if one is given."""
        return load(Path(folder), task)

    @staticmethod
    def generate(task: Task, seed: int = 0, contexts: int = 12, per_context: int = 10) -> "Demonstrations":
        """A set made by the task's own generator, with 60 further contexts to test on. Generated, not human."""
        from vigor.demonstrations import preprocessing

        return preprocessing.generate(task, seed, contexts, per_context)

    @staticmethod
    def from_recordings(
        task: Task, contexts: Any, recordings: Sequence[np.ndarray], context_of: Any, source: str = "recorded"
    ) -> "Demonstrations":
        """A set of recordings [T, dimensions] of any lengths, fitted by movement primitives.

        contexts: [m, C]; context_of: [n], the context of each recording as an index into these.
        """
        from vigor.demonstrations import preprocessing

        return preprocessing.preprocess(task, np.asarray(contexts, float), recordings, np.asarray(context_of), source)

    @staticmethod
    def from_files(
        task: Task, path: str | Path, say: Callable[[str], None] = print, **options: Any
    ) -> "Demonstrations":
        """A set of recordings in a file or a folder: LeRobot, rosbag2, robomimic, .csv or .npz, which is found out.

        say: called with sentences about it; options: fields of `formats.episodes.Reading`, for instance unit="deg".
        """
        from vigor.demonstrations import importers
        from vigor.demonstrations.formats.episodes import Reading

        return importers.load(task, Path(path), with_values(Reading(), **options), say)

    def save(self, folder: str | Path) -> None:
        """Write the set into a folder of its own."""
        save(self, Path(folder))

    def __len__(self) -> int:
        return len(self.weights)

    def __repr__(self) -> str:
        found = 0 if self.own is None else int(self.own.sum())
        counts = f"{len(self) - found} demonstrations{f' and {found} own movements' if found else ''}"
        counts += f" of {len(self.demonstrated)} contexts"
        return f"Demonstrations({self.task}, {counts}, {self.source})"


def numbers(values: Any, axes: int, what: str) -> np.ndarray:
    """A copy in double precision, or one sentence about why these are not finite numbers with so many axes."""
    try:
        array = np.array(values)
    except ValueError:
        raise UserError(f"{what} must be a table of numbers with rows of equal length") from None
    if array.dtype.kind not in "iuf":
        raise UserError(f"{what} must be real numbers, not {array.dtype}")
    if array.ndim != axes or 0 in array.shape:
        raise UserError(f"{what} must have {axes} axes and none of them empty; the shape is {array.shape}")
    if not np.all(np.isfinite(array)):
        raise UserError(f"{what} must be finite; remove NaN and infinite values")
    return array.astype(np.float64)


def checked_contexts(contexts: Any, context_of: Any, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Contexts [m, C], and for each of so many demonstrations the index of its own: [count]; or one sentence."""
    contexts, context_of = numbers(contexts, 2, "the contexts"), np.array(context_of)
    if context_of.dtype.kind not in "iu":
        raise UserError("context_of must hold integers: the index of each demonstration's context")
    if context_of.shape != (count,):
        raise UserError(f"context_of has shape {context_of.shape} for {count} demonstrations; give each one context")
    if np.any(context_of < 0) or np.any(context_of >= len(contexts)):
        raise UserError(f"context_of must name contexts 0 to {len(contexts) - 1}; it holds others")
    return contexts, context_of.astype(np.int64)


def checked_recordings(recordings: Sequence[Any]) -> tuple[np.ndarray, ...]:
    """Recordings [T, dimensions], each with a T of its own; or one sentence."""
    checked = tuple(numbers(item, 2, f"recording {i}") for i, item in enumerate(recordings))
    if len({item.shape[1] for item in checked}) > 1 or any(len(item) < 2 for item in checked):
        raise UserError("recordings must have the same number of columns and at least 2 steps each")
    return checked


def check_size(contexts: np.ndarray, what: str) -> None:
    if np.any(np.abs(contexts) > LARGEST):
        raise UserError(f"{what} must be from -{LARGEST:g} to {LARGEST:g}; check their units")


def check_shapes(task: Task, contexts: np.ndarray, recordings: Sequence[np.ndarray] | None) -> None:
    """Refuse contexts [m, C] and recordings [T, dimensions] that are not of a task's shapes."""
    if contexts.shape[1] != task.context_dimension:
        raise UserError(f"contexts have {contexts.shape[1]} numbers where {task.name} has {task.context_dimension}")
    check_size(contexts, "the contexts")
    if recordings and recordings[0].shape[1] != task.promp.dimensions:
        columns = recordings[0].shape[1]
        raise UserError(f"recordings have {columns} columns where {task.name} moves {task.promp.dimensions} joints")


def check_fits(demonstrations: Demonstrations, task: Task) -> None:
    """Refuse demonstrations that are not a task's."""
    if demonstrations.task != task.name:
        raise UserError(f"these are demonstrations of {demonstrations.task}, not of {task.name}; choose that task")
    check_shapes(task, demonstrations.contexts, demonstrations.recordings)
    length = demonstrations.weights.shape[1]
    if task.settle is None and length != task.promp.weights:
        raise UserError(f"weight vectors have {length} numbers where {task.name} has {task.promp.weights}")


# Files


def save(demonstrations: Demonstrations, folder: Path) -> None:
    """Write a set into a folder of its own, whole or not at all: nothing loads without the header, which comes last."""
    there = {item.name for item in folder.iterdir()} if folder.is_dir() else set()
    if not there & {HEADER, ARRAYS} and any(not name.startswith(".") for name in there):
        raise UserError(f"{folder} holds other files; choose another --out")
    try:
        if (folder / HEADER).exists():
            same = alike(load(folder), demonstrations, 0.0)
        elif (folder / ARRAYS).exists():
            # Arrays alone are those of a save that was interrupted, or that another process is about to end.
            same = _alike(files.read_arrays(folder / ARRAYS), _arrays(demonstrations), 0.0)
        else:
            same = True
    except UserError:
        same = False
    if not same:
        raise UserError(f"{folder} already holds other demonstrations; choose another --out")
    _write(demonstrations, folder, ARRAYS)


def replace(demonstrations: Demonstrations, folder: Path) -> None:
    """Write a set in place of what a folder holds: at every moment it holds the old set or the new one.

    The new arrays lie beside the old ones until the header, written last, names them.
    """
    name = f"demonstrations-{secrets.token_hex(4)}.npz"
    _write(demonstrations, folder, name)
    for old in folder.glob("demonstrations*.npz"):
        if old.name != name and _OWN.fullmatch(old.name):
            old.unlink()


_OWN = re.compile(r"demonstrations(-[0-9a-f]{8})?\.npz")
"""Names of files with arrays that this program gives; others that are alike are somebody's copies."""


CONTENTS: Contents = {
    "contexts": Numbers(("context", "context number"), -LARGEST, LARGEST),
    "context_of": Numbers(("demonstration",), 0, whole=True),
    "weights": Numbers(("demonstration", "weight")),
}
"""Arrays of a set."""
RECORDED: Contents = {
    "samples": Numbers(("sample", "dimension")),
    "lengths": Numbers(("demonstration",), 1, whole=True),
}
"""Further arrays of a set with recordings: all of them, one after the other, and how long each is."""
PRACTISED: Contents = {"own": Numbers(("demonstration",), 0, 1, whole=True)}
"""Further array of a set with movements of practice: whether the robot found each itself."""


@dataclass(frozen=True)
class Header:
    """`demonstrations.json`."""

    format: str
    version: int
    task: str
    source: str
    contexts: int
    demonstrations: int
    recordings: bool
    arrays: str = ARRAYS
    """Name of the file with the arrays."""


def _write(demonstrations: Demonstrations, folder: Path, name: str) -> None:
    arrays = _arrays(demonstrations)
    contents.check(_described(arrays), arrays)
    try:
        files.write_arrays(folder / name, arrays)
        files.write_json(folder / HEADER, to_json(_header(demonstrations, name)))
    except OSError as error:
        raise UserError(f"{folder} cannot be written to ({error}); choose another --out") from None


def _arrays(demonstrations: Demonstrations) -> dict[str, np.ndarray]:
    """Arrays of a set's file by name."""
    arrays = {
        "contexts": demonstrations.contexts,
        "context_of": demonstrations.context_of,
        "weights": demonstrations.weights,
    }
    if demonstrations.recordings is not None:
        arrays["samples"] = np.concatenate(demonstrations.recordings)
        arrays["lengths"] = np.array([len(recording) for recording in demonstrations.recordings])
    if demonstrations.own is not None:
        arrays["own"] = demonstrations.own.astype(np.int8)
    return arrays


def check_holds_files(path: Path) -> None:
    """Refuse a place where nothing is, and a folder without any file in it."""
    if not path.exists():
        raise UserError(f"{path} does not exist")
    if path.is_dir() and all(item.is_dir() for item in path.rglob("*")):
        raise UserError(f"{path} is empty: put recordings into it, or name the folder that holds them")


def load(folder: Path, task: Task | None = None) -> Demonstrations:
    """Read a set, and check that it is one of the task's if a task is given."""
    check_holds_files(folder)
    if folder.is_dir() and not (folder / HEADER).exists():
        raise UserError(f"{folder} holds no set of demonstrations; recordings become one by `vigor demos import`")
    read = files.read_json(folder / HEADER)
    if not isinstance(read, dict) or read.get("format") != FORMAT:
        raise UserError(f"{folder / HEADER} does not describe demonstrations; import them with `vigor demos import`")
    if read.get("version") != VERSION:
        raise UserError(f"{folder / HEADER} has version {read.get('version')}; this program reads version {VERSION}")
    try:
        header = from_json(Header, read)
    except UserError as error:
        raise UserError(f"{folder / HEADER} is damaged: {error}; make the demonstrations again") from None
    if Path(header.arrays).name != header.arrays or not header.arrays.endswith(".npz"):
        raise UserError(f"{folder / HEADER} must name an .npz file beside it, not {header.arrays!r}")
    path = folder / header.arrays
    arrays = files.read_arrays(path)
    try:
        contents.check(_described(arrays), arrays)
        recordings = cut(arrays["samples"], arrays["lengths"]) if "samples" in arrays else None
        named = {name: arrays[name] for name in ("contexts", "context_of", "weights")}
        demonstrations = Demonstrations(
            header.task, **named, recordings=recordings, source=header.source, own=arrays.get("own")
        )
        if task is not None:
            check_fits(demonstrations, task)
    except UserError as error:
        raise UserError(f"{path}: {error}") from None
    if header != _header(demonstrations, header.arrays):
        raise UserError(f"{path} does not belong to the {HEADER} beside it; make the demonstrations again")
    return demonstrations


def _described(arrays: dict[str, np.ndarray]) -> Contents:
    """Description of a set's arrays, with recordings or without, of practice or not."""
    return CONTENTS | (RECORDED if "samples" in arrays else {}) | (PRACTISED if "own" in arrays else {})


def _header(demonstrations: Demonstrations, arrays: str = ARRAYS) -> Header:
    return Header(
        FORMAT,
        VERSION,
        demonstrations.task,
        demonstrations.source,
        len(demonstrations.contexts),
        len(demonstrations.weights),
        demonstrations.recordings is not None,
        arrays,
    )


def cut(samples: np.ndarray, lengths: np.ndarray | None) -> tuple[np.ndarray, ...]:
    """Recordings of these lengths [n] out of one array [sum of lengths, dimensions]."""
    samples = numbers(samples, 2, "the recordings' samples")
    if lengths is None or lengths.dtype.kind not in "iu" or lengths.ndim != 1 or np.any(lengths < 1):
        raise UserError("the recordings' lengths must be positive integers, one for each recording")
    if lengths.sum() != len(samples):
        raise UserError(f"the recordings' lengths add up to {lengths.sum()} for {len(samples)} samples")
    return tuple(np.split(samples, np.cumsum(lengths)[:-1]))


def alike(a: Demonstrations, b: Demonstrations, tolerance: float = 1e-6) -> bool:
    """Whether two sets are the same up to rounding, in which the fits of one recording by two machines differ."""
    return _header(a) == _header(b) and _alike(_arrays(a), _arrays(b), tolerance)


def _alike(a: dict[str, np.ndarray], b: dict[str, np.ndarray], tolerance: float) -> bool:
    return a.keys() == b.keys() and all(
        a[name].shape == b[name].shape and np.allclose(a[name], b[name], tolerance, tolerance) for name in a
    )


def trajectories(task: Task, demonstrations: Demonstrations, raw: bool = False) -> np.ndarray:
    """Movements [n, T, dimensions]: the ProMPs rolled out, or the recordings at T evenly spaced steps if raw."""
    if not raw:
        return np.asarray(rollout(task.promp, demonstrations.weights))
    if demonstrations.recordings is None:
        raise UserError(f"these demonstrations ({demonstrations.source}) hold no recordings; train on their ProMPs")
    return np.stack([resample(recording, task.promp.steps) for recording in demonstrations.recordings])
