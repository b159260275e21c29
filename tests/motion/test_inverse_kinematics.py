"""Inverse kinematics: the aim is reached by a short move, within the limits."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from vigor.basics.errors import UserError
from vigor.motion.inverse_kinematics import LONGEST, damped_least_squares
from vigor.motion.kinematics import PlanarChain
from vigor.motion.panda import PANDA

ARM = PlanarChain((1.0, 1.0, 1.0))
FREE = jnp.full(3, 10.0)
START = jnp.array([0.3, 0.5, 0.4])


@jax.jit
def reach(aim: jax.Array, limit: jax.Array = FREE, start: jax.Array = START) -> jax.Array:
    return damped_least_squares(lambda joints: ARM(joints)[-1], start, aim, -limit, limit, 1e-3, 60)


@pytest.mark.parametrize("aim", [(1.0, 2.0), (-1.5, 0.5), (0.5, -2.0)])
def test_the_point_gets_to_its_aim(aim):
    np.testing.assert_allclose(ARM(reach(jnp.array(aim)))[-1], aim, atol=1e-3)


def test_many_postures_at_once():
    aims = jnp.array([[1.0, 2.0], [-1.5, 0.5]])
    together = jax.vmap(reach)(aims)
    np.testing.assert_allclose(together, [reach(aim) for aim in aims], atol=1e-5)


def test_an_aim_out_of_reach_is_pointed_at():
    joints = reach(jnp.array([3.0, 4.0]))
    np.testing.assert_allclose(ARM(joints)[-1], [1.8, 2.4], atol=0.1)


def test_joints_keep_to_their_limits():
    limit = jnp.array([0.4, 0.3, 10.0])
    joints = reach(jnp.array([-1.0, 1.0]), limit)  # Starts beyond a limit, too.
    assert np.all(np.abs(joints) <= np.asarray(limit) + 1e-6)


def test_a_step_is_the_shortest_move_that_brings_the_point_nearer():
    """The pseudo-inverse moves nothing along the directions in which the point stays where it is."""
    aim = ARM(START)[-1] + jnp.array([0.01, -0.02])
    joints = damped_least_squares(lambda joints: ARM(joints)[-1], START, aim, -FREE, FREE, 1e-6, 1)
    expected = np.linalg.pinv(np.asarray(jax.jacfwd(lambda joints: ARM(joints)[-1])(START))) @ np.array([0.01, -0.02])
    np.testing.assert_allclose(joints - START, expected, atol=1e-4)
    far = damped_least_squares(lambda joints: ARM(joints)[-1], START, -aim, -FREE, FREE, 1e-6, 1)
    np.testing.assert_allclose(np.linalg.norm(far - START), LONGEST, rtol=1e-5)
    still = damped_least_squares(lambda joints: ARM(joints)[-1], START, ARM(START)[-1], -FREE, FREE, 1e-3, 1)
    np.testing.assert_array_equal(still, START)


def test_a_robot_reaches_a_place_and_an_orientation():
    near = np.array([0.3, 0.2, 0.1, -1.8, 0.2, 2.0, 0.4])
    position, rotation = (np.asarray(part[0]) for part in PANDA.kinematics.frames(jnp.asarray(near, jnp.float32)))
    for wanted in (None, rotation):
        found = PANDA.reach(position, wanted, near + 0.2)
        low, high = np.array(PANDA.position).T
        assert np.all((low <= found) & (found <= high))
        there = PANDA.kinematics.frames(jnp.asarray(found, jnp.float32))
        np.testing.assert_allclose(there.position[0], position, atol=2e-3)
    np.testing.assert_allclose(there.rotation[0], rotation, atol=0.02)
    with pytest.raises(UserError, match="Franka Panda cannot reach"):
        PANDA.reach((3.0, 0.0, 0.0))
