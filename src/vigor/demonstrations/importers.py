"""Demonstrations in other layouts than the project's own: the authors' repository, csv files, npz files."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from vigor.basics import files
from vigor.basics.errors import UserError
from vigor.demonstrations.dataset import Demonstrations, check_fits, cut, numbers
from vigor.demonstrations.preprocessing import preprocess
from vigor.tasks.task import Task

FORMATS = ("published", "published-raw", "csv", "npz")
"""What `import_demonstrations` reads."""
RECORDINGS = ", recordings"
"""Ends the source of demonstrations that have them, where those without were published apart."""


def import_demonstrations(task: Task, format: str, path: Path) -> Demonstrations:
    """Demonstrations in one of FORMATS: see `import_published`, `import_csv` and `import_npz`."""
    if not path.exists():
        raise UserError(f"{path} does not exist")
    if format in ("published", "published-raw"):
        return import_published(task, path, raw=format == "published-raw")
    if format == "csv":
        return import_csv(task, path)
    if format == "npz":
        return import_npz(task, path)
    raise UserError(f"there is no format {format!r} of demonstrations; choose from {', '.join(FORMATS)}")


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
            f"published by the authors of the paper, human{RECORDINGS if raw else ''}",
        )
        check_fits(demonstrations, task)
    except UserError as error:
        raise UserError(f"{source / file}: {error}") from None
    return demonstrations


def import_csv(task: Task, path: Path) -> Demonstrations:
    """Recordings from a folder of comma-separated files, preprocessed.

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
    return _imported(task, path, contexts, recordings, np.array(context_of, np.int64), names)


def import_npz(task: Task, path: Path) -> Demonstrations:
    """Recordings from an .npz, preprocessed.

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
    return _imported(task, path, arrays["contexts"], recordings, arrays["context_of"], names)


def _imported(
    task: Task,
    path: Path,
    contexts: np.ndarray,
    recordings: Sequence[np.ndarray],
    context_of: np.ndarray,
    names: Sequence[str],
) -> Demonstrations:
    """Preprocessed recordings; prints the name of each that is dropped."""

    def report(number: int, missed: float) -> None:
        print(f"{names[number]} is left out: its ProMP misses context {context_of[number]} by {missed:.3g}")

    try:
        return preprocess(task, contexts, recordings, context_of, f"imported from {path.name}", report)
    except UserError as error:
        raise UserError(f"{path}: {error}") from None
