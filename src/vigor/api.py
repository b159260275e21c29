"""Train, open and use runs: what `import vigor` offers, and what the command line is written on."""

import shutil
import tempfile
import weakref
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from vigor.basics import folders
from vigor.basics.errors import UserError
from vigor.basics.settings import with_values
from vigor.demonstrations import dataset, importers, splits
from vigor.demonstrations.dataset import Demonstrations
from vigor.demonstrations.formats import recognition
from vigor.demonstrations.formats.episodes import Reading
from vigor.demonstrations.preprocessing import settled
from vigor.demonstrations.repertoire import Repertoire
from vigor.evaluation import evaluation
from vigor.evaluation.evaluation import Evaluation
from vigor.evaluation.policies import Learned
from vigor.learning.invariants import Invariants
from vigor.planning import planner, skill_files
from vigor.planning.can_plan import CanPlan
from vigor.planning.choice import Model
from vigor.planning.planner import Planner
from vigor.planning.plans import Plans
from vigor.planning.skills import Skill
from vigor.practice import account, practice
from vigor.practice.account import Account, PracticeSettings
from vigor.practice.attempts import Trial
from vigor.reports.terminal import progress_bar
from vigor.runs import checkpoints, presets
from vigor.runs import run as runs
from vigor.runs.presets import Preset
from vigor.runs.setup import Setup
from vigor.tasks import TASKS, Task, load_task
from vigor.tasks.check import check


@dataclass(frozen=True, eq=False, repr=False)
class Run(CanPlan):
    """A run in its folder: what it has learned, and plans for contexts that it never saw. See `train` and `load`."""

    folder: Path
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

    @cached_property
    def common(self) -> Invariants | None:
        """Invariants, what the demonstrations have in common, as the run has found them; None if it has lost them."""
        there = (self.folder / checkpoints.INVARIANTS).exists()
        return checkpoints.load_invariants(self.folder, self.task.features) if there else None

    @cached_property
    def repertoire(self) -> Repertoire | None:
        """All demonstrations with their ways, those held out among them; None if the run learned from all."""
        return runs.repertoire_of(self.folder, self.setup, self.task)

    def _load_planner(self, every: int) -> Planner:
        return planner.load(self.folder, every, self.task)

    def _model(self, number: int) -> Model:
        shown = self.demonstrations
        if not 1 <= number <= len(shown):
            raise UserError(f"the run has demonstrations 1 to {len(shown)}, not {number}")
        return Model(number, shown.weights[number - 1], shown.contexts[shown.context_of[number - 1]])

    def pack(self, path: str | Path, licence: str = "", every: int | None = None) -> Skill:
        """Write what planning needs to one new file, without the demonstrations; returns the skill.

        licence: that of the demonstrations, in words; every: keep every n-th of the run's ensembles, by default all
        if 8 MB hold a network of each.
        """
        return skill_files.pack(self.folder, Path(path), self.task, licence, every)

    def own_plans(self) -> Plans:
        """Plans for the run's own contexts, training contexts first."""
        return planner.of_run(self.folder, self.task)

    def evaluate(self, samples: int | None = None, seed: int = 0) -> Evaluation:
        """Success of fresh samples; samples: per component, as many as the task says by default."""
        return evaluation.evaluate(self.task, self.policies, samples, seed, self.common, self.repertoire)

    def report(self) -> Path:
        """Draw the figures and write `report.html`, one file that opens without a network; returns its path."""
        from vigor.reports.run import draw

        return draw(self.folder, self.task, practice=self.practice)

    def practise(
        self,
        contexts: int = 60,
        rounds: int = 3,
        *,
        samples: int = 3,
        seed: int = 0,
        trial: Trial | None = None,
        out: str | Path | None = None,
        progress: bool = True,
        command: str = "",
    ) -> "Run":
        """Try plans for new contexts and learn again from demonstrations and own successes; returns the new run.

        contexts: to practise in, in all rounds together; samples: movements of every way that are tried; trial: a
        function of trajectories [n, T, dimensions] and contexts [n, C] that says how far each is from success [n], by
        default the task's own judge; out: folder of the new run, by default that of this run with -practised. Practice
        that was stopped goes on when it is called again.
        """
        settings = PracticeSettings(contexts, rounds, samples, seed)
        folder = practised(self.folder) if out is None else Path(out)
        with progress_bar() if progress else nullcontext(lambda step: None) as show:
            practice.practise(self.folder, folder, settings, trial, self.task, show, command)
        return load_run(folder, self.task)

    @cached_property
    def practice(self) -> Account | None:
        """Account of the practice that the run came of; None if there was none."""
        return account.of(self.folder)

    def save(self, folder: str | Path) -> "Run":
        """Copy the run into a new folder; returns the run there."""
        folders.write_whole(Path(folder), lambda place: shutil.copytree(self.folder, place))
        return load_run(folder, self.task)

    @property
    def _parts(self) -> dict[str, dict[str, Any]]:
        """Figures of training and test contexts, if there are such and the run has finished."""
        finished = (self.folder / runs.RESULT).exists()
        return {name: self.result[name] for name in ("train", "test") if self.result[name]} if finished else {}

    def __repr__(self) -> str:
        figures = "not finished"
        for part in self._parts.values():  # Those of the test contexts, if there are any.
            figures = evaluation.in_words(part)
        return f"Run({self.task.name}, {self.setup.method}, seed {self.setup.seed}: {figures})"

    def _repr_html_(self) -> str:
        parts = self._parts
        kind = "success" if self.task.judged else "predicted"
        names = {f"{kind}_best": f"{kind}, best component", f"{kind}_mixture": f"{kind}, mixture"}
        head = "".join(f"<th>{name} ({len(part['contexts'])} contexts)</th>" for name, part in parts.items())
        rows = "".join(
            f"<tr><td>{label}</td>" + "".join(f"<td>{part[name]:.3f}</td>" for part in parts.values()) + "</tr>"
            for name, label in names.items()
        )
        return f"<p>{escape(repr(self))}</p><table><tr><th></th>{head}</tr>{rows}</table>"


def practised(folder: Path) -> Path:
    """Place of what comes of practice with the run in a folder, if no other is named."""
    folder = folder.resolve()
    return folder.with_name(f"{folder.name}-practised")


def load(path: str | Path, task: Task | str | None = None) -> Run | Skill:
    """The run in a folder, or the skill in a file. task: the task itself, or where it is, if it cannot be loaded."""
    return skill_files.load(Path(path), task) if Path(path).is_file() else load_run(path, task)


def load_run(folder: str | Path, task: Task | str | None = None) -> Run:
    """The run in a folder. task: the task itself, or where it is, if the run's own cannot be loaded."""
    return Run(Path(folder), *runs.load_policies(Path(folder), task))


def resume(folder: str | Path, task: Task | str | None = None, progress: bool = True) -> Run:
    """Continue a run that was stopped; a finished one is opened."""
    with progress_bar() if progress else nullcontext(lambda step: None) as show:
        runs.resume(Path(folder), show, task)
    return load_run(folder, task)


def train(
    task: Task | str,
    demonstrations: Demonstrations | str | Path | None = None,
    *,
    method: str = "vigor",
    preset: Preset = "default",
    train_contexts: int = 6,
    test_contexts: Any = 6,
    demos_per_context: int | None = None,
    descriptors: str | None = None,
    raw: bool = False,
    seed: int = 0,
    out: str | Path | None = None,
    progress: bool = True,
    settings: Any = None,
    reading: Reading | None = None,
    command: str = "",
    **changes: Any,
) -> Run:
    """Learn from demonstrations: a mixture of movements for every training and test context.

    task: a task, its name, path/to/scene.toml, or path/to/file.py:NAME; demonstrations: a set, the folder of one,
    recordings that `Demonstrations.from_files` reads, or the task's own; reading: how recordings are read;
    train_contexts, demos_per_context: how many are learned from; test_contexts: how many, or their values [n, C]; out:
    a new folder for the run, otherwise it is kept as long as the `Run` lives; progress: show it; settings: those of
    the method, instead of the preset's; command: the words that began the run, if any; changes: single settings by
    name, for instance iterations=50.
    """
    task = load_task(task)
    _check_own(task)
    given = demonstrations if isinstance(demonstrations, Demonstrations) else None
    place = None if demonstrations is None or given is not None else Path(str(demonstrations)).resolve()
    each = task.source.per_context if demos_per_context is None else demos_per_context
    if place is not None:
        say = print if progress else lambda sentence: None
        given = importers.load(task, place, reading, say)
        if not recognition.is_own(place) and (train_contexts, each) == (6, task.source.per_context):
            train_contexts, each = splits.suited(given, train_contexts, each, say)
    if given is not None:
        task = settled(task, given)
    settings = presets.preset(task, preset, method) if settings is None else settings
    setup = Setup(
        task=task.origin or task.name,
        demos=None if place is None else str(place),
        method=method,
        seed=seed,
        train_contexts=train_contexts,
        test_contexts=_test_contexts(test_contexts),
        demos_per_context=each,
        descriptors=presets.descriptors(task, preset) if descriptors is None else descriptors,
        raw=raw,
        settings=with_values(settings, **changes),
        command=command,
        date=datetime.now().astimezone().isoformat(timespec="seconds"),
    )
    folder = Path(tempfile.mkdtemp(prefix="vigor-") if out is None else out)
    try:
        with progress_bar() if progress else nullcontext(lambda step: None) as show:
            runs.train(setup, folder, show, task, given)
        run = load_run(folder, task)
    except BaseException:
        if out is None:
            shutil.rmtree(folder, ignore_errors=True)
        raise
    if out is None:
        weakref.finalize(run, shutil.rmtree, folder, ignore_errors=True)
    return run


def _check_own(task: Task) -> None:
    """Refuse a task of the user's own with mistakes, or with the name of another task."""
    if task.origin:  # It was checked when it was loaded.
        return
    if task.name not in TASKS:
        check(task)
    elif load_task(task.name) is not task:
        raise UserError(f"{task.name} comes with the package; give your task a name of its own")


def _test_contexts(given: Any) -> int | tuple[tuple[float, ...], ...]:
    """Number of test contexts, or their values [n][C]."""
    if isinstance(given, int | np.integer):
        return int(given)
    return tuple(tuple(row) for row in dataset.numbers(given, 2, "the test contexts").tolist())
