"""The way to a movement's start: from exactly where the robot is, within its limits, and through nothing."""

from dataclasses import replace
from functools import cache

import jax.numpy as jnp
import numpy as np
import pytest

from vigor.basics.errors import UserError
from vigor.motion.panda import PANDA
from vigor.motion.shapes import Sphere
from vigor.planning import approach
from vigor.planning.constraints import Constraints
from vigor.planning.trajectories import Trajectory, trajectory
from vigor.tasks.reachers import panda_reacher

ARM = panda_reacher.TASK
REST = np.append(panda_reacher.REST, 0.0)
SLOW = replace(PANDA, velocity=(1e-4,) * 7)


@cache
def moved() -> Trajectory:
    weights = 0.1 * np.random.default_rng(0).normal(size=ARM.promp.weights)
    return trajectory(ARM, weights, Constraints(PANDA, 8.0))


@pytest.mark.parametrize("away", [0.01, 0.5])
def test_a_trajectory_begins_exactly_where_the_robot_is_and_keeps_its_limits(away):
    pose = REST + away * np.array([1, -0.4, 0.3, 0.2, 0.6, 0.5, 0])
    led = approach.led(ARM, moved(), Constraints(PANDA, 8.0), pose)
    np.testing.assert_array_equal(led.positions[0], pose)
    count = len(led.times) - len(moved().times)
    np.testing.assert_array_equal(led.positions[count:], moved().positions)
    np.testing.assert_allclose(np.diff(led.times), 0.01)
    assert led.led == pytest.approx(0.01 * count)
    steps = np.diff(led.positions, axis=0) * 100
    np.testing.assert_allclose(led.velocities[1:-1], (steps[1:] + steps[:-1]) / 2, atol=5e-3)
    assert np.all(np.abs(led.velocities) <= PANDA.velocity)
    assert np.all(np.abs(led.accelerations) <= PANDA.acceleration)
    assert np.all(np.abs(np.diff(steps, axis=0) * 100) <= np.array(PANDA.acceleration) * 1.01)
    if away > approach.NEAR:  # The links go with the joints.
        halfway = led.positions[count // 2, :6]
        np.testing.assert_allclose(led.points[count // 2], ARM.kinematics(jnp.asarray(halfway)), atol=1e-5)


def test_a_robot_that_is_there_is_led_nowhere():
    assert approach.led(ARM, moved(), Constraints(PANDA, 8.0), moved().positions[0]) is moved()


@pytest.mark.parametrize(
    ("pose", "limits", "said"),
    [
        (REST[:6], Constraints(PANDA, 8.0), "7 finite numbers"),
        (np.full(7, np.nan), Constraints(PANDA, 8.0), "7 finite numbers"),
        (REST + 0.5 * np.eye(7)[6], Constraints(PANDA, 8.0), "cannot begin with panda_joint7"),
        (REST + 9 * np.eye(7)[0], Constraints(PANDA, 8.0), "the way from there to its start violates the limit of"),
        (REST + 0.5 * np.eye(7)[0], Constraints(), "no limits are known to lead it there by"),
        (REST + 0.5 * np.eye(7)[0], Constraints(SLOW, 8.0), "samples; at most 200,000 can be written"),
    ],
)
def test_a_way_that_cannot_be_gone_is_refused(pose, limits, said):
    with pytest.raises(UserError, match=said):
        approach.led(ARM, moved(), limits, pose)


def test_a_way_through_a_keep_out_is_refused():
    pose = REST + 1.2 * np.eye(7)[0]
    tip = np.asarray(ARM.kinematics(jnp.asarray((REST + 0.6 * np.eye(7)[0])[:6])))[-1]
    limits = Constraints(PANDA, 8.0, (Sphere(tuple(tip), 0.02),))
    with pytest.raises(UserError, match="the way from there to its start violates keep-out 1"):
        approach.led(ARM, moved(), limits, pose)
