"""Splits: disjoint, repeatable, and refused in one sentence where they cannot be drawn."""

from dataclasses import replace

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from helpers import POINT
from vigor.basics.errors import UserError
from vigor.demonstrations import splits
from vigor.demonstrations.dataset import Demonstrations
from vigor.tasks.task import Source


def many() -> Demonstrations:
    """12 contexts: 8 with 5 demonstrations, 1 with 2, 3 without."""
    context_of = np.concatenate([np.repeat(np.arange(8), 5), [8, 8]])
    contexts = np.stack([np.arange(12.0), -np.arange(12.0)], axis=1)
    return Demonstrations("point", contexts, context_of, np.zeros((42, 8)), None, "test")


@given(st.integers(0, 2**32 - 1), st.integers(1, 8), st.integers(0, 14), st.integers(1, 5))
@settings(max_examples=60, deadline=None)
def test_a_split_is_disjoint_and_repeatable(seed: int, train: int, test: int, each: int):
    set_ = many()
    one, two = (splits.draw(set_, POINT, seed, train, test, each) for _ in range(2))
    for name in ("train", "train_contexts", "test_contexts", "demonstrations"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    assert len(set(one.train.tolist())) == len(one.train) == train
    np.testing.assert_array_equal(one.train_contexts, set_.contexts[one.train])
    assert one.demonstrations.shape == (train, each)
    assert len(np.unique(one.demonstrations)) == train * each
    np.testing.assert_array_equal(set_.context_of[one.demonstrations], np.repeat(one.train[:, None], each, axis=1))
    assert one.test_contexts.shape == (test, 2)
    assert len(np.unique(one.test_contexts, axis=0)) == test
    known = np.all(one.test_contexts[:, None] == set_.contexts, axis=-1)
    assert not known[:, one.train].any()
    assert known.any(axis=1).sum() == min(test, 12 - train)


def test_seeds_draw_different_splits():
    drawn = [splits.draw(many(), POINT, seed, 4, 4, 3) for seed in range(20)]
    assert len({tuple(split.train) for split in drawn}) > 10
    assert len({split.demonstrations.tobytes() for split in drawn}) == 20
    assert len({split.test_contexts.tobytes() for split in drawn}) > 10


def test_a_split_takes_given_test_contexts():
    given_contexts = np.array([[0.5, 0.5]])
    split = splits.draw(many(), POINT, 3, 4, given_contexts, 3)
    np.testing.assert_array_equal(split.test_contexts, given_contexts)
    np.testing.assert_array_equal(split.train, splits.draw(many(), POINT, 3, 4, 6, 3).train)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((0, 9, 1, 5), "only 8 have that many, and 8 have 5 or more: try --train-contexts 8 --demos-per-context 5"),
        ((0, 1, 1, 6), "only 0 have that many, and 8 have 5 or more"),
        ((0, 0, 1, 5), "at least 1 training context"),
        ((0, 1, 1, 0), "1 demonstration"),
        ((-1, 1, 1, 1), "a seed from 0"),
        ((0, 1, -1, 1), "must not be negative"),
        ((0, 1, 10**18, 1), "nor above 1,000,000"),
        ((0, 1, np.zeros((2, 3)), 1), "3 numbers each where point has 2: x, y"),
        ((0, 1, np.zeros(2), 1), "test contexts must have 2 axes"),
        ((0, 1, np.full((1, 2), np.nan), 1), "test contexts must be finite"),
        ((0, 1, np.full((1, 2), 1e30), 1), "test contexts must be from"),
        ((0, 1, np.array([["a", "b"]]), 1), "test contexts must be real numbers"),
    ],
)
def test_a_split_refuses(arguments: tuple, says: str):
    with pytest.raises(UserError, match=says):
        splits.draw(many(), POINT, *arguments)


@pytest.mark.parametrize(
    ("counts", "chosen"), [([2, 2, 2, 2, 2], (5, 2)), ([5, 5, 1, 1], (2, 5)), ([3, 2, 2], (3, 2)), ([1], (1, 1))]
)
def test_what_is_advised_is_most_demonstrations(counts: list[int], chosen: tuple[int, int]):
    context_of = np.repeat(np.arange(len(counts)), counts)
    shown = Demonstrations("point", np.zeros((5, 2)), context_of, np.zeros((sum(counts), 8)), None, "test")
    assert splits.largest(shown) == chosen
    assert splits.draw(shown, POINT, 0, chosen[0], 0, chosen[1]).demonstrations.shape == chosen


def test_contexts_are_drawn_evenly_from_the_groups_of_a_task():
    # Contexts 0 to 8 are demonstrated; only 0 and 1 are in the first group.
    grouped = replace(POINT, source=Source(group=lambda contexts: (contexts[:, 0] > 1).astype(int)))
    for seed in range(5):
        split = splits.draw(many(), grouped, seed, 4, 4, 2)
        assert np.sum(split.train_contexts[:, 0] <= 1) == 2


def test_what_was_recorded_for_no_run_is_learned_from_as_it_is():
    said: list[str] = []
    assert splits.suited(many(), 6, 5, said.append) == (6, 5)
    assert not said
    assert splits.suited(many(), 6, 6, said.append) == (8, 5)
    assert said == ["8 contexts with 5 of their demonstrations are learned from, as the recordings have them"]
    alone = Demonstrations("point", np.arange(80.0).reshape(40, 2), np.arange(40), np.zeros((40, 8)), None, "test")
    assert splits.suited(alone, 6, 5, said.append) == (30, 1)
