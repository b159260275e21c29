"""Agreement: what is constant is found, whatever the units, and tells what was demonstrated; nothing breaks it."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goals import CONTEXTS, EACH, OWNERS, RAMP, STEPS, learn, movements
from vigor.basics.contents import check
from vigor.learning import agreement, invariants


def test_what_demonstrations_agree_in_is_found():
    described = movements(np.random.default_rng(0))
    found = learn(described)
    names = [item["quantity"] for item in invariants.in_words(found, ("distance", "side", "noise"))]
    assert set(names[:2]) == {"distance, at the end", "distance, smallest"}
    assert found.relevance[0] > 0.8
    assert found.relevance[2] == pytest.approx(agreement.LEAST)
    np.testing.assert_allclose(found.centre[0], 0.0, atol=0.05)


def test_demonstrations_look_demonstrated_and_misplaced_ones_do_not():
    described = movements(np.random.default_rng(0))
    found = learn(described)
    fresh = movements(np.random.default_rng(1))
    success = np.asarray(invariants.predicted_success(found, jnp.asarray(fresh, jnp.float32)))
    assert success[0].mean() > 0.9
    assert success[1:].mean() < 0.1


def test_several_ways_stay_apart():
    """Ending on either side is demonstrated, and ending between them is not."""
    described = movements(np.random.default_rng(0), sides=(-1.0, 1.0))
    found = learn(described)
    probes = np.repeat(described[0][:1], 3, axis=0)
    probes[:, :, 1] = RAMP * np.array([-1.0, 0.0, 1.0])[:, None]
    left, between, right = np.asarray(invariants.energy(found, jnp.asarray(probes, jnp.float32)))
    assert between > 5 * max(left, right)


@settings(max_examples=8, deadline=None)
@given(
    st.lists(st.floats(1e-3, 1e3), min_size=3, max_size=3),
    st.lists(st.floats(-10.0, 10.0), min_size=3, max_size=3),
)
def test_units_and_zeros_of_descriptors_change_nothing(units, zeros):
    described = movements(np.random.default_rng(0), sides=(-1.0, 1.0))
    changed = described * units + np.array(zeros) * units
    probes = movements(np.random.default_rng(1), sides=(-1.0, 1.0))[:2, ::4]
    one, other = learn(described), learn(changed)
    probes, moved = (jnp.asarray(part, jnp.float32) for part in (probes, probes * units + np.array(zeros) * units))
    np.testing.assert_allclose(invariants.seen(other, moved), invariants.seen(one, probes), rtol=2e-2, atol=5e-3)
    energies = [np.asarray(invariants.energy(*pair)) for pair in ((one, probes), (other, moved))]
    np.testing.assert_allclose(energies[1], energies[0], rtol=5e-2, atol=5e-2)
    np.testing.assert_allclose(one.missed, other.missed, rtol=5e-2)


@pytest.mark.parametrize(
    "change",
    [
        lambda x: np.concatenate([x, np.full_like(x[..., :1], 3.0)], axis=-1),
        lambda x: np.concatenate([x, x[..., :1]], axis=-1),
        lambda x: np.concatenate([x, x[..., :1] - 2 * x[..., 1:2]], axis=-1),
        lambda x: np.concatenate([x[:, :EACH]] * CONTEXTS, axis=1),
        lambda x: x[:2],
        lambda x: x[:1],
        lambda x: np.zeros_like(x),
        lambda x: 1e-20 * x,
        lambda x: 1e15 * x,
    ],
    ids=["constant", "twice", "collinear", "copies", "one shift", "one context", "zero", "tiny", "huge"],
)
def test_nothing_makes_them_infinite(change):
    described = change(movements(np.random.default_rng(0)))
    found = learn(described)
    features = described.shape[-1]
    arrays = {name: np.asarray(value) for name, value in found._asdict().items()}
    check(invariants.CONTENTS, arrays, feature=features, statistic=2 * features, demonstration=len(OWNERS))
    for values in (*found, *everything(found, jnp.asarray(described[0], jnp.float32))):
        assert np.all(np.isfinite(values))


@jax.jit
def everything(found, own):
    """All that is computed from descriptors [n, T, F]."""
    slopes = jax.grad(lambda x: jnp.sum(invariants.log_density(found, x)))(own)
    return slopes, invariants.seen(found, own), invariants.predicted_success(found, own)


@settings(max_examples=8, deadline=None)
@given(st.integers(1, 3), st.sampled_from(["noise", "constant", "twice", "sum"]), st.integers(0, 99))
def test_one_demonstration_of_few_contexts_leaves_finite_numbers(count, kind, seed):
    """Whatever the descriptors, of which the second may be constant, or follow from others."""
    rng = np.random.default_rng(seed)
    described = rng.normal(size=(count, count, STEPS, 3))
    first, third = described[..., 0], described[..., 2]
    described[..., 1] = {"noise": described[..., 1], "constant": 3.0, "twice": first, "sum": first - 2 * third}[kind]
    contexts, trajectories = rng.normal(size=(count, 2)), rng.normal(size=(count, 3, 1))
    found = agreement.learn(described[0], described[1:], trajectories, contexts)
    arrays = {name: np.asarray(value) for name, value in found._asdict().items()}
    check(invariants.CONTENTS, arrays, feature=3, statistic=6, demonstration=count, coordinate=2)
    for values in everything(found, jnp.asarray(described[0], jnp.float32)):
        assert np.all(np.isfinite(values))


@pytest.mark.parametrize("each", [1, 2])
def test_few_demonstrations_are_enough(each):
    rows = np.flatnonzero(np.arange(len(OWNERS)) % EACH < each)
    described = movements(np.random.default_rng(0))[:, rows]
    found = agreement.learn(described[0], described[1:], np.zeros((len(rows), 3, 1)), OWNERS[rows, None])
    fresh = jnp.asarray(movements(np.random.default_rng(1)), jnp.float32)
    success = np.asarray(invariants.predicted_success(found, fresh))
    assert success[0].mean() > 0.8 > 0.3 > success[1:].mean()


def test_what_is_missed_lies_between_demonstrations_left_out_and_misplaced_ones():
    described = movements(np.random.default_rng(0))
    found = learn(described)
    fresh = np.asarray(invariants.energy(found, jnp.asarray(movements(np.random.default_rng(1)), jnp.float32)))
    assert np.quantile(fresh[0], 0.9) < found.missed < np.quantile(fresh[1:], 0.1)
    alone = agreement.learn(described[0], described[:0], np.zeros((len(OWNERS), 3, 1)), np.zeros((len(OWNERS), 1)))
    assert alone.missed == agreement.MISSED


def test_contexts_that_tell_nothing_apart_still_let_demonstrations_succeed():
    """Every movement does the same wherever it is seen, and contexts that are left out are no exception."""
    described = np.repeat(movements(np.random.default_rng(0))[:1], CONTEXTS, axis=0)
    success = np.asarray(invariants.predicted_success(learn(described), jnp.asarray(described[0], jnp.float32)))
    assert np.mean(success > 0.5) > 0.9


def test_a_coordinate_that_never_varies_allows_nothing_more():
    described = movements(np.random.default_rng(0))
    contexts = np.stack([OWNERS, np.full(len(OWNERS), 7)], axis=1)
    found = agreement.learn(described[0], described[1:], np.zeros((len(OWNERS), 3, 1)), contexts)
    assert invariants.stretch(found, jnp.array([1.0, 1000.0])) == 1.0


def test_what_agrees_more_finely_than_a_descriptor_tells_is_no_invariant():
    """A fourth descriptor is the same for all but for rounding, as where demonstrations are computed."""
    rng, described = np.random.default_rng(2), movements(np.random.default_rng(0))
    rounding = 1e-7 * rng.normal(size=(1, len(OWNERS), 1, 1)) * np.ones((CONTEXTS, 1, STEPS, 1))
    computed = np.concatenate([described, rounding], axis=-1)
    fresh = movements(np.random.default_rng(1))[0]
    probes = jnp.asarray(np.concatenate([fresh, np.full_like(fresh[..., :1], 1e-4)], axis=-1), jnp.float32)
    contexts, trajectories = OWNERS[:, None], np.zeros((len(OWNERS), 3, 1))
    for finest, succeeds in (((0.0, 0.0, 0.0, 0.0), False), ((0.0, 0.0, 0.0, 0.01), True)):
        found = agreement.learn(computed[0], computed[1:], trajectories, contexts, finest)
        assert np.all((np.asarray(invariants.predicted_success(found, probes)) > 0.5) == succeeds)


def test_of_many_contexts_some_are_looked_at_from_the_first_to_the_last():
    few, many = np.arange(agreement.ALL), np.arange(100, 400)
    assert agreement.spread(few) is few
    some = agreement.spread(many)
    assert (some[0], some[-1], len(some)) == (100, 399, agreement.SOME)
    assert np.ptp(np.diff(some)) <= 1
