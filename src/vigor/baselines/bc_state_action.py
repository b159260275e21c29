"""Behavioural cloning of single steps (paper, appendix B.2): BC(S), and BC-GMM(S) with several components.

An MLP maps what is seen of a state to a Gaussian mixture over actions.
"""

from dataclasses import dataclass
from functools import partial

import jax

from vigor.baselines import cloning
from vigor.baselines.actors import Actor
from vigor.baselines.cloning import Cloning, State
from vigor.baselines.steps import Shown
from vigor.baselines.stepwise import View
from vigor.basics.batching import each
from vigor.tasks.task import Task

Array = jax.Array


@dataclass(frozen=True)
class Config(Cloning, View):
    """Settings of BC(S) and BC-GMM(S)."""

    hold_component: bool = True
    """Act with one component from the first step to the last; otherwise draw one in every step."""

    def __post_init__(self) -> None:
        Cloning.__post_init__(self)
        View.__post_init__(self)


@partial(jax.jit, static_argnums=(0, 1))
def start(task: Task, config: Config, shown: Shown) -> State:
    """A batch of runs [run, ...] before the first step."""
    sizes = shown.seen.shape[-1], shown.acted.shape[-1]
    return jax.vmap(lambda key: cloning.start(key, config, *sizes))(shown.key)


@partial(jax.jit, static_argnums=(0, 1), donate_argnums=(3,))
def advance(task: Task, config: Config, shown: Shown, states: State, steps: int | Array) -> State:
    """Take a batch of runs [run, ...] through some steps."""

    def step(shown: Shown, state: State) -> State:
        return cloning.step(shown.key, config, *shown.standardised(), state)

    return jax.lax.fori_loop(0, steps, lambda _, states: each(step, shown, states), states)


def actor(task: Task, config: Config, shown: Shown, states: State) -> Actor:
    """The actors of a batch of runs, [run, ...]."""
    return Actor(
        states.best,
        shown.units,
        view=View(config.frames, config.target_encoding),
        components=config.components,
        train_weights=config.train_weights,
        hold_component=config.hold_component,
    )
