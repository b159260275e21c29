"""Behavioural cloning of steps: two modes kept or averaged, the pairs it learns from, steps and runs."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np

from helpers import POINT, assert_same, member, movement, quick, stacked
from vigor.baselines import bc_state_action, steps, stepwise
from vigor.baselines.bc_state_action import StepCloningSettings
from vigor.baselines.cloning import EPOCHS
from vigor.basics.settings import with_values
from vigor.evaluation import policies
from vigor.learning.problem import Problem
from vigor.learning.starts import Starts
from vigor.motion.descriptors import context, joint_angles
from vigor.motion.promp import ProMP

TASK = replace(POINT, promp=ProMP(bases=5, dimensions=2, steps=8), descriptors=(joint_angles, context))
"""A point with a short movement that sees where it is and its context."""
SETTINGS = with_values(StepCloningSettings(), components=2, width=32, batch=80, learning_rate=3e-3, epochs=3 * EPOCHS)
SMALL = with_values(SETTINGS, layers=1, width=8, frames=2)

prepare = quick(steps.prepare, static_argnums=(0, 1))
start = quick(bc_state_action.start, static_argnums=(0, 1))
advance = quick(bc_state_action.advance, static_argnums=(0, 1))


def problem(seed=0, each=10) -> Problem:
    """Half of the demonstrations end on the left and half on the right, in 4 contexts."""
    rng = np.random.default_rng(seed)
    contexts = np.array([[0.0, 1.0], [0.2, 1.0], [-0.2, 1.0], [0.0, 1.2]])
    sides = np.where(np.arange(4 * each) % 2 == 0, 1.0, -1.0)
    recordings = np.stack([movement((side, 1.0)) for side in sides])
    weights = TASK.promp.fit(recordings) + 0.02 * rng.normal(size=(4 * each, TASK.promp.weights))
    arrays = (jnp.asarray(array, jnp.float32) for array in (contexts, contexts[:1], contexts, np.zeros(())))
    at = Starts(
        jnp.asarray(weights, jnp.float32), jnp.asarray(np.repeat(contexts, each, axis=0), jnp.float32), jnp.ones(())
    )
    paths = TASK.promp.rollout(jnp.asarray(weights, jnp.float32))
    return Problem(jax.random.key(seed), *arrays, at, paths, jnp.zeros(()))


def ends(settings):
    """Where the components end without noise, [context, component], along the axis in which demonstrations differ."""
    problems = stacked([problem()])
    shown = prepare(TASK, settings.view, problems)
    states = advance(TASK, settings, shown, start(TASK, settings, shown), settings.cloning.steps)
    actor = member(bc_state_action.actor(TASK, settings, shown, states), 0)
    found = policies.of(np.asarray(problem().contexts), 4, actor).movements(TASK, slice(None), 1, 0)
    return found.means[:, :, -1, 0]


def test_two_components_keep_both_modes():
    left, right = np.sort(ends(SETTINGS), axis=1).T
    assert np.all(left < -0.7)
    assert np.all(right > 0.7)


def test_one_component_averages_the_modes():
    """Nobody ever ended near the middle."""
    demonstrated = np.asarray(TASK.promp.rollout(problem().starts.weights))[:, -1, 0]
    assert np.abs(demonstrated).min() > 0.8
    assert np.abs(ends(with_values(SETTINGS, components=1))).max() < 0.5


def test_it_learns_from_every_step_of_every_demonstration():
    shown = member(prepare(TASK, SMALL.view, stacked([problem()])), 0)
    joints = TASK.promp.rollout(problem().starts.weights)
    assert shown.seen.shape == (40 * 8, 2 * 5)
    np.testing.assert_allclose(shown.acted[16:24], stepwise.actions(TASK, joints[2]), atol=1e-6)
    expected = stepwise.observations(TASK, SMALL.view, joints[15], problem().contexts[1])
    np.testing.assert_allclose(shown.seen[15 * 8 : 16 * 8], expected, atol=1e-6)
    seen, acted = shown.standardised()
    np.testing.assert_allclose(np.std(acted, axis=0), 1, rtol=1e-3)
    np.testing.assert_allclose(np.mean(seen, axis=0), 0, atol=1e-3)


def test_runs_of_a_batch_are_those_of_single_runs_and_steps_add_up():
    shown = prepare(TASK, SMALL.view, stacked([problem(0), problem(1)]))
    together = advance(TASK, SMALL, shown, start(TASK, SMALL, shown), 2)
    alone = jax.tree.map(lambda leaf: leaf[1:], shown)
    states = start(TASK, SMALL, alone)
    for _ in range(2):
        states = advance(TASK, SMALL, alone, states, 1)
    np.testing.assert_array_equal(together.iteration, 2)
    assert_same(member(together, 1).parameters, member(states, 0).parameters, atol=1e-3)


def test_settings_reach_the_actor():
    settings = with_values(SMALL, hold_component=False, train_weights=True)
    shown = prepare(TASK, settings.view, stacked([problem()]))
    actor = bc_state_action.actor(TASK, settings, shown, start(TASK, settings, shown))
    assert (actor.view.frames, actor.view.target_encoding, actor.components) == (2, False, 2)
    assert (actor.hold_component, actor.train_weights) == (False, True)
