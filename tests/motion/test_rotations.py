"""Rotations: quaternions, headings and matrices say the same as scipy does."""

import jax.numpy as jnp
import numpy as np
from scipy.spatial.transform import Rotation, Slerp

from vigor.motion import rotations

SOME = Rotation.random(20, random_state=0)


def test_matrices_are_those_of_scipy():
    np.testing.assert_allclose(rotations.of_quaternion(jnp.asarray(3 * SOME.as_quat())), SOME.as_matrix(), atol=1e-6)
    np.testing.assert_allclose(rotations.of_quaternion(jnp.asarray(-SOME.as_quat())), SOME.as_matrix(), atol=1e-6)
    angles = np.linspace(-4, 4, 9)
    turned = Rotation.from_rotvec(angles[:, None] * [0, 0, 1]).as_matrix()
    np.testing.assert_allclose(rotations.about_z(jnp.asarray(angles)), turned, atol=1e-6)


def test_a_heading_is_that_of_the_x_axis_from_above():
    x, y = SOME.as_matrix()[:, :2, 0].T
    np.testing.assert_allclose(rotations.heading(2 * SOME.as_quat()), np.arctan2(y, x), atol=1e-12)


def test_the_way_between_two_is_the_shortest():
    one, other = SOME[0].as_quat(), SOME[1].as_quat()
    for share in (0.0, 0.3, 1.0):
        wanted = Slerp([0, 1], SOME[:2])(share)
        for sign in (1, -1):
            found = Rotation.from_quat(rotations.between(one, sign * other, share))
            assert (found * wanted.inv()).magnitude() < 1e-7
    np.testing.assert_allclose(rotations.between(one, one, 0.5), one)


def test_the_narrowest_arc_goes_over_half_a_turn_where_that_is_shorter():
    begin, width = rotations.narrowest_arc(np.array([3.0, -3.0, 3.1]))
    np.testing.assert_allclose([begin, width], [3.0, 2 * np.pi - 6.0])
    np.testing.assert_allclose(rotations.narrowest_arc(np.array([0.2, -0.1])), [-0.1, 0.3])
    np.testing.assert_allclose(rotations.narrowest_arc(np.array([0.2])), [0.2, 0.0], atol=1e-12)
