"""`vigor practise`."""

import shlex
import sys
from dataclasses import dataclass

from tyro.conf import Positional

from vigor.basics.device import Device, use_device
from vigor.cli.arguments import MaybeFolder, RunFolder, TaskOfRun


@dataclass(frozen=True)
class Practise:
    """Try plans for new contexts where the task says how movements went, and learn again from what succeeds.

    The run itself stays as it is. The same command goes on where it was stopped.
    """

    run: Positional[RunFolder]
    """Folder of the run."""
    contexts: int = 60
    """Contexts to practise in, in all rounds together."""
    rounds: int = 3
    """Rounds at most; practice ends when plans for new contexts succeed."""
    samples: int = 3
    """Movements of every way that are tried in a context: its middle, and others around it."""
    seed: int = 0
    """Seed of contexts, samples and searches."""
    device: Device = "auto"
    """Device to compute on; auto takes a GPU if there is one."""
    out: MaybeFolder = None
    """New folder for the run that comes of it. Default: RUN-practised."""
    task: TaskOfRun = None
    """Task of the run, path/to/file.py:NAME, if its own file cannot be found or was never run here."""

    def __call__(self, words: list[str]) -> int:
        from vigor import api
        from vigor.reports.terminal import results_table
        from vigor.runs import run

        use_device(self.device)
        opened = api.load_run(self.run, self.task)
        try:
            better = opened.practise(
                self.contexts,
                self.rounds,
                samples=self.samples,
                seed=self.seed,
                out=self.out,
                command=shlex.join(["vigor", *words]),
            )
        except (run.Interrupted, KeyboardInterrupt):
            print("vigor: practice was stopped; the same command goes on with it", file=sys.stderr)
            return 130
        print(better.practice)
        results_table(better.result)
        print(f"The run that came of it: {better.folder}")
        print(f"Report, to be opened in a browser: {better.report()}")
        return 0
