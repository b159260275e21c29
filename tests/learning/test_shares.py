"""Shares of components: demonstrations vote for what does what they do, and reward decides within a way alone."""

import numpy as np
import pytest
from jax import numpy as jnp

from helpers import POINT, quick
from vigor.learning import shares
from vigor.learning.invariants import Invariants
from vigor.learning.mixture import Mixture
from vigor.learning.problem import described
from vigor.learning.starts import Starts
from vigor.motion.promp import rollout

SIZE = POINT.promp.weights
HERE, FAR = [0.0, 0.0], [2.0, 2.0]
weighed = quick(shares.weighed, static_argnums=0)


@pytest.fixture(scope="module")
def common() -> Invariants:
    paths = rollout(POINT.promp, np.random.default_rng(0).normal(size=(4, SIZE)).astype(np.float32))
    return described(POINT, np.array([HERE, FAR]), paths)[1]


def share(common: Invariants, shown, contexts, means, merit, success) -> np.ndarray:
    """Weights of components with these means and merits in the context HERE."""
    at = Starts(jnp.asarray(shown, jnp.float32), jnp.asarray(contexts, jnp.float32), jnp.ones(SIZE))
    means = jnp.asarray(means, jnp.float32)
    mixtures = Mixture(jnp.asarray(merit, jnp.float32), means, jnp.tile(jnp.eye(SIZE), (len(means), 1, 1)))
    context, own = jnp.asarray([HERE], jnp.float32), Mixture(*(leaf[None] for leaf in mixtures))
    found = weighed(POINT, at, common, context, own, jnp.asarray([success], jnp.float32))
    return np.exp(np.asarray(found.log_weights[0]))


def test_shares_are_those_of_votes(common):
    rng = np.random.default_rng(1)
    shown, means = 0.3 * rng.normal(size=(5, SIZE)), 0.3 * rng.normal(size=(3, SIZE))
    contexts, success, merit = rng.normal(size=(5, 2)), np.array([0.9, 0.5, 0.7]), np.log([0.2, 0.3, 0.5])
    expected = np.zeros(3)
    reach = np.array([np.sqrt(np.mean((own / contexts.std(axis=0)) ** 2)) for own in contexts]) / shares.REACH
    unit = shares.ALIKE * (POINT.judge.distinct or float(common.distinct))
    paths, ours = (np.asarray(rollout(POINT.promp, np.float32(each))) for each in (shown, means))
    for path, vote in zip(paths, np.exp(-reach) / np.exp(-reach).sum(), strict=True):
        apart = np.sqrt([np.mean(np.sum((path - own) ** 2, axis=-1)) for own in ours]) / unit
        theirs = apart <= max(1 / shares.ALIKE, apart.min())
        liked = theirs * np.exp(merit) * success**shares.CAUTION * np.exp(-(apart**2) / 2)
        expected += vote * liked / liked.sum()
    expected *= success**shares.CAUTION
    found = share(common, shown, contexts, means, merit, success)
    np.testing.assert_allclose(found, expected / expected.sum(), rtol=1e-3)


WAYS = np.stack([np.ones(SIZE), 1.001 * np.ones(SIZE), -np.ones(SIZE)]) * 10
"""Components of which the first two go the same way."""


def test_ways_are_gone_as_often_as_by_people_whatever_their_reward(common):
    shown = 10 * np.outer([1, 1, 1, -1], np.ones(SIZE))
    found = share(common, shown, [HERE] * 4, WAYS, np.log([1e-12, 4e-12, 1.0]), np.ones(3))
    np.testing.assert_allclose(found, [0.15, 0.6, 0.25], atol=1e-2)


def test_people_in_nearer_contexts_count_more(common):
    shown = 10 * np.outer([1, -1], np.ones(SIZE))
    found = share(common, shown, [HERE, FAR], WAYS, np.zeros(3), np.ones(3))
    assert found[:2].sum() == pytest.approx(1 / (1 + np.exp(-2 / shares.REACH)), abs=1e-3)


def test_what_fails_is_hardly_drawn(common):
    shown = 10 * np.outer([1, -1], np.ones(SIZE))
    found = share(common, shown, [HERE, HERE], WAYS, np.zeros(3), [1.0, 1.0, 0.1])
    assert found[2] == pytest.approx(0.1**shares.CAUTION, rel=1e-2)
    hopeless = share(common, shown, [HERE, HERE], WAYS, np.zeros(3), np.zeros(3))
    np.testing.assert_allclose(hopeless, [0.25, 0.25, 0.5], atol=1e-2)
