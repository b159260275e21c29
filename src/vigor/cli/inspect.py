"""`vigor inspect`."""

from dataclasses import dataclass

from tyro.conf import Positional

from vigor.basics.device import use_device
from vigor.cli.arguments import SkillFile


@dataclass(frozen=True)
class Inspect:
    """Say what a skill is, where it works, what it needs and where it is from; nothing is run."""

    skill: Positional[SkillFile]
    """File that `vigor pack` wrote."""

    def __call__(self, words: list[str]) -> int:
        from vigor.planning import inspection, skill_files

        use_device("cpu")
        for line in inspection.in_words(skill_files.load(self.skill)):
            print(line)
        return 0
