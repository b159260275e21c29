"""Behavioural cloning of single steps (paper, appendix B.2): BC(S), and BC-GMM(S) with several components.

An MLP maps what is seen of a state to a Gaussian mixture over actions.
"""

from dataclasses import dataclass
from functools import partial

import jax

from vigor.baselines import cloning
from vigor.baselines.actors import Actor
from vigor.baselines.cloning import CloningSettings, CloningState
from vigor.baselines.steps import Shown
from vigor.baselines.stepwise import View
from vigor.basics.batching import each
from vigor.tasks.task import Task

Array = jax.Array


@dataclass(frozen=True)
class StepCloningSettings:
    """Settings of BC(S) and BC-GMM(S)."""

    cloning: CloningSettings = CloningSettings()
    view: View = View()
    hold_component: bool = True
    """Act with one component from the first step to the last; otherwise draw one in every step."""


@partial(jax.jit, static_argnums=(0, 1))
def start(task: Task, settings: StepCloningSettings, shown: Shown) -> CloningState:
    """A batch of runs [run, ...] before the first step."""
    sizes = shown.seen.shape[-1], shown.acted.shape[-1]
    return jax.vmap(lambda key: cloning.start(key, settings.cloning, *sizes))(shown.key)


@partial(jax.jit, static_argnums=(0, 1), donate_argnums=(3,))
def advance(
    task: Task, settings: StepCloningSettings, shown: Shown, states: CloningState, steps: int | Array
) -> CloningState:
    """Take a batch of runs [run, ...] through some steps."""

    def step(shown: Shown, state: CloningState) -> CloningState:
        return cloning.step(shown.key, settings.cloning, *shown.standardised(), state)

    return jax.lax.fori_loop(0, steps, lambda _, states: each(step, shown, states), states)


def actor(task: Task, settings: StepCloningSettings, shown: Shown, states: CloningState) -> Actor:
    """The actors of a batch of runs, [run, ...]."""
    return Actor(
        states.best,
        shown.units,
        view=settings.view,
        components=settings.cloning.components,
        train_weights=settings.cloning.train_weights,
        hold_component=settings.hold_component,
    )
