"""Choice among the ways of a plan: how many, like or unlike which demonstration, and how often samples go each."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, get_args

import jax.numpy as jnp
import numpy as np
import scipy  # Its parts are loaded when they are used.

from vigor.basics.errors import UserError
from vigor.learning.shares import CAUTION
from vigor.learning.starts import carried
from vigor.motion.promp import rollout
from vigor.motion.trajectories import apart
from vigor.planning.plans import Solution
from vigor.tasks.task import Task

Mix = Literal["learned", "evenly", "surest"]
"""Mix of ways among samples: as was learned, which is as often as each was demonstrated, tempered by predicted success;
evenly, all that are predicted to succeed; or none but the surest."""


class Model(NamedTuple):
    """A demonstration that plans are compared with."""

    number: int
    """Number in the run's set, from 1."""
    weights: np.ndarray
    """[D]: its movement primitive."""
    context: np.ndarray
    """[C]"""

    def joints(self, task: Task, context: np.ndarray) -> np.ndarray:
        """Its movement [T, dimensions], carried into a context where the task says how."""
        own = (jnp.asarray(part, jnp.float32) for part in (self.weights[None], self.context[None], context))
        return np.asarray(rollout(task.promp, carried(task, *own)[0]))


@dataclass(frozen=True, eq=False)
class Choice:
    """Choice among the solutions of a context; those that hold come first in any case."""

    ways: int | None = None
    """Most ways that a plan gives, those that differ most; None for all."""
    model: Model | None = None
    """Demonstration by which solutions are ranked, instead of by success."""
    unlike: bool = False
    """Whether those least like the model come first, and not those most like it."""
    mix: Mix = "learned"

    def __post_init__(self) -> None:
        if self.ways is not None and not 1 <= self.ways <= 10**4:
            raise UserError(f"the number of ways must be from 1 to 10,000, not {self.ways}")
        if self.mix not in get_args(Mix):
            raise UserError(f"there is no mix {self.mix!r}; choose from {', '.join(get_args(Mix))}")

    def preferred(self, task: Task, context: np.ndarray, joints: np.ndarray) -> np.ndarray | None:
        """Preference of movements [n, T, dimensions], [n]: by their difference from the model, if there is one."""
        if self.model is None:
            return None
        away = scipy.spatial.distance.cdist(apart(joints), apart(self.model.joints(task, context)[None]))[:, 0]
        return away if self.unlike else -away

    def among(self, ranked: dict[int, Solution], joints: np.ndarray) -> dict[int, Solution]:
        """Solutions by group: all, or of those that hold so many that differ most, numbered anew.

        joints: [component, T, dimensions], means of all components.
        """
        if self.ways is None:
            return ranked
        held = {group: row for group, row in ranked.items() if row.holds} or ranked
        kept = most_different(joints[[row.component for row in held.values()]], self.ways)
        chosen = [list(held.items())[i] for i in kept]
        return {group: replace(row, group=number) for number, (group, row) in enumerate(chosen, 1)}

    def missed(self, ranked: Sequence[Solution], preferred: np.ndarray | None, distinct: float) -> str | None:
        """Warning in words if there are fewer ways than asked for, or none like, or unlike, the model."""
        said = []
        if self.ways is not None and (held := sum(row.holds for row in ranked)) < self.ways:
            said.append(f"{held} ways hold where {self.ways} were asked for")
        if self.model is not None and preferred is not None:
            away = abs(float(preferred[ranked[0].component]))
            if (away < distinct) == self.unlike:
                kind = "still" if self.unlike else "not"
                said.append(
                    f"the first solution is {kind} like demonstration {self.model.number}: they differ by {away:.2g}, "
                    f"and alike are movements that differ by less than {distinct:.2g}"
                )
        return "; ".join(said) or None


ALL = Choice()
"""All ways, ranked by success."""


def most_different(joints: np.ndarray, count: int) -> list[int]:
    """Indices of so many of movements [n, T, dimensions]: the first, then always the one farthest from all chosen."""
    between = scipy.spatial.distance.cdist(apart(joints), apart(joints))
    chosen = [0]
    while len(chosen) < min(count, len(joints)):
        nearest = between[chosen].min(axis=0)
        nearest[chosen] = -1.0
        chosen.append(int(np.argmax(nearest)))
    return sorted(chosen)


def mixed(mix: Mix, weights: np.ndarray, groups: np.ndarray, predicted: np.ndarray, likely: float) -> np.ndarray:
    """Weights [component] of components in a mix.

    weights: [component], as learned; groups: [component], the way of each; predicted: [component], success; likely:
    predicted success from which on a way counts.
    """
    if mix == "learned":
        return weights
    if mix == "surest":
        return (np.arange(len(weights)) == np.argmax(predicted)).astype(float)
    best = np.array([predicted[groups == group].max() for group in groups])
    tempered = np.maximum(predicted, 1e-6) ** CAUTION
    totals = np.array([tempered[groups == group].sum() for group in groups])
    even = np.where(best >= min(likely, best.max()), tempered / totals, 0.0)
    return even / even.sum()
