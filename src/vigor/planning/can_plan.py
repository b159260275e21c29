"""Everything that can plan: a run in its folder, or a skill in its file."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from vigor.basics.errors import UserError
from vigor.motion.shapes import Box, Sphere
from vigor.planning import constraints, suggestions
from vigor.planning.choice import Choice, Mix, Model
from vigor.planning.demands import Pointing, Via
from vigor.planning.planner import Planner
from vigor.planning.plans import Plans
from vigor.planning.suggestions import Suggestion
from vigor.tasks.task import Task


class CanPlan(ABC):
    """Plans for new contexts, of whatever has a planner."""

    task: Task

    @abstractmethod
    def _load_planner(self, every: int) -> Planner:
        """A planner that replays every n-th of the ensembles."""

    @abstractmethod
    def _model(self, number: int) -> Model:
        """Demonstration of this number, from 1, or a sentence if there is none."""

    def planner(self, every: int = 1) -> Planner:
        """A planner for new contexts; every: use every n-th of the ensembles."""
        if every not in self._planners:
            self._planners[every] = self._load_planner(every)
        return self._planners[every]

    @cached_property
    def _planners(self) -> dict[int, Planner]:
        return {}

    def plan(
        self,
        contexts: Any,
        avoid: Sequence[Sphere | Box] = (),
        seconds: float | None = None,
        samples: int = 0,
        every: int = 1,
        seed: int = 0,
        *,
        via: Sequence[Via] = (),
        pointing: Sequence[Pointing] = (),
        hold: float = 0.0,
        start: Sequence[float] | None = None,
        ways: int | None = None,
        like: int | None = None,
        unlike: int | None = None,
        mix: Mix = "learned",
    ) -> Plans:
        """Ranked solutions for contexts [n, C], or for one [C]; nothing is trained.

        avoid: shapes that no link may enter; seconds: duration of the movements, for the robot's velocity limits;
        samples: further movements that are drawn for each context; every: see `planner`; via, pointing: places that the
        tool must pass, and directions that it must point in, see `Via` and `Pointing`; hold: seconds at the end in
        which nothing moves; start: [joint], the pose that movements begin in; ways: so many that differ most, of those
        that hold; like, unlike: number of a demonstration in the run's set, from 1, to which the first solution is the
        closest, or from which it is the farthest; mix: how often samples go each way, see `vigor.planning.choice`.
        """
        pose = None if start is None else tuple(map(float, start))
        more = {"via": tuple(via), "pointing": tuple(pointing), "hold": hold, "start": pose}
        limits = constraints.of_task(self.task, tuple(avoid), seconds, **more)
        if like is not None and unlike is not None:
            raise UserError("a plan is ranked by one demonstration: say which it should be like, or which unlike")
        number = like if unlike is None else unlike
        model = None if number is None else self._model(number)
        choice = Choice(ways, model, unlike is not None, mix)
        return self.planner(every).plan(contexts, limits, samples, seed, choice)

    def suggest(self, count: int = 3, seed: int = 0) -> tuple[Suggestion, ...]:
        """Contexts in which a demonstration would help most, with the reason; the best first."""
        return suggestions.suggest(self.planner(), count, seed)
