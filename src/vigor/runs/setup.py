"""The setup of a run: everything needed to repeat it, and the task, demonstrations and split that it stands for."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from vigor.basics.errors import UserError
from vigor.basics.serialisation import CONVERTER, from_json, to_json
from vigor.basics.version import __version__
from vigor.demonstrations import dataset, splits
from vigor.demonstrations.dataset import Demonstrations
from vigor.demonstrations.preprocessing import generate, settled
from vigor.demonstrations.repertoire import Repertoire, repertoire
from vigor.demonstrations.splits import Split
from vigor.learning.algorithm import VigorSettings
from vigor.learning.problem import Problem, batch, problem
from vigor.runs.methods import method
from vigor.tasks import SCENES, Task, load_task

TestContexts = int | tuple[tuple[float, ...], ...]
"""Number of test contexts, or their values [context, C]."""
CONVERTER.register_structure_hook(
    TestContexts,
    lambda value, kind: CONVERTER.structure(value, int if type(value) is int else tuple[tuple[float, ...], ...]),
)


@dataclass(frozen=True)
class Setup:
    """Everything needed to repeat a run: `config.json`."""

    task: str
    """Name of the task, path/to/scene.toml, or path/to/file.py:NAME."""
    demos: str | None = None
    """Folder that the demonstrations come from, if it is known."""
    method: str = "vigor"
    seed: int = 0
    train_contexts: int = 6
    test_contexts: TestContexts = 6
    demos_per_context: int = 5
    descriptors: str = "geometric"
    raw: bool = False
    """Learn from the recordings themselves instead of the ProMPs fitted to them."""
    settings: Any = field(default_factory=VigorSettings)
    """Settings of the method."""
    command: str = ""
    version: str = __version__
    date: str = ""
    fingerprint: str = ""
    """Digest of the demonstrations and of the task's file."""
    task_digest: str = ""
    """SHA-256 of the task's file, or of the run's copy of a scene, if it is a user's own."""


class Prepared(NamedTuple):
    """A setup, and what it stands for."""

    setup: Setup
    task: Task
    """With the setup's descriptors."""
    demonstrations: Demonstrations
    split: Split


def prepare(setup: Setup, task: Task | None = None, demonstrations: Demonstrations | None = None) -> Prepared:
    """Load what a run needs, unless it is given, and check that it fits together."""
    task = load_task(setup.task) if task is None else task
    if demonstrations is None:
        demonstrations = dataset.load(Path(setup.demos), task) if setup.demos else own_demonstrations(task)
    task = settled(task, demonstrations).with_descriptors(setup.descriptors)
    dataset.check_fits(demonstrations, task)
    test = setup.test_contexts
    split = splits.draw(
        demonstrations,
        task,
        setup.seed,
        setup.train_contexts,
        test if isinstance(test, int) else np.asarray(test, float),
        setup.demos_per_context,
    )
    return Prepared(setup, task, demonstrations, split)


def own_demonstrations(task: Task) -> Demonstrations:
    """Demonstrations that come with a task, or that it generates."""
    if task.source.shipped is not None:
        return dataset.load(task.source.shipped, task)
    if task.source.generate is not None:
        return generate(task, seed=0)
    raise UserError(f"{task.name} has no demonstrations of its own; give some with --demos DIR")


def held_out(prepared: Prepared, distinct: float) -> Repertoire | None:
    """Repertoire of all demonstrations of a run; None if it learns from all. distinct: see `repertoire`."""
    shown = prepared.split.demonstrations.reshape(-1)
    if len(shown) == len(prepared.demonstrations):
        return None
    return repertoire(prepared.task, prepared.demonstrations, shown, distinct)


def problems(prepared: Sequence[Prepared]) -> Problem:
    """The problems of a batch of runs that differ in their seeds alone."""
    return batch(
        [problem(item.task, item.demonstrations, item.split, item.setup.seed, item.setup.raw) for item in prepared]
    )


def fingerprint(setup: Setup, demonstrations: Demonstrations) -> str:
    """Digest of the demonstrations and of the task's file."""
    digest = hashlib.sha256()
    learned_from = demonstrations.recordings if setup.raw and demonstrations.recordings else (demonstrations.weights,)
    for array in (demonstrations.contexts, demonstrations.context_of, *learned_from):
        digest.update(np.ascontiguousarray(array).tobytes())
    file = Path(setup.task if setup.task.endswith(SCENES) else setup.task.rpartition(":")[0])
    if file.is_file():
        digest.update(file.read_bytes())
    return digest.hexdigest()


def setup_to_json(setup: Setup) -> dict[str, Any]:
    """Plain values of a setup."""
    return to_json(setup)


def setup_from_json(values: Any) -> Setup:
    """The setup of `setup_to_json`; raises a UserError that names what is wrong or missing."""
    if not isinstance(values, dict) or not isinstance(values.get("method"), str):
        raise UserError("it names no method")
    try:
        settings: Any = from_json(method(values["method"]).settings, values.get("settings"))
    except UserError as error:
        raise UserError(f"settings: {error}") from None
    setup = from_json(Setup, values | {"settings": settings})
    check_complete(values, setup)
    return setup


def settings_from_json(method_name: str, values: Any) -> Any:
    """Settings of a method; raises a UserError that names what is wrong or missing."""
    settings: Any = from_json(method(method_name).settings, values)
    check_complete(values, settings)
    return settings


def check_complete(values: dict[str, Any], read: Any) -> None:
    """Refuse values that lack something. Defaults are for new runs: a stored one may have had another value."""
    for name in _missing(values, to_json(read)):
        raise UserError(f"{name} is missing")


def _missing(values: dict[str, Any], whole: dict[str, Any], within: str = "") -> Iterator[str]:
    """Names that are in the whole and not among the values."""
    for name, part in whole.items():
        if name not in values:
            yield within + name
        elif isinstance(part, dict):
            yield from _missing(values[name], part, f"{within}{name}.")
