"""The steps of demonstrations: what methods that act step by step learn from."""

from functools import partial
from typing import NamedTuple

import jax

from vigor.baselines import actors, stepwise
from vigor.baselines.actors import Units
from vigor.baselines.stepwise import View
from vigor.learning.problem import Problem
from vigor.tasks.task import Task

Array = jax.Array


class Shown(NamedTuple):
    """The steps of a run's demonstrations; [run, ...] in a batch."""

    key: Array
    """Random key of the run."""
    train_contexts: Array
    """[context, C]: contexts with demonstrations."""
    test_contexts: Array
    """[context, C]: contexts without."""
    seen: Array
    """[step, features]: what is seen before every action."""
    acted: Array
    """[step, dimensions]: the actions."""
    units: Units
    """Units of both."""

    def standardised(self) -> tuple[Array, Array]:
        """Observations and actions in their units."""
        return self.units.seen(self.seen), self.units.acted(self.acted)


@partial(jax.jit, static_argnums=(0, 1))
def prepare(task: Task, view: View, problems: Problem) -> Shown:
    """The demonstrations of a batch of runs [run, ...], step by step."""

    def one(problem: Problem) -> Shown:
        joints = problem.trajectories
        seen = jax.vmap(partial(stepwise.observations, task, view))(joints, problem.starts.contexts)
        acted = jax.vmap(partial(stepwise.actions, task))(joints)
        seen, acted = seen.reshape(-1, seen.shape[-1]), acted.reshape(-1, acted.shape[-1])
        contexts = problem.train_contexts, problem.test_contexts
        return Shown(problem.key, *contexts, seen, acted, actors.units(seen, acted))

    return jax.vmap(one)(problems)
