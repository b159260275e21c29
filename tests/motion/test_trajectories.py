"""Trajectories as such: sampled anew, and grouped by how much they differ."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vigor.motion.trajectories import distinct_solutions, resample


@given(st.integers(2, 40), st.integers(2, 40))
def test_a_straight_line_stays_straight(length, steps):
    line = np.linspace(0.0, 1.0, length)[:, None] * np.array([1.0, -2.0]) + 3.0
    expected = np.linspace(0.0, 1.0, steps)[:, None] * np.array([1.0, -2.0]) + 3.0
    np.testing.assert_allclose(resample(line, steps), expected, atol=1e-12)


def test_as_many_steps_leave_a_recording_as_it_is():
    recording = np.random.default_rng(0).normal(size=(7, 3))
    np.testing.assert_allclose(resample(recording, 7), recording, atol=1e-12)
    finer = resample(recording, 13)
    np.testing.assert_allclose(finer[::2], recording, atol=1e-12)
    np.testing.assert_allclose(finer[1::2], (recording[:-1] + recording[1:]) / 2, atol=1e-12)


def around(*offsets: float) -> np.ndarray:
    """Trajectories [n, 4, 2] that are the same but for a constant offset of the first joint."""
    path = np.random.default_rng(0).normal(size=(4, 2))
    return np.stack([path + np.array([offset, 0.0]) for offset in offsets])


@pytest.mark.parametrize(
    ("offsets", "kinds"),
    [
        ((0.0, 0.1, 5.0, 5.1, -5.0), [{0, 1}, {2, 3}, {4}]),
        ((0.0, 0.9), [{0, 1}]),
        ((0.0, 1.1), [{0}, {1}]),
        ((0.0,), [{0}]),
        ((), []),
    ],
)
def test_trajectories_farther_apart_than_the_threshold_are_different_solutions(offsets, kinds):
    """The distance of two trajectories is the root mean square of the joints' distance: here the offset."""
    joints = around(*offsets) if offsets else np.zeros((0, 4, 2))
    numbers = distinct_solutions(joints, threshold=1.0)
    found = {number: set(np.flatnonzero(numbers == number).tolist()) for number in numbers}
    assert sorted(found.values(), key=min) == kinds


def test_the_number_of_steps_does_not_matter():
    coarse = around(0.0, 0.9, 2.5)
    fine = np.repeat(coarse, 5, axis=1)
    np.testing.assert_array_equal(distinct_solutions(coarse, 1.0), distinct_solutions(fine, 1.0))
