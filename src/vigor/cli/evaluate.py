"""`vigor evaluate`."""

import sys
from dataclasses import dataclass

from tyro.conf import Positional

from vigor.basics.device import use_device
from vigor.basics.errors import UserError
from vigor.cli.arguments import MaybeInt, RunFolder, TaskOfRun


@dataclass(frozen=True)
class Evaluate:
    """Draw fresh samples of a run's policies and judge them."""

    run: Positional[RunFolder]
    """Folder of the run."""
    samples: MaybeInt = None
    """Samples per component. Default: as many as the task says, 100 for the reachers and 5 for the box pusher."""
    seed: int = 0
    """Seed of the samples."""
    task: TaskOfRun = None
    """Task of the run, path/to/file.py:NAME, if its own file cannot be found or was never run here."""

    def __call__(self, words: list[str]) -> int:
        from vigor import api
        from vigor.reports.terminal import results_table
        from vigor.runs import run

        fits = self.samples is None or 1 <= self.samples <= 10**5
        if not fits or not 0 <= self.seed < 2**32:
            raise UserError("--samples must be from 1 to 100,000 and --seed from 0 to 2**32 - 1")
        use_device("auto")
        opened = api.load_run(self.run, self.task)
        if not (self.run / run.RESULT).exists():
            print(f"vigor: the run in {self.run} has not finished; this is what it has learned so far", file=sys.stderr)
        judged = opened.evaluate(self.samples, self.seed)
        found = {"task": opened.task.name, "method": opened.setup.method}
        results_table(found | {"train": judged.train, "test": judged.test})
        return 0
