"""Train, open and use runs: what `import vigor` offers, and what the command line is written on."""

import shutil
import tempfile
from collections.abc import Sequence
from contextlib import nullcontext
from datetime import datetime
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from vigor.basics.errors import UserError
from vigor.basics.settings import with_values
from vigor.demonstrations import dataset
from vigor.demonstrations.dataset import Demonstrations
from vigor.evaluation import evaluation
from vigor.evaluation.evaluation import Evaluation
from vigor.evaluation.policies import Learned
from vigor.motion.shapes import Box, Sphere
from vigor.planning import constraints, planner
from vigor.planning.planner import Planner
from vigor.planning.plans import Plans
from vigor.reports.run import draw
from vigor.reports.terminal import progress_bar
from vigor.runs import run as runs
from vigor.runs.presets import Preset, preset, seen_through
from vigor.runs.setup import Setup
from vigor.tasks import Task, load_task


class Run:
    """A finished run in its folder: what it learned, and plans for contexts that it never saw."""

    def __init__(self, folder: str | Path, task: Task | str | None = None) -> None:
        """Open a run. task: the task itself, or where it is, if the run's own cannot be loaded."""
        self.folder = Path(folder)
        self.setup, self.task, self.policies = _opened(self.folder, task)
        self._temporary: tempfile.TemporaryDirectory[str] | None = None

    setup: Setup
    """Everything needed to repeat the run."""
    task: Task
    policies: Learned
    """Mixtures of all contexts, training contexts first."""

    @cached_property
    def result(self) -> dict[str, Any]:
        """Figures of training and test contexts, as `result.json` has them."""
        return runs.read_result(self.folder)

    @cached_property
    def metrics(self) -> list[dict[str, Any]]:
        """Evaluations on the way, in their order."""
        return runs.read_metrics(self.folder)

    @cached_property
    def demonstrations(self) -> Demonstrations:
        """The set that the run learned from."""
        return dataset.load(self.folder / runs.DEMONSTRATIONS, self.task)

    def planner(self, every: int = 1) -> Planner:
        """A planner for new contexts; every: use every n-th of the run's ensembles."""
        if every not in self._planners:
            self._planners[every] = planner.load(self.folder, every, self.task)
        return self._planners[every]

    @cached_property
    def _planners(self) -> dict[int, Planner]:
        return {}

    def plan(
        self,
        contexts: Any,
        avoid: Sequence[Sphere | Box] = (),
        seconds: float | None = None,
        samples: int = 0,
        every: int = 1,
        seed: int = 0,
    ) -> Plans:
        """Ranked solutions for contexts [n, C], or for one [C]; nothing is trained.

        avoid: shapes that no link may enter; seconds: duration of the movements, for the robot's velocity limits;
        samples: further movements that are drawn for each context.
        """
        limits = constraints.of_task(self.task, tuple(avoid), seconds)
        return self.planner(every).plan(contexts, limits, samples, seed)

    def own_plans(self) -> Plans:
        """Plans for the run's own contexts, training contexts first."""
        return planner.of_run(self.folder, self.task)

    def evaluate(self, samples: int | None = None, seed: int = 0) -> Evaluation:
        """Success of fresh samples; samples: per component, as many as the task says by default."""
        return evaluation.evaluate(self.task, self.policies, samples, seed)

    def report(self) -> Path:
        """Draw the figures and write `report.html`, one file that opens without a network; returns its path."""
        return draw(self.folder, self.task)

    def save(self, folder: str | Path) -> "Run":
        """Copy the run into a new folder; returns the run there."""
        runs.claim(Path(folder))
        shutil.copytree(self.folder, folder, dirs_exist_ok=True)
        return Run(folder, self.task)

    def __repr__(self) -> str:
        part = self.result["test"] or self.result["train"]
        figures = f"success {part['success_best']:.3f} (best), {part['success_mixture']:.3f} (mixture)"
        return f"Run({self.task.name}, {self.setup.method}, seed {self.setup.seed}: {figures})"

    def _repr_html_(self) -> str:
        names = {"success_best": "success, best component", "success_mixture": "success, mixture"}
        parts = {name: self.result[name] for name in ("train", "test") if self.result[name]}
        head = "".join(f"<th>{name} ({len(part['contexts'])} contexts)</th>" for name, part in parts.items())
        rows = "".join(
            f"<tr><td>{label}</td>" + "".join(f"<td>{part[name]:.3f}</td>" for part in parts.values()) + "</tr>"
            for name, label in names.items()
        )
        return f"<p>{escape(repr(self))}</p><table><tr><th></th>{head}</tr>{rows}</table>"


def _opened(folder: Path, task: Task | str | None) -> tuple[Setup, Task, Learned]:
    return runs.load_policies(folder, task)


def load(folder: str | Path, task: Task | str | None = None) -> Run:
    """The run in a folder. task: the task itself, or where it is, if the run's own cannot be loaded."""
    return Run(folder, task)


def train(
    task: Task | str,
    demonstrations: Demonstrations | str | Path | None = None,
    *,
    method: str = "vigor",
    preset: Preset = "default",
    train_contexts: int = 6,
    test_contexts: Any = 6,
    demos_per_context: int | None = None,
    descriptors: str = "geometric",
    raw: bool = False,
    seed: int = 0,
    out: str | Path | None = None,
    progress: bool = True,
    settings: Any = None,
    **changes: Any,
) -> Run:
    """Learn from demonstrations: a mixture of movements for every training and test context.

    task: a task, its name, or path/to/file.py:NAME; demonstrations: a set, the folder of one, or the task's own;
    test_contexts: how many, or their values [n, C]; out: a new folder for the run, otherwise it is kept as long as the
    `Run` lives; progress: show it; settings: those of the method, instead of the preset's; changes: single settings by
    name, for instance iterations=50.
    """
    task = load_task(task)
    setup = setup_of(
        task,
        demonstrations if isinstance(demonstrations, str | Path) else None,
        method=method,
        preset_name=preset,
        train_contexts=train_contexts,
        test_contexts=test_contexts,
        demos_per_context=demos_per_context,
        descriptors=descriptors,
        raw=raw,
        seed=seed,
        settings=settings,
        changes=changes,
    )
    data = demonstrations if isinstance(demonstrations, Demonstrations) else None
    temporary = tempfile.TemporaryDirectory(prefix="vigor-") if out is None else None
    folder = Path(temporary.name) / "run" if temporary is not None else Path(str(out))
    with progress_bar() if progress else nullcontext(lambda step: None) as show:
        runs.train(setup, folder, show, task, data)
    made = Run(folder, task)
    made._temporary = temporary
    return made


def setup_of(
    task: Task,
    demos: str | Path | None = None,
    *,
    method: str = "vigor",
    preset_name: Preset = "default",
    train_contexts: int = 6,
    test_contexts: Any = 6,
    demos_per_context: int | None = None,
    descriptors: str = "geometric",
    raw: bool = False,
    seed: int = 0,
    settings: Any = None,
    changes: dict[str, Any] | None = None,
    command: str = "",
) -> Setup:
    """The setup of a run of a task, with the preset's settings and changes to some of them."""
    settings = preset(task, preset_name, method) if settings is None else settings
    if not isinstance(test_contexts, int):
        values = np.asarray(test_contexts, float)
        if values.ndim != 2 or values.shape[1] != task.context_dimension:
            raise UserError(f"the test contexts must be numbers [n, {task.context_dimension}]")
        test_contexts = tuple(tuple(row) for row in values.tolist())
    return Setup(
        task=task.origin or task.name,
        demos=None if demos is None else str(Path(demos).resolve()),
        method=method,
        seed=seed,
        train_contexts=train_contexts,
        test_contexts=test_contexts,
        demos_per_context=task.source.per_context if demos_per_context is None else demos_per_context,
        descriptors=descriptors,
        raw=raw,
        settings=with_values(seen_through(descriptors, settings), **(changes or {})),
        command=command,
        date=datetime.now().astimezone().isoformat(timespec="seconds"),
    )


def resume(folder: str | Path, task: Task | str | None = None, progress: bool = True) -> Run:
    """Continue a run that was stopped; a finished one is opened."""
    with progress_bar() if progress else nullcontext(lambda step: None) as show:
        runs.resume(Path(folder), show, task)
    return Run(folder, task)
