"""Demonstrations at a glance: counted by context, judged, compared."""

import jax.numpy as jnp
import numpy as np
import pytest

from helpers import POINT, movement
from vigor.demonstrations import summary
from vigor.demonstrations.dataset import Demonstrations
from vigor.demonstrations.preprocessing import fit
from vigor.demonstrations.summary import summarise


def test_summary():
    goals = np.array([[1.0, 0.0], [1.0, 0.05], [-1.0, 0.0], [0.0, 1.0]])
    weights = POINT.promp.fit(np.stack([movement(tuple(goal)) for goal in goals]))
    contexts = np.array([[9.0, 9.0], [1.0, 0.0], [0.0, 1.0]])
    set_ = Demonstrations("point", contexts, np.array([1, 1, 1, 2]), weights, None, "test")
    found = summarise(POINT, set_)
    assert found.contexts.tolist() == [1, 2]
    assert found.counts.tolist() == [3, 1]
    np.testing.assert_allclose(found.success, [2 / 3, 1.0])
    np.testing.assert_allclose(found.distance, [1.9 / 3, 0.0], atol=0.02)
    assert found.solutions.tolist() == [2, 1]
    movements = np.asarray(POINT.promp.rollout(jnp.asarray(weights)))
    pairs = [(0, 1), (0, 2), (1, 2)]
    apart = [np.sqrt(np.mean(np.sum((movements[i] - movements[j]) ** 2, axis=1))) for i, j in pairs]
    np.testing.assert_allclose(found.spread, [np.mean(apart), 0.0], rtol=1e-5)


def some_set(extra: list[np.ndarray], context: int = 0) -> Demonstrations:
    """Ten movements to a goal, a little different, and further ones of the same context."""
    rng = np.random.default_rng(0)
    recordings = [movement((1.0, 0.0)) + 0.01 * rng.normal(size=2) * np.linspace(0, 1, 40)[:, None] for _ in range(10)]
    recordings += extra
    return Demonstrations(
        "point",
        np.array([[1.0, 0.0]]),
        np.zeros(len(recordings), int),
        fit(POINT, recordings),
        tuple(recordings),
        "test",
    )


def test_nothing_stands_out_among_what_is_alike():
    assert summary.outliers(POINT, some_set([])) == ()


def test_what_is_far_or_badly_fitted_stands_out():
    aside = movement((1.0, 0.0)) + np.sin(np.linspace(0, np.pi, 40))[:, None] ** 2 * (0.0, 0.8)
    shaken = (
        movement((1.0, 0.0))
        + 0.2 * np.sin(np.linspace(0, 60, 40))[:, None] * np.sin(np.linspace(0, np.pi, 40))[:, None]
    )
    found = summary.outliers(POINT, some_set([aside, shaken]))
    said = [str(item) for item in found]
    assert any(line.startswith("demonstration 11 of context 1 is far from the others") for line in said)
    assert any(line.startswith("demonstration 12 of context 1 is badly fitted") for line in said)
    assert {item.number for item in found} == {10, 11}


def test_recordings_lie_on_their_fits_whether_or_not_their_ends_were_held():
    kept = some_set([])
    plain = Demonstrations(
        "point", kept.contexts, kept.context_of, fit(POINT, kept.recordings, 0.0), kept.recordings, "test"
    )
    for set_, end in ((kept, 40 / 46), (plain, 1.0)):
        shown = summary.recorded(POINT, set_, 461)
        still = np.max(np.abs(shown - shown[:, -1:]), axis=(0, 2)) < 1e-3
        assert np.argmax(still) / 460 == pytest.approx(end, abs=0.03)
    assert summary.recorded(POINT, Demonstrations("point", [[0, 0.0]], [0], kept.weights[:1], None, ""), 9) is None


def test_what_contexts_lack_is_said():
    goals = [(1.0, 0.0)] * 5 + [(-1.0, 0.0), (0.0, 1.0)]
    weights = POINT.promp.fit(np.stack([movement(goal) for goal in goals]))
    set_ = Demonstrations("point", np.eye(2), np.array([0] * 6 + [1]), weights, None, "test")
    assert summary.lacking(POINT, summarise(POINT, set_)) == [
        "1 context has fewer than the 5 demonstrations that a run learns from: context 2 has 1",
        "1 context has fewer distinct movements than the 2 of others: 2",
    ]
