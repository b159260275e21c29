"""The methods that `vigor train` knows, behind one interface that runs, checkpoints and evaluates them alike.

All functions take a batch of runs: arrays with a leading axis. `start` gives the state before the first step, which has
the number of steps done as `iteration` [run]; `advance` takes it through some steps.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from vigor.baselines import bc_state_action, bc_trajectory, em_drex, gail, nearest, steps
from vigor.baselines.actors import Actor
from vigor.basics.errors import UserError
from vigor.learning import algorithm
from vigor.learning.mixture import Mixture
from vigor.learning.problem import Problem


@dataclass(frozen=True)
class Method:
    """A method, as runs drive it."""

    settings: type
    """A frozen dataclass."""
    steps: Callable[[Any], int]
    """Steps of a run with these settings."""
    prepare: Callable[[Any, Any, Problem], Any]
    """(task, settings, problems) to what the method learns from."""
    start: Callable[[Any, Any, Any], Any]
    """(task, settings, prepared) to states."""
    advance: Callable[[Any, Any, Any, Any, int], tuple[Any, Any]]
    """(task, settings, prepared, states, steps) to states, and the networks after each step [step, run, ...] or None:
    what plans for new contexts need."""
    policies: Callable[[Any, Any, Any, Any], Mixture | Actor]
    """(task, settings, prepared, states) to the mixtures of all contexts [run, context, ...], or to an actor [run, ...]
    that acts in all of them."""
    promise: Callable[[Any, Any, Any, Any], Any] | None = None
    """(task, settings, prepared, states) to the predicted success of the policies [run], in log odds, by which a run
    with `settings.stall` stops; None for a method that takes all its steps."""


def _as_given(task: Any, settings: Any, problems: Problem) -> Problem:
    return problems


def _state_mixtures(task: Any, settings: Any, prepared: Any, states: Any) -> Mixture:
    return states.mixtures


_BC_T = Method(
    bc_trajectory.TrajectoryCloningSettings,
    lambda settings: settings.cloning.steps,
    _as_given,
    bc_trajectory.start,
    lambda *given: (bc_trajectory.advance(*given), None),
    bc_trajectory.mixtures,
)
_BC_S = Method(
    bc_state_action.StepCloningSettings,
    lambda settings: settings.cloning.steps,
    lambda task, settings, problems: steps.prepare(task, settings.view, problems),
    bc_state_action.start,
    lambda *given: (bc_state_action.advance(*given), None),
    bc_state_action.actor,
)

METHODS: dict[str, Method] = {
    "vigor": Method(
        algorithm.VigorSettings,
        lambda settings: settings.update.iterations,
        _as_given,
        algorithm.start,
        algorithm.advance,
        algorithm.policies,
        algorithm.promise,
    ),
    "em-drex": Method(
        em_drex.EMDREXSettings,
        lambda settings: settings.reward_steps + settings.update.iterations,
        em_drex.prepare,
        em_drex.start,
        lambda *given: (em_drex.advance(*given), None),
        _state_mixtures,
    ),
    "bc-t": _BC_T,
    "bc-gmm-t": _BC_T,
    "bc-s": _BC_S,
    "bc-gmm-s": _BC_S,
    "gail": Method(
        gail.GAILSettings,
        lambda settings: settings.steps,
        gail.prepare,
        gail.start,
        lambda *given: (gail.advance(*given), None),
        gail.actor,
    ),
    "copied": Method(
        nearest.NearestSettings,
        lambda settings: 1,
        _as_given,
        nearest.start,
        lambda *given: (nearest.advance(*given), None),
        nearest.copied,
    ),
    "carried": Method(
        nearest.NearestSettings,
        lambda settings: 1,
        nearest.prepare_carried,
        nearest.start,
        lambda *given: (nearest.advance(*given), None),
        nearest.carried,
    ),
}


def method(name: str) -> Method:
    if name not in METHODS:
        raise UserError(f"there is no method {name!r}; choose from {', '.join(METHODS)}")
    return METHODS[name]
