"""Searches: they find known minima, together as alone, and stop when content."""

import numpy as np

from vigor.basics import evolution

GOALS = np.array([[1.0, 2.0], [-3.0, 0.5]])
BEGIN = np.zeros((2, 2))


def distances(points: np.ndarray, which: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    errors = np.linalg.norm(points - GOALS[which], axis=1)
    return errors, errors


def test_each_search_finds_its_own_minimum():
    found = evolution.search([1, 2], BEGIN, np.array([1.0, 1.0]), distances, 0.01, 60)
    np.testing.assert_allclose(found.points, GOALS, atol=0.02)
    np.testing.assert_allclose(found.errors, np.linalg.norm(found.points - GOALS, axis=1))


def test_a_search_is_the_same_beside_others():
    together = evolution.search([1, 2], BEGIN, np.array([1.0, 0.5]), distances, 0.01, 5)
    alone = evolution.search(
        [2], BEGIN[1:], np.array([1.0, 0.5]), lambda points, which: distances(points, which + 1), 0.01, 5
    )
    np.testing.assert_array_equal(together.points[1], alone.points[0])


def test_a_search_that_is_content_tries_nothing_more_and_one_without_hope_gives_up():
    tried = []

    def judge(points: np.ndarray, which: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        tried.append(which)
        return np.zeros(len(points)), np.where(which == 0, 0.0, np.inf)

    found = evolution.search([1, 2], BEGIN, np.array([1.0, 1.0]), judge, 0.1, 4)
    assert [len(which) for which in tried] == [2 * evolution.POPULATION] + 3 * [evolution.POPULATION]
    assert found.errors.tolist() == [0.0, np.inf]


def test_first_candidates_stray_as_far_as_was_said():
    tried = []

    def judge(points: np.ndarray, which: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        tried.append(points)
        return np.zeros(len(points)), np.ones(len(points))

    evolution.search(list(range(100)), np.full((100, 2), 5.0), np.array([0.1, 2.0]), judge, 0.0, 1)
    np.testing.assert_allclose(tried[0].mean(axis=0), [5.0, 5.0], atol=0.2)
    np.testing.assert_allclose(tried[0].std(axis=0), [0.1, 2.0], rtol=0.1)
