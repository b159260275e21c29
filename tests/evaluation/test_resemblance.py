import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.distance import jensenshannon

from vigor.demonstrations.repertoire import Repertoire
from vigor.evaluation import resemblance


def at(*places: float) -> np.ndarray:
    """Movements [n, 4, 1] that rest at a place."""
    return np.broadcast_to(np.array(places)[:, None, None], (len(places), 4, 1)).astype(float)


KNOWN = Repertoire(
    movements=at(0.0, 0.1, 5.0, 5.1, 9.0),
    contexts=np.array([[0.0], [0.0], [0.0], [0.0], [1.0]]),
    shown=np.array([True, False, False, False, True]),
    way=np.array([0, 0, 1, 1, 2]),
    names=("zero", "five", "nine"),
    distinct=0.5,
)


def judged(weights, places, succeeded, context=0.0):
    """Resemblance of components [component] with samples at places [component][sample]."""
    joints = np.stack([at(*own) for own in places])
    return resemblance.resemblance(KNOWN, np.array([context]), np.array(weights), joints, np.array(succeeded))


def test_figures_of_a_policy_that_knows_one_of_two_ways():
    found = judged([0.5, 0.5], [[0.0, 0.2], [7.0, 20.0]], [[True, True], [True, True]])
    assert found.coverage == pytest.approx(1 / 3)  # One of three held out, for certain in a hundred movements.
    assert found.precision == pytest.approx(0.5)
    assert found.alike == 1.0
    assert found.demonstrations == pytest.approx((0.5, 0.5, 0.0, 0.0))
    assert found.samples == pytest.approx((0.5, 0.0, 0.0, 0.5))
    assert found.difference == pytest.approx(jensenshannon([0.5, 0.5, 0, 0], [0.5, 0, 0, 0.5], 2))
    assert found.entropy == found.entropy_shown == pytest.approx(np.log(2) / np.log(3))


def test_movements_that_fail_do_not_count():
    found = judged([0.5, 0.5], [[0.0, 5.0], [5.0, 20.0]], [[True, False], [False, False]])
    assert found.coverage == pytest.approx(1 / 3)
    assert found.precision == 1.0
    assert found.samples == (1.0, 0.0, 0.0, 0.0)
    nothing = judged([1.0], [[0.0, 5.0]], [[False, False]])
    assert (nothing.coverage, nothing.precision, nothing.difference) == (0.0, 0.0, 1.0)


def test_coverage_is_what_a_hundred_movements_are_expected_to_cover():
    rare = judged([0.99, 0.01], [[0.0, 0.0], [5.0, 20.0]], [[True, True], [True, True]])
    expected = 1 - 0.995**resemblance.DRAWN
    assert rare.coverage == pytest.approx((1 + 2 * expected) / 3)
    rng = np.random.default_rng(0)
    drawn = rng.choice(2, (20_000, resemblance.DRAWN), p=[0.995, 0.005])
    assert drawn.any(axis=1).mean() == pytest.approx(expected, abs=0.02)


def test_nothing_is_said_where_nothing_is_held_out():
    assert judged([1.0], [[9.0]], [[True]], context=1.0) is None
    assert judged([1.0], [[9.0]], [[True]], context=2.0) is None
    assert resemblance.summary(KNOWN, [None, None]) == {}


def test_a_summary_has_means_over_contexts_where_something_is_held_out():
    some = [judged([1.0], [[0.0]], [[True]]), None, judged([1.0], [[20.0]], [[True]])]
    found = resemblance.summary(KNOWN, some)
    assert found["contexts"] == 2
    assert found["precision"] == 0.5
    assert found["ways"][0] == {"name": "zero", "demonstrations": 0.5, "samples": 0.5}
    assert found["ways"][-1]["samples"] == 0.5


@given(arrays(float, (2, 4), elements=st.floats(0, 1)))
def test_the_difference_of_shares_is_the_jensen_shannon_distance(shares):
    shares = (shares + 1e-3) / (shares + 1e-3).sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):  # Of shares that differ by rounding alone SciPy takes a root below zero.
        expected = np.nan_to_num(jensenshannon(*shares, 2))
    assert resemblance.difference(*shares) == pytest.approx(expected, abs=1e-6)
    assert resemblance.difference(shares[0], shares[0]) == 0
