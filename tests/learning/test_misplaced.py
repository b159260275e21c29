"""Misplaced demonstrations: where they are seen, and how much they count."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from helpers import quick
from two_targets import EACH, STEPS, TASK, problem
from vigor.learning.density_ratio import Classes
from vigor.learning.misplaced import with_misplaced

NETWORKS, POLICY = 2, 4
EMPTY = jnp.zeros((NETWORKS, POLICY, STEPS, 4))
SAMPLES = Classes(EMPTY, EMPTY, jnp.ones(EMPTY.shape[:2]))
add = quick(
    lambda share, problem, samples: with_misplaced(jax.random.key(0), TASK, share, problem, samples), static_argnums=0
)


def misplaced(share):
    """Misplaced demonstrations that every network sees, and the shares of everything that is not demonstrated."""
    found = add(share, problem(), SAMPLES)
    np.testing.assert_array_equal(found.demonstrations, EMPTY)
    np.testing.assert_array_equal(found.policy[:, :POLICY], EMPTY)
    return np.asarray(found.policy[:, POLICY:]), np.asarray(found.shares)


def test_misplaced_demonstrations_are_seen_on_the_way_to_another_context():
    found, _ = misplaced(0.25)
    contexts = np.asarray(problem().train_contexts)
    for drawn in found:
        for number, seen in enumerate(drawn):
            own, path = contexts[number // EACH], np.asarray(problem().trajectories[number])
            # The distances to both targets along a path tell the targets by least squares.
            targets = []
            for feature in range(2):
                rows = np.column_stack([2 * path, np.ones(len(path))])
                fitted = np.linalg.lstsq(rows, (path**2).sum(axis=1) - seen[:, feature] ** 2, rcond=None)[0]
                targets.append(fitted[:2])
            moved = np.concatenate(targets) - own
            others = np.delete(contexts, number // EACH, axis=0) - own
            ways = (others @ moved) / (others**2).sum(axis=1)
            off = np.linalg.norm(others * ways[:, None] - moved, axis=1)
            assert off.min() < 2e-2
            assert -1e-2 < ways[off.argmin()] < 1 + 1e-2
            # As smooth as it was.
            np.testing.assert_allclose(seen[:, 2:], problem().demonstrations[number][:, 2:], atol=1e-6)
    assert np.abs(found[0] - found[1]).max() > 1e-2


@pytest.mark.parametrize("share", [0.25, 2.0])
def test_misplaced_demonstrations_count_by_their_setting(share):
    _, shares = misplaced(share)
    np.testing.assert_allclose(shares[:, POLICY:].sum(axis=1), share * shares[:, :POLICY].sum(axis=1), rtol=1e-5)


def test_nothing_is_misplaced_where_nothing_shall_be():
    assert with_misplaced(jax.random.key(0), TASK, 0.0, problem(), SAMPLES) is SAMPLES


def test_a_single_training_context_has_no_other_to_be_misplaced_in():
    alone = problem()._replace(
        shown_contexts=problem().shown_contexts[:1],
        demonstrations=problem().demonstrations[:EACH],
        starts=problem().starts._replace(weights=problem().starts.weights[:EACH]),
        trajectories=problem().trajectories[:EACH],
    )
    assert with_misplaced(jax.random.key(0), TASK, 1.0, alone, SAMPLES) is SAMPLES
