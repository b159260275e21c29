"""Behavioural cloning of trajectories: two modes kept or averaged, early stopping, steps, runs."""

import math
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from helpers import POINT, assert_same, member, quick, stacked
from vigor.baselines import bc_trajectory, cloning
from vigor.baselines.bc_trajectory import TrajectoryCloningSettings
from vigor.baselines.cloning import EPOCHS
from vigor.basics.settings import with_values
from vigor.learning.problem import Problem
from vigor.learning.starts import Starts
from vigor.motion.promp import ProMP

TASK = replace(POINT, context_names=("x",), promp=ProMP(bases=2, dimensions=1, steps=5))
"""One number of context, two weights."""
SETTINGS = with_values(
    TrajectoryCloningSettings(), components=2, layers=2, width=32, batch=40, learning_rate=3e-3, epochs=6 * EPOCHS
)
SMALL = with_values(SETTINGS, layers=1, width=8, epochs=4 * EPOCHS)

start = quick(bc_trajectory.start, static_argnums=(0, 1))
advance = quick(bc_trajectory.advance, static_argnums=(0, 1))
mixtures = quick(bc_trajectory.mixtures, static_argnums=(0, 1))


def two_modes(contexts):
    """One of the two modes, [n, 2], of contexts [n, 1]; the other is its opposite."""
    return np.concatenate([1 + 0.5 * contexts, 1 - 0.5 * contexts], axis=1)


def problem(seed=0, contexts=8, each=20, share=0.5):
    """Weights are a function of the context times +1, in that share of demonstrations, or -1; and a little noise."""
    rng = np.random.default_rng(seed)
    known = np.linspace(-1, 1, contexts)[:, None]
    signs = np.where(np.arange(each) < share * each, 1.0, -1.0)
    weights = signs[None, :, None] * two_modes(known)[:, None] + 0.05 * rng.normal(size=(contexts, each, 2))
    test = np.array([[-0.55], [0.1], [0.7]])
    shown = jnp.asarray(weights.reshape(-1, 2), jnp.float32)
    known, test, nothing = jnp.asarray(known, jnp.float32), jnp.asarray(test, jnp.float32), jnp.zeros(())
    at = Starts(shown, jnp.repeat(known, each, axis=0), nothing)
    return Problem(jax.random.key(seed), known, test, known, nothing, at, nothing, nothing)


def learned(settings, known):
    """The policies of all contexts after training, as weights, means and deviations of their components."""
    problems = stacked([known])
    states = advance(TASK, settings, problems, start(TASK, settings, problems), settings.cloning.steps)
    found = member(mixtures(TASK, settings, problems, states), 0)
    return np.exp(found.log_weights), np.asarray(found.means), np.diagonal(found.roots, axis1=2, axis2=3)


# The policy ----------------------------------------------------------------------------------------------------------


def test_the_likelihood_of_a_single_demonstration_has_a_bound():
    settings = with_values(SMALL, components=1, learning_rate=0.01, batch=1, entropy=0.0)
    _, means, deviations = learned(settings, problem(contexts=1, each=1))
    assert np.all(deviations[0] >= math.exp(-5) * (1 - 1e-5))
    assert np.all(deviations[0] < 0.1)
    np.testing.assert_allclose(means[0, 0], problem(contexts=1, each=1).starts.weights[0], atol=0.05)


# Two modes -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def contexts():
    return np.asarray(problem().contexts)


def test_two_components_keep_both_modes(contexts):
    """In demonstrated contexts and between them."""
    weights, means, deviations = learned(SETTINGS, problem())
    np.testing.assert_allclose(weights, 0.5, rtol=1e-6)
    order = np.argsort(means[:, :, 0], axis=1)[..., None]
    low, high = np.moveaxis(np.take_along_axis(means, order, axis=1), 1, 0)
    np.testing.assert_allclose(low, -two_modes(contexts), atol=0.15)
    np.testing.assert_allclose(high, two_modes(contexts), atol=0.15)
    assert deviations.max() < 0.2


def test_one_component_averages_the_modes(contexts):
    _, means, deviations = learned(with_values(SETTINGS, components=1), problem())
    np.testing.assert_allclose(means[:, 0], 0, atol=0.3)
    np.testing.assert_allclose(deviations[:, 0], two_modes(contexts), rtol=0.3)


@pytest.mark.parametrize("train_weights", [False, True])
def test_weights_are_learned_only_if_asked_for(train_weights):
    """Demonstrations are 70 of one mode and 30 of the other."""
    weights, means, _ = learned(with_values(SETTINGS, train_weights=train_weights), problem(share=0.7))
    first = np.argmax(means[:, :, 0], axis=1)
    assert np.all(np.min(means[:, :, 0], axis=1) < 0)
    found = np.take_along_axis(weights, first[:, None], axis=1)[:, 0]
    np.testing.assert_allclose(found, 0.7 if train_weights else 0.5, atol=0.07 if train_weights else 1e-6)


# Early stopping ------------------------------------------------------------------------------------------------------


def test_early_stopping_returns_the_best_parameters_and_stops():
    settings = with_values(
        SMALL, validation=0.25, patience=2, learning_rate=0.02, batch=6, epochs=30 * EPOCHS, entropy=0.0
    )
    known = problem(contexts=4, each=2, seed=3)
    noise = jnp.asarray(np.random.default_rng(0).normal(size=(8, 2)), jnp.float32)
    known = known._replace(starts=known.starts._replace(weights=noise))
    problems = stacked([known])
    states = [start(TASK, settings, problems)]
    for _ in range(12):
        states.append(advance(TASK, settings, problems, states[-1], 1))
    states = [member(state, 0) for state in states]
    stopped = next(i for i, state in enumerate(states) if state.waited >= settings.cloning.patience)
    assert stopped < 10
    # The same two demonstrations are held out throughout.
    held = jax.random.permutation(jax.random.fold_in(known.key, cloning._SPLIT), 8)[:2]
    centred = known.train_contexts - known.train_contexts.mean()
    losses = [
        float(cloning.loss(state.parameters, settings.cloning, centred[held // 2], known.starts.weights[held]))
        for state in states[1 : stopped + 1]
    ]
    best = 1 + int(np.argmin(losses))
    assert stopped == best + settings.cloning.patience
    assert float(states[stopped].best_loss) == pytest.approx(min(losses), rel=1e-5)
    assert_same(states[stopped].best, states[best].parameters, rtol=0)
    assert np.abs(states[stopped].parameters["output"]["bias"] - states[best].parameters["output"]["bias"]).max() > 0
    # Steps after that change nothing but their number.
    last = states[-1]
    assert last.iteration == 12
    assert_same(
        (last.parameters, last.optimiser, last.best, last.best_loss),
        (states[stopped].parameters, states[stopped].optimiser, states[best].parameters, states[best].best_loss),
        rtol=0,
    )
    found = mixtures(TASK, settings, problems, stacked([last]))
    log_weights, means, _ = cloning.policy(states[best].parameters, settings.cloning, centred)
    assert_same((found.log_weights[0, :4], found.means[0, :4]), (log_weights, means), rtol=1e-4, atol=1e-5)


def test_without_validation_the_last_parameters_count():
    problems = stacked([problem()])
    after = advance(TASK, SMALL, problems, start(TASK, SMALL, problems), 2)
    assert_same(after.best, after.parameters, rtol=0)


# Steps and runs ------------------------------------------------------------------------------------------------------


def test_steps_one_by_one_are_steps_at_once():
    settings = with_values(SMALL, validation=0.2, patience=2, batch=16)
    problems = stacked([problem(0), problem(1)])
    fresh = start(TASK, settings, problems)
    whole, pieces = advance(TASK, settings, problems, fresh, 4), fresh
    for count in (1, 2, 1):
        pieces = advance(TASK, settings, problems, pieces, count)
    np.testing.assert_array_equal(whole.iteration, 4)
    assert_same(pieces, whole, rtol=0)


def test_all_epochs_are_trained_and_no_more():
    settings = with_values(SMALL, epochs=EPOCHS + 30, batch=16)
    assert settings.cloning.steps == 2
    problems = stacked([problem()])
    after = advance(TASK, settings, problems, start(TASK, settings, problems), 2)
    beyond = advance(TASK, settings, problems, after, 1)
    assert optax.tree.get(member(after, 0).optimiser, "count") == 130 * 10
    assert_same(beyond.parameters, after.parameters, rtol=0)


def test_runs_of_a_batch_are_those_of_single_runs():
    problems = [problem(0), problem(1)]
    together = advance(TASK, SMALL, stacked(problems), start(TASK, SMALL, stacked(problems)), 2)
    for run in range(2):
        one = stacked([problems[run]])
        alone = advance(TASK, SMALL, one, start(TASK, SMALL, one), 2)
        assert_same(member(together, run).parameters, member(alone, 0).parameters, atol=1e-3)
    output = together.parameters["output"]["weight"]
    assert np.abs(output[0] - output[1]).max() > 0.1
