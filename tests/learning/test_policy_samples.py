"""Policy samples: drawn evenly from the mixtures of all contexts, and held out as demonstrations are."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from helpers import quick
from two_targets import CONTEXTS, SETTINGS, STEPS, TASK, TRAINING, describe, owner_of, problem
from vigor.basics.settings import with_values
from vigor.learning import policy_samples
from vigor.learning.mixture import Mixture

NETWORKS = 2


@pytest.fixture(scope="module")
def drawn():
    """Movements [context, D] without variance, one in every context, and samples of them by two networks."""
    chosen = np.random.default_rng(0).normal(size=(CONTEXTS, 6)).astype(np.float32)
    still = Mixture(
        jnp.full((CONTEXTS, 2), -np.log(2)),
        jnp.broadcast_to(chosen[:, None], (CONTEXTS, 2, 6)),
        jnp.broadcast_to(1e-6 * jnp.eye(6), (CONTEXTS, 2, 6, 6)),
    )
    given = problem()
    found = quick(lambda key: policy_samples.draw(key, TASK, NETWORKS, given, still))(jax.random.key(0))
    return chosen, np.asarray(found)


def test_samples_come_from_the_mixtures_of_their_contexts(drawn):
    chosen, found = drawn
    expected = np.asarray(describe(chosen, problem().contexts))
    for samples in found:
        np.testing.assert_allclose(samples, expected[owner_of(samples)], atol=1e-4)


def test_every_network_draws_its_own_samples_evenly_from_all_contexts(drawn):
    _, found = drawn
    assert np.abs(found[0] - found[1]).max() > 1e-3
    owners = [owner_of(samples) for samples in found]
    # In random order: those held out for validation must not all come from the same contexts.
    assert np.any(owners[0] != owners[1])
    for owner in owners:
        np.testing.assert_array_equal(np.sort(owner), np.repeat(np.arange(CONTEXTS), 3))


def test_more_contexts_than_demonstrations_are_drawn_from_in_turn():
    few = problem()._replace(demonstrations=problem().demonstrations[:TRAINING])
    mixtures = jax.vmap(lambda key: Mixture(jnp.zeros(1), jax.random.normal(key, (1, 6)), jnp.eye(6)[None]))(
        jax.random.split(jax.random.key(0), CONTEXTS)
    )
    found = quick(lambda key: policy_samples.draw(key, TASK, NETWORKS, few, mixtures))(jax.random.key(0))
    assert found.shape == (NETWORKS, TRAINING, STEPS, 4)
    for samples in np.asarray(found):
        assert len(set(owner_of(samples))) == TRAINING


@pytest.mark.parametrize(("share", "held"), [(0.0, (0, 0)), (0.2, (3, 4))])
def test_every_network_holds_out_samples_of_both_classes(share, held):
    """The same demonstrations whatever the policy samples are, and others than the next network."""
    settings = with_values(SETTINGS, validation=share).density_ratio.training
    policy = jnp.arange(2.0 * 20).reshape(2, 20, 1, 1) * jnp.ones((2, 20, STEPS, 4))
    training, validation = policy_samples.split(settings, problem(), policy)
    assert (validation.demonstrations.shape[1], validation.policy.shape[1]) == held
    for part, classes in enumerate(zip(training, validation, strict=True)):
        assert sum(leaf.shape[1] for leaf in classes) == (15, 20, 20)[part]
    for network in range(NETWORKS):
        both = [np.concatenate([one[network], other[network]]) for one, other in zip(training, validation, strict=True)]
        np.testing.assert_array_equal(np.sort(both[0][:, 3, 0]), np.sort(problem().demonstrations[:, 3, 0]))
        np.testing.assert_array_equal(np.sort(both[1][:, 0, 0]), policy[network, :, 0, 0])
        np.testing.assert_array_equal(both[2], 1.0)
    again = policy_samples.split(settings, problem(), policy + 1)[1]
    np.testing.assert_array_equal(again.demonstrations, validation.demonstrations)
    if share:
        assert np.any(validation.demonstrations[0] != validation.demonstrations[1])
