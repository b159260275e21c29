"""Distances of lines and capsules: those of MuJoCo, of a fine search, and of closed forms."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from helpers import quick
from vigor.motion.distances import capsule_to_shape, line_to_line
from vigor.motion.shapes import Box, Capsule, Plane, Sphere

SHAPES = {
    "sphere": Sphere((0.3, -0.2, 0.1), 0.4),
    "box": Box((-1.0, -0.2, 0.1), (0.2, 0.5, 0.6)),
    "plane": Plane((1.0, 2.0, -2.0), -0.8),
    "capsule": Capsule((0.2, 0.1, -0.3), (-0.4, 0.5, 0.6), 0.25),
}


def lines(count, seed=0):
    """Both ends [count, 3] of lines; some are points, some lie along each other."""
    starts, ends = np.random.default_rng(seed).uniform(-1.5, 1.5, (2, count, 3))
    ends[:5] = starts[:5]
    return starts, ends


def searched(starts, ends, others, other_ends):
    """Distances by the least of many points on both lines."""
    shares = np.linspace(0, 1, 201)[:, None, None]
    one, two = starts + shares * (ends - starts), others + shares * (other_ends - others)
    return np.array([np.linalg.norm(one[:, None, i] - two[None, :, i], axis=-1).min() for i in range(len(starts))])


def test_the_distance_of_lines_is_that_of_a_search():
    (starts, ends), (others, other_ends) = lines(60), lines(60, seed=1)
    other_ends[5:10] = others[5:10] + (ends - starts)[5:10]  # Parallel ones.
    others[10:12], other_ends[10:12] = starts[10:12], ends[10:12]  # The same.
    other_ends[12:15] = 2 * (starts + 0.3 * (ends - starts))[12:15] - others[12:15]  # Ones that cross.
    found = quick(line_to_line)(*map(jnp.asarray, (starts, ends, others, other_ends)))
    expected = searched(starts, ends, others, other_ends)
    np.testing.assert_allclose(found, expected, atol=0.03)
    assert np.all(found <= expected + 1e-5)
    np.testing.assert_allclose(found[10:15], 0.0, atol=1e-6)


def mujoco_distances(starts, ends, radius, shape):
    """Distances of capsules to a shape by MuJoCo, which gives none for planes."""
    mujoco = pytest.importorskip("vigor.basics.engine").mujoco
    spec = mujoco.MjSpec()
    kinds = mujoco.mjtGeom
    match shape:
        case Sphere():
            spec.worldbody.add_geom(type=kinds.mjGEOM_SPHERE, pos=shape.centre, size=(shape.radius, 0, 0))
        case Box():
            half = (np.array(shape.high) - shape.low) / 2
            spec.worldbody.add_geom(type=kinds.mjGEOM_BOX, pos=shape.centre, size=half)
        case Capsule():
            fromto = (*shape.start, *shape.end)
            spec.worldbody.add_geom(type=kinds.mjGEOM_CAPSULE, fromto=fromto, size=(shape.radius, 0, 0))
    for start, end in zip(starts, ends, strict=True):
        spec.worldbody.add_geom(type=kinds.mjGEOM_CAPSULE, fromto=(*start, *end), size=(radius, 0, 0))
    model = spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    return np.array([mujoco.mj_geomDistance(model, data, 0, i + 1, 10.0, None) for i in range(len(starts))])


@pytest.mark.parametrize("name", ["sphere", "box", "capsule"])
def test_distances_of_capsules_are_those_of_mujoco(name):
    starts, ends = (part[5:] for part in lines(60))
    found = np.asarray(quick(lambda a, b: capsule_to_shape(a, b, jnp.asarray(0.1), SHAPES[name]))(starts, ends))
    expected = mujoco_distances(starts, ends, 0.1, SHAPES[name])
    # Its solver for boxes stops at 1e-6; inside of things depths are measured otherwise.
    apart = expected > 0
    assert apart.sum() > 10
    np.testing.assert_allclose(found[apart], expected[apart], atol=2e-5)
    assert np.all(found[~apart] <= 1e-5)


def test_the_distance_to_a_plane_is_that_of_the_lower_end():
    starts, ends = lines(10)
    found = quick(lambda a, b: capsule_to_shape(a, b, jnp.asarray(0.1), SHAPES["plane"]))(starts, ends)
    normal = np.array([1, 2, -2]) / 3
    np.testing.assert_allclose(found, np.minimum(starts @ normal, ends @ normal) + 0.8 - 0.1, atol=1e-6)


@pytest.mark.parametrize("name", SHAPES)
def test_gradients_are_those_of_finite_differences_and_always_numbers(name):
    """Also for points, and inside of shapes, where slopes have kinks and are not compared."""
    starts, ends = lines(40)
    move = 1e-4 * np.random.default_rng(1).normal(size=starts.shape)

    def distances(a):
        return capsule_to_shape(a, jnp.asarray(ends), jnp.asarray(0.1), SHAPES[name])

    with jax.enable_x64(True):
        compiled = quick(lambda a: (jax.grad(lambda b: jnp.sum(distances(b)))(a), distances(a)))
        gradient, found = compiled(starts)
        ahead, behind = compiled(starts + move)[1], compiled(starts - move)[1]
    gradient, found = np.asarray(gradient), np.asarray(found)
    assert np.all(np.isfinite(gradient))
    smooth = (found > 0) & (np.arange(40) >= 5)
    assert smooth.sum() > 8
    slopes = np.asarray(ahead - behind) / 2
    np.testing.assert_allclose(np.sum(gradient * move, axis=1)[smooth], slopes[smooth], atol=3e-7)


def test_lines_that_meet_have_a_gradient():
    ends = jnp.array([1.0, 0.0, 0.0])
    gradient = jax.grad(lambda a: line_to_line(a, ends, jnp.zeros(3), 2 * ends))(jnp.zeros(3))
    assert np.all(np.isfinite(gradient))
