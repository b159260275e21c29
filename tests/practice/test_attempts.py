"""Attempts: what searches begin at and find, and what of all that was tried is kept."""

import jax.numpy as jnp
import numpy as np
import pytest

from helpers import POINT
from vigor.basics import files
from vigor.basics.errors import UserError
from vigor.learning.starts import Starts
from vigor.motion.promp import rollout
from vigor.practice import attempts
from vigor.practice.attempts import Attempts

ROOM = np.full(POINT.promp.weights, 0.3)
DISTINCT = 0.5
AT = Starts(jnp.zeros((1, POINT.promp.weights)), jnp.zeros((1, 2)), jnp.asarray(ROOM))


def ends(weights: np.ndarray) -> np.ndarray:
    """Last points [n, 2] of movements."""
    return np.asarray(rollout(POINT.promp, jnp.asarray(weights, jnp.float32)))[:, -1]


def to(*goals: tuple[float, float]) -> np.ndarray:
    """Weights [n, D] of movements that end at goals: the shortest of them."""
    basis = ends(np.eye(POINT.promp.weights)) - ends(np.zeros((1, POINT.promp.weights)))
    return np.asarray(goals) @ np.linalg.pinv(basis)


def made(contexts, owners, weights) -> Attempts:
    contexts, owners = np.asarray(contexts, float), np.asarray(owners)
    found = attempts.tried(POINT, POINT.distances, weights, contexts[owners])
    return Attempts(contexts, owners, weights, found, np.full(len(owners), 1 / len(owners)))


def test_a_trial_is_the_distance_of_each_movement():
    weights, goals = to((1.0, 0.0), (0.0, 1.0)), np.array([[1.0, 0.5], [0.0, 1.05]])
    np.testing.assert_allclose(attempts.tried(POINT, POINT.distances, weights, goals), [0.4, 0.0], atol=1e-5)


def test_what_cannot_be_judged_has_failed_and_a_wrong_trial_is_refused():
    weights, goals = to((1.0, 0.0), (0.0, 1.0)), np.zeros((2, 2))
    assert attempts.tried(POINT, lambda joints, _: np.array([np.nan, 0.5]), weights, goals).tolist() == [np.inf, 0.5]
    with pytest.raises(UserError, match="a distance for each of 2 movements"):
        attempts.tried(POINT, lambda joints, _: np.zeros(3), weights, goals)


def test_searches_solve_what_was_missed_and_leave_the_rest_alone():
    tried = made([[1.0, 0.0], [0.0, 2.0]], [0, 1], to((1.0, 0.0), (0.3, 1.6)))
    found = attempts.refined(POINT, AT, POINT.distances, tried, DISTINCT, 1, seed=0)
    assert set(found.context_of[2:]) == {1}
    assert found.distances[found.of(1)].min() == 0.0
    np.testing.assert_allclose(
        found.distances,
        POINT.distances(rollout(POINT.promp, found.weights), found.contexts[found.context_of]),
        atol=1e-5,
    )
    assert np.all(found.shares[2:] == 0.0)
    again = attempts.refined(POINT, AT, POINT.distances, tried, DISTINCT, 1, seed=0)
    np.testing.assert_array_equal(found.weights, again.weights)


def test_a_search_stays_near_where_it_began():
    """A movement close to the near miss is found, of all that end at the goal."""
    bent = to((0.3, 1.6)) + np.tile([2.0, 0.0, -2.0, 0.0], POINT.promp.weights // 4)
    tried = made([ends(bent)[0] + [0.3, 0.2]], [0], bent)
    found = attempts.refined(POINT, AT, POINT.distances, tried, DISTINCT, 1, seed=0)
    solved = found.weights[found.distances == 0.0]
    assert len(solved)
    assert np.linalg.norm(solved - bent, axis=1).max() < 2.0 < np.linalg.norm(bent - to(ends(bent)[0]))


def test_searches_begin_at_other_ways_than_those_that_succeed():
    straight = to((1.0, 0.0))[0]
    bend = np.tile([0.0, 1.5, 0.0, -1.5], POINT.promp.weights // 4)
    bend -= (ends(bend[None]) @ np.linalg.pinv(ends(np.eye(POINT.promp.weights))))[0]  # It ends where it began.
    missed = np.stack(
        [straight, straight + 0.01, straight + bend + to((0.2, 0.0))[0], straight - bend + to((0.3, 0.0))[0]]
    )
    tried = made([[1.0, 0.0]], [0] * 4, missed)
    joints = attempts._joints(POINT, missed)
    assert np.flatnonzero(tried.distances == 0.0).tolist() == [0, 1]
    assert attempts._near_misses(POINT, tried, joints, 0, DISTINCT, 1) == []
    assert attempts._near_misses(POINT, tried, joints, 0, DISTINCT, 2) == [2]
    assert attempts._near_misses(POINT, tried, joints, 0, DISTINCT, 5) == [2, 3]


def test_different_ways_are_kept_first_then_the_best_and_a_lonely_one_again():
    bend = np.tile([0.0, 1.5, 0.0, -1.5], POINT.promp.weights // 4)
    bend -= (ends(bend[None]) @ np.linalg.pinv(ends(np.eye(POINT.promp.weights))))[0]
    straight = to((1.0, 0.0))[0]
    weights = np.stack([straight, straight + 0.001, straight + bend, to((1.0, 0.0))[0], to((3.0, 0.0))[0]])
    tried = made([[1.0, 0.0], [1.05, 0.0], [5.0, 5.0]], [0, 0, 0, 1, 2], weights)
    kept, found = attempts.kept(POINT, tried, DISTINCT, 2)
    assert kept.tolist() == [0, 2, 3, 3]
    assert found.tolist() == [2, 1, 0]
    assert attempts.kept(POINT, tried, DISTINCT, 3)[0].tolist() == [0, 2, 1, 3, 3, 3]


def test_success_of_plans_is_weighed_and_leaves_searches_out():
    goals = np.array([[1.0, 0.0], [0.0, 1.0]])
    tried = Attempts(
        goals, np.array([0, 0, 1, 1]), np.zeros((4, 8)), np.array([0, 1.0, 0, 0]), np.array([0.7, 0.3, 0.4, 0.0])
    )
    np.testing.assert_allclose(tried.planned(POINT), [0.7, 0.4])


def test_attempts_that_were_changed_are_refused_with_their_file(tmp_path):
    path = tmp_path / "attempts.npz"
    good = {
        "contexts": np.full((2, POINT.context_dimension), 0.5),
        "context_of": np.array([0, 1, 1]),
        "weights": np.zeros((3, POINT.promp.weights)),
        "distances": np.array([0.1, np.inf, 0.2]),
        "shares": np.array([1.0, 0.5, 0.5]),
    }
    files.write_arrays(path, good)
    assert attempts.read(path, POINT).of(1).tolist() == [1, 2]
    for name, value in {
        "context_of": np.array([0, 1, 2]),
        "weights": np.zeros((3, 1)),
        "contexts": np.full((2, 1), 0.5),
        "distances": np.array([0.1, -np.inf, 0.2]),
        "shares": np.array([1.0, 0.5, 2.0]),
    }.items():
        files.write_arrays(path, good | {name: value})
        with pytest.raises(UserError, match="is damaged"):
            attempts.read(path, POINT)
