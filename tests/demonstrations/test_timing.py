"""Time in recordings: stamps that go back, uneven steps, pauses."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import movement
from vigor.basics.errors import UserError
from vigor.demonstrations import timing


@given(st.lists(st.floats(-1e3, 1e3, allow_subnormal=False), min_size=2, max_size=30))
def test_mended_stamps_increase_and_good_steps_stay(stamps: list[float]):
    times = np.array(stamps)
    mended, wrong = timing.increasing(times)
    good = np.diff(times) > 0
    assert wrong == np.sum(~good)
    if np.diff(times)[good].min(initial=1.0) > 1e-6:
        assert np.all(np.diff(mended) > 0)
        np.testing.assert_allclose(np.diff(mended)[good], np.diff(times)[good], atol=1e-9)


def test_what_is_even_stays_as_it_is():
    times, values = np.arange(1000, dtype=np.float32) / np.float32(30), np.random.default_rng(0).normal(size=(1000, 3))
    assert timing.evenly(times, values) is values


def test_a_line_stays_a_line_whatever_its_stamps():
    times = np.cumsum(np.random.default_rng(0).uniform(0.01, 0.03, 200))
    even = timing.evenly(times, np.stack([times, -2 * times], axis=1))
    np.testing.assert_allclose(even[:, 0], np.linspace(times[0], times[-1], len(even)), atol=1e-12)
    np.testing.assert_allclose(even[:, 1], -2 * even[:, 0])


def test_stamps_of_different_units_are_refused():
    with pytest.raises(UserError, match="too uneven to be resampled"):
        timing.evenly(np.array([0.0, 1e-6, 2e-6, 3e-6, 1e3]), np.zeros((5, 1)))


@pytest.mark.parametrize("rest", [0, 5, 30])
def test_a_long_rest_at_the_end_is_found(rest: int):
    there = movement((1.0, 0.0), steps=60)
    resting = np.concatenate([there, np.repeat(there[-1:], rest, axis=0)])
    last = timing.begin_of_rest(resting)
    assert (last < len(resting) - 1) == (rest == 30)
    np.testing.assert_allclose(resting[last], [1.0, 0.0], atol=1e-3)


@pytest.mark.parametrize("noise", [0.0, 1e-4])
@pytest.mark.parametrize(("before", "after"), [(0, 60), (60, 60), (60, 0)])
def test_movements_between_pauses_keep_their_slow_begins_and_ends(before: int, after: int, noise: float):
    there = movement((1.0, 0.0), steps=100)
    values = np.concatenate([np.repeat(there[:1], before, axis=0), there, np.repeat(there[-1:], after, axis=0)])
    values += noise * np.random.default_rng(0).normal(size=values.shape)
    (part,) = timing.cut_at_pauses(np.arange(len(values)) / 50, values, 0.8)
    np.testing.assert_allclose(values[part][0], [0.0, 0.0], atol=1e-3 + 10 * noise)
    np.testing.assert_allclose(values[part][-1], [1.0, 0.0], atol=1e-3 + 10 * noise)
    assert before - 20 <= part.start <= before + 10
    assert before + 90 <= part.stop <= before + 120


def test_what_never_moves_is_kept():
    assert timing.begin_of_rest(np.ones((10, 2))) == 9
    assert timing.cut_at_pauses(np.arange(10) / 10, np.ones((10, 2)), 0.5) == [slice(0, 10)]


def test_movements_are_cut_at_pauses_and_gaps_alone():
    there = movement((1.0, 0.0), steps=50)
    still = np.repeat(there[-1:], 30, axis=0)
    values = np.concatenate([there, still, there[::-1], there])
    times = np.arange(len(values)) / 50
    times[130:] += 5.0  # The recorder was stopped between the last two.
    parts = timing.cut_at_pauses(times, values, 0.4)
    assert len(parts) == 3
    assert parts[1].stop == parts[2].start == 130
    assert timing.cut_at_pauses(times, values, 10.0) == [slice(0, len(values))]
