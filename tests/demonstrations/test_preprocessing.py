"""Preprocessing: rest is dropped, the last pose held, near misses repaired, what fails left out."""

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest

from helpers import POINT, movement, solving
from vigor.basics.errors import UserError
from vigor.demonstrations import dataset as demos
from vigor.demonstrations.preprocessing import distances, fit, preprocess, repair
from vigor.tasks.reachers.planar_reacher import TASK as PLANAR
from vigor.tasks.task import Judge


def test_drops_the_rest_before_a_movement():
    still, moving = movement((1.0, -2.0), rest=15), movement((1.0, -2.0))
    set_ = preprocess(POINT, np.array([[1.0, -2.0]]), [still, moving], np.array([0, 0]), "test")
    assert set_.recordings is not None
    for recording in set_.recordings:
        assert np.linalg.norm(recording[0]) < 0.01 * np.sqrt(5) < np.linalg.norm(recording[1])
        np.testing.assert_array_equal(recording, moving[-len(recording) :])
    np.testing.assert_allclose(set_.weights[0], set_.weights[1])


def test_holds_the_last_pose():
    goal = np.array([1.0, -2.0])
    abrupt = np.linspace(0.0, 1.0, 80)[:, None] ** 3 * goal
    set_ = preprocess(POINT, goal[None], [abrupt], np.array([0]), "test")
    held = demos.trajectories(POINT, set_)[0]
    without = np.asarray(POINT.promp.rollout(jnp.asarray(POINT.promp.fit(abrupt))))
    # Once the goal is reached, the robot stays there instead of arriving in full motion.
    reached = int(np.ceil(25 / 1.15))
    assert np.linalg.norm(held[reached:] - goal, axis=1).max() < 0.15
    assert np.linalg.norm(without[reached:] - goal, axis=1).max() > 0.4
    assert np.linalg.norm(held[-1] - goal) < np.linalg.norm(without[-1] - goal)


def test_keeps_only_what_succeeds():
    contexts = np.array([[1.0, 0.0], [0.0, 1.0], [5.0, 5.0]])
    goals = [(1.0, 0.0), (0.0, 1.0), (0.0, 1.0), (1.0, 0.05)]
    recordings = [movement(goal, rest=3 * i) for i, goal in enumerate(goals)]
    dropped: dict[int, float] = {}
    set_ = preprocess(POINT, contexts, recordings, np.array([0, 0, 1, 0]), "test", dropped.__setitem__)
    assert set_.context_of.tolist() == [0, 1, 0]
    assert set_.source == "test, 3 of 4 recordings kept"
    assert dropped == {1: pytest.approx(np.sqrt(2) - 0.1, abs=0.02)}
    assert set_.task == "point"
    np.testing.assert_array_equal(set_.contexts, contexts)
    ends = demos.trajectories(POINT, set_)[:, -1]
    assert np.all(np.linalg.norm(ends - contexts[set_.context_of], axis=1) <= 0.1)
    with pytest.raises(UserError, match="none of the 1 recordings solves point"):
        preprocess(POINT, contexts, recordings[:1], np.array([2]), "test")


TOUCH = replace(
    POINT,
    judge=Judge(
        distance=lambda motion: jnp.maximum(
            0.0, jnp.min(jnp.linalg.norm(motion.effector - motion.context, axis=-1)) - 0.1
        )
    ),
)
"""A point comes within .1 of its context at some time."""


def corner(tip: float) -> np.ndarray:
    """A recording [60, 2] up to (0, 2), on the way a dash aside to a tip and back that no ProMP of four bases makes."""
    time = np.linspace(0.0, 1.0, 60)
    return np.stack([tip * np.maximum(0.0, 1 - 6 * np.abs(time - 0.5)), 2 * time], axis=1)


def test_a_near_miss_is_moved_and_a_recording_that_misses_is_not():
    contexts = np.array([[1.0, 1.0], [0.0, 2.0]])
    recordings = [corner(1.0), corner(0.5), corner(0.6)]  # The first one's ProMP misses, the last one misses itself.
    context_of = np.array([0, 1, 0])
    plain = fit(TOUCH, recordings)
    assert TOUCH.succeeds(distances(TOUCH, plain, contexts[context_of])).tolist() == [False, True, False]
    dropped: dict[int, float] = {}
    set_ = preprocess(TOUCH, contexts, recordings, context_of, "test", dropped.__setitem__)
    assert set_.source == "test, 2 of 3 recordings kept, 1 of 3 recordings moved a little to succeed"
    assert set_.context_of.tolist() == [0, 1]
    assert list(dropped) == [2]
    movements = demos.trajectories(TOUCH, set_)
    assert np.all(TOUCH.succeeds(TOUCH.distances(movements, contexts)))
    # What was good stays as it was fitted; what is moved stays close to its recording.
    np.testing.assert_array_equal(set_.weights[1], plain[1])
    fitted = demos.trajectories(TOUCH, replace(set_, weights=plain[:2]))
    assert 0 < np.sqrt(np.sum((movements - fitted) ** 2, axis=-1).mean(axis=-1))[0] < 0.2


def test_near_misses_are_moved_each_by_itself():
    context, *recordings = solving()
    contexts = context + np.array([[0.6, 0.6, 0.0, 0.0], [0.0, 0.0, -0.7, 0.5], [0.0, 0.0, 0.0, 0.0]])
    plain = fit(PLANAR, recordings)
    while np.any(distances(PLANAR, plain[:2], contexts[:2]) == 0):
        contexts[0, :2] += 0.1
        contexts[1, 2:] -= 0.1
    weights, away = repair(PLANAR, plain, contexts)
    assert np.all(away == 0)
    assert np.all(distances(PLANAR, weights, contexts) == 0)
    np.testing.assert_array_equal(weights[2], plain[2])
    for number in range(3):
        alone, _ = repair(PLANAR, plain[number, None], contexts[number, None])
        np.testing.assert_allclose(alone[0], weights[number], atol=1e-4)
    before, after = (np.asarray(PLANAR.promp.rollout(jnp.asarray(part, jnp.float32))) for part in (plain, weights))
    assert np.all(np.sqrt(np.mean((before - after) ** 2, axis=(1, 2))) < 0.3)


def test_without_a_gradient_nothing_is_moved():
    contexts = np.array([[1.0, 1.0]])
    simulated = replace(TOUCH, judge=Judge(simulate=lambda joints, contexts: TOUCH.distances(joints, contexts)))
    flat = replace(TOUCH, judge=Judge(distance=lambda motion: 1.0 + 0.0 * motion.effector[0, 0]))
    for task in (simulated, flat):
        plain = fit(task, [corner(1.0)])
        weights, away = repair(task, plain, contexts)
        np.testing.assert_array_equal(weights, plain)
        assert away > 0
    with pytest.raises(UserError, match="none of the 1 recordings solves point"):
        preprocess(simulated, contexts, [corner(1.0)], np.array([0]), "test")


@pytest.mark.parametrize(
    ("contexts", "recordings", "context_of", "says"),
    [
        (np.zeros((1, 2)), [], np.zeros(0, int), "no recordings"),
        (np.zeros((1, 2)), [np.zeros((5, 3))], np.array([0]), "3 columns where point moves 2"),
        (np.zeros((1, 3)), [np.zeros((5, 2))], np.array([0]), "3 numbers where point has 2"),
        (np.full((1, 2), 1e30), [np.zeros((5, 2))], np.array([0]), "contexts must be from"),
        (np.zeros((1, 2)), [np.zeros((5, 2))], np.array([1]), "contexts 0 to 0"),
        (np.zeros((1, 2)), [np.zeros((1, 2))], np.array([0]), "at least 2 steps"),
    ],
)
def test_preprocessing_refuses(contexts: np.ndarray, recordings: list[np.ndarray], context_of: np.ndarray, says: str):
    with pytest.raises(UserError, match=says):
        preprocess(POINT, contexts, recordings, context_of, "test")
