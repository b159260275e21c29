"""`vigor pack`."""

from dataclasses import dataclass
from typing import Annotated

from tyro.conf import Positional, arg

from vigor.basics.device import use_device
from vigor.cli.arguments import MaybeInt, RunFolder, SkillFile, TaskOfRun


@dataclass(frozen=True)
class Pack:
    """Put everything that planning needs of a run into one file, without its demonstrations: a skill."""

    run: Positional[RunFolder]
    """Folder of a finished run."""
    out: SkillFile
    """New .vigor file."""
    licence: Annotated[str, arg(metavar="TEXT", help_behavior_hint="")] = ""
    """Licence of the demonstrations, for instance CC-BY-4.0; whoever opens the skill is told."""
    every: MaybeInt = None
    """Keep every n-th of the run's ensembles: the file is smaller and plans are faster, but succeed less. Default: all,
    if 8 MB hold a network of each."""
    task: TaskOfRun = None
    """Task of the run, path/to/file.py:NAME, if its own file cannot be found or was never run here."""

    def __call__(self, words: list[str]) -> int:
        from vigor.planning import inspection, skill_files

        use_device("cpu")
        packed = skill_files.pack(self.run, self.out, self.task, self.licence, self.every)
        for line in inspection.in_words(packed):
            print(line)
        return 0
