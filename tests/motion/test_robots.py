"""Robots check themselves."""

import math
from dataclasses import replace

import numpy as np
import pytest

from vigor.basics.errors import UserError
from vigor.motion.panda import PANDA
from vigor.motion.panda import chain as panda
from vigor.motion.robots import LinkCapsule, Robot
from vigor.motion.shapes import Capsule

BALL = Capsule((0, 0, 0), (0, 0, 0), 0.1)


@pytest.mark.parametrize(
    "change",
    [
        {"joints": ("a",) * 7},
        {"velocity": (1.0,)},
        {"velocity": (math.nan,) * 7},
        {"thickness": -1.0},
        {"acceleration": (math.inf,) * 7},
        {"kinematics": None},
        {"pairs": ((0, 99),)},
        {"capsules": (LinkCapsule("link99", BALL),)},
    ],
)
def test_a_robot_checks_itself(change):
    with pytest.raises(UserError):
        replace(PANDA, **change)


def test_kinematics_have_as_many_joints_as_limits():
    with pytest.raises(UserError, match="have 7 joints, its limits 2"):
        Robot("two", ("a", "b"), ((-1.0, 1.0),) * 2, (1.0,) * 2, kinematics=panda())


def test_a_speed_that_is_not_known_is_infinite():
    assert replace(PANDA, velocity=(math.inf,) * 7).velocity[0] == math.inf


def test_robots_are_the_same_if_all_of_them_is():
    assert hash(replace(PANDA)) == hash(PANDA)
    assert replace(PANDA) == PANDA


def test_random_poses_are_within_limits_and_always_the_same():
    free = replace(PANDA, position=((-math.inf, math.inf), *PANDA.position[1:]))
    poses = free.random_poses(200)
    low, high = np.array(PANDA.position).T
    assert poses.shape == (200, 7)
    assert np.all((poses[:, 1:] >= low[1:]) & (poses[:, 1:] <= high[1:]))
    assert np.abs(poses[:, 0]).max() <= np.pi
    np.testing.assert_array_equal(poses, free.random_poses(200))
