"""The human demonstrations that the paper's authors published, in a clone of their repository."""

from pathlib import Path

import numpy as np

from vigor.basics import files
from vigor.basics.errors import UserError
from vigor.demonstrations.dataset import Demonstrations, check_fits, numbers
from vigor.tasks.task import Task


def folder_of(task: Task, path: Path) -> Path | None:
    """Folder of a task's demonstrations in the repository, or in a folder around or within it."""
    name = task.name.replace("-", "_")
    above = (path, *path.resolve().parents[:2])
    below = ("environments", "VIGOR/environments", "published/VIGOR/environments", "")
    folders = [base / inner / name for base in above for inner in below]
    return next((folder for folder in folders if (folder / "promp_fits" / "promp_weights.npz").exists()), None)


def load(task: Task, path: Path, raw: bool = False) -> Demonstrations:
    """The published set of a task.

    raw=False: the published ProMPs, which all succeed, without recordings. raw=True: the published recordings (planar
    reacher only), which all succeed as they are, with ProMPs fitted to them, of which 43% miss a target by a little.
    The two are different choices of 10 per context from what was recorded: 47 of the 120 published ProMPs are the fit
    of a published recording, the recordings of the others were not published. So each is a set of its own.
    """
    folder = folder_of(task, path)
    if folder is None:
        if not path.exists():
            raise UserError(f"{path} does not exist")
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
        return _demonstrations(task, contexts, numbers(movements, axes, "the demonstrations"), last, raw)
    except UserError as error:
        raise UserError(f"{source / file}: {error}") from None


def _demonstrations(task: Task, contexts: np.ndarray, movements: np.ndarray, last: int, raw: bool) -> Demonstrations:
    """The set of contexts [m, ...] and movements [context, demonstration, ..., last]."""
    if contexts.ndim < 2:
        raise UserError(f"the contexts must have 2 axes or more; the shape is {contexts.shape}")
    if movements.shape[-1] != last or len(contexts) < len(movements):
        raise UserError("this is not the published layout [context, demonstration, ...]; clone the repository again")
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
    return demonstrations
