"""The tasks that come with the package, and tasks that users write in files of their own."""

import importlib
import importlib.util
import sys
from functools import lru_cache
from pathlib import Path
from types import ModuleType

from vigor.basics.errors import UserError
from vigor.tasks.check import check
from vigor.tasks.task import Arm, Display, Judge, Outline, Region, Source, Task

TASKS = {
    "planar-reacher": "vigor.tasks.reachers.planar_reacher",
    "panda-reacher": "vigor.tasks.reachers.panda_reacher",
    "box-pusher": "vigor.tasks.box_pusher",
}
"""Modules of the tasks that come with the package, by name; each is imported when it is asked for."""

__all__ = [
    "TASKS",
    "Arm",
    "Display",
    "Judge",
    "Outline",
    "Region",
    "Source",
    "Task",
    "absolute",
    "check_stored",
    "load_task",
]


def load_task(reference: str) -> Task:
    """A task by name, or `path/to/file.py:NAME` for a task of the user's own, which is checked."""
    if reference in TASKS:
        return importlib.import_module(TASKS[reference]).TASK
    path, colon, name = reference.rpartition(":")
    if not colon or not path.endswith(".py"):
        raise UserError(
            f"there is no task {reference!r}; name one of {', '.join(TASKS)}, or path/to/file.py:NAME for your own"
        )
    if not Path(path).is_file():
        raise UserError(f"{path} does not exist; name a Python file that defines your task")
    return _own(path, name, Path(path).stat().st_mtime_ns, str(Path.cwd()))


def absolute(reference: str) -> str:
    """A reference to a task with the whole path of a user's file."""
    path, colon, name = reference.rpartition(":")
    return f"{Path(path).resolve()}:{name}" if colon and Path(path).is_file() else reference


def check_stored(reference: str, where: Path) -> None:
    """Refuse a task that a file names by a relative path: who sent the file may have sent a program beside it."""
    if ":" in reference and not Path(reference).is_absolute():
        raise UserError(f"{where} names its task {reference!r}; only files by their whole path are run")


@lru_cache(maxsize=64)
def _own(path: str, name: str, changed: int, within: str) -> Task:
    """A user's task as its file defines it; run and checked again only when the file has changed."""
    task = getattr(_module(Path(path)), name, None)
    if task is None:
        raise UserError(f"{path} defines no {name}; name the variable that holds the task after the colon")
    if not isinstance(task, Task):
        raise UserError(f"{name} in {path} is a {type(task).__name__}; it must be an instance of vigor.tasks.Task")
    try:
        check(task)
    except UserError as error:
        raise UserError(f"{name} in {path}: {error}") from None
    return task


def _module(path: Path) -> ModuleType:
    name = f"vigor_user_task_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    beside = str(path.parent.resolve())
    sys.path.insert(0, beside)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise UserError(f"{path} cannot be run: {type(error).__name__}: {error}") from None
    finally:
        sys.path.remove(beside)
    return module
