"""Plans: ranked movements for a context, and what they promise.

A solution is the mean of a mixture's component, a single movement. Whether it solves its context is predicted: by the
task's own measure on the planned movement, in simulation for a task that only a simulation can judge.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np

from vigor.basics.errors import UserError
from vigor.basics.version import __version__
from vigor.motion.promp import rollout
from vigor.motion.robots import Robot
from vigor.planning import approach, trajectories
from vigor.planning.constraints import Constraints
from vigor.planning.pacing import Pacing
from vigor.planning.trajectories import Trajectory
from vigor.planning.violations import Violation
from vigor.tasks.task import Task


@dataclass(frozen=True, eq=False)
class Situation:
    """A context of a task, and the constraints of its plans: what a movement is planned for."""

    task: Task
    context: tuple[float, ...]
    constraints: Constraints


@dataclass(frozen=True)
class Approach:
    """Distance of the end effector to a region's boundary, in metres; negative inside."""

    closest: float
    end: float


@dataclass(frozen=True, eq=False, repr=False)
class Solution:
    """A movement for a context."""

    movement: tuple[float, ...]
    """[D]: ProMP weights."""
    component: int
    """Component of the mixture that it is the mean or a sample of."""
    weight: float
    """Weight of this component in the mixture."""
    reward: float | None
    """Reward that the last networks expect over the component, with costs of constraints; None for a sample."""
    predicted: float
    """Probability that the component solves the context, by what demonstrations have in common; a sample's own."""
    success: float | None
    """Share of the component's samples that solve the context; None for a sample, or if nothing can judge it here."""
    distance: float | None
    """Mean distance of the component's samples from solving the context; a sample's own."""
    solves: bool | None
    """Whether the movement itself solves the context; None if nothing can judge it here."""
    group: int
    """Number of its kind: solutions of the same number are alike; counted from 1 by rank."""
    targets: dict[str, Approach]
    """Approach to each of the task's regions, by label."""
    margins: dict[str, float]
    """Smallest distance to a violation by constraint, negative if there is one: radians for `position`, a part of the
    largest speed for `velocity`, metres for a keep-out."""
    violated: Violation | None
    """The violated constraint."""
    situation: Situation | None = field(default=None)
    """Context and constraints that it is planned for; not in files."""

    @property
    def holds(self) -> bool:
        """It violates nothing, and nothing says that it does not solve the context."""
        return self.violated is None and self.solves is not False

    @property
    def failure(self) -> str | None:
        """Why it does not hold, in words; None if it does."""
        if self.holds:
            return None
        missed = "it does not solve the context" if self.solves is False else None
        broken = f"it violates {self.violated}" if self.violated is not None else None
        return ", and ".join(said for said in (broken, missed) if said)

    def trajectory(
        self,
        rate: float = 100.0,
        seconds: float | None = None,
        start_pose: Sequence[float] | None = None,
        robot: Robot | None = None,
        pacing: Pacing = "uniform",
    ) -> Trajectory:
        """Joints, velocities and accelerations `rate` times a second, slowed down as far as the robot's limits need.

        seconds: duration unless a limit needs more; start_pose: [joint], where the robot is now, from where it is led
        to the movement's start; robot: another one than the plan's; pacing: "optimal" slows down only where a limit is
        hit. What violates a limit other than speed is refused.
        """
        where = self._situation()
        planned = where.constraints
        limits = replace(
            planned,
            robot=planned.robot if robot is None else robot,
            seconds=planned.seconds if seconds is None else seconds,
        )
        made = trajectories.trajectory(where.task, self.movement, limits, rate, pacing)
        return made if start_pose is None else approach.led(where.task, made, limits, np.asarray(start_pose, float))

    def joints(self, steps: int | None = None) -> np.ndarray:
        """Movement [T, dimensions] as the ProMP makes it, at its own steps unless told otherwise."""
        return np.asarray(rollout(self._situation().task.promp, jnp.asarray(self.movement, jnp.float32), steps))

    def plot(self) -> Any:
        """A matplotlib figure of the movement in its context."""
        from vigor.planning import pictures

        where = self._situation()
        alone = Plan(where.context, 0.0, None, (replace(self, group=1),))
        return pictures.figure(Plans(where.task.name, where.constraints, (alone,), loaded=where.task))

    def _situation(self) -> Situation:
        if self.situation is None:
            raise UserError("this solution knows no task; take it from plans that were made or loaded")
        return self.situation

    def __repr__(self) -> str:
        success = f", predicted {self.predicted:.2f}" if self.success is None else f", success {self.success:.2f}"
        return f"Solution(component {self.component + 1}{success}, {self.failure or 'holds'})"


@dataclass(frozen=True, eq=False, repr=False)
class Plan:
    """Ranked solutions for one context."""

    context: tuple[float, ...]
    outside: float
    """Distance of the context beyond the training contexts, see `vigor.planning.ranking.beyond`."""
    warning: str | None
    """Warning in words if it is far out, or if every movement begins in a keep-out."""
    solutions: tuple[Solution, ...]
    """One for each component, the best first."""
    samples: tuple[Solution, ...] = ()
    """Further movements, drawn from the mixture."""

    @property
    def best(self) -> Solution:
        """The first solution, which holds if any does."""
        return self.solutions[0]

    @property
    def failure(self) -> str | None:
        """Why no solution holds, in words; None if one does."""
        return None if self.best.holds else f"no solution holds; of the best, {self.best.failure}"

    def __len__(self) -> int:
        return len(self.solutions)

    def __getitem__(self, rank: int) -> Solution:
        return self.solutions[rank]

    def __repr__(self) -> str:
        good = sum(solution.holds for solution in self.solutions)
        context = ", ".join(f"{value:.3g}" for value in self.context)
        return f"Plan(context ({context}), {good} of {len(self.solutions)} solutions hold)"


@dataclass(frozen=True, eq=False, repr=False)
class Plans:
    """Plans for some contexts of a task."""

    task: str
    """Reference of the task: a name, or path/to/file.py:NAME."""
    constraints: Constraints
    plans: tuple[Plan, ...]
    run: str = ""
    """Folder of the run that they come from."""
    task_digest: str = ""
    """SHA-256 of the task's file, if it is a user's own."""
    program: str = __version__
    """Version of the program that made them."""
    loaded: Task | None = field(default=None)
    """The task itself; not in files."""

    def __len__(self) -> int:
        return len(self.plans)

    def __getitem__(self, number: int) -> Plan:
        return self.plans[number]

    def __iter__(self) -> Iterator[Plan]:
        return iter(self.plans)

    def __repr__(self) -> str:
        good = sum(plan.failure is None for plan in self.plans)
        return f"Plans({self.task}, {len(self)} contexts, {good} with a solution that holds)"

    def _repr_html_(self) -> str:
        from vigor.planning import display

        return display.html(self)

    def plot(self) -> Any:
        """A matplotlib figure of all solutions by context."""
        from vigor.planning import pictures

        return pictures.figure(self)

    def load_task(self) -> Task:
        """The task itself."""
        if self.loaded is None:
            raise UserError("these plans know no task; load them with `Plans.load`")
        return self.loaded

    def save(self, path: str | Path, new: bool = False) -> None:
        """Write a JSON file. new: raise FileExistsError if there is such a file already."""
        from vigor.planning import plan_files

        plan_files.save(self, Path(path), new)

    @staticmethod
    def load(path: str | Path, task: Task | str | None = None) -> "Plans":
        """Plans of a file that `save` wrote, with their task, which is loaded unless it is given."""
        from vigor.planning import plan_files

        return plan_files.load(Path(path), task)


def of_situation(plan: Plan, task: Task, constraints: Constraints) -> Plan:
    """A plan whose solutions know what they are for."""
    where = Situation(task, plan.context, constraints)
    known = [tuple(replace(item, situation=where) for item in part) for part in (plan.solutions, plan.samples)]
    return replace(plan, solutions=known[0], samples=known[1])
