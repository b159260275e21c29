"""Demonstrations in other layouts than the project's own: the authors' repository, csv files, npz files."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from vigor.basics import files
from vigor.basics.errors import UserError
from vigor.demonstrations.dataset import Demonstrations, check_fits, cut, numbers
from vigor.demonstrations.preprocessing import preprocess, without_rest
from vigor.motion.trajectories import resample
from vigor.tasks.task import Task

FORMATS = ("published", "published-raw", "csv", "npz")
"""Formats that `import_demonstrations` reads."""


class Recordings(NamedTuple):
    """Recordings of a task as a file or a folder has them."""

    path: Path
    contexts: np.ndarray
    """[m, C]"""
    context_of: np.ndarray
    """[n]: the context of each recording, as an index into `contexts`."""
    recordings: Sequence[np.ndarray]
    """[T, dimensions] each"""
    names: Sequence[str]
    """[n]"""


@dataclass(frozen=True)
class LeftOut:
    """A recording that was not imported, since its ProMP fails."""

    name: str
    """File, or number of the recording."""
    context: int
    """Index of its context."""
    missed: float
    """Distance that the ProMP is from success."""


@dataclass(frozen=True)
class Remedy:
    """Basis functions with which more recordings would be kept."""

    bases: int
    kept: int
    """Recordings that would be kept."""
    count: int
    """All recordings."""


Report = Callable[[LeftOut], None]


def _silent(left_out: LeftOut) -> None:
    """Report nothing."""


def import_demonstrations(task: Task, format: str, path: Path, report: Report = _silent) -> Demonstrations:
    """Demonstrations in one of FORMATS: see `import_published`, `read_csv` and `read_npz`.

    report: called for each recording that is left out.
    """
    if not path.exists():
        raise UserError(f"{path} does not exist")
    if format in ("published", "published-raw"):
        return import_published(task, path, raw=format == "published-raw")
    return fitted(task, read(task, format, path), report)


def import_published(task: Task, path: Path, raw: bool = False) -> Demonstrations:
    """The human demonstrations that the paper's authors published, from a clone of their repository.

    raw=False: the published ProMPs, which all succeed, without recordings. raw=True: the published recordings (planar
    reacher only), which all succeed as they are, with ProMPs fitted to them, of which 43% miss a target by a little.
    The two are different choices of 10 per context from what was recorded: 47 of the 120 published ProMPs are the fit
    of a published recording, the recordings of the others were not published. So each is a set of its own.
    """
    name = task.name.replace("-", "_")
    above = (path, *path.resolve().parents[:2])
    below = ("environments", "VIGOR/environments", "published/VIGOR/environments", "")
    folders = [base / inner / name for base in above for inner in below]
    folder = next((folder for folder in folders if (folder / "promp_fits" / "promp_weights.npz").exists()), None)
    if folder is None:
        raise UserError(
            f"{path} holds no published demonstrations of {task.name}; clone github.com/NiklasFreymuth/VIGOR"
        )
    if raw:
        if not (folder / "raw_demonstrations").exists():
            raise UserError(f"the authors published no recordings of {task.name}; import with --format published")
        source, file, axes, last = folder / "raw_demonstrations", "samples.npz", 4, task.promp.dimensions
    else:
        source, file, axes, last = folder / "promp_fits", "promp_weights.npz", 3, task.promp.weights
    contexts = files.read_array(source / "contexts.npy")
    movements = files.read_array(source / file)
    try:
        if contexts.ndim < 2:
            raise UserError(f"the contexts must have 2 axes or more; the shape is {contexts.shape}")
        movements = numbers(movements, axes, "the demonstrations")
        if movements.shape[-1] != last or len(contexts) < len(movements):
            raise UserError(
                "this is not the published layout [context, demonstration, ...]; clone the repository again"
            )
        context_of = np.repeat(np.arange(len(movements)), movements.shape[1])
        movements = movements.reshape(-1, *movements.shape[2:])
        demonstrations = Demonstrations(
            task.name,
            contexts.reshape(len(contexts), -1),
            context_of,
            task.promp.fit(movements) if raw else movements,
            tuple(movements) if raw else None,
            f"published by the authors of the paper, human{', recordings' if raw else ''}",
        )
        check_fits(demonstrations, task)
    except UserError as error:
        raise UserError(f"{source / file}: {error}") from None
    return demonstrations


def read(task: Task, format: str, path: Path) -> Recordings:
    """Recordings of a task in one of the formats that are preprocessed."""
    if format == "csv":
        return read_csv(task, path)
    if format == "npz":
        return read_npz(path)
    raise UserError(f"there is no format {format!r} of demonstrations; choose from {', '.join(FORMATS)}")


def read_csv(task: Task, path: Path) -> Recordings:
    """Recordings from a folder of comma-separated files.

    contexts.csv has a row for every context. demonstrations/<context>_<anything>.csv is one recording: a row a step, a
    column a joint; <context> is the row in contexts.csv, counted from 0. Each file may begin with a row of names.
    """
    recordings, context_of, names = [], [], []
    contexts = files.read_csv(path / "contexts.csv")
    for file in sorted((path / "demonstrations").glob("*.csv")):
        index = file.stem.split("_")[0]
        if not (index.isascii() and index.isdigit()):
            raise UserError(f"{file} must begin with the number of its context, for instance 0_first.csv")
        if int(index) >= len(contexts):
            raise UserError(f"{file} names context {index}, but contexts.csv has {len(contexts)}, counted from 0")
        recordings.append(files.read_csv(file))
        if recordings[-1].shape[1] != task.promp.dimensions:
            columns = recordings[-1].shape[1]
            raise UserError(f"{file} has {columns} columns where {task.name} moves {task.promp.dimensions} joints")
        if len(recordings[-1]) < 2:
            raise UserError(f"{file} must have at least 2 steps")
        context_of.append(int(index))
        names.append(file.name)
    if not recordings:
        raise UserError(
            f"{path / 'demonstrations'} holds no .csv files named CONTEXT_NAME.csv, for instance 0_first.csv"
        )
    return Recordings(path, contexts, np.array(context_of, np.int64), recordings, names)


def read_npz(path: Path) -> Recordings:
    """Recordings from an .npz file.

    contexts [m, C], context_of [n], and either trajectories [n, T, dimensions] or, for recordings of different lengths,
    samples [sum of lengths, dimensions] and lengths [n].
    """
    arrays = files.read_arrays(path)
    if not {"contexts", "context_of"} <= set(arrays) or not {"trajectories", "samples"} & set(arrays):
        raise UserError(f"{path} must hold contexts, context_of, and trajectories or samples with lengths")
    try:
        if "trajectories" in arrays:
            recordings = tuple(numbers(arrays["trajectories"], 3, "the trajectories"))
        else:
            recordings = cut(arrays["samples"], arrays.get("lengths"))
    except UserError as error:
        raise UserError(f"{path}: {error}") from None
    names = [f"recording {number}" for number in range(len(recordings))]
    return Recordings(path, arrays["contexts"], arrays["context_of"], recordings, names)


def fitted(task: Task, recordings: Recordings, report: Report = _silent) -> Demonstrations:
    """Demonstrations of recordings: see `preprocess`. report: called for each that is left out."""
    path, contexts, context_of, moving, names = recordings

    def leave_out(number: int, missed: float) -> None:
        report(LeftOut(names[number], int(context_of[number]), missed))

    try:
        return preprocess(task, contexts, moving, context_of, f"imported from {path.name}", leave_out)
    except UserError as error:
        raise UserError(f"{path}: {error}") from None


def remedy(task: Task, recordings: Recordings) -> Remedy | None:
    """Fewest basis functions, up to twice the task's, that keep most recordings; None if these keep no more.

    A ProMP of few bases rounds off what a recording does quickly, and so may fail where the recording does not.
    """
    _, contexts, context_of, moving, _ = recordings
    movements = np.stack([resample(without_rest(recording), task.promp.steps) for recording in moving])
    solving = int(np.sum(task.succeeds(task.distances(movements, contexts[context_of]))))
    best, bases = Remedy(task.promp.bases, _kept(task, recordings), len(moving)), task.promp.bases
    for more in range(bases + 1, 2 * bases + 1):
        if best.kept >= solving:  # Those that fail themselves are not to be kept.
            break
        kept = _kept(replace(task, promp=replace(task.promp, bases=more)), recordings)
        if kept > best.kept:
            best = Remedy(more, kept, len(moving))
    return best if best.bases > bases else None


def _kept(task: Task, recordings: Recordings) -> int:
    """Number of recordings that are kept."""
    left_out: list[LeftOut] = []
    try:
        fitted(task, recordings, left_out.append)
    except UserError:  # None is kept; they were read before, so nothing else is wrong with them.
        return 0
    return len(recordings.recordings) - len(left_out)
