"""Tasks: those that come with the package, and those that users write in files of their own."""

import ast
import importlib
import shlex
import sys
import warnings
from functools import lru_cache
from pathlib import Path
from types import ModuleType

from vigor.basics.errors import Notice, UserError, near_misses
from vigor.tasks import trust
from vigor.tasks.check import check
from vigor.tasks.scenes import building as scenes
from vigor.tasks.task import Arm, Display, Gripper, Judge, Outline, Region, Source, Task, Transfer

TASKS = {
    "planar-reacher": "vigor.tasks.reachers.planar_reacher",
    "panda-reacher": "vigor.tasks.reachers.panda_reacher",
    "box-pusher": "vigor.tasks.box_pusher",
}
"""Modules of the tasks that come with the package, by name; each is imported when it is asked for."""
SCENES = (".toml", ".json")
"""Endings of files that are scenes."""
TASK_FILE, SCENE_FILE = "task.py", "scene.json"
"""A run's copy of its task: of a program, or of a scene as demonstrations have decided it."""

__all__ = [
    "SCENES",
    "SCENE_FILE",
    "TASKS",
    "TASK_FILE",
    "Arm",
    "Display",
    "Gripper",
    "Judge",
    "Outline",
    "Region",
    "Source",
    "Task",
    "Transfer",
    "absolute",
    "copy_of",
    "load_stored",
    "load_task",
]


def load_task(reference: str | Task) -> Task:
    """A task by name, `path/to/scene.toml`, or `path/to/file.py:NAME` for a task of the user's own, which is checked.

    Naming a program confirms its content: see `vigor.tasks.trust`. A task itself is returned as it is.
    """
    if isinstance(reference, Task):
        return reference
    if reference in TASKS:
        return importlib.import_module(TASKS[reference]).TASK
    if reference.endswith(SCENES):
        return scenes.load(Path(reference))
    path, colon, name = reference.rpartition(":")
    if not colon and reference.endswith(".py") and Path(reference).is_file():
        raise UserError(f"say which task of {reference} is meant: {reference}:{_names(Path(reference))}")
    if not colon or not path.endswith(".py"):
        raise UserError(
            f"there is no task {reference!r}{near_misses(reference, TASKS)}; name one of {', '.join(TASKS)}, "
            "path/to/scene.toml, or path/to/file.py:NAME for your own"
        )
    if not Path(path).is_file():
        raise UserError(f"{path} does not exist; name a Python file that defines your task")
    trust.confirm(Path(path))
    return _own(path, name, trust.digest(Path(path)), str(Path.cwd()))


def load_stored(reference: str, content: str, folders: tuple[Path, ...], where: Path) -> Task:
    """The task that a stored run or plan refers to, without running anything that the user has not asked for.

    reference: a name, or path:NAME of a file whose SHA-256 was `content`; folders: those of the run, which has a copy;
    where: the file that refers to it. A scene is data, and its copy is read. A program is run only if its content was
    confirmed before, and then alone: nothing that lies beside it can be imported. Where the file itself
    has changed and a copy is used, that is said.
    """
    if reference in TASKS:
        return load_task(reference)
    if reference.endswith(SCENES):
        return _stored_scene(reference, content, folders, where)
    path, colon, name = reference.rpartition(":")
    if not colon:
        raise UserError(f"{where} is of the task {reference}, which is in no file; give the task itself")
    copies = [folder / TASK_FILE for folder in folders]
    places = [place for place in (Path(path), *copies) if place.is_file()]
    same = [place for place in places if trust.digest(place) == content]
    if not same:
        state = "has changed since" if places else "is not there"
        raise UserError(f"{where} needs its task {path}, which {state}; give --task FILE:NAME")
    if not trust.is_confirmed(content):
        raise UserError(
            f"{where} needs the task in {same[0]}, a program that you have not run before; read it, and if you trust "
            f"it give --task {shlex.quote(f'{same[0]}:{name}')}"  # To be pasted into a shell: both come from files.
        )
    try:
        task = _own(str(same[0]), name, content, None)
    except UserError as error:
        raise UserError(f"{where} needs its task, but by itself {error}; give --task FILE:NAME") from None
    if same[0] != places[0]:
        warnings.warn(f"{path} has changed since {where} was written; the copy {same[0]} is used", Notice, stacklevel=2)
    return task


def _stored_scene(reference: str, content: str, folders: tuple[Path, ...], where: Path) -> Task:
    """The scene that a stored run or plan refers to, as it was decided by demonstrations."""
    for place in (*(folder / SCENE_FILE for folder in folders), Path(reference)):
        if place.is_file() and trust.digest(place) == content:
            task = scenes.load(place)
            return task.with_origin(reference, task.digest)
    raise UserError(f"{where} needs its scene, {SCENE_FILE} of its run, which is not there or has changed; give --task")


def copy_of(task: Task) -> tuple[str, bytes] | None:
    """Name and content of the file that a run keeps of its task, of a scene as it is decided; None if it is in none."""
    if not task.origin:
        return None
    if task.data:
        return SCENE_FILE, task.data.encode()
    file = Path(task.origin.rpartition(":")[0])
    if not file.is_file() or trust.digest(file) != task.digest:
        raise UserError(f"{file} has changed since the task was loaded; load it again")
    return TASK_FILE, file.read_bytes()


def absolute(reference: str) -> str:
    """A reference to a task with the whole path of a user's file."""
    if reference.endswith(SCENES):
        return str(Path(reference).resolve())
    path, colon, name = reference.rpartition(":")
    return f"{Path(path).resolve()}:{name}" if colon and Path(path).is_file() else reference


@lru_cache(maxsize=64)
def _own(path: str, name: str, content: str, within: str | None) -> Task:
    """A user's task as its file defines it, with its origin; run and checked again only when the file has changed.

    content: SHA-256 of the file, so that nothing else is run; within: the working folder, so that relative paths in the
    file mean the same; None to run the file by itself.
    """
    task = getattr(_module(Path(path), content, alone=within is None), name, None)
    if task is None:
        raise UserError(f"{path} defines no {name}; it has {_names(Path(path))}")
    if not isinstance(task, Task):
        raise UserError(f"{name} in {path} is a {type(task).__name__}; it must be an instance of vigor.Task")
    try:
        check(task)
    except UserError as error:
        raise UserError(f"{name} in {path}: {error}") from None
    return task.with_origin(f"{Path(path).resolve()}:{name}", content)


def _names(path: Path) -> str:
    """Names of the tasks that a file defines, by its text; it is not run."""
    try:
        body = ast.parse(path.read_bytes()).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return "NAME"
    found = [
        target.id
        for item in body
        if isinstance(item, ast.Assign) and isinstance(item.value, ast.Call)
        for target in item.targets
        if isinstance(target, ast.Name) and "Task" in ast.unparse(item.value.func)
    ]
    return " or ".join(found) or "NAME"


def _module(path: Path, content: str, alone: bool) -> ModuleType:
    """The file as a module, made of just the bytes that were looked at: no compiled copy beside it is used."""
    source = path.read_bytes()
    if trust.digest_of(source) != content:
        raise UserError(f"{path} has changed just now; try again")
    name = f"vigor_user_task_{path.stem}"
    module = ModuleType(name)
    module.__file__ = str(path)
    sys.modules[name] = module
    beside = str(path.parent.resolve())
    if not alone:
        sys.path.insert(0, beside)
    try:
        exec(compile(source, str(path), "exec"), module.__dict__)
    except (Exception, SystemExit) as error:
        raise UserError(f"{path} cannot be run: {type(error).__name__}: {error}") from None
    finally:
        if not alone:
            sys.path.remove(beside)
    return module
