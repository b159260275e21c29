"""Promises of a task: descriptor sets, distances and success."""

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest

from vigor.basics.errors import UserError
from vigor.motion import descriptors
from vigor.motion.kinematics import path
from vigor.motion.promp import ProMP
from vigor.tasks.reachers import panda_reacher, planar_reacher, reaching
from vigor.tasks.task import Judge, Task

POINT = Task(
    name="point",
    promp=ProMP(bases=3, dimensions=2, steps=4),
    context_names=("via x", "via y", "goal x", "goal y"),
    sample_contexts=lambda rng, count: rng.normal(size=(count, 4)),
    kinematics=path,
    descriptors=(descriptors.distance_to(slice(0, 2)), descriptors.squared_velocity),
    judge=Judge(distance=lambda motion: reaching.distance_to_boundaries(motion, slice(0, 2), slice(2, 4), 0.5)),
)
TASKS = pytest.mark.parametrize(
    ("task", "dimensions", "context", "links"),
    [(planar_reacher.TASK, 5, 4, 5), (panda_reacher.TASK, 6, 6, 8)],
    ids=["planar", "panda"],
)


@TASKS
def test_descriptor_sets_have_their_sizes(task, dimensions, context, links):
    sizes = {"geometric": 4, "angles": dimensions + context, "jointwise": 2 * links + 2 * dimensions}
    joints, where = jnp.zeros((task.promp.steps, dimensions)), jnp.ones(context)
    for name, features in sizes.items():
        seen = task.with_descriptors(name)
        assert seen.features == features
        assert seen.describe(joints, where).shape == (task.promp.steps, features)
    assert task.features == 4


@TASKS
def test_an_unknown_descriptor_set_is_named_with_those_known(task, dimensions, context, links):
    with pytest.raises(UserError, match=f"{task.name}.*'smell'.*geometric, angles, jointwise"):
        task.with_descriptors("smell")


@TASKS
def test_contexts_fit_the_task(task, dimensions, context, links):
    drawn = task.sample_contexts(np.random.default_rng(0), 2_000)
    assert drawn.shape == (2_000, context)
    assert task.context_dimension == context
    assert task.promp.dimensions == dimensions
    for region, centre in zip(task.display.regions(drawn[0]), np.split(drawn[0], 2), strict=True):
        np.testing.assert_allclose(region.centre, centre)


def test_planar_contexts_have_the_papers_distribution():
    drawn = planar_reacher.TASK.sample_contexts(np.random.default_rng(0), 20_000)
    np.testing.assert_allclose(drawn.mean(axis=0), [0.5, 2.5, 0.5, -2.5], atol=0.02)
    np.testing.assert_allclose(drawn.std(axis=0), 0.5, atol=0.02)


def test_panda_contexts_lie_around_their_centres():
    offset = panda_reacher.TASK.sample_contexts(np.random.default_rng(0), 20_000) - [0.5, 0.2, 0.6, 0.3, -0.1, 0.3]
    np.testing.assert_allclose(np.abs(offset).max(axis=0), 0.1, atol=1e-3)
    np.testing.assert_allclose(offset.mean(axis=0), 0.0, atol=3e-3)


def test_distances_add_the_gaps_to_both_boundaries():
    context = np.array([3.0, 0.0, 0.0, 4.0])
    through = [[0, 0], [3, 0.4], [1, 1], [0, 4.3]]
    misses_first = [[0, 0], [1, 0], [0, 1], [0, 4]]
    misses_last = [[0, 0], [3, 0], [0, 4], [0, 2]]
    paths = np.array([through, misses_first, misses_last], np.float32)
    distances = POINT.distances(paths, np.tile(context, (3, 1)).astype(np.float32))
    np.testing.assert_allclose(distances, [0.0, 1.5, 1.5], atol=1e-6)
    np.testing.assert_array_equal(POINT.succeeds(distances), [True, False, False])


def test_success_allows_the_tasks_tolerance():
    tolerant = replace(POINT, judge=replace(POINT.judge, success_distance=1.0))
    np.testing.assert_array_equal(tolerant.succeeds(np.array([0.0, 1.0, 1.001])), [True, True, False])


def test_the_straight_planar_arm_is_five_long():
    context = np.array([[5.0, 0.0, 5.0, 0.0], [5.0, 1.0, 5.0, 0.0], [6.0, 0.0, 3.0, 0.0]], np.float32)
    joints = np.zeros((3, 30, 5), np.float32)
    np.testing.assert_allclose(planar_reacher.TASK.distances(joints, context), [0.0, 0.5, 0.5 + 1.5], atol=1e-5)
