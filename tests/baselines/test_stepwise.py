"""Tasks acted step by step: actions make the trajectory they were taken from, states look as its descriptors say."""

from dataclasses import replace
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import POINT, quick
from vigor.baselines import stepwise
from vigor.baselines.stepwise import View
from vigor.basics.errors import UserError
from vigor.tasks import load_task
from vigor.tasks.reachers.reaching import reached

PLANAR, BOX = load_task("planar-reacher"), load_task("box-pusher")
CONTEXTS = {"planar-reacher": [0.5, 2.5, 0.5, -2.5], "panda-reacher": [0.5, 0.2, 0.6, 0.3, -0.1, 0.3]}
observations = quick(stepwise.observations, static_argnums=(0, 1))


@partial(jax.jit, static_argnums=(0, 1))
def final_state(task, view, joints, context):
    def step(state, action):
        return stepwise.act(task, view, state, action), None

    return jax.lax.scan(step, stepwise.begin(task, view, context), stepwise.actions(task, joints))[0]


def some_trajectory(task, seed=0):
    return task.promp.rollout(jax.random.normal(jax.random.key(seed), (task.promp.weights,)))


def context_of(task):
    return jnp.asarray(CONTEXTS.get(task.name, [0.3] * task.context_dimension))


@pytest.mark.parametrize("name", ["planar-reacher", "panda-reacher", "box-pusher"])
def test_the_actions_of_a_trajectory_lead_through_it(name):
    task = load_task(name)
    joints, context = some_trajectory(task), context_of(task)
    state = final_state(task, View(), joints, context)
    assert state.step == task.promp.steps
    np.testing.assert_allclose(state.motion.joints, joints, atol=1e-5)
    np.testing.assert_allclose(state.motion.points, task.kinematics(joints), atol=1e-4)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**31 - 1))
def test_a_state_looks_as_the_descriptors_of_the_whole_movement_say(seed):
    joints, context = some_trajectory(PLANAR, seed), context_of(PLANAR)
    seen = np.asarray(observations(PLANAR, View(), joints, context))
    # Before action t the last pose is that of step t - 1.
    np.testing.assert_allclose(seen[1:, :-1], PLANAR.describe(joints, context)[:-1], atol=1e-4)
    np.testing.assert_allclose(seen[:, -1], np.arange(PLANAR.promp.steps) / PLANAR.promp.steps, rtol=1e-6)
    np.testing.assert_allclose(seen[0, 2:4], 0, err_msg="an episode begins at rest")


def test_frames_hold_the_states_before_and_zeros_before_the_first():
    joints, context = some_trajectory(POINT), jnp.ones(2)
    one, three = (np.asarray(observations(POINT, View(frames=k), joints, context)) for k in (1, 3))
    assert stepwise.features(POINT, View(frames=3)) == three.shape[1] == 3 * one.shape[1]
    padded = np.concatenate([np.zeros((2, one.shape[1])), one])
    np.testing.assert_array_equal(three, np.concatenate([padded[i : i + len(one)] for i in range(3)], axis=1))


def test_the_target_encoding_says_what_has_been_reached():
    task = replace(POINT, context_names=("a", "b", "c", "d"), reached=reached(slice(0, 2), slice(2, 4), 0.2))
    line = jnp.linspace(0, 1, POINT.promp.steps)[:, None] * jnp.asarray([1.0, 0.0])
    seen = np.asarray(observations(task, View(target_encoding=True), line, jnp.asarray([0.5, 0.0, 1.0, 0.1])))
    first, second = seen[:, -3], seen[:, -2]
    place = np.concatenate([[0.0], np.asarray(line[:-1, 0])])
    np.testing.assert_array_equal(first, place >= 0.3 - 1e-6)
    np.testing.assert_array_equal(second, (place - 1) ** 2 + 0.01 <= 0.04)
    assert 0 < second.sum() < first.sum() < len(seen)


def test_a_task_without_targets_has_no_target_encoding():
    with pytest.raises(UserError, match="point has no targets to encode"):
        stepwise.features(POINT, View(target_encoding=True))


def test_the_box_pusher_chooses_its_start_from_a_separate_copy_of_the_descriptors():
    joints, context = some_trajectory(BOX), context_of(BOX)
    start = np.asarray(BOX.promp.start)
    np.testing.assert_allclose(stepwise.actions(BOX, joints)[0], joints[0] - start, atol=1e-6)
    seen = np.asarray(observations(BOX, View(), joints, context))
    first, later = np.split(seen[:, :-1], 2, axis=1)
    still = BOX.describe(jnp.broadcast_to(start, joints.shape), context)[0]
    np.testing.assert_allclose(first[0], still, atol=1e-5)
    assert not first[1:].any()
    assert not later[0].any()
    described = np.asarray(BOX.describe(joints, context))
    np.testing.assert_allclose(later[1:], described[:-1], atol=1e-2, rtol=1e-3)


@pytest.mark.parametrize("frames", [0, -1, 10**4])
def test_impossible_views_are_one_sentence(frames):
    with pytest.raises(UserError, match="frames must be from 1 to"):
        View(frames=frames)
