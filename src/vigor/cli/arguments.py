"""Types of arguments that several commands have, and what they do with them."""

from dataclasses import fields, make_dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import numpy as np
from tyro.conf import arg

from vigor.basics import files
from vigor.basics.errors import UserError
from vigor.demonstrations.formats.episodes import Reading

TaskName = Annotated[str, arg(metavar="TASK", help_behavior_hint="")]
TaskOfRun = Annotated[str | None, arg(metavar="TASK", help_behavior_hint="")]
"""Task of a run or a plan, where its own cannot be loaded."""
RunFolder = Annotated[Path, arg(metavar="RUN")]
RunOrSkill = Annotated[Path, arg(metavar="RUN|SKILL")]
SkillFile = Annotated[Path, arg(metavar="SKILL")]
PlanFile = Annotated[Path, arg(metavar="PLAN")]
Folder = Annotated[Path, arg(metavar="DIR")]
Numbers = Annotated[tuple[float, ...], arg(metavar="NUMBER ...", help_behavior_hint="")]
MaybeFile = Annotated[Path | None, arg(metavar="FILE", help_behavior_hint="")]
MaybeFolder = Annotated[Path | None, arg(metavar="DIR", help_behavior_hint="")]
MaybeNumber = Annotated[float | None, arg(metavar="NUMBER", help_behavior_hint="")]
MaybeInt = Annotated[int | None, arg(metavar="INT", help_behavior_hint="")]
MaybeName = Annotated[str | None, arg(metavar="NAME", help_behavior_hint="")]
Names = Annotated[tuple[str, ...], arg(help_behavior_hint="")]


def _words_of(kind: Any) -> str | None:
    """Word in the help for a value of an option that may be None."""
    choices = [part for part in get_args(kind) if part is not type(None)]
    if type(None) not in get_args(kind):
        return None
    if get_origin(choices[0]) is Literal:
        return f"{{{','.join(get_args(choices[0]))}}}"
    return {Path: "FILE", float: "NUMBER"}[choices[0]]


def _plainly(kind: type) -> Any:
    """A dataclass as options whose help shows neither None nor an empty default."""
    types = get_type_hints(kind)
    plain = {name: arg(metavar=_words_of(said), help_behavior_hint="") for name, said in types.items()}
    options = [(each.name, Annotated[types[each.name], plain[each.name]], each.default) for each in fields(kind)]
    return make_dataclass(kind.__name__, options, bases=(kind,), frozen=True, namespace={"__doc__": kind.__doc__})


ReadingOptions = _plainly(Reading)
"""Options of every command that reads recordings."""


def reading_of(options: Any) -> Reading:
    """Words of a command's options about recordings."""
    return Reading(**vars(options))


def read_contexts(path: Path, width: int) -> np.ndarray:
    """Contexts [n, width] of a .csv, .npy or .npz file."""
    values = files.read_table(path)
    if values.dtype.kind not in "iuf" or values.ndim != 2 or values.shape[1] != width or not len(values):
        raise UserError(f"{path} must hold real numbers [contexts, {width}]; its shape is {values.shape}")
    if not np.all(np.isfinite(values)):
        raise UserError(f"{path} must hold finite numbers")
    return values.astype(float)


def read_plans(path: Path, task: str | None) -> Any:
    """Plans of a file, or of a run's folder."""
    from vigor.planning import planner
    from vigor.planning.plans import Plans

    return planner.of_run(path, task) if path.is_dir() else Plans.load(path, task)


def chosen(plans: Any, context: int, solution: int) -> tuple[Any, Any]:
    """A plan and a solution by number, counted from 1."""
    if not 1 <= context <= len(plans):
        raise UserError(f"--context must be from 1 to {len(plans)}, not {context}")
    ranked = plans[context - 1].solutions
    if not 1 <= solution <= len(ranked):
        raise UserError(f"--solution must be from 1 to {len(ranked)}, not {solution}")
    return plans[context - 1], ranked[solution - 1]


def load_demonstrations(folder: Path, reference: str | None) -> tuple[Any, Any]:
    """Task and demonstrations of a folder; with a task given also of recordings in any format."""
    from vigor.demonstrations import importers
    from vigor.demonstrations.dataset import Demonstrations, check_holds_files
    from vigor.demonstrations.formats import recognition
    from vigor.demonstrations.preprocessing import settled
    from vigor.tasks import TASKS, load_task

    check_holds_files(folder)
    if reference is None and not recognition.is_own(folder):
        raise UserError(f"{folder} holds no set of demonstrations; to read recordings in another format, give --task")
    name = reference or Demonstrations.load(folder).task
    if name not in TASKS and reference is None:
        raise UserError(
            f"{folder} holds demonstrations of {name}; give --task path/to/scene.toml or path/to/file.py:NAME"
        )
    task = load_task(name)
    loaded = importers.load(task, folder, say=print)
    return settled(task, loaded), loaded
