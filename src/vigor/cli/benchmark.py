"""`vigor benchmark`."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, get_args

from tyro.conf import Positional, arg

from vigor.basics.device import Device
from vigor.basics.errors import UserError
from vigor.cli.arguments import MaybeFolder, MaybeInt

_DATA = arg(metavar="{published,recorded} PATH", help_behavior_hint="")


@dataclass(frozen=True)
class Benchmark:
    """Repeat the paper's experiments with ours beside its figures. Start it again to go on where it stopped."""

    suite: Positional[Literal["paper", "ablations", "contexts", "additions"]]
    """All methods on all tasks; the ablations of appendix D; the box pusher over the number of training contexts; or
    what VIGOR's defaults add to the paper, each removed from the defaults and each alone with the paper's settings."""
    preset: Literal["default", "paper", "both"] = "default"
    """Settings of the methods: the project's, the paper's (appendix E), or both side by side; additions have both."""
    tasks: Annotated[tuple[str, ...], arg(metavar="TASK ...", help_behavior_hint="")] = ()
    """Only these tasks."""
    methods: Annotated[tuple[str, ...], arg(metavar="METHOD ...", help_behavior_hint="")] = ()
    """Only these methods."""
    seeds: int = 10
    """Seeds of each configuration."""
    first_seed: int = 0
    """First of them."""
    quick: bool = False
    """One task, two seeds and shortened runs: to see in a few minutes that everything works."""
    data: Annotated[tuple[Literal["published", "recorded"], Path] | None, _DATA] = None
    """Learn from the human demonstrations in a clone of github.com/NiklasFreymuth/VIGOR, where a task has any, or from
    recordings of your own task or scene. Default: demonstrations that come with the task, or that it generates."""
    backend: Literal["local", "dask"] = "local"
    """Processes of this machine, or the workers of a Dask cluster."""
    scheduler: Annotated[str | None, arg(metavar="ADDRESS", help_behavior_hint="")] = None
    """Address of the Dask scheduler, for instance tcp://127.0.0.1:8786."""
    workers: MaybeInt = None
    """Processes of this machine. Default: one a core; a GPU trains all seeds of a configuration in one."""
    device: Device = "auto"
    """Device to compute on; auto takes a GPU if there is one."""
    out: MaybeFolder = None
    """Folder of the benchmark, new or begun. Default: runs/benchmark, with -quick and -published where they apply."""

    def __call__(self, words: list[str]) -> int:
        from vigor.experiments import page, runner, suites, workers
        from vigor.experiments.cell import measure
        from vigor.experiments.data import Data
        from vigor.experiments.store import Store
        from vigor.experiments.terminal import benchmark_table, cells_bar
        from vigor.runs.presets import Preset
        from vigor.tasks import TASKS, absolute

        if (self.backend == "dask") != (self.scheduler is not None):
            raise UserError("--backend dask and --scheduler ADDRESS belong together; give both or neither")
        if self.workers is not None and not 1 <= self.workers <= 1000:
            raise UserError(f"--workers must be from 1 to 1000, not {self.workers}")
        presets = get_args(Preset) if self.preset == "both" else (self.preset,)
        choice = suites.Choice(
            tuple(map(absolute, self.tasks)), self.methods, self.seeds, self.first_seed, presets, self.quick
        )
        kind, place = self.data or ("", Path())
        if kind == "recorded" and (len(self.tasks) != 1 or self.tasks[0] in TASKS):
            raise UserError("recordings are those of one task of your own; name it with --tasks")
        name = f"benchmark{'-quick' if self.quick else ''}{f'-{kind}' if kind else ''}"
        folder = self.out if self.out is not None else Path("runs") / name
        store, data = Store(folder), Data(folder, **({kind: place.resolve()} if kind else {}))
        with cells_bar() as show:
            # Settings that do not fit together show here, before there is a folder.
            cells = suites.SUITES[self.suite](choice, data)
            store.begin()
            data.save()
            runner.run(cells, store, workers.Place(self.scheduler, self.workers, self.device), measure, show)
        benchmark_table(store.rows())
        print(f"Report: {page.write_report(folder)}")
        if failed := store.failures():
            print(f"vigor: {len(failed)} cells failed, see the report; start again to run them again", file=sys.stderr)
        return 1 if failed else 0
