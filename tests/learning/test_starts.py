from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from helpers import POINT, quick
from vigor.learning import invariants, starts
from vigor.learning.problem import described
from vigor.learning.starts import Starts
from vigor.tasks.task import Transfer

DIMENSION = 4
mixture = quick(starts.mixture, static_argnums=2)
many = quick(
    lambda keys, at, components: jax.vmap(lambda key: starts.mixture(key, at, components))(keys), static_argnums=2
)


def at(points) -> Starts:
    return Starts(jnp.asarray(points, jnp.float32), jnp.zeros((len(points), 1)), jnp.ones(np.shape(points)[1]))


def test_every_demonstration_has_a_component():
    points = np.random.default_rng(0).normal(size=(3, DIMENSION)).astype(np.float32)
    found = mixture(jax.random.key(0), at(points), 30)
    np.testing.assert_array_equal(found.means, points)
    np.testing.assert_allclose(np.exp(found.log_weights), 1 / 3, rtol=1e-6)


def test_fewer_components_begin_at_different_demonstrations():
    points = np.random.default_rng(0).normal(size=(12, DIMENSION)).astype(np.float32)
    drawn = many(jax.random.split(jax.random.key(1), 200), at(points), 5)
    which = np.argmin(np.sum((np.asarray(drawn.means)[:, :, None] - points) ** 2, -1), -1)
    np.testing.assert_array_equal(points[which], drawn.means)
    assert all(len(set(row)) == 5 for row in which)
    assert len(set(which[:, 0])) == 12
    np.testing.assert_allclose(np.exp(drawn.log_weights).sum(axis=1), 1, rtol=1e-6)


def test_next_means_are_drawn_by_squared_distance():
    """Two far points beside a crowd: k-means++ draws them almost always, an even draw seldom."""
    crowd = np.random.default_rng(0).normal(size=(40, 2)) * 0.01
    points = np.concatenate([crowd, [[10.0, 0], [0, 10.0]]])
    drawn = many(jax.random.split(jax.random.key(0), 100), at(points), 3)
    assert np.mean(np.sum(np.max(np.abs(drawn.means), -1) > 5, -1) == 2) > 0.95


@pytest.mark.parametrize(
    ("points", "contexts", "room"),
    [
        ([[0.0, 0], [2.0, 0]], [0, 1], [np.sqrt(2), 0.1]),
        ([[0.0, 0], [0.1, 9], [2.0, 0], [2.1, 9]], [0, 0, 1, 1], [np.sqrt(2), 0.1]),
        ([[0.0, 0], [2.0, 2.0]], [0, 0], [np.sqrt(2), np.sqrt(2)]),
        ([[1.0, 2]], [0], [1.0, 1.0]),
        ([[1.0, 2], [1.0, 2]], [0, 1], [1.0, 1.0]),
    ],
    ids=["one axis does not vary", "two ways", "one context", "one point", "the same point twice"],
)
def test_room_is_how_far_the_most_similar_demonstration_of_another_context_is(points, contexts, room):
    found = starts.starts(POINT, np.array(points), np.array(contexts)[:, None])
    np.testing.assert_allclose(found.room, room, rtol=1e-5)
    root = mixture(jax.random.key(0), found, 4).roots[0]
    np.testing.assert_allclose(root, np.diag(room), rtol=1e-5)


CARRYING = replace(POINT, transfer=Transfer(carry=lambda weights, own, to: weights + to - own))
"""Weights move as contexts do."""


def test_a_context_begins_at_demonstrations_of_the_nearest_contexts_carried_into_it():
    points, own = np.array([[0.0, 1.0], [5.0, 1.0], [2.0, 3.0]]), np.array([[0.0], [5.0], [2.0]])
    shown = starts.starts(CARRYING, points, own)
    found = starts.in_context(CARRYING, shown, jnp.array([2.5]), 2)
    np.testing.assert_allclose(found.weights, [[2.5, 3.5], [2.5, 3.5]], rtol=1e-6)
    np.testing.assert_array_equal(found.contexts[:, 0], [2.0, 0.0])
    assert starts.in_context(POINT, shown, jnp.array([2.5]), 2) is shown


def test_room_is_measured_from_what_was_carried():
    """Demonstrations that carrying brings together need no more room than they differ then."""
    points, own = np.array([[0.0, 0.0], [2.0, 2.5]]), np.array([[0.0], [2.0]])
    np.testing.assert_allclose(starts.starts(CARRYING, points, own).room, [0.025, 0.5 / np.sqrt(2)], rtol=0.02)


def test_a_task_can_say_which_contexts_are_near():
    """Here the farthest is the nearest."""
    task = replace(CARRYING, transfer=replace(CARRYING.transfer, away=lambda own, to: -jnp.abs(own - to)[0]))
    points, own = np.array([[0.0, 1.0], [5.0, 1.0], [2.0, 3.0]]), np.array([[0.0], [5.0], [2.0]])
    found = starts.in_context(task, starts.starts(task, points, own), jnp.array([0.5]), 2)
    np.testing.assert_array_equal(found.contexts[:, 0], [5.0, 2.0])


def test_a_mixture_can_begin_at_what_is_likeliest_when_it_is_carried():
    """Demonstrations of four contexts that do best in another: by hand, with the energy of each."""
    rng = np.random.default_rng(0)
    contexts = np.repeat(rng.normal(size=(4, 2)), 3, axis=0).astype(np.float32)
    weights = rng.normal(size=(12, POINT.promp.weights)).astype(np.float32)
    task = replace(POINT, transfer=Transfer(carry=lambda weights, own, to: weights * (1 + jnp.sum(to - own))))
    joints = jax.vmap(POINT.promp.rollout)(weights)
    common = described(task, contexts[::3], joints)[1]
    shown, to = starts.starts(task, weights, contexts), jnp.array([0.3, -0.2])
    found = jax.jit(lambda: starts.likeliest(task, shown, common, to, 5))()
    carried = weights * (1 + np.sum(np.asarray(to) - contexts, axis=1, keepdims=True))
    energies = [float(invariants.energy(common, task.describe_weights(one, to))) for one in jnp.asarray(carried)]
    np.testing.assert_allclose(found.weights, carried[np.argsort(energies)[:5]], rtol=1e-5)
    assert starts.likeliest(POINT, shown, common, to, 5) is shown
