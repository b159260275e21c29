"""The ROS 2 node of the examples, against stand-ins for ROS: it looks, approaches, follows, and refuses."""

import json
import runpy
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import ClassVar

import numpy as np
import pytest

from vigor.motion.panda import PANDA
from vigor.planning import export
from vigor.planning.constraints import Constraints
from vigor.planning.trajectories import trajectory
from vigor.tasks.reachers.panda_reacher import TASK

NODE = Path(__file__).parents[1] / "examples" / "ros2" / "follow_plan.py"


class Message(SimpleNamespace):
    """A message of any type: its fields."""


class Future:
    def __init__(self, value=None):
        self.value = value

    def result(self):
        return self.value

    def done(self):
        return self.value is not None

    def set_result(self, value):
        self.value = value


class Robot:
    """A robot with a controller, which goes where it is told; the node's side of ROS."""

    def __init__(self, joints, pose, accepts=True, error_code=0, offers=True, speaks=True):
        self.joints, self.pose = list(joints), list(pose)
        self.accepts, self.error_code, self.offers, self.speaks = accepts, error_code, offers, speaks
        self.goals, self.said, self.pending = [], [], []

    def create_subscription(self, kind, topic, callback, depth):
        self.pending.append(callback)
        return callback

    def destroy_subscription(self, subscription):
        self.pending.remove(subscription)

    def destroy_node(self):
        pass

    def get_logger(self):
        return SimpleNamespace(info=self.said.append, error=self.said.append)

    def spin(self, future, timeout_sec=None):
        order = np.random.default_rng(len(self.goals)).permutation(len(self.joints))
        for callback in self.pending if self.speaks else ():
            callback(Message(name=[self.joints[i] for i in order], position=[self.pose[i] for i in order]))

    def send(self, goal):
        self.goals.append(goal)
        if self.accepts and not self.error_code:
            known = dict(zip(goal.trajectory.joint_names, goal.trajectory.points[-1].positions, strict=True))
            self.pose = [known.get(joint, place) for joint, place in zip(self.joints, self.pose, strict=True)]
        result = Message(result=Message(error_code=self.error_code, error_string="PATH_TOLERANCE_VIOLATED"))
        return Future(Message(accepted=self.accepts, get_result_async=lambda: Future(result)))


@pytest.fixture
def ros(monkeypatch):
    """Modules of ROS that talk to a robot, which a test places in them."""
    place = SimpleNamespace(robot=None)

    class ActionClient:
        def __init__(self, node, kind, name):
            assert name == "/arm/follow_joint_trajectory"

        def wait_for_server(self, timeout_sec):
            return place.robot.offers

        def send_goal_async(self, goal):
            return place.robot.send(goal)

    class Follow:
        Goal: ClassVar = Message

    rclpy = {
        "init": lambda: None,
        "shutdown": lambda: None,
        "create_node": lambda name: place.robot,
        "spin_until_future_complete": lambda node, future, timeout_sec=None: node.spin(future, timeout_sec),
        "task": SimpleNamespace(Future=Future),
    }
    modules = {
        "rclpy": rclpy,
        "rclpy.action": {"ActionClient": ActionClient},
        "control_msgs": {},
        "control_msgs.action": {"FollowJointTrajectory": Follow},
        "control_msgs.msg": {"JointTolerance": Message},
        "trajectory_msgs": {},
        "trajectory_msgs.msg": {"JointTrajectory": Message, "JointTrajectoryPoint": Message},
        "sensor_msgs": {},
        "sensor_msgs.msg": {"JointState": Message},
        "builtin_interfaces": {},
        "builtin_interfaces.msg": {"Duration": Message},
    }
    for name, parts in modules.items():
        module = ModuleType(name)
        module.__dict__.update(parts)
        monkeypatch.setitem(sys.modules, name, module)
    return place


@pytest.fixture(scope="module")
def moved():
    weights = 0.2 * np.random.default_rng(0).normal(size=TASK.promp.weights)
    return trajectory(TASK, weights, Constraints(PANDA, 4.0), rate=50)


@pytest.fixture
def plan(moved, tmp_path) -> Path:
    export.write(tmp_path / "plan.json", moved, "json")
    return tmp_path / "plan.json"


def main(ros, robot, plan, *words) -> int:
    ros.robot = robot
    node = runpy.run_path(str(NODE))
    return node["main"]([str(plan), "--action", "/arm/follow_joint_trajectory", *words])


def test_a_robot_at_the_start_follows_the_plan(ros, moved, plan):
    robot = Robot((*PANDA.joints, "finger"), (*moved.positions[0], 0.04))
    assert main(ros, robot, plan, "--tolerance", "0.05") == 0
    (goal,) = robot.goals
    assert goal.trajectory.joint_names == list(PANDA.joints)
    np.testing.assert_array_equal([point.positions for point in goal.trajectory.points], moved.positions)
    np.testing.assert_array_equal([point.velocities for point in goal.trajectory.points], moved.velocities)
    times = [point.time_from_start.sec + 1e-9 * point.time_from_start.nanosec for point in goal.trajectory.points]
    np.testing.assert_allclose(times, moved.times, atol=1e-9)
    assert [(item.name, item.position) for item in goal.path_tolerance] == [(joint, 0.05) for joint in PANDA.joints]
    assert goal.goal_tolerance == goal.path_tolerance
    np.testing.assert_allclose(robot.pose[:7], moved.positions[-1])


def test_a_robot_nearby_goes_to_the_start_first(ros, moved, plan):
    away = moved.positions[0] + 0.08 * np.eye(7)[2]
    robot = Robot(PANDA.joints, away)
    assert main(ros, robot, plan, "--speed", "0.1") == 0
    first, second = robot.goals
    np.testing.assert_allclose([point.positions for point in first.trajectory.points], [away, moved.positions[0]])
    assert first.trajectory.points[-1].velocities == [0.0] * 7
    seconds = first.trajectory.points[-1].time_from_start
    assert 1.5 * 0.08 / (seconds.sec + 1e-9 * seconds.nanosec) <= 0.1  # The speed in the middle of a smooth step.
    assert len(second.trajectory.points) == len(moved.times)


@pytest.mark.parametrize(
    ("changes", "words", "says", "sent"),
    [
        ({"shift": 0.3}, (), "is 0.300 rad from the plan's start; move the robot nearer than 0.1 rad", 0),
        ({"speaks": False}, (), "no joint state on /joint_states within 5.0 s", 0),
        ({"offers": False}, (), "nobody offers /arm/follow_joint_trajectory", 0),
        ({"joints": tuple("abcdefg")}, (), "the joint states have no panda_joint1", 0),
        ({"accepts": False}, (), "the controller refuses the trajectory", 1),
        ({"error_code": -4}, (), "the controller fails with code -4: PATH_TOLERANCE_VIOLATED", 1),
        ({"shift": 0.05, "error_code": -4}, (), "the controller fails", 1),
    ],
)
def test_what_goes_wrong_ends_it_in_one_sentence(ros, moved, plan, changes, words, says, sent):
    changes = dict(changes)
    pose = moved.positions[0] + changes.pop("shift", 0.0) * np.eye(7)[3]
    robot = Robot(changes.pop("joints", PANDA.joints), pose, **changes)
    assert main(ros, robot, plan, *words) == 2
    assert says in robot.said[-1]
    assert len(robot.goals) == sent


@pytest.mark.parametrize(
    "spoil",
    [
        lambda read: read.pop("times"),
        lambda read: read["times"].pop(),
        lambda read: read["positions"][3].pop(),
        lambda read: read["positions"][3].__setitem__(0, float("nan")),
        lambda read: read["times"].__setitem__(3, 0.0),
        lambda read: read.update(positions=None),
    ],
)
def test_a_damaged_plan_moves_nothing(ros, moved, plan, spoil):
    read = json.loads(plan.read_text())
    spoil(read)
    plan.write_text(json.dumps(read))
    robot = Robot(PANDA.joints, moved.positions[0])
    assert main(ros, robot, plan) == 2
    assert not robot.goals
    assert main(ros, robot, plan.with_name("nothing.json")) == 2
