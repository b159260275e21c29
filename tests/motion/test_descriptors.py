"""Descriptors recomputed in numpy, and against those published."""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from vigor.motion import descriptors
from vigor.motion.descriptors import Motion
from vigor.tasks.reachers import panda_reacher, planar_reacher

PUBLISHED = Path(__file__).parents[3] / "shared" / "published" / "VIGOR" / "environments"

STEPS, JOINTS = 6, 3


@pytest.fixture(scope="module")
def motion():
    rng = np.random.default_rng(0)
    parts = rng.normal(size=(STEPS, JOINTS)), rng.normal(size=(STEPS, 4, 2)), rng.normal(size=5)
    return Motion(*(jnp.asarray(part, jnp.float32) for part in parts))


def squared_steps(joints, order):
    """Squared differences [T, joints], by the loop; zeros where there are too few steps before."""
    joints = np.asarray(joints, np.float64)
    rows = np.zeros_like(joints)
    for t in range(order, len(joints)):
        step = joints[t] - joints[t - 1]
        rows[t] = step if order == 1 else step - (joints[t - 1] - joints[t - 2])
    return rows**2


def test_the_end_effector_is_the_last_point(motion):
    np.testing.assert_array_equal(motion.effector, motion.points[:, 3])


def test_distance_to_reads_its_target_from_the_context(motion):
    found = descriptors.distance_to(slice(2, 4))(motion)
    gap = np.asarray(motion.points[:, 3], np.float64) - np.asarray(motion.context[2:4], np.float64)
    np.testing.assert_allclose(found, np.sqrt((gap**2).sum(axis=1)), rtol=1e-5)


def test_link_distances_are_those_of_all_between_base_and_end_effector(motion):
    found = descriptors.link_distances_to(slice(2, 4))(motion)
    gap = np.asarray(motion.points[:, 1:3], np.float64) - np.asarray(motion.context[2:4], np.float64)
    np.testing.assert_allclose(found, np.sqrt((gap**2).sum(axis=2)), rtol=1e-5)


@pytest.mark.parametrize(
    ("order", "summed", "mean", "jointwise"),
    [
        (
            1,
            descriptors.squared_velocity,
            descriptors.mean_squared_velocity,
            descriptors.joint_squared_velocities,
        ),
        (
            2,
            descriptors.squared_acceleration,
            descriptors.mean_squared_acceleration,
            descriptors.joint_squared_accelerations,
        ),
    ],
    ids=["velocity", "acceleration"],
)
def test_smoothness_is_squared_differences(motion, order, summed, mean, jointwise):
    expected = squared_steps(motion.joints, order)
    np.testing.assert_allclose(jointwise(motion), expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(summed(motion), expected.sum(axis=1), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(mean(motion), expected.mean(axis=1), rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(jointwise(motion)[:order], 0.0)


def test_joints_and_context_are_passed_on(motion):
    np.testing.assert_array_equal(descriptors.joint_angles(motion), motion.joints)
    np.testing.assert_array_equal(descriptors.context(motion), np.tile(motion.context, (STEPS, 1)))


def test_another_unit_keeps_the_name(motion):
    target = descriptors.distance_to(slice(1, 3))
    changed = descriptors.scaled(target, 10.0)
    np.testing.assert_allclose(changed(motion), target(motion) / 10.0)
    assert descriptors.name_of(changed, ("a", "goal x", "goal y")) == "distance to goal"


def test_describe_puts_descriptors_side_by_side(motion):
    chosen = (descriptors.squared_velocity, descriptors.joint_angles, descriptors.context)
    table = descriptors.describe(motion, chosen)
    assert table.shape == (STEPS, 1 + JOINTS + 5)
    np.testing.assert_array_equal(table[:, 0], descriptors.squared_velocity(motion))
    np.testing.assert_array_equal(table[:, 1:4], motion.joints)
    np.testing.assert_array_equal(table[:, 4:], descriptors.context(motion))


def test_distance_has_a_finite_gradient_where_points_coincide():
    gradient = jax.grad(lambda a: jnp.sum(descriptors.distance(a, jnp.ones((2, 3)))))
    np.testing.assert_array_equal(gradient(jnp.ones((2, 3))), 0.0)
    apart = jnp.asarray([[4.0, 5.0, 1.0], [1.0, 1.0, 1.0]])
    np.testing.assert_allclose(gradient(apart), [[0.6, 0.8, 0.0], [0.0, 0.0, 0.0]], atol=1e-6)


@pytest.mark.skipif(not PUBLISHED.exists(), reason="the published data is not beside the repository")
@pytest.mark.parametrize("task", [planar_reacher.TASK, panda_reacher.TASK], ids=["planar", "panda"])
def test_tasks_see_the_published_descriptors(task):
    folder = PUBLISHED / task.name.replace("-", "_") / "promp_fits"
    weights, expected = (np.load(folder / f"{name}.npz")["arr_0"] for name in ("promp_weights", "geometric"))
    contexts = np.load(folder / "contexts.npy")[: len(weights)].reshape(len(weights), -1)

    def describe(weights, context):
        return jax.vmap(lambda w: task.describe(task.promp.rollout(w), context))(weights)

    with jax.enable_x64(True):
        found = jax.jit(jax.vmap(describe))(jnp.asarray(weights), jnp.asarray(contexts))
        distances = task.distances(
            task.promp.rollout(jnp.asarray(weights)).reshape(-1, task.promp.steps, task.promp.dimensions),
            np.repeat(contexts, weights.shape[1], axis=0),
        )
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert np.all(task.succeeds(distances))
