"""Demonstrations: the data type, its file format, and the choice of what a run learns from.

A set lives in a folder: `demonstrations.json` says what it is, `demonstrations.npz` holds its arrays. A set that
grows is replaced as a whole: its arrays are in a file that the header names.
"""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np

from vigor.basics import files
from vigor.basics.errors import UserError
from vigor.motion.promp import rollout
from vigor.motion.trajectories import distinct_solutions, resample
from vigor.tasks.task import Task

HEADER, ARRAYS = "demonstrations.json", "demonstrations.npz"
FORMAT, VERSION = "vigor-demonstrations", 1
LARGEST = 1e6
"""No number of a context may be beyond: descriptors are computed in single precision, and squared."""


@dataclass(frozen=True, eq=False)
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
    """What each demonstration was fitted to, [T, dimensions] with a T of its own; None where only weights are known."""
    source: str
    """Where the set comes from, in words."""

    def __post_init__(self) -> None:
        weights = numbers(self.weights, 2, "the weights")
        contexts, context_of = checked_contexts(self.contexts, self.context_of, len(weights))
        recordings = self.recordings
        if recordings is not None:
            recordings = checked_recordings(recordings)
            if len(recordings) != len(weights):
                raise UserError(
                    f"there are {len(recordings)} recordings for {len(weights)} weight vectors; give as many"
                )
        for name, value in (
            ("contexts", contexts),
            ("context_of", context_of),
            ("weights", weights),
            ("recordings", recordings),
        ):
            object.__setattr__(self, name, value)

    @property
    def demonstrated(self) -> np.ndarray:
        """Sorted indices of the contexts with at least one demonstration."""
        return np.unique(self.context_of)

    def of(self, context: int) -> np.ndarray:
        """Indices of a context's demonstrations."""
        return np.flatnonzero(self.context_of == context)


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
    if length != task.promp.weights:
        raise UserError(f"weight vectors have {length} numbers where {task.name} has {task.promp.weights}")


# Files


def save(demonstrations: Demonstrations, folder: Path) -> None:
    """Write a set into a folder of its own, whole or not at all: nothing loads without the header, which comes last."""
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
        if old.name != name:
            old.unlink()


def _write(demonstrations: Demonstrations, folder: Path, name: str) -> None:
    try:
        files.write_arrays(folder / name, _arrays(demonstrations))
        files.write_json(folder / HEADER, _header(demonstrations) | ({} if name == ARRAYS else {"arrays": name}))
    except OSError as error:
        raise UserError(f"{folder} cannot be written to ({error}); choose another --out") from None


def _arrays(demonstrations: Demonstrations) -> dict[str, np.ndarray]:
    """What a set's file of arrays holds."""
    arrays = {
        "contexts": demonstrations.contexts,
        "context_of": demonstrations.context_of,
        "weights": demonstrations.weights,
    }
    if demonstrations.recordings is not None:
        arrays["samples"] = np.concatenate(demonstrations.recordings)
        arrays["lengths"] = np.array([len(recording) for recording in demonstrations.recordings])
    return arrays


def load(folder: Path, task: Task | None = None) -> Demonstrations:
    """Read a set, and check that it is one of the task's if a task is given."""
    header = files.read_json(folder / HEADER)
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise UserError(f"{folder / HEADER} does not describe demonstrations; import them with `vigor demos import`")
    if header.get("version") != VERSION:
        raise UserError(f"{folder / HEADER} has version {header.get('version')}; this program reads version {VERSION}")
    if not isinstance(header.get("task"), str) or not isinstance(header.get("source"), str):
        raise UserError(f"{folder / HEADER} must name the task and the source of the demonstrations")
    name = header.pop("arrays", ARRAYS)
    if not isinstance(name, str) or Path(name).name != name or not name.endswith(".npz"):
        raise UserError(f"{folder / HEADER} must name an .npz file beside it, not {name!r}")
    path = folder / name
    arrays = files.read_arrays(path)
    missing = [name for name in ("contexts", "context_of", "weights") if name not in arrays]
    if missing:
        raise UserError(f"{path} lacks {' and '.join(missing)}; make the demonstrations again")
    try:
        recordings = cut(arrays["samples"], arrays.get("lengths")) if "samples" in arrays else None
        demonstrations = Demonstrations(
            header["task"], arrays["contexts"], arrays["context_of"], arrays["weights"], recordings, header["source"]
        )
        if task is not None:
            check_fits(demonstrations, task)
    except UserError as error:
        raise UserError(f"{path}: {error}") from None
    if header != _header(demonstrations):
        raise UserError(f"{path} does not belong to the {HEADER} beside it; make the demonstrations again")
    return demonstrations


def _header(demonstrations: Demonstrations) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "version": VERSION,
        "task": demonstrations.task,
        "source": demonstrations.source,
        "contexts": len(demonstrations.contexts),
        "demonstrations": len(demonstrations.weights),
        "recordings": demonstrations.recordings is not None,
    }


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


# What a run learns from


def trajectories(task: Task, demonstrations: Demonstrations, raw: bool = False) -> np.ndarray:
    """Movements [n, T, dimensions]: the ProMPs rolled out, or the recordings at T evenly spaced steps if raw."""
    if not raw:
        return np.asarray(rollout(task.promp, jnp.asarray(demonstrations.weights)))
    if demonstrations.recordings is None:
        raise UserError(f"these demonstrations ({demonstrations.source}) hold no recordings; train on their ProMPs")
    return np.stack([resample(recording, task.promp.steps) for recording in demonstrations.recordings])


@dataclass(frozen=True, eq=False)
class Split:
    """Training and test contexts of a run, and the demonstrations it sees."""

    train: np.ndarray
    """[c]: training contexts, as indices into the set's contexts."""
    train_contexts: np.ndarray
    """[c, C]: their values."""
    test_contexts: np.ndarray
    """[t, C]"""
    demonstrations: np.ndarray
    """[c, per context]: demonstrations of each training context, as indices into the set's demonstrations."""


def choice(demonstrations: Demonstrations) -> tuple[int, int]:
    """How many contexts, and how many demonstrations of each, to learn from: as many demonstrations as can be had."""
    counts = np.unique(demonstrations.context_of, return_counts=True)[1]
    return max(
        ((int(np.sum(counts >= each)), int(each)) for each in np.unique(counts)), key=lambda pair: pair[0] * pair[1]
    )


def split(
    demonstrations: Demonstrations,
    task: Task,
    seed: int,
    train_contexts: int,
    test_contexts: int | np.ndarray,
    per_context: int,
) -> Split:
    """Draw training contexts, demonstrations of each, and test contexts; the same for the same seed.

    Training contexts are drawn among those with enough demonstrations. Test contexts are those given, or are drawn
    among all other contexts of the set, and from the task's distribution once these are used up. Both are drawn evenly
    from the task's groups of contexts, if it has any.
    """
    if not 0 <= seed < 2**32 or train_contexts < 1 or per_context < 1:
        raise UserError(
            "a run needs a seed from 0 to 2**32 - 1, at least 1 training context and 1 demonstration per context"
        )
    rng = np.random.default_rng(seed)
    indices, counts = np.unique(demonstrations.context_of, return_counts=True)
    enough = indices[counts >= per_context]
    if len(enough) < train_contexts:
        most, each = choice(demonstrations)
        raise UserError(
            f"{train_contexts} training contexts with {per_context} demonstrations each were asked for, but only "
            f"{len(enough)} have that many, and {most} have {each} or more: try --train-contexts {most} "
            f"--demos-per-context {each}"
        )
    train = _in_turn(task, demonstrations.contexts, rng.permutation(enough))[:train_contexts]
    chosen = np.stack([rng.permutation(demonstrations.of(context))[:per_context] for context in train])
    if isinstance(test_contexts, np.ndarray):
        test = numbers(test_contexts, 2, "the test contexts")
        if test.shape[1] != task.context_dimension:
            raise UserError(
                f"the test contexts have {test.shape[1]} numbers each where {task.name} has {task.context_dimension}: "
                f"{', '.join(task.context_names)}"
            )
        check_size(test, "the test contexts")
    else:
        if test_contexts < 0:
            raise UserError("the number of test contexts must not be negative")
        others = np.setdiff1d(np.arange(len(demonstrations.contexts)), train)
        others = _in_turn(task, demonstrations.contexts, rng.permutation(others))
        test = demonstrations.contexts[others[:test_contexts]]
        if len(test) < test_contexts:
            test = np.concatenate([test, task.sample_contexts(rng, test_contexts - len(test))])
    return Split(train, demonstrations.contexts[train], test, chosen)


def _in_turn(task: Task, contexts: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """Indices into contexts [m, C], reordered so that they come in turn from the task's groups."""
    if task.source.group is None or not len(indices):
        return indices
    groups = task.source.group(contexts[indices])
    place = np.zeros(len(indices), int)
    for group in np.unique(groups):
        place[groups == group] = np.arange(np.sum(groups == group))
    return indices[np.argsort(place, kind="stable")]


@dataclass(frozen=True, eq=False)
class Summary:
    """A set at a glance, by demonstrated context."""

    contexts: np.ndarray
    """[c]: indices of the demonstrated contexts."""
    counts: np.ndarray
    """[c]: demonstrations."""
    success: np.ndarray
    """[c]: share of the demonstrations whose ProMP succeeds."""
    distance: np.ndarray
    """[c]: mean distance of the ProMPs from solving the context."""
    solutions: np.ndarray
    """[c]: distinct solutions among them (see `distinct_solutions`)."""
    spread: np.ndarray
    """[c]: mean difference between two demonstrations (root mean square over steps of the joints' distance)."""


def summary(task: Task, demonstrations: Demonstrations) -> Summary:
    """How many demonstrations each context has, how good and how different they are."""
    movements = trajectories(task, demonstrations)
    distances = task.distances(movements, demonstrations.contexts[demonstrations.context_of])
    rows = []
    for context in demonstrations.demonstrated:
        of = demonstrations.of(context)
        apart = movements[of, None] - movements[None, of]
        differences = np.sqrt(np.sum(apart**2, axis=-1).mean(axis=-1))
        distinct = np.unique(distinct_solutions(movements[of], task.judge.distinct))
        spread = differences.sum() / max(1, len(of) * (len(of) - 1))
        success = np.mean(task.succeeds(distances[of]))
        rows.append((context, len(of), success, distances[of].mean(), len(distinct), spread))
    return Summary(*map(np.array, zip(*rows, strict=True)))
