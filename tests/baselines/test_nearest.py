"""Floors without learning, against demonstrations found and moved by hand."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from helpers import POINT
from vigor.baselines import nearest
from vigor.basics.errors import UserError
from vigor.learning.problem import Problem, batch
from vigor.learning.starts import Starts
from vigor.tasks.task import Transfer

D = POINT.promp.weights
CARRYING = replace(POINT, transfer=Transfer(carry=lambda weights, own, to: weights + jnp.tile(to - own, D // 2)))
SETTINGS = nearest.NearestSettings()


def problem() -> Problem:
    """Two training contexts with three demonstrations each, and three contexts to test on."""
    rng = np.random.default_rng(0)
    train = jnp.array([[0.0, 0.0], [1.0, 2.0]])
    at = Starts(jnp.asarray(rng.normal(size=(6, D)), jnp.float32), jnp.repeat(train, 3, axis=0), jnp.ones(D))
    test = jnp.array([[0.1, 0.3], [0.9, 1.9], [5.0, 5.0]])
    return Problem(jax.random.key(0), train, test, train, *[jnp.zeros(())], at, jnp.zeros(()), jnp.zeros(()))


def mixtures(made, task):
    problems = batch([problem(), problem()])
    states = nearest.advance(task, SETTINGS, problems, nearest.start(task, SETTINGS, problems), 1)
    assert states.iteration.tolist() == [1, 1]
    return made(task, SETTINGS, problems, states)


def test_the_nearest_demonstrations_are_copied():
    found, own = mixtures(nearest.copied, POINT), np.asarray(problem().starts.weights).reshape(2, 3, D)
    assert found.means.shape == (2, 5, 3, D)
    np.testing.assert_array_equal(found.means[1], own[[0, 1, 0, 1, 1]])
    np.testing.assert_array_equal(found.roots, 0.0)
    np.testing.assert_allclose(np.exp(found.log_weights).sum(axis=-1), 1.0, rtol=1e-6)


def test_carried_demonstrations_are_moved_into_their_context():
    found, own = mixtures(nearest.carried, CARRYING), np.asarray(problem().starts.weights).reshape(2, 3, D)
    np.testing.assert_array_equal(found.means[0, :2], own)
    np.testing.assert_allclose(found.means[0, 2], own[0] + np.tile([0.1, 0.3], D // 2), rtol=1e-5)
    np.testing.assert_allclose(found.means[0, 4], own[1] + np.tile([4.0, 3.0], D // 2), rtol=1e-5)


def test_a_task_that_says_nothing_of_carrying_cannot_be_carried():
    with pytest.raises(UserError, match="point does not say how movements are carried"):
        nearest.prepare_carried(POINT, SETTINGS, problem())
