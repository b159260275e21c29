"""`vigor show`."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from tyro.conf import Positional

from vigor.basics.device import use_device
from vigor.basics.errors import UserError
from vigor.basics.install import missing
from vigor.cli.arguments import MaybeFile, PlanFile, TaskOfRun, chosen, load_demonstrations, read_plans

if TYPE_CHECKING:
    from vigor.planning.plans import Plans


@dataclass(frozen=True)
class Show:
    """Draw the movements of a plan, film one, or write all for the viewer Rerun."""

    plan: Positional[PlanFile]
    """A file that `vigor plan` wrote, or the folder of a run for its own contexts; for --rerun also a folder with
    demonstrations."""
    context: int = 1
    """Number of the plan's context that a film shows, counted from 1."""
    solution: int = 1
    """Rank of its solution."""
    out: MaybeFile = None
    """A .png file for a figure of all contexts, .html for a page to turn and play, or .mp4 or .gif for a film (where a
    task has one). Default: a .png beside the plan."""
    rerun: MaybeFile = None
    """A new .rrd file for the viewer Rerun: arm, paths and joints of all movements on a time line."""
    task: TaskOfRun = None
    """Task of the plan, path/to/file.py:NAME, if its own file cannot be found or was never run here."""

    def __call__(self, words: list[str]) -> int:
        from vigor.reports import figures

        use_device("cpu")
        if self.rerun is not None:
            return self._write_rerun(self.rerun)
        stem = self.plan / "plan" if self.plan.is_dir() else self.plan
        path = self.out or stem.with_suffix(".png")
        if path.suffix not in (".png", ".html", ".mp4", ".gif") or path.is_dir():
            raise UserError(f"--out must be a .png, .html, .mp4 or .gif file, not {path}")
        plans = read_plans(self.plan, self.task)
        plan, solution = chosen(plans, self.context, self.solution)
        if path.suffix == ".png":
            figures.save(plans.plot(), path)
        elif path.suffix == ".html":
            _write_page(path, plans, self.context)
        else:
            task = plans.load_task()
            if task.display.film is None:
                raise UserError(f"{task.name} has no films; draw a figure with --out F.png")
            task.display.film(path, solution.joints(), np.array(plan.context), plans.constraints.keep_out)
        print(path)
        return 0

    def _write_rerun(self, path: Path) -> int:
        """Write what is to be shown for the viewer."""
        from vigor.demonstrations import dataset
        from vigor.planning import pictures
        from vigor.reports import viewer
        from vigor.runs import run

        if path.exists():
            raise UserError(f"{path} exists already; choose another place")
        if (self.plan / dataset.HEADER).exists():
            task, shown = load_demonstrations(self.plan, self.task)
            viewer.write(path, task, viewer.of_demonstrations(task, shown), task.arm.seconds)
        else:
            plans = read_plans(self.plan, self.task)
            task, folder = plans.load_task(), self.plan / run.DEMONSTRATIONS
            shown = dataset.load(folder, task) if folder.is_dir() else None
            viewer.write(path, task, pictures.scenes(plans, shown), plans.constraints.seconds)
        print(path)
        return 0


def _write_page(path: Path, plans: "Plans", context: int) -> None:
    """Write a context of a plan as a page to turn and play."""
    from vigor.planning import pictures

    try:
        from vigor.studio import turntable
    except ImportError:
        raise missing("pages to turn are made by viser", "studio") from None
    turntable.write(path, plans.load_task(), pictures.scenes(plans)[context - 1])
