"""`vigor train`."""

import shlex
import sys
from dataclasses import dataclass, field, make_dataclass
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal

from tyro.conf import Positional, arg

from vigor.basics.device import Device, use_device
from vigor.basics.errors import UserError
from vigor.cli.arguments import (
    MaybeFile,
    MaybeFolder,
    MaybeInt,
    MaybeName,
    ReadingOptions,
    TaskName,
    TaskOfRun,
    read_contexts,
    reading_of,
)


@dataclass(frozen=True)
class Train:
    """Learn from demonstrations: a mixture of movements for every training and test context."""

    task: Positional[TaskName] = ""
    """planar-reacher, panda-reacher, box-pusher, or for a task of your own path/to/scene.toml or
    path/to/file.py:NAME."""
    method: Literal["vigor", "em-drex", "bc-t", "bc-gmm-t", "bc-s", "bc-gmm-s", "gail", "copied", "carried"] = "vigor"
    """VIGOR, or a method that the paper compares with. Each has settings of its own: see --method bc-t --help."""
    demos: MaybeFolder = None
    """Folder with demonstrations (see `vigor demos`), or recordings in any format that `vigor demos import` reads.
    Without it, the task's own: shipped with it, or generated."""
    reading: ReadingOptions = ReadingOptions()
    preset: Literal["default", "paper"] = "default"
    """Settings to start from; `paper` are those of the paper's appendix E."""
    train_contexts: int = 6
    """Training contexts, drawn from those with demonstrations."""
    test_contexts: int = 6
    """Test contexts, drawn from all other contexts."""
    test_contexts_file: MaybeFile = None
    """Test contexts [n, C] in a .csv or .npy file, instead of drawn ones."""
    demos_per_context: MaybeInt = None
    """Demonstrations of each training context that are learned from; by default as many as the task says."""
    descriptors: MaybeName = None
    """Descriptor set, by default the preset's: `geometric` is a task's own, the reachers also have `angles` and
    `jointwise`, the box pusher `paper`."""
    raw: bool = False
    """Learn from the recordings themselves, subsampled, instead of the ProMPs fitted to them."""
    seed: int = 0
    """Seed of the split and of everything random in training."""
    device: Device = "auto"
    """Device to compute on; auto takes a GPU if there is one."""
    out: MaybeFolder = None
    """New folder for the run. Default: runs/TASK-NUMBER."""
    resume: MaybeFolder = None
    """Continue the run in this folder, with its own settings."""
    task_of_run: Annotated[TaskOfRun, arg(name="task")] = None
    """Task of a run that is continued, path/to/file.py:NAME, if its own file cannot be found or was never run here."""
    settings: Any = None
    """Settings of the method, see `for_method`."""

    def __call__(self, words: list[str]) -> int:
        from vigor.runs import run

        use_device(self.device)
        folder = self._folder()
        try:
            finished = self._resume() if self.resume is not None else self._train(folder, words)
        except (run.Interrupted, KeyboardInterrupt) as stop:
            begun = (folder / run.CONFIG).exists()
            hint = f"; continue with: vigor train --resume {folder}" if begun else " before it began"
            print(f"vigor: {str(stop) or 'stopped'}{hint}", file=sys.stderr)
            return 130
        from vigor.reports.terminal import results_table

        results_table(finished.result)
        print(f"Report: {finished.report()}\nOpen it with: vigor open {folder}")
        return 0

    def _folder(self) -> Path:
        """Folder of the run."""
        if self.resume is not None:
            return self.resume
        if self.task_of_run is not None:
            raise UserError("--task belongs to --resume; name the task of a new run without it")
        if not self.task:
            raise UserError(
                "name a task: planar-reacher, panda-reacher, box-pusher, path/to/scene.toml, or path/to/file.py:NAME"
            )
        if self.out is not None:
            return self.out
        stem = Path(self.task.partition(":")[0]).stem + ("" if self.method == "vigor" else f"-{self.method}")
        number = 1
        while (folder := Path("runs") / f"{stem}-{number}").exists():
            number += 1
        return folder

    def _resume(self) -> Any:
        from vigor import api

        if self != type(self)(resume=self.resume, task_of_run=self.task_of_run, device=self.device):
            raise UserError("--resume continues a run with its own settings; give no others beside it")
        assert self.resume is not None
        return api.resume(self.resume, self.task_of_run)

    def _train(self, folder: Path, words: list[str]) -> Any:
        from vigor import api
        from vigor.tasks import load_task

        task, test = load_task(self.task), self.test_contexts
        contexts = (
            test if self.test_contexts_file is None else read_contexts(self.test_contexts_file, task.context_dimension)
        )
        return api.train(
            task,
            self.demos,
            method=self.method,
            preset=self.preset,
            train_contexts=self.train_contexts,
            test_contexts=contexts,
            demos_per_context=self.demos_per_context,
            descriptors=self.descriptors,
            raw=self.raw,
            seed=self.seed,
            out=folder,
            settings=self.settings,
            reading=reading_of(self.reading),
            command=shlex.join(["vigor", *words]),
        )


def for_method(words: list[str]) -> type[Train]:
    """`Train` with the settings of the method that the words name, so that its options are theirs."""
    from vigor.runs.methods import METHODS, method

    name = "vigor"
    for word, following in pairwise([*words, ""]):
        name = following if word == "--method" else word.partition("=")[2] if word.startswith("--method=") else name
    settings = method(name if name in METHODS else "vigor").settings
    part = ("settings", settings, field(default_factory=settings))
    return make_dataclass("Train", [part], bases=(Train,), frozen=True, namespace={"__doc__": Train.__doc__})
