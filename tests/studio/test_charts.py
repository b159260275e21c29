"""Charts: angles between their limits, speeds as parts of the largest."""

from dataclasses import replace

import numpy as np

from vigor.motion.robots import Robot
from vigor.studio.charts import chart, charts, courses
from vigor.studio.film import Film
from vigor.tasks import load_task
from vigor.tasks.stage import Picture
from vigor.tasks.task import Arm

PLANAR = load_task("planar-reacher")


def test_courses_of_a_robot_are_parts_of_its_limits():
    names = tuple(f"joint{i}" for i in range(5))
    robot = Robot("arm", names, ((-1.0, 3.0),) * 5, (2.0,) * 5)
    poses = np.linspace(-1.0, 3.0, 101)[:, None] * np.ones(5)
    angles, speeds, limited = courses(replace(PLANAR, arm=Arm(robot)), poses, 10.0)
    assert limited
    np.testing.assert_allclose(angles[[0, 50, 100], 0], [-1.0, 0.0, 1.0], atol=1e-6)
    np.testing.assert_allclose(speeds, 0.2, atol=1e-5)
    assert chart("angles", angles, limited, 0.5).count("<line") == 3


def test_without_a_robot_there_are_no_limits():
    angles, speeds, limited = courses(PLANAR, np.ones((3, 5)), 10.0)
    assert not limited
    np.testing.assert_allclose(angles, 1.0)
    np.testing.assert_allclose(speeds, 0.0, atol=1e-6)
    assert chart("angles", angles, limited, 0.5).count("<line") == 1


def test_a_point_has_coordinates_and_an_arm_has_joints():
    arm, point = (Film([Picture(np.zeros((count, 3)), np.zeros(5))] * 3, 10.0) for count in (6, 1))
    assert "angle of each joint, in radians" in charts(PLANAR, arm)
    assert "each coordinate" in charts(PLANAR, point)
    assert "joint" not in charts(PLANAR, point)
