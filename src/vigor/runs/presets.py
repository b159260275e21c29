"""Presets: settings by method and task, the project's own defaults and those of the paper (appendix E)."""

from typing import Any, Literal, get_args

from vigor.basics.errors import UserError
from vigor.basics.settings import with_values
from vigor.runs.methods import method
from vigor.tasks import Task, load_task

Preset = Literal["default", "paper"]

_PAPER: dict[str, dict[str, Any]] = {
    "vigor": {
        "iterations": 301,
        "components": 5,
        "kl_bound": 0.2,
        "begin": "normal",
        "surrogate": "values",
        "samples": 512,
        "sharpness": 0.0,
        "weights": "fixed",
        "stall": 0,
        "misplaced": 0.0,
        "scaled": False,
        "invariants": False,
        "epochs": 50,
        "validation": 0.1,
        "learning_rate": 3e-4,
        "decay": 1.0,
        "batch": 64,
    },
    "em-drex": {
        "iterations": 300,
        "kl_bound": 0.2,
        "begin": "normal",
        "surrogate": "values",
        "samples": 512,
        "learning_rate": 3e-5,
        "epochs": 1000,
    },
}
"""Settings of the paper for all tasks, where they differ from the project's own."""
_ANY_TASK: dict[str, dict[str, Any]] = {
    "bc-t": {"components": 1, "width": 256},
    "bc-s": {"components": 1, "batch": 128},
    "bc-gmm-s": {"frames": 5, "train_weights": True},
    "gail": {"frames": 5},
}
"""Settings for a task that has none of its own."""


def descriptors(task: Task, name: Preset) -> str:
    """Descriptor set that a preset begins with: the paper's, where a task has another of its own."""
    return name if name in task.other_descriptors else "geometric"


def preset(task: Task | str, name: Preset = "default", method_name: str = "vigor") -> Any:
    """Settings of a method for a task: the method's own, then the preset's, then the task's for it."""
    if name not in get_args(Preset):
        raise UserError(f"there is no preset {name!r}; choose from {', '.join(get_args(Preset))}")
    task = load_task(task) if isinstance(task, str) else task
    values = dict(task.settings.get(("default", method_name), _ANY_TASK.get(method_name, {})))
    if name == "paper":
        values |= _PAPER.get(method_name, {})
        values |= task.settings.get(("paper", method_name), {})
    return with_values(method(method_name).settings(), **values)
