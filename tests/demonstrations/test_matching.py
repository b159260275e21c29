"""Joints by name, and units that the robot's limits contradict."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from helpers import POINT
from recorded import POINTED
from vigor.basics.errors import UserError
from vigor.demonstrations import matching
from vigor.demonstrations.formats.episodes import Episode, Episodes, Reading
from vigor.motion.panda import PANDA
from vigor.tasks.box_pusher import TASK as PUSHER
from vigor.tasks.reachers.panda_reacher import TASK as REACHER
from vigor.tasks.reachers.planar_reacher import TASK as PLANAR


def having(*names: str, **changes: bool) -> Episodes:
    return Episodes(Path("some"), "some", names, (Episode("one", np.zeros((2, len(names)))),), **changes)


def test_joints_of_a_robot_are_known_also_where_some_stay_still():
    assert [item.joint for item in matching.moved(REACHER) or ()] == list(PANDA.joints[:6])
    assert matching.moved(PLANAR) is None  # No robot,
    assert matching.moved(PUSHER) is None  # and one that follows a path in the plane.


@pytest.mark.parametrize(
    "names", [("y", "gripper", "x"), ("arm/y", "finger_joint", "arm/x"), ("Y.pos", "jaw", "X_pos")]
)
def test_joints_are_found_by_name(names: tuple[str, ...]):
    found = matching.columns(POINTED, having(*names), Reading())
    assert found.joints == (2, 0)
    assert found.gripper == 1
    assert found.notes == (f"{names[1]} is no part of the task's movement",)


def test_joints_can_be_named():
    found = matching.columns(POINTED, having("a", "b", "c"), Reading(joints=("c", "a"), gripper="b"))
    assert (found.joints, found.gripper) == ((2, 0), 1)
    with pytest.raises(UserError, match="has no column 'd'; it has a, b, c"):
        matching.columns(POINTED, having("a", "b", "c"), Reading(joints=("c", "d")))
    with pytest.raises(UserError, match="pointed moves 2 joints, and --joints names 1"):
        matching.columns(POINTED, having("a", "b", "c"), Reading(joints=("c",)))


def test_names_that_differ_are_asked_about():
    with pytest.raises(UserError, match="has the joints a, b where pointed moves x y; give --joints"):
        matching.columns(POINTED, having("a", "b"), Reading())


def test_columns_without_names_are_those_of_the_robot_in_its_order():
    assert matching.columns(POINTED, having("1", "2", named=False), Reading()).joints == (0, 1)
    seven = having(*"1234567", "gripper", named=False)
    assert matching.columns(REACHER, seven, Reading()).joints == tuple(range(6))
    with pytest.raises(UserError, match=r"has 3 columns \(1, 2, 3\) where pointed moves 2"):
        matching.columns(POINTED, having("1", "2", "3", named=False), Reading())


def test_a_task_without_robot_takes_columns_in_their_order_if_it_says_something():
    assert matching.columns(POINT, having("b", "a", "gripper"), Reading()).joints == (0, 1)
    with pytest.raises(UserError, match="give --joints"):
        matching.columns(POINT, having("b", "a", ordered=False), Reading())


ANGLES = np.array([[-2.5, 1.0], [2.0, 2.9]])


@pytest.mark.parametrize(
    ("unit", "values"), [("rad", ANGLES), ("deg", np.rad2deg(ANGLES)), ("percent", ANGLES / 3 * 100), (None, ANGLES)]
)
def test_units_become_radians(unit: str | None, values: np.ndarray):
    (found,), said = matching.in_radians(POINTED, [values], unit)
    np.testing.assert_allclose(found, ANGLES)
    assert bool(said) == (unit is None)


@pytest.mark.parametrize(
    ("unit", "values", "says"),
    [
        (None, np.rad2deg(ANGLES), "--unit deg would fit"),
        ("rad", np.rad2deg(ANGLES), "in rad, y goes .* where the robot has it from -3 to 3; --unit deg would fit"),
        ("rad", ANGLES * 1e4, "check --unit and --joints"),
        ("percent", np.array([[-180.0, 0.0], [180.0, 0.0]]), "in percent, x goes"),
    ],
)
def test_units_that_limits_contradict_are_refused(unit: str | None, values: np.ndarray, says: str):
    with pytest.raises(UserError, match=says):
        matching.in_radians(POINTED, [values], unit)


def test_percent_needs_limits():
    with pytest.raises(UserError, match="percent needs joints that have limits"):
        matching.in_radians(POINT, [ANGLES], "percent")
    free = replace(POINTED.arm.robot, position=((-np.inf, np.inf),) * 2)
    with pytest.raises(UserError, match="percent needs joints that have limits"):
        matching.in_radians(replace(POINTED, arm=replace(POINTED.arm, robot=free)), [ANGLES], "percent")


def test_what_cannot_be_checked_is_said():
    _, said = matching.in_radians(POINT, [ANGLES], None)
    assert said == ["the joints are taken as they are: the task has no robot with limits to check them by"]
