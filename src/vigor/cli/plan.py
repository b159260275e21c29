"""`vigor plan`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from tyro.conf import Positional, arg

from vigor.basics.device import Device, use_device
from vigor.basics.errors import UserError
from vigor.cli.arguments import MaybeFile, MaybeInt, MaybeNumber, Numbers, RunOrSkill, TaskOfRun, read_contexts

Demonstration = Annotated[int | None, arg(metavar="DEMONSTRATION", help_behavior_hint="")]
NOTHING_HOLDS = 3
"""Exit code where no context has a solution that holds."""


@dataclass(frozen=True)
class Plan:
    """Plan movements for contexts that a run never saw, without training; writes them, and a figure of them."""

    run: Positional[RunOrSkill]
    """Folder of a finished run, or a skill that `vigor pack` wrote."""
    context: Numbers = ()
    """A context, number by number."""
    contexts_file: MaybeFile = None
    """Contexts [n, C] in a .csv or .npy file, instead."""
    keep_out: Annotated[tuple[str, ...], arg(metavar="SHAPE ...", help_behavior_hint="")] = ()
    """Shapes that no link of the arm may enter: sphere:X,Y,Z,RADIUS or box:X,Y,Z,X,Y,Z (lower, then upper corner), in
    the plane without Z."""
    via: Annotated[tuple[str, ...], arg(metavar="PLACE ...", help_behavior_hint="")] = ()
    """Places that the tool must pass: X,Y,Z,RADIUS at any time, X,Y,Z,RADIUS@50% at half the time, in the plane without
    Z."""
    pointing: Annotated[tuple[str, ...], arg(metavar="DIRECTION ...", help_behavior_hint="")] = ()
    """Directions that the tool's z axis must point in: X,Y,Z,DEGREES at the end, X,Y,Z,DEGREES@50% at half the time."""
    hold: float = 0.0
    """Seconds at the end in which nothing moves."""
    start: Numbers = ()
    """Joints of the robot now: movements begin there instead of where they were demonstrated."""
    seconds: MaybeNumber = None
    """Duration of a movement, for the robot's velocity limits, with --hold. Default: what the task says."""
    ways: MaybeInt = None
    """So many ways that differ most, of those that hold. Default: all."""
    like: Demonstration = None
    """Number of a demonstration in the run's set: solutions that are most like it come first."""
    unlike: Demonstration = None
    """The same: those that are least like it come first."""
    samples: int = 0
    """Further movements that are drawn for each context."""
    mix: Literal["learned", "evenly", "surest"] = "learned"
    """Shares of samples by way: as was learned (as often as it was demonstrated, less often where it is predicted
    to fail), all that are predicted to succeed evenly, or none but the surest."""
    every: int = 1
    """Use every n-th of the run's ensembles: 2 takes half the time."""
    seed: int = 0
    """Seed of the mixtures that planning begins with, and of the samples."""
    device: Device = "auto"
    """Device to compute on; auto takes a GPU if there is one."""
    out: MaybeFile = None
    """New .json file for the plan; its figure lies beside it. Default: plans/NUMBER.json in the run's folder, or in
    one that is called as the skill."""
    task: TaskOfRun = None
    """Task of the run, path/to/file.py:NAME, if its own file cannot be found or was never run here."""

    def __call__(self, words: list[str]) -> int:
        from vigor import api
        from vigor.motion.shapes import parse
        from vigor.planning import demands, display, planner

        self._check()
        use_device(self.device)
        shapes = [parse(text) for text in self.keep_out]
        more: dict[str, Any] = {
            "via": [demands.parse_via(text) for text in self.via],
            "pointing": [demands.parse_pointing(text) for text in self.pointing],
            "hold": self.hold,
            "start": self.start or None,
            "ways": self.ways,
            "like": self.like,
            "unlike": self.unlike,
            "mix": self.mix,
        }
        run = api.load(self.run, self.task)
        contexts: Any = self.context
        if self.contexts_file is not None:
            contexts = read_contexts(self.contexts_file, run.task.context_dimension)
        plans = run.plan(contexts, shapes, self.seconds, self.samples, self.every, self.seed, **more)
        if self.out is None:
            path = planner.keep(plans, self.run if self.run.is_dir() else self.run.with_suffix(""))
        else:
            path = self.out
            plans.save(path, new=True)
        display.print_table(plans)
        print(path, flush=True)
        from vigor.reports import figures  # Drawn last: whoever waits has the plan already.

        figures.save(plans.plot(), path.with_suffix(".png"))
        print(path.with_suffix(".png"))
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
