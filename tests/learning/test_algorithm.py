"""Algorithm 1 on a point that must pass a first circle and end in a second: it learns, and repeats itself exactly."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from helpers import assert_same, member, quick
from two_targets import CONTEXTS, SETTINGS, STEPS, TASK, TRAINING, describe, owner_of, problem, rollout
from vigor.basics.errors import UserError
from vigor.basics.settings import with_values
from vigor.learning import algorithm, density_ratio, policy_samples, policy_update
from vigor.learning.algorithm import VigorSettings
from vigor.learning.problem import batch

TRAINED = SETTINGS.density_ratio.training


def runs(*seeds):
    """The same problem for several runs."""
    return batch([problem()._replace(key=jax.random.key(seed)) for seed in seeds])


def advance(settings, problems, states, iterations):
    """States after some iterations, with those before them untouched."""
    return algorithm.advance(TASK, settings, problems, jax.tree.map(jnp.copy, states), iterations)


def success(mixtures, samples=100):
    """Share of successes by context [context], with equal weights of the components."""
    means, roots = np.asarray(mixtures.means), np.asarray(mixtures.roots)
    noise = np.random.default_rng(0).normal(size=(*means.shape[:2], samples, means.shape[2]))
    weights = means[:, :, None] + np.einsum("ckij,cksj->cksi", roots, noise)
    paths = rollout(jnp.asarray(weights.reshape(-1, means.shape[2]), jnp.float32))
    owners = np.repeat(problem().contexts, paths.shape[0] // CONTEXTS, axis=0)
    return TASK.succeeds(TASK.distances(paths, owners)).reshape(CONTEXTS, -1).mean(axis=1)


@pytest.fixture(scope="module")
def begun():
    """Two runs before the first iteration."""
    return algorithm.start(TASK, SETTINGS, runs(1, 2))


@pytest.fixture(scope="module")
def thirteen(begun):
    """The two runs after thirteen iterations, more than one compiled program does, and all their networks."""
    return advance(SETTINGS, runs(1, 2), begun, 13)


def test_iterations_beyond_one_program_are_all_done_and_the_same_one_by_one(begun, thirteen):
    assert algorithm.CHUNK < 13
    states, networks = begun, []
    for number in range(1, 14):
        states, one = advance(SETTINGS, runs(1, 2), states, 1)
        np.testing.assert_array_equal(states.iteration, number)
        networks.append(one)
    assert_same(states, thirteen[0], rtol=0)
    assert_same(jax.tree.map(lambda *leaves: np.concatenate(leaves), *networks), thirteen[1], rtol=0)


def test_a_resumed_run_repeats_the_uninterrupted_one_exactly(begun, thirteen):
    halfway, _ = advance(SETTINGS, runs(1, 2), begun, 6)
    resumed, _ = advance(SETTINGS, runs(1, 2), halfway, 7)
    np.testing.assert_array_equal(resumed.iteration, 13)
    assert_same(resumed, thirteen[0], rtol=0)


def test_advancing_returns_the_networks_of_every_iteration(begun, thirteen):
    after, networks = thirteen
    assert {leaf.shape[:2] for leaf in jax.tree.leaves(networks)} == {(13, 2)}
    halved = jax.tree.map(lambda leaf: leaf.astype(jnp.float16), after.ensemble.parameters)
    assert_same(member(networks, 12), halved, rtol=0)
    earlier = advance(SETTINGS, runs(1, 2), begun, 3)[0].ensemble.parameters
    assert_same(member(networks, 2), earlier, rtol=1e-3, atol=1e-6)


def test_advancing_keeps_every_type_so_that_it_compiles_once(begun, thirteen):
    def kind(leaf):
        return leaf.shape, leaf.dtype, leaf.weak_type

    assert jax.tree.map(kind, thirteen[0]) == jax.tree.map(kind, begun)


def test_no_iterations_change_nothing(begun):
    states, networks = advance(SETTINGS, runs(1, 2), begun, 0)
    assert_same(states, begun, rtol=0)
    assert {len(leaf) for leaf in jax.tree.leaves(networks)} == {0}


@pytest.mark.slow
def test_training_solves_contexts_with_and_without_demonstrations(begun, thirteen):
    after, _ = advance(SETTINGS, runs(1, 2), thirteen[0], 37)
    chance = np.array([success(member(begun.mixtures, i)) for i in range(2)])
    learned = np.array([success(member(after.mixtures, i)) for i in range(2)])
    assert np.mean(chance) < 0.1
    assert np.mean(learned[:, :TRAINING]) > 0.8
    assert np.mean(learned[:, TRAINING:]) > 0.6
    np.testing.assert_array_equal(after.iteration, 50)
    assert np.all((after.epochs >= TRAINED.warmup) & (after.epochs <= TRAINED.epochs))


def test_runs_of_a_batch_do_not_touch_each_other(thirteen):
    states, _ = thirteen
    assert np.abs(states.mixtures.means[0] - states.mixtures.means[1]).max() > 0.1
    after, _ = advance(SETTINGS, runs(2, 1), algorithm.start(TASK, SETTINGS, runs(2, 1)), 13)
    assert_same(jax.tree.map(lambda leaf: leaf[::-1], after), states, rtol=0)


@pytest.mark.slow
def test_the_values_surrogate_without_early_stopping_learns_too():
    settings = with_values(SETTINGS, begin="normal", surrogate="values", samples=40, epochs=15, validation=0.0)
    settings = with_values(settings, iterations=30)
    before = algorithm.start(TASK, settings, runs(1, 2))
    after = algorithm.fit(TASK, settings, runs(1, 2))
    np.testing.assert_array_equal(after.iteration, 30)
    assert np.mean([success(member(before.mixtures, i)) for i in range(2)]) < 0.03
    assert np.mean([success(member(after.mixtures, i)) for i in range(2)]) > 0.5


# One iteration -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def iterate():
    """One iteration of one run: the state after it, and the policy samples that the networks were trained on."""
    split = policy_samples.split

    def watched_iterate(problem, state):
        seen = []

        def watched(settings, problem, samples):
            seen.append(samples)
            return split(settings, problem, samples)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(policy_samples, "split", watched)
            return algorithm.iterate(TASK, SETTINGS, problem, state), *seen

    return quick(watched_iterate)


@pytest.mark.slow
def test_runs_of_a_batch_are_those_of_single_runs(begun, iterate):
    together, _ = advance(SETTINGS, runs(1, 2), begun, 2)
    for i in range(2):
        alone = member(begun, i)
        for _ in range(2):
            alone, _ = iterate(member(runs(1, 2), i), alone)
        found = member(together, i).mixtures
        # The sign of a covariance's axis is anything.
        covariances = [mixtures.roots @ jnp.swapaxes(mixtures.roots, -1, -2) for mixtures in (found, alone.mixtures)]
        np.testing.assert_allclose(*covariances, atol=5e-3)
        assert_same(found._replace(roots=0), alone.mixtures._replace(roots=0), atol=5e-3)
        np.testing.assert_array_equal(together.epochs[i], alone.epochs)


def test_networks_are_shown_components_that_have_lost_their_weight(begun, iterate):
    state = member(begun, 0)
    chosen = np.random.default_rng(0).normal(size=(CONTEXTS, 2, 6)).astype(np.float32)
    one_sided = state.mixtures._replace(
        means=jnp.asarray(chosen),
        roots=1e-6 * state.mixtures.roots,
        log_weights=jnp.broadcast_to(jnp.array([0.0, -1e3]), (CONTEXTS, 2)),
    )
    _, seen = iterate(problem(), state._replace(mixtures=one_sided))
    expected = [np.asarray(describe(chosen[:, component], problem().contexts)) for component in range(2)]
    drawn = np.concatenate(np.asarray(seen))
    of_second = np.abs(drawn - expected[1][owner_of(drawn)]).max(axis=(1, 2)) < 1e-3
    assert 0.2 < of_second.mean() < 0.8


def test_every_iteration_has_randomness_of_its_own(begun, iterate):
    first = member(begun, 0)
    later = first._replace(iteration=first.iteration + 1)
    (one, seen), (other, seen_later) = (iterate(problem(), state) for state in (first, later))
    assert np.abs(seen - seen_later).max() > 1e-2
    assert np.abs(one.mixtures.means - other.mixtures.means).max() > 1e-4


@pytest.mark.parametrize("decay", [0.1, 0.0, 1.0])
def test_the_learning_rate_falls_in_a_straight_line(monkeypatch, begun, decay):
    settings, state = with_values(SETTINGS, iterations=100, decay=decay, misplaced=0.0), member(begun, 0)
    # Instead of training, hand the rate on where the number of epochs would be.
    nothing = jnp.zeros((TRAINED.networks, 10, STEPS, TASK.features))
    monkeypatch.setattr(policy_samples, "draw", lambda *arguments: nothing)
    monkeypatch.setattr(
        density_ratio, "train", lambda key, network, settings, training, validation, rate: (network, rate)
    )
    monkeypatch.setattr(policy_update, "update", lambda *arguments: (state.mixtures, state.reward))
    iterate = quick(lambda number: algorithm.iterate(TASK, settings, problem(), state._replace(iteration=number)))
    rates = np.array([iterate(jnp.asarray(number)).epochs for number in (0, 25, 50, 75, 99)])
    assert rates.shape == (5, TRAINED.networks)
    np.testing.assert_array_equal(rates[0], 1.0)
    np.testing.assert_allclose(np.diff(rates[:4], axis=0), (decay - 1) / 4, atol=1e-6)
    np.testing.assert_allclose(rates[-1], decay, atol=0.011)


# Settings ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wrong", [{"misplaced": -0.1}, {"misplaced": float("inf")}], ids=str)
def test_impossible_settings_are_refused(wrong):
    with pytest.raises(UserError, match=next(iter(wrong))):
        VigorSettings(**wrong)


def test_the_values_surrogate_needs_enough_samples():
    settings = with_values(SETTINGS, surrogate="values", samples=20)
    with pytest.raises(UserError, match="samples"):
        jax.eval_shape(lambda problem: algorithm.first_state(TASK, settings, problem), problem())


def test_samples_must_be_dealt_out_evenly():
    with pytest.raises(UserError, match="multiple of the number of networks"):
        with_values(SETTINGS, samples=11)
