"""`vigor report`."""

from dataclasses import dataclass
from typing import Annotated, Literal

from tyro.conf import Positional, arg

from vigor.basics.device import use_device
from vigor.cli.arguments import RunFolder, TaskOfRun


@dataclass(frozen=True)
class Report:
    """Draw the figures of a run or a benchmark and write its report.html again."""

    run: Positional[RunFolder]
    """Folder of the run or the benchmark."""
    figures: Annotated[tuple[Literal["pdf", "svg"], ...], arg(metavar="FORMAT ...", help_behavior_hint="")] = ()
    """Formats that the figures of a run are drawn in beside PNG: pdf or svg, for print."""
    task: TaskOfRun = None
    """Task of the run, path/to/file.py:NAME, if its own file cannot be found or was never run here."""

    def __call__(self, words: list[str]) -> int:
        from vigor.experiments import page
        from vigor.experiments.store import is_benchmark
        from vigor.practice import account
        from vigor.reports.run import draw

        if is_benchmark(self.run):
            print(page.write_report(self.run))
            return 0
        use_device("auto")
        print(draw(self.run, self.task, self.figures, account.of(self.run)))
        return 0
