"""`vigor plan`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from tyro.conf import Positional, arg

from vigor.basics.device import Device, use_device
from vigor.basics.errors import UserError
from vigor.cli.arguments import MaybeFile, MaybeNumber, Numbers, RunFolder, TaskOfRun, read_contexts

NOTHING_HOLDS = 3
"""Exit code where no context has a solution that holds."""


@dataclass(frozen=True)
class Plan:
    """Plan movements for contexts that a run never saw, without training; writes them, and a figure of them."""

    run: Positional[RunFolder]
    """Folder of a finished run."""
    context: Numbers = ()
    """A context, number by number."""
    contexts_file: MaybeFile = None
    """Contexts [n, C] in a .csv or .npy file, instead."""
    keep_out: Annotated[tuple[str, ...], arg(metavar="SHAPE ...")] = ()
    """Shapes that no link of the arm may enter: sphere:X,Y,Z,RADIUS or box:X,Y,Z,X,Y,Z (lower, then upper corner), in
    the plane without Z."""
    seconds: MaybeNumber = None
    """Duration of a movement, for the robot's velocity limits. Default: what the task says."""
    samples: int = 0
    """Further movements that are drawn for each context."""
    every: int = 1
    """Use every n-th of the run's ensembles: 2 takes half the time."""
    seed: int = 0
    """Seed of the mixtures that planning begins with, and of the samples."""
    device: Device = "auto"
    """Device to compute on; auto takes a GPU if there is one."""
    out: MaybeFile = None
    """New .json file for the plan; its figure lies beside it. Default: RUN/plans/NUMBER.json."""
    task: TaskOfRun = None
    """Task of the run, path/to/file.py:NAME, if its own file cannot be found or was never run here."""

    def __call__(self, words: list[str]) -> int:
        from vigor import api
        from vigor.motion.shapes import parse
        from vigor.planning import display, planner
        from vigor.reports import figures

        self._check()
        use_device(self.device)
        shapes = [parse(text) for text in self.keep_out]
        run = api.load(self.run, self.task)
        contexts: Any = self.context
        if self.contexts_file is not None:
            contexts = read_contexts(self.contexts_file, run.task.context_dimension)
        plans = run.plan(contexts, shapes, self.seconds, self.samples, self.every, self.seed)
        if self.out is None:
            path = planner.keep(plans, self.run)
        else:
            path = self.out
            plans.save(path, new=True)
        figures.save(plans.plot(), path.with_suffix(".png"))
        display.print_table(plans)
        print(path, path.with_suffix(".png"), sep="\n")
        return NOTHING_HOLDS if all(plan.failure is not None for plan in plans) else 0

    def _check(self) -> None:
        if bool(self.context) == (self.contexts_file is not None):
            raise UserError("say what to plan for: either --context NUMBER ... or --contexts-file FILE")
        if not 0 <= self.samples <= 10**4 or not 0 <= self.seed < 2**32:
            raise UserError("--samples must be from 0 to 10,000 and --seed from 0 to 2**32 - 1")
        if self.out is not None and (self.out.suffix != ".json" or self.out.is_dir()):
            raise UserError(f"--out must be a .json file, not {self.out}")
        for path in _outputs(self.out):
            if path.exists():
                raise UserError(f"{path} exists already; choose another --out")


def _outputs(out: Path | None) -> tuple[Path, ...]:
    """Files that a plan is written to."""
    return () if out is None else (out, out.with_suffix(".png"))
