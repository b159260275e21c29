"""Preprocessing: rest is dropped, the last pose held, what fails left out."""

import jax.numpy as jnp
import numpy as np
import pytest

from helpers import POINT, movement
from vigor.basics.errors import UserError
from vigor.demonstrations import dataset as demos
from vigor.demonstrations.preprocessing import preprocess


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
