"""`vigor show`."""

from dataclasses import dataclass

import numpy as np
from tyro.conf import Positional

from vigor.basics.device import use_device
from vigor.basics.errors import UserError
from vigor.cli.arguments import MaybeFile, PlanFile, TaskOfRun, chosen, read_plans


@dataclass(frozen=True)
class Show:
    """Draw the movements of a plan, or film one."""

    plan: Positional[PlanFile]
    """A file that `vigor plan` wrote, or the folder of a run for its own contexts."""
    context: int = 1
    """Number of the plan's context that a film shows, counted from 1."""
    solution: int = 1
    """Rank of its solution."""
    out: MaybeFile = None
    """A .png file for a figure of all contexts, or .mp4 for a film (for tasks that have one). Default: a .png beside
    the plan."""
    task: TaskOfRun = None
    """Task of the plan, path/to/file.py:NAME, if its own file cannot be found or was never run here."""

    def __call__(self, words: list[str]) -> int:
        from vigor.reports import figures

        use_device("cpu")
        stem = self.plan / "plan" if self.plan.is_dir() else self.plan
        path = self.out or stem.with_suffix(".png")
        if path.suffix not in (".png", ".mp4") or path.is_dir():
            raise UserError(f"--out must be a .png or .mp4 file, not {path}")
        plans = read_plans(self.plan, self.task)
        plan, solution = chosen(plans, self.context, self.solution)
        if path.suffix == ".png":
            figures.save(plans.plot(), path)
        else:
            task = plans.load_task()
            if task.display.film is None:
                raise UserError(f"{task.name} has no films; draw a figure with --out F.png")
            task.display.film(path, solution.joints(), np.array(plan.context), plans.constraints.keep_out)
        print(path)
        return 0
