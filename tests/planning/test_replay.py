"""The replay of a run's updates, against one update after the other."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from helpers import POINT, SMALL_SETTINGS, assert_same, quick
from vigor.basics.settings import with_values
from vigor.learning import density_ratio, policy_update, prediction, shares, starts
from vigor.learning.network_training import new_network
from vigor.learning.problem import described
from vigor.learning.starts import Starts
from vigor.motion.shapes import Sphere
from vigor.planning import constraints, replay
from vigor.planning.constraints import Constraints

PLAIN = with_values(SMALL_SETTINGS, invariants=False, scaled=False)
"""Far from demonstrations, and on their scales, rounding decides which way a step goes: so without them."""


def some_ensembles(count: int):
    """Networks [iteration, network, ...] that nobody trained."""
    keys = jax.random.split(jax.random.key(0), (count, 2))
    training = SMALL_SETTINGS.density_ratio.training
    made = quick(jax.vmap(jax.vmap(lambda key: new_network(key, training, POINT.features).parameters)))(keys)
    return jax.tree.map(lambda leaf: leaf.astype(jnp.float16), made)


@pytest.mark.parametrize("limits", [None, Constraints(keep_out=(Sphere((0.3, 0.3), 0.2),))], ids=["free", "bound"])
def test_replay_is_one_update_with_each_ensemble_and_constraints_count_in_the_second_half(limits):
    ensembles, contexts = some_ensembles(3), jnp.array([[0.5, 0.5], [-1.0, 0.2]])
    learned = jax.random.normal(jax.random.key(4), (3, POINT.promp.weights))
    at = Starts(learned, jnp.zeros((3, 2)), jnp.full(POINT.promp.weights, 0.5))
    common = described(POINT, np.asarray(contexts), POINT.promp.rollout(jnp.concatenate([learned, -learned])))[1]
    bounds = constraints.bounds(POINT, limits) if limits else None
    replayed = quick(replay.replay, static_argnums=(1, 2))
    found, rewards = replayed(jax.random.key(3), POINT, PLAIN, at, common, ensembles, contexts, bounds)
    key_start, key_updates = jax.random.split(jax.random.key(3))
    fresh = quick(starts.mixture, static_argnums=2)(key_start, at, 2)
    mixtures = jax.tree.map(lambda leaf: jnp.stack([leaf, leaf]), fresh)
    reward = partial(density_ratio.reward, PLAIN.density_ratio, common)
    cost = partial(constraints.cost, POINT, bounds)
    update = quick(policy_update.update, static_argnums=(1, 2, 3, 7))
    for i in range(3):
        ensemble = jax.tree.map(lambda leaf, i=i: leaf[i].astype(jnp.float32), ensembles)
        key, limiting = jax.random.fold_in(key_updates, i), cost if limits and i >= 1 else None
        settings = PLAIN.update
        mixtures, expected = update(key, POINT, settings, reward, ensemble, contexts, mixtures, limiting)
    success = prediction.component_success(key_start, POINT, common, contexts, mixtures)
    mixtures = shares.weighed(POINT, at, common, contexts, mixtures, success)
    if limits:  # What costs one unit more is drawn e times less.
        units = jax.vmap(jax.vmap(cost))(mixtures.means) / constraints.STRENGTH
        mixtures = mixtures._replace(log_weights=jax.nn.log_softmax(mixtures.log_weights - units))
    found, mixtures = (part._replace(log_weights=jnp.exp(part.log_weights)) for part in (found, mixtures))
    assert_same(found, mixtures, rtol=2e-3, atol=2e-3)
    np.testing.assert_allclose(rewards, expected, rtol=5e-3, atol=5e-3)


@pytest.mark.parametrize(
    ("iterations", "room", "expected"), [(100, 0.05, (0.05, 0.2)), (10, 0.05, (0.25, 1.0)), (10, 0.5, (1.0, 1.0))]
)
def test_few_updates_have_more_room_and_larger_steps(iterations, room, expected):
    settings = replay.farther(with_values(SMALL_SETTINGS, room=room, kl_bound=0.2), iterations)
    assert (settings.update.room, settings.update.kl_bound) == pytest.approx(expected)
