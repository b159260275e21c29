"""ProMPs against their closed form in numpy, against finite differences, and against the published trajectories."""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from vigor.basics.errors import UserError
from vigor.motion.promp import ProMP, rollout
from vigor.tasks.reachers import panda_reacher, planar_reacher

PUBLISHED = Path(__file__).parents[3] / "shared" / "published" / "VIGOR" / "environments"
published = pytest.mark.skipif(not PUBLISHED.exists(), reason="the published data is not beside the repository")

FIXED = ProMP(bases=5, dimensions=3, steps=30, start=(0.3, -1.0, 2.0), scale=0.5)
FREE = ProMP(bases=6, dimensions=2, steps=20, free_start=True, span=(0.0, 1.0), width=0.01)
PANDA = ProMP(bases=8, dimensions=6, steps=50, span=(0.01, 1.01))
PHASE = np.linspace(0, 1, 41)
FAMILIES = pytest.mark.parametrize("promp", [FIXED, FREE, PANDA], ids=["fixed start", "free start", "panda"])


def expected_basis(promp, phase):
    """Normalised Gaussians, one at a time."""
    dropped = 0 if promp.free_start else 2
    centres = np.linspace(promp.span[0], promp.span[1], promp.bases + dropped)
    bumps = np.array([[np.exp(-((z - c) ** 2) / (2 * promp.width)) for c in centres] for z in phase])
    full = bumps / bumps.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(full.sum(axis=1), 1.0)
    return full[:, dropped:]


def expected_rollout(promp, weights, steps):
    start = np.zeros(promp.dimensions) if promp.start is None else np.array(promp.start)
    return start + expected_basis(promp, np.linspace(0, 1, steps)) @ (
        promp.scale * np.asarray(weights, np.float64).reshape(promp.bases, promp.dimensions)
    )


def random_weights(promp, *batch):
    return np.random.default_rng(promp.bases).normal(size=(*batch, promp.weights))


compiled_rollout = jax.jit(ProMP.rollout, static_argnums=(0, 2, 3))


def exact_basis(promp, phase):
    """The basis in double precision."""
    with jax.enable_x64(True):
        return np.asarray(promp.basis(jnp.asarray(phase)))


def exact_rollout(promp, weights, steps=None, derivative=0):
    """A rollout in double precision."""
    with jax.enable_x64(True):
        return np.asarray(compiled_rollout(promp, jnp.asarray(weights), steps, derivative))


def load(task, name):
    return np.load(PUBLISHED / task / "promp_fits" / f"{name}.npz")["arr_0"]


@FAMILIES
def test_basis_is_the_closed_form(promp):
    np.testing.assert_allclose(exact_basis(promp, PHASE), expected_basis(promp, PHASE), rtol=1e-12, atol=1e-15)


def test_all_bases_together_sum_to_one():
    np.testing.assert_allclose(np.sum(exact_basis(FREE, PHASE), axis=1), 1.0, rtol=1e-14)


def test_fixed_start_drops_the_first_two_bases_after_normalisation():
    whole = ProMP(bases=7, dimensions=3, steps=30, free_start=True, span=FIXED.span, width=FIXED.width)
    np.testing.assert_allclose(exact_basis(FIXED, PHASE), exact_basis(whole, PHASE)[:, 2:], rtol=1e-14)


@FAMILIES
def test_rollout_is_the_closed_form_in_single_precision(promp):
    weights = random_weights(promp)
    path = rollout(promp, jnp.asarray(weights, jnp.float32))
    assert path.dtype == jnp.float32
    np.testing.assert_allclose(path, expected_rollout(promp, weights, promp.steps), atol=2e-6)


def test_weights_are_ordered_by_base_then_dimension():
    weights = np.zeros(FIXED.weights, np.float32)
    weights[3 * FIXED.dimensions + 1] = 1.0
    moved = np.asarray(rollout(FIXED, jnp.asarray(weights))) - np.array(FIXED.start, np.float32)
    np.testing.assert_array_equal(moved[:, [0, 2]], 0.0)
    shape = 0.5 * expected_basis(FIXED, np.linspace(0, 1, FIXED.steps))[:, 3]
    np.testing.assert_allclose(moved[:, 1], shape, atol=1e-6)


def test_fixed_start_leaves_the_start_pose_from_rest():
    weights = random_weights(FIXED)
    path, velocity = exact_rollout(FIXED, weights), exact_rollout(FIXED, weights, derivative=1)
    np.testing.assert_allclose(path[0], FIXED.start, atol=1e-4)
    assert np.abs(velocity[0]).max() < 1e-2 * np.abs(velocity).max()


def test_free_start_lets_the_weights_choose_the_first_pose():
    target = np.array([3.0, -2.0])
    weights = np.tile(target, FREE.bases)
    np.testing.assert_allclose(exact_rollout(FREE, weights), np.tile(target, (20, 1)), rtol=1e-12)


@given(
    weights=arrays.arrays(np.float64, (2, FIXED.weights), elements=st.floats(-1e3, 1e3)),
    ridge=st.sampled_from([0.0, 1e-6]),
)
@settings(max_examples=30, deadline=None)
def test_fit_returns_the_weights_of_a_rollout(weights, ridge):
    trajectories = np.stack([expected_rollout(FIXED, w, FIXED.steps) for w in weights])
    basis = expected_basis(FIXED, np.linspace(0, 1, FIXED.steps))
    shrinkage = ridge / np.linalg.eigvalsh(basis.T @ basis)[0]
    error = np.linalg.norm(FIXED.fit(trajectories, ridge) - weights, axis=1)
    assert np.all(error <= (shrinkage + 1e-11) * np.linalg.norm(weights, axis=1) + 1e-12)


def test_fit_is_ridge_regression():
    rng = np.random.default_rng(0)
    trajectory = rng.normal(size=(FIXED.steps, FIXED.dimensions))
    basis = expected_basis(FIXED, np.linspace(0, 1, FIXED.steps))
    ridge = 0.3
    stacked = np.vstack([basis, np.sqrt(ridge) * np.eye(FIXED.bases)])
    target = np.vstack([trajectory - np.array(FIXED.start), np.zeros((FIXED.bases, FIXED.dimensions))])
    expected = np.linalg.lstsq(stacked, target, rcond=None)[0] / FIXED.scale
    np.testing.assert_allclose(FIXED.fit(trajectory, ridge), expected.reshape(-1), rtol=1e-9)


def test_fit_takes_trajectories_of_any_length():
    weights = random_weights(FIXED)
    long = expected_rollout(FIXED, weights, 143)
    np.testing.assert_allclose(FIXED.fit(long), weights, rtol=1e-5, atol=1e-6)


@FAMILIES
def test_other_resolutions_agree_at_shared_phases(promp):
    weights = random_weights(promp)
    coarse, fine = exact_rollout(promp, weights, 11), exact_rollout(promp, weights, 101)
    np.testing.assert_allclose(coarse, fine[::10], rtol=1e-12, atol=1e-13)


@FAMILIES
def test_derivatives_are_those_of_finite_differences(promp):
    weights = random_weights(promp)
    steps = 2001
    gap = 1 / (steps - 1)
    path, velocity, acceleration = (exact_rollout(promp, weights, steps, order) for order in range(3))
    central = (path[2:] - path[:-2]) / (2 * gap)
    second = (path[2:] - 2 * path[1:-1] + path[:-2]) / gap**2
    np.testing.assert_allclose(velocity[1:-1], central, atol=2e-4 * np.abs(velocity).max())
    np.testing.assert_allclose(acceleration[1:-1], second, atol=2e-4 * np.abs(acceleration).max())


def test_batches_keep_their_shape():
    weights = random_weights(FIXED, 2, 4)
    paths = rollout(FIXED, jnp.asarray(weights, jnp.float32))
    assert paths.shape == (2, 4, FIXED.steps, FIXED.dimensions)
    assert rollout(FIXED, jnp.asarray(weights, jnp.float32), 17).shape == (2, 4, 17, FIXED.dimensions)
    np.testing.assert_allclose(paths[1, 2], expected_rollout(FIXED, weights[1, 2], FIXED.steps), atol=2e-6)
    fitted = FIXED.fit(np.asarray(paths))
    assert fitted.shape == weights.shape
    np.testing.assert_allclose(fitted, weights, atol=1e-4)


@pytest.mark.parametrize(
    "wrong",
    [
        {"bases": 0},
        {"dimensions": 0},
        {"steps": 2},
        {"start": (0.0,)},
        {"scale": 0.0},
        {"width": -1.0},
        {"span": (1.0, 0.0)},
    ],
    ids=str,
)
def test_impossible_settings_are_refused(wrong):
    with pytest.raises(UserError, match="ProMP"):
        ProMP(**{"bases": 3, "dimensions": 2, "steps": 10} | wrong)


def test_basis_is_that_of_mp_pytorch():
    pytest.importorskip("mp_pytorch", reason="mp_pytorch is not installed")
    import torch
    from mp_pytorch.basis_gn import NormalizedRBFBasisGenerator
    from mp_pytorch.phase_gn import LinearPhaseGenerator

    count, factor = 8, 3.0
    gap = 1 / (count - 3)
    promp = ProMP(count, dimensions=1, steps=25, free_start=True, span=(-gap, 1 + gap), width=gap**2 / factor)
    phase = LinearPhaseGenerator(dtype=torch.float64)
    other = NormalizedRBFBasisGenerator(phase, count, factor, num_basis_outside=1, dtype=torch.float64)
    np.testing.assert_allclose(exact_basis(promp, PHASE), other.basis(torch.tensor(PHASE)), rtol=1e-9)


@published
def test_published_panda_weights_roll_out_to_the_published_joints():
    joints = exact_rollout(panda_reacher.TASK.promp, load("panda_reacher", "promp_weights"))
    # The start pose is given with nine digits.
    np.testing.assert_allclose(joints, load("panda_reacher", "joint"), atol=1e-8)


@published
@pytest.mark.parametrize("task", [planar_reacher.TASK, panda_reacher.TASK], ids=lambda task: task.name)
def test_refitting_published_movements_returns_the_published_weights(task):
    weights = load(task.name.replace("-", "_"), "promp_weights")
    joints = exact_rollout(task.promp, weights)
    np.testing.assert_allclose(task.promp.fit(joints), weights, rtol=1e-4, atol=2e-5)
    np.testing.assert_allclose(task.promp.fit(joints, ridge=0.0), weights, atol=1e-10)


@FAMILIES
def test_poses_at_a_phase_are_those_of_a_rollout(promp):
    weights = jnp.asarray(np.random.default_rng(0).normal(size=promp.weights), jnp.float32)
    phase = jnp.linspace(0.0, 1.0, promp.steps)
    place, speed = jax.jvp(lambda z: promp.at(weights, z), (phase,), (jnp.ones_like(phase),))
    np.testing.assert_allclose(place, promp.rollout(weights), atol=1e-6)
    np.testing.assert_allclose(speed, promp.rollout(weights, derivative=1), rtol=1e-4, atol=1e-4)
