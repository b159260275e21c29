"""Choice among ways: those that differ most, those like a demonstration, and how often samples go each."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import POINT
from planned import solution
from vigor.basics.errors import UserError
from vigor.motion.promp import rollout
from vigor.planning import choice
from vigor.planning.choice import Choice, Model
from vigor.planning.violations import Violation
from vigor.tasks.task import Transfer


def at(*places: float) -> np.ndarray:
    """Movements [n, 4, 2] that rest at places along x."""
    return np.stack([np.full((4, 2), [place, 0.0]) for place in places])


def ways(*holds: bool) -> dict[int, object]:
    """Solutions by group, ranked in their order."""
    broken = Violation("keep-out", "1", 1.0)
    rows = [solution(component=i, group=i + 1, violated=None if held else broken) for i, held in enumerate(holds)]
    return {10 + i: row for i, row in enumerate(rows)}


def test_the_best_comes_with_those_that_differ_most():
    assert choice.most_different(at(0.0, 0.1, 5.0, 2.0), 2) == [0, 2]
    assert choice.most_different(at(0.0, 0.1, 5.0, 2.0), 3) == [0, 2, 3]
    assert choice.most_different(at(0.0, 0.0), 5) == [0, 1]


@given(st.lists(st.floats(-9, 9), min_size=3, max_size=6, unique=True), st.integers(2, 3))
def test_chosen_ways_are_at_least_half_as_far_apart_as_any_could_be(places, count):
    """The bound of farthest-point choice (Gonzalez), against all choices with the same best one."""
    joints = at(*places)

    def least(indices) -> float:
        return min(abs(places[a] - places[b]) for a, b in combinations(indices, 2))

    every = ([0, *others] for others in combinations(range(1, len(places)), count - 1))
    assert least(choice.most_different(joints, count)) >= max(map(least, every)) / 2 - 1e-9


def test_only_ways_that_hold_are_chosen_and_numbered_anew():
    found = Choice(ways=2).among(ways(True, False, True, True), at(0.0, 9.0, 1.0, 5.0))
    assert {group: row.component for group, row in found.items()} == {10: 0, 13: 3}
    assert [row.group for row in found.values()] == [1, 2]
    none = Choice(ways=2).among(ways(False, False), at(0.0, 9.0))
    assert [row.component for row in none.values()] == [0, 1], "if none holds, failures are still told"
    everything = ways(True, False)
    assert Choice().among(everything, at(0.0, 9.0)) is everything


def test_too_few_ways_are_said():
    few = tuple(ways(True, True).values())
    assert Choice(ways=3).missed(few, None, 1.0) == "2 ways hold where 3 were asked for"
    assert Choice(ways=2).missed(few, None, 1.0) is None


def test_preference_is_by_the_difference_from_a_demonstration():
    rng = np.random.default_rng(0)
    weights = rng.normal(size=(3, POINT.promp.weights))
    joints = np.asarray(rollout(POINT.promp, np.float32(weights)))
    model = Model(7, weights[1], np.zeros(2))
    like, unlike = (Choice(model=model, unlike=way).preferred(POINT, np.ones(2), joints) for way in (False, True))
    assert np.argmax(like) == 1
    expected = np.sqrt(np.mean(np.sum((joints - joints[1]) ** 2, axis=-1), axis=-1))
    np.testing.assert_allclose(unlike, expected, atol=1e-6)
    assert Choice().preferred(POINT, np.ones(2), joints) is None


def test_a_demonstration_is_carried_into_the_context_where_the_task_says_how():
    task = replace(POINT, transfer=Transfer(carry=lambda weights, own, other: weights + (other - own)[0]))
    model = Model(1, np.zeros(POINT.promp.weights), np.zeros(2))
    moved = model.joints(task, np.array([2.0, 0.0]))
    np.testing.assert_allclose(moved, rollout(POINT.promp, np.full(POINT.promp.weights, 2, np.float32)), atol=1e-5)


def test_it_is_said_when_nothing_is_like_the_demonstration_or_all_is():
    first = (solution(component=1),)
    model = Model(7, np.zeros(1), np.zeros(1))
    like, unlike = Choice(model=model), Choice(model=model, unlike=True)
    assert like.missed(first, np.array([0.0, -0.5]), 1.0) is None
    assert like.missed(first, np.array([0.0, -1.5]), 1.0).startswith("the first solution is not like demonstration 7")
    assert unlike.missed(first, np.array([0.0, 1.5]), 1.0) is None
    assert unlike.missed(first, np.array([0.0, 0.5]), 1.0).startswith(
        "the first solution is still like demonstration 7"
    )


def test_mixes():
    weights, groups = np.array([0.5, 0.1, 0.3, 0.1]), np.array([0, 0, 1, 2])
    predicted = np.array([1.0, 0.5, 0.9, 0.1])
    np.testing.assert_allclose(choice.mixed("learned", weights, groups, predicted, 0.5), weights)
    np.testing.assert_allclose(choice.mixed("surest", weights, groups, predicted, 0.5), [1, 0, 0, 0])
    evenly = choice.mixed("evenly", weights, groups, predicted, 0.5)
    np.testing.assert_allclose(evenly, [0.5 / 1.125, 0.0625 / 1.125, 0.5, 0])
    hopeless = choice.mixed("evenly", weights, groups, 0.1 * predicted, 0.5)
    np.testing.assert_allclose(hopeless[2:], [0, 0], err_msg="the best of ways that are all likely to fail")


@pytest.mark.parametrize(("values", "said"), [({"ways": 0}, "number of ways"), ({"mix": "wildly"}, "no mix 'wildly'")])
def test_what_cannot_be_chosen_is_one_sentence(values, said):
    with pytest.raises(UserError, match=said):
        Choice(**values)
