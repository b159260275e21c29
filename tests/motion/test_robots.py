"""Robots: the Panda's limits, and those that URDF files give."""

import math
from dataclasses import replace

import pytest

from vigor.basics.errors import UserError
from vigor.motion.panda import PANDA
from vigor.motion.robots import from_urdf

URDF = """<?xml version="1.0"?>
<robot name="two-link">
  <link name="base"/><link name="upper"/><link name="lower"/><link name="finger"/><link name="other"/>
  <joint name="shoulder" type="revolute"><limit lower="-1.5" upper="2" velocity="1.2" effort="10"/></joint>
  <joint name="weld" type="fixed"/>
  <joint name="elbow" type="continuous"><limit velocity="2.5" effort="10"/></joint>
  <joint name="finger" type="prismatic"><limit upper="0.04" velocity="0.1" effort="1"/></joint>
  <joint name="other_finger" type="prismatic"><mimic joint="finger"/><limit upper="1" velocity="1" effort="1"/></joint>
</robot>
"""


@pytest.fixture
def urdf(tmp_path):
    path = tmp_path / "robot.urdf"
    path.write_text(URDF)
    return path


def test_a_urdf_gives_limits_of_joints_that_move_by_themselves(urdf):
    robot = from_urdf(urdf)
    assert robot.name == "two-link"
    assert robot.joints == ("shoulder", "elbow", "finger")
    assert robot.position == ((-1.5, 2.0), (-math.inf, math.inf), (0.0, 0.04))
    assert robot.velocity == (1.2, 2.5, 0.1)
    assert robot.acceleration is None


def test_named_joints_come_in_the_order_asked_for(urdf):
    robot = from_urdf(urdf, ("elbow", "shoulder"))
    assert robot.joints == ("elbow", "shoulder")
    assert robot.velocity == (2.5, 1.2)


def test_what_a_urdf_does_not_say_is_given(urdf):
    robot = from_urdf(urdf, ("elbow", "shoulder"), acceleration=3.0, thickness=0.05)
    assert robot.acceleration == (3.0, 3.0)
    assert robot.thickness == 0.05
    assert from_urdf(urdf).thickness == 0


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda text: text[:-20], "not a readable URDF"),
        (lambda text: '<?xml version="1.0" encoding="morse"?>' + text, "not a readable URDF"),
        (lambda text: "<mujoco/>", "'mujoco' instead of a robot"),
        (lambda text: "<robot/>", "no moving joints"),
        (lambda text: text.replace(' velocity="1.2"', ""), "no velocity limit"),
        (lambda text: text.replace('"1.2"', '"fast"'), "not numbers"),
        (lambda text: text.replace('"1.2"', '"0"'), "shoulder"),
        (lambda text: text.replace('upper="2"', 'upper="-2"'), "lower limit below"),
    ],
)
def test_a_wrong_urdf_is_one_sentence(urdf, change, said):
    urdf.write_text(change(URDF))
    with pytest.raises(UserError, match=said):
        from_urdf(urdf)


def test_unknown_joints_and_files_are_named(urdf, tmp_path):
    with pytest.raises(UserError, match="no moving joint 'weld'"):
        from_urdf(urdf, ("weld",))
    with pytest.raises(UserError, match="does not exist"):
        from_urdf(tmp_path / "nothing.urdf")


@pytest.mark.parametrize(
    "change",
    [{"joints": ("a",) * 7}, {"velocity": (1.0,)}, {"thickness": -1.0}, {"acceleration": (math.inf,) * 7}],
)
def test_a_robot_checks_itself(change):
    with pytest.raises(UserError):
        replace(PANDA, **change)
