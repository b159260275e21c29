"""`vigor suggest`."""

from dataclasses import dataclass

from tyro.conf import Positional

from vigor.basics.device import use_device
from vigor.cli.arguments import RunOrSkill, TaskOfRun


@dataclass(frozen=True)
class Suggest:
    """Say in which contexts a demonstration would help a run or a skill most."""

    run: Positional[RunOrSkill]
    """Folder of the run, or a skill that `vigor pack` wrote."""
    contexts: int = 3
    """Contexts to suggest."""
    seed: int = 0
    """Seed of the contexts that are compared."""
    task: TaskOfRun = None
    """Task of the run, path/to/file.py:NAME, if its own file cannot be found or was never run here."""

    def __call__(self, words: list[str]) -> int:
        from vigor import api

        use_device("auto")
        opened = api.load(self.run, self.task)
        for item in opened.suggest(self.contexts, self.seed):
            values = zip(opened.task.context_names, item.context, strict=True)
            print(", ".join(f"{name} {value:.3g}" for name, value in values))
            print(f"    {item.reason}")
        return 0
