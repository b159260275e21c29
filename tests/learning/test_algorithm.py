"""Algorithm 1 on a point that must pass a first circle and end in a second: it learns, and repeats itself exactly."""

from dataclasses import replace
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from helpers import assert_same, member, quick, stacked
from vigor.basics.errors import UserError
from vigor.demonstrations.dataset import Demonstrations, Split
from vigor.learning import algorithm, density_ratio, policy_update
from vigor.learning.algorithm import Config, Problem
from vigor.learning.density_ratio import Classes, DensityRatio
from vigor.motion import descriptors
from vigor.motion.kinematics import path
from vigor.motion.promp import ProMP
from vigor.tasks.reachers import reaching
from vigor.tasks.task import Judge, Task

STEPS, TRAINING, CONTEXTS = 15, 3, 5
VIA, GOAL = slice(0, 2), slice(2, 4)
POINT = Task(
    name="point",
    promp=ProMP(bases=3, dimensions=2, steps=STEPS),
    context_names=("via x", "via y", "goal x", "goal y"),
    sample_contexts=lambda rng, count: np.array([1.0, 0.5, 0.5, -0.5]) + rng.uniform(-0.3, 0.3, (count, 4)),
    kinematics=path,
    descriptors=(
        descriptors.distance_to(VIA),
        descriptors.distance_to(GOAL),
        descriptors.squared_velocity,
        descriptors.squared_acceleration,
    ),
    judge=Judge(distance=lambda motion: reaching.distance_to_boundaries(motion, VIA, GOAL, 0.2)),
)
NETWORKS = DensityRatio(
    layers=1,
    width=16,
    kernel=3,
    near=(0.2, 0.2),
    networks=2,
    learning_rate=3e-3,
    dropout=0.1,
    epochs=20,
    warmup=5,
    patience=5,
    validation=0.1,
)
CONFIG = Config(components=2, samples=12, kl_bound=0.5, density_ratio=NETWORKS)
rollout = quick(POINT.promp.rollout)


@quick
def describe(weights, contexts):
    return jax.vmap(lambda w, c: POINT.describe(POINT.promp.rollout(w), c))(weights, contexts)


def demonstrations(rng, contexts, each):
    """Weights [n, D] of random movements, bent so that they pass both targets, and their contexts [n, 4]."""
    centres = np.linspace(*POINT.promp.span, 5)
    bumps = np.exp(-((np.array([[0.5], [1.0]]) - centres) ** 2) / (2 * POINT.promp.width))
    basis = (bumps / bumps.sum(axis=1, keepdims=True))[:, 2:]
    owners = np.repeat(contexts, each, axis=0)
    wild = 0.3 * rng.normal(size=(len(owners), 3, 2))
    bent = wild + np.linalg.pinv(basis) @ (owners.reshape(-1, 2, 2) - basis @ wild)
    return bent.reshape(len(owners), 6).astype(np.float32), owners


@pytest.fixture(scope="module")
def problem():
    """One run's problem: three training contexts with five demonstrations each, and two test contexts."""
    rng = np.random.default_rng(0)
    contexts = POINT.sample_contexts(rng, CONTEXTS).astype(np.float32)
    weights, owners = demonstrations(rng, contexts[:TRAINING], 5)
    assert np.all(POINT.succeeds(POINT.distances(rollout(weights), owners)))
    contexts = jnp.asarray(contexts)
    return Problem(
        jax.random.key(1),
        contexts[:TRAINING],
        contexts[TRAINING:],
        describe(weights, owners),
        weights,
        rollout(weights),
    )


def batch(problem, seeds):
    """The same problem for several runs."""
    return stacked([problem._replace(key=jax.random.key(seed)) for seed in seeds])


@partial(quick, static_argnums=0)
def start(config, problems):
    return jax.vmap(lambda problem: algorithm.initial(POINT, config, problem))(problems)


compiled_advance = quick(algorithm.advance, static_argnums=(0, 1))


def advance(config, problems, states, iterations):
    """Any number of iterations."""
    for done in range(0, iterations, algorithm.CHUNK):
        count = jnp.asarray(min(algorithm.CHUNK, iterations - done))
        states, _ = compiled_advance(POINT, config, problems, states, count)
    return states


def success(problem, mixtures, samples=100):
    """Share of successes by context [context], with equal weights of the components."""
    means, roots = np.asarray(mixtures.means), np.asarray(mixtures.roots)
    noise = np.random.default_rng(0).normal(size=(*means.shape[:2], samples, means.shape[2]))
    weights = means[:, :, None] + np.einsum("ckij,cksj->cksi", roots, noise)
    paths = rollout(jnp.asarray(weights.reshape(-1, means.shape[2]), jnp.float32))
    owners = np.repeat(problem.contexts, paths.shape[0] // CONTEXTS, axis=0)
    return POINT.succeeds(POINT.distances(paths, owners)).reshape(CONTEXTS, -1).mean(axis=1)


@pytest.fixture(scope="module")
def pair(problem):
    """Two runs, seven iterations."""
    problems = batch(problem, (1, 2))
    return problems, advance(CONFIG, problems, start(CONFIG, problems), 7)


@pytest.mark.slow
def test_training_solves_contexts_with_and_without_demonstrations(problem, pair):
    problems, states = pair
    before = start(CONFIG, problems)
    after = advance(CONFIG, problems, states, 43)
    chance = np.array([success(problem, member(before.mixtures, i)) for i in range(2)])
    learned = np.array([success(problem, member(after.mixtures, i)) for i in range(2)])
    assert np.mean(chance) < 0.1
    assert np.mean(learned[:, :TRAINING]) > 0.8
    assert np.mean(learned[:, TRAINING:]) > 0.6
    np.testing.assert_array_equal(after.iteration, 50)
    assert np.all((after.epochs >= NETWORKS.warmup) & (after.epochs <= NETWORKS.epochs))


def test_a_resumed_run_repeats_the_uninterrupted_one_exactly(pair):
    problems, states = pair
    halfway = advance(CONFIG, problems, start(CONFIG, problems), 3)
    np.testing.assert_array_equal(halfway.iteration, 3)
    resumed = advance(CONFIG, problems, halfway, 4)
    np.testing.assert_array_equal(resumed.iteration, 7)
    assert_same(resumed, states, rtol=0)


def test_advancing_returns_the_networks_of_every_iteration(pair):
    problems, states = pair
    after, networks = compiled_advance(POINT, CONFIG, problems, start(CONFIG, problems), jnp.asarray(7))
    assert_same(after, states, rtol=0)
    halved = jax.tree.map(lambda leaf: leaf.astype(jnp.float16), after.ensemble.parameters)
    assert_same(jax.tree.map(lambda leaf: leaf[6], networks), halved, rtol=0)
    earlier = advance(CONFIG, problems, start(CONFIG, problems), 3).ensemble.parameters
    assert_same(jax.tree.map(lambda leaf: leaf[2], networks), earlier, rtol=1e-3, atol=1e-6)


def test_runs_of_a_batch_do_not_touch_each_other(problem, pair):
    _, states = pair
    assert np.abs(states.mixtures.means[0] - states.mixtures.means[1]).max() > 0.1
    swapped = batch(problem, (2, 1))
    after = advance(CONFIG, swapped, start(CONFIG, swapped), 7)
    assert_same(jax.tree.map(lambda leaf: leaf[::-1], after), states, rtol=0)


@pytest.mark.slow
def test_runs_of_a_batch_are_those_of_single_runs(problem, pair):
    problems, _ = pair
    together = advance(CONFIG, problems, start(CONFIG, problems), 2)
    iterate = quick(partial(algorithm.iterate, POINT, CONFIG))
    for i in range(2):
        alone = member(start(CONFIG, problems), i)
        for _ in range(2):
            alone = iterate(member(problems, i), alone)
        found = member(together, i).mixtures
        # The sign of a covariance's axis is anything.
        covariances = [mixtures.roots @ jnp.swapaxes(mixtures.roots, -1, -2) for mixtures in (found, alone.mixtures)]
        np.testing.assert_allclose(*covariances, atol=5e-3)
        assert_same(found._replace(roots=0), alone.mixtures._replace(roots=0), atol=5e-3)
        np.testing.assert_array_equal(together.epochs[i], alone.epochs)


@pytest.mark.slow
def test_the_values_surrogate_with_memory_learns_too(problem):
    networks = replace(NETWORKS, epochs=15, validation=0.0)
    config = replace(CONFIG, begin="normal", surrogate="values", samples=40, memory=2, density_ratio=networks)
    problems = batch(problem, (1, 2))
    before = start(config, problems)
    assert before.memory.shape == (2, 1, NETWORKS.networks, 15, STEPS, 4)
    after = advance(config, problems, before, 30)
    assert np.mean([success(problem, member(before.mixtures, i)) for i in range(2)]) < 0.03
    assert np.mean([success(problem, member(after.mixtures, i)) for i in range(2)]) > 0.5


def policy_samples(problem, mixtures, config=CONFIG):
    return quick(lambda: algorithm._policy_samples(jax.random.key(0), POINT, config, problem, mixtures))()


def owner_of(problem, descriptors):
    """Which context each sample belongs to.

    Every movement starts at the origin: the first step's distance to the first target tells the context.
    """
    gaps = np.abs(descriptors[:, :1, 0] - np.linalg.norm(problem.contexts[:, VIA], axis=-1))
    assert np.all(gaps.min(axis=1) < 1e-3)
    return gaps.argmin(axis=1)


def test_every_network_draws_its_own_samples_evenly_from_all_contexts(problem):
    mixtures = member(start(CONFIG, batch(problem, (1, 2))), 0).mixtures
    drawn_by_networks = policy_samples(problem, mixtures)
    assert np.abs(drawn_by_networks[0] - drawn_by_networks[1]).max() > 1e-3
    owners = [owner_of(problem, drawn) for drawn in drawn_by_networks]
    # In random order: those held out for validation must not all come from the same contexts.
    assert np.any(owners[0] != owners[1])
    for owner in owners:
        np.testing.assert_array_equal(np.sort(owner), np.repeat(np.arange(CONTEXTS), 3))


@pytest.fixture(scope="module")
def compare(problem):
    """One iteration with a memory of three: the state after it, and the samples that the networks were trained on."""
    remembering = replace(CONFIG, memory=3)
    split = algorithm._split

    def iterate(state):
        seen = []

        def watched(config, problem, known):
            seen.append(known)
            return split(config, problem, known)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(algorithm, "_split", watched)
            return algorithm.iterate(POINT, remembering, problem, state), *seen

    return member(start(remembering, batch(problem, (1, 2))), 0), quick(iterate)


def test_networks_remember_samples_newest_first(compare):
    state, iterate = compare
    known = []
    for _ in range(4):
        state, seen = iterate(state)
        assert seen.shape == (3, NETWORKS.networks, 15, STEPS, 4)
        known.append([member(seen, i) for i in range(3)])
    fresh = [seen[0] for seen in known]
    for one, other in ((0, 1), (1, 2), (2, 3)):
        assert np.abs(fresh[one] - fresh[other]).max() > 1e-2
    # Nothing is known before the first iteration: its own samples stand in for it.
    assert_same(known[0], [fresh[0], fresh[0], fresh[0]], rtol=0)
    assert_same(known[1], [fresh[1], fresh[0], fresh[0]], rtol=0)
    assert_same(known[2], [fresh[2], fresh[1], fresh[0]], rtol=0)
    assert_same(known[3], [fresh[3], fresh[2], fresh[1]], rtol=0)


def test_fresh_samples_come_from_the_mixtures_of_their_contexts(problem, compare):
    state, iterate = compare
    # Every context has a movement of its own, and no variance.
    chosen = np.random.default_rng(0).normal(size=(CONTEXTS, 1, 6)).astype(np.float32)
    still = state.mixtures._replace(
        means=jnp.broadcast_to(chosen, state.mixtures.means.shape), roots=1e-6 * state.mixtures.roots
    )
    _, seen = iterate(state._replace(mixtures=still))
    expected = np.asarray(describe(chosen[:, 0], problem.contexts))
    for drawn in np.asarray(seen[0]):
        np.testing.assert_allclose(drawn, expected[owner_of(problem, drawn)], atol=1e-4)


def test_fresh_samples_show_components_that_have_lost_their_weight(problem, compare):
    state, iterate = compare
    chosen = np.random.default_rng(0).normal(size=(CONTEXTS, 2, 6)).astype(np.float32)
    one_sided = state.mixtures._replace(
        means=jnp.asarray(chosen),
        roots=1e-6 * state.mixtures.roots,
        log_weights=jnp.broadcast_to(jnp.array([0.0, -1e3]), (CONTEXTS, 2)),
    )
    _, seen = iterate(state._replace(mixtures=one_sided))
    expected = [np.asarray(describe(chosen[:, component], problem.contexts)) for component in range(2)]
    drawn = np.concatenate(np.asarray(seen[0]))
    owner = owner_of(problem, drawn)
    of_second = np.abs(drawn - expected[1][owner]).max(axis=(1, 2)) < 1e-3
    assert 0.2 < of_second.mean() < 0.8


def misplaced(problem, config=CONFIG, policy=4):
    """Misplaced demonstrations that every network sees, and the shares of everything that is not demonstrated."""
    empty = jnp.zeros((NETWORKS.networks, policy, STEPS, 4))
    samples = Classes(empty, empty, jnp.ones(empty.shape[:2]))
    found = quick(lambda: algorithm._with_misplaced(jax.random.key(0), POINT, config, problem, samples))()
    np.testing.assert_array_equal(found.policy[:, :policy], empty)
    return np.asarray(found.policy[:, policy:]), np.asarray(found.shares)


def test_misplaced_demonstrations_are_seen_on_the_way_to_another_context(problem):
    found, _ = misplaced(problem)
    contexts = np.asarray(problem.train_contexts)
    for drawn in found:
        for number, seen in enumerate(drawn):
            own, path = contexts[number // 5], np.asarray(problem.trajectories[number])
            # The distances to both targets along a path tell the targets by least squares.
            targets = []
            for feature in range(2):
                rows = np.column_stack([2 * path, np.ones(len(path))])
                fitted = np.linalg.lstsq(rows, (path**2).sum(axis=1) - seen[:, feature] ** 2, rcond=None)[0]
                targets.append(fitted[:2])
            moved = np.concatenate(targets) - own
            others = np.delete(contexts, number // 5, axis=0) - own
            ways = (others @ moved) / (others**2).sum(axis=1)
            off = np.linalg.norm(others * ways[:, None] - moved, axis=1)
            assert off.min() < 2e-2
            assert -1e-2 < ways[off.argmin()] < 1 + 1e-2
            # As smooth as it was.
            np.testing.assert_allclose(seen[:, 2:], problem.demonstrations[number][:, 2:], atol=1e-6)
    assert np.abs(found[0] - found[1]).max() > 1e-2


@pytest.mark.parametrize("share", [0.25, 2.0])
def test_misplaced_demonstrations_count_by_their_setting(problem, share):
    _, shares = misplaced(problem, replace(CONFIG, misplaced=share))
    np.testing.assert_allclose(shares[:, 4:].sum(axis=1), share * shares[:, :4].sum(axis=1), rtol=1e-5)


def test_a_single_training_context_has_no_other_to_be_misplaced_in(monkeypatch, problem):
    alone = problem._replace(
        train_contexts=problem.train_contexts[:1],
        demonstrations=problem.demonstrations[:5],
        weights=problem.weights[:5],
        trajectories=problem.trajectories[:5],
    )
    rows = []
    monkeypatch.setattr(algorithm, "_with_misplaced", lambda *arguments: rows.append(arguments))
    state = jax.eval_shape(lambda: algorithm.initial(POINT, CONFIG, alone))
    jax.eval_shape(lambda state: algorithm.iterate(POINT, CONFIG, alone, state), state)
    assert not rows


def test_every_iteration_has_randomness_of_its_own(compare):
    first, iterate = compare
    later = first._replace(iteration=first.iteration + 1)
    (one, seen), (other, seen_later) = (iterate(state) for state in (first, later))
    assert np.abs(seen[0] - seen_later[0]).max() > 1e-2
    assert np.abs(one.mixtures.means - other.mixtures.means).max() > 1e-4


@pytest.mark.parametrize("decay", [0.1, 0.0, 1.0])
def test_the_learning_rate_falls_in_a_straight_line(monkeypatch, problem, decay):
    config = replace(CONFIG, iterations=100, density_ratio=replace(NETWORKS, decay=decay))
    state = member(start(CONFIG, batch(problem, (1, 2))), 0)
    # Instead of training, hand the rate on where the number of epochs would be.
    monkeypatch.setattr(
        density_ratio, "train", lambda key, network, settings, training, validation, rate: (network, rate)
    )
    monkeypatch.setattr(policy_update, "update", lambda *arguments: (state.mixtures, state.reward))
    iterate = quick(lambda number: algorithm.iterate(POINT, config, problem, state._replace(iteration=number)))
    rates = np.array([iterate(jnp.asarray(number)).epochs for number in (0, 25, 50, 75, 99)])
    assert rates.shape == (5, NETWORKS.networks)
    np.testing.assert_array_equal(rates[0], 1.0)
    np.testing.assert_allclose(np.diff(rates[:4], axis=0), (decay - 1) / 4, atol=1e-6)
    np.testing.assert_allclose(rates[-1], decay, atol=0.011)


def test_advancing_keeps_every_type_so_that_it_compiles_once(problem):
    problems = batch(problem, (1, 2))
    before = start(CONFIG, problems)
    after, _ = jax.eval_shape(partial(algorithm.advance, POINT, CONFIG), problems, before, jnp.asarray(1))

    def kind(leaf):
        return leaf.shape, leaf.dtype, leaf.weak_type

    assert jax.tree.map(kind, after) == jax.tree.map(kind, before)


def test_a_problem_holds_the_descriptors_of_the_chosen_demonstrations():
    rng = np.random.default_rng(0)
    contexts = POINT.sample_contexts(rng, CONTEXTS)
    weights, _ = demonstrations(rng, contexts[:TRAINING], 4)
    known = Demonstrations("point", contexts, np.repeat(np.arange(TRAINING), 4), weights, None, "a test")
    split = Split(
        train=np.array([2, 0]),
        train_contexts=contexts[[2, 0]],
        test_contexts=contexts[3:],
        demonstrations=np.array([[9, 8], [0, 3]]),
    )
    made = algorithm.problem(POINT, known, split, seed=5)
    np.testing.assert_allclose(made.contexts, contexts[[2, 0, 3, 4]], rtol=1e-6)
    expected = describe(weights[[9, 8, 0, 3]], contexts[[2, 2, 0, 0]].astype(np.float32))
    np.testing.assert_allclose(made.demonstrations, expected, atol=1e-5)
    np.testing.assert_allclose(made.weights, weights[[9, 8, 0, 3]], rtol=1e-6)
    np.testing.assert_array_equal(jax.random.key_data(made.key), jax.random.key_data(jax.random.key(5)))


@pytest.mark.parametrize(
    "wrong", [{"iterations": 0}, {"components": 0}, {"samples": 0}, {"memory": 0}, {"kl_bound": 0.0}], ids=str
)
def test_impossible_settings_are_refused(wrong):
    with pytest.raises(UserError, match=next(iter(wrong))):
        Config(**wrong)


def test_the_values_surrogate_needs_enough_samples(problem):
    config = replace(CONFIG, surrogate="values", samples=20)
    with pytest.raises(UserError, match="samples"):
        jax.eval_shape(lambda problem: algorithm.initial(POINT, config, problem), problem)


def test_samples_must_be_dealt_out_evenly():
    with pytest.raises(UserError, match="multiple of the number of networks"):
        Config(samples=11, density_ratio=NETWORKS)
