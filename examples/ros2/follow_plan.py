"""A ROS 2 node that carries out an exported plan: it looks where the robot is, goes to the start, and follows the plan.

    vigor export RUN/plans/1.json --format json --out reach.json
    ros2 run ... or: python3 follow_plan.py reach.json --action /arm_controller/follow_joint_trajectory

It needs rclpy, control_msgs, trajectory_msgs and sensor_msgs of a ROS 2 installation, and nothing of VIGOR. The robot's
controller must offer the action `control_msgs/action/FollowJointTrajectory`.
"""

import argparse
import json
import math
import sys
from dataclasses import dataclass
from pathlib import Path

NEAR = 0.01  # Radians from the start within which the plan begins at once.


@dataclass(frozen=True)
class Plan:
    """A movement as `vigor export --format json` writes it."""

    joints: list
    times: list
    positions: list
    velocities: list
    accelerations: list

    @staticmethod
    def load(path):
        read = json.loads(Path(path).read_text())
        plan = Plan(read["joint_names"], read["times"], read["positions"], read["velocities"], read["accelerations"])
        tables = (plan.positions, plan.velocities, plan.accelerations)
        rows = [row for table in tables for row in table]
        if not plan.times or any(len(table) != len(plan.times) for table in tables):
            raise ValueError("its tables have different lengths")
        if any(len(row) != len(plan.joints) for row in rows):
            raise ValueError("a row has another number of joints")
        if not all(math.isfinite(value) for row in [plan.times, *rows] for value in row):
            raise ValueError("it holds numbers that are not finite")
        if any(later <= sooner for sooner, later in zip(plan.times, plan.times[1:], strict=False)):
            raise ValueError("its times do not increase")
        return plan


def present(plan, names, positions):
    """Positions of the plan's joints in a joint state, whose order is its own."""
    known = dict(zip(names, positions, strict=False))
    missing = [joint for joint in plan.joints if joint not in known]
    if missing:
        raise ValueError(f"the joint states have no {missing[0]}; they have {', '.join(names)}")
    return [known[joint] for joint in plan.joints]


def approach(plan, pose, speed, reach):
    """A straight way in joint space from a pose to the start, at rest at both ends; None if the robot is there.

    It is checked for nothing that may be in the way. So one that is longer than `reach` radians is refused.
    """
    start = plan.positions[0]
    away = [abs(a - b) for a, b in zip(start, pose, strict=True)]
    farthest = max(away)
    if farthest <= NEAR:
        return None
    if farthest > reach:
        joint = plan.joints[away.index(farthest)]
        raise ValueError(f"{joint} is {farthest:.3f} rad from the plan's start; move the robot nearer than {reach} rad")
    still = [0.0] * len(start)
    # A controller joins two points at rest by a smooth curve, whose middle is up to twice as fast as the average.
    seconds = max(1.0, 2 * farthest / speed)
    return Plan(plan.joints, [0.0, seconds], [pose, start], [still, still], [still, still])


def goal(plan, tolerance, time_tolerance):
    """The goal of `FollowJointTrajectory` with its tolerances."""
    from builtin_interfaces.msg import Duration
    from control_msgs.action import FollowJointTrajectory
    from control_msgs.msg import JointTolerance
    from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

    def duration(seconds):
        whole, parts = divmod(round(seconds * 1e9), 10**9)
        return Duration(sec=whole, nanosec=parts)

    rows = zip(plan.times, plan.positions, plan.velocities, plan.accelerations, strict=True)
    points = [
        JointTrajectoryPoint(positions=place, velocities=speed, accelerations=push, time_from_start=duration(time))
        for time, place, speed, push in rows
    ]
    allowed = [JointTolerance(name=joint, position=tolerance) for joint in plan.joints]
    return FollowJointTrajectory.Goal(
        trajectory=JointTrajectory(joint_names=plan.joints, points=points),
        path_tolerance=allowed,
        goal_tolerance=allowed,
        goal_time_tolerance=duration(time_tolerance),
    )


def follow(node, client, plan, options):
    """Send a plan and wait for its end; raises ValueError if the controller refuses or fails."""
    import rclpy

    sent = client.send_goal_async(goal(plan, options.tolerance, options.time_tolerance))
    rclpy.spin_until_future_complete(node, sent)
    handle = sent.result()
    if handle is None or not handle.accepted:
        raise ValueError("the controller refuses the trajectory")
    ended = handle.get_result_async()
    try:
        rclpy.spin_until_future_complete(node, ended)
    except KeyboardInterrupt:
        rclpy.spin_until_future_complete(node, handle.cancel_goal_async())
        raise ValueError("stopped; the controller was told to cancel") from None
    result = ended.result().result
    if result.error_code:
        raise ValueError(f"the controller fails with code {result.error_code}: {result.error_string}")


def joint_state(node, topic, seconds):
    """The next joint state of a topic."""
    import rclpy
    from sensor_msgs.msg import JointState

    received = rclpy.task.Future()
    subscription = node.create_subscription(
        JointState, topic, lambda message: received.done() or received.set_result(message), 10
    )
    rclpy.spin_until_future_complete(node, received, timeout_sec=seconds)
    node.destroy_subscription(subscription)
    if not received.done():
        raise ValueError(f"no joint state on {topic} within {seconds} s")
    return received.result()


def run(node, options):
    """Look where the robot is, approach the start, and follow the plan."""
    from control_msgs.action import FollowJointTrajectory
    from rclpy.action import ActionClient

    plan = Plan.load(options.plan)
    state = joint_state(node, options.states, options.timeout)
    way = approach(plan, present(plan, state.name, state.position), options.speed, options.reach)
    client = ActionClient(node, FollowJointTrajectory, options.action)
    if not client.wait_for_server(timeout_sec=options.timeout):
        raise ValueError(f"nobody offers {options.action}")
    if way is not None:
        node.get_logger().info(f"going to the start in {way.times[-1]:.1f} s")
        follow(node, client, way, options)
        state = joint_state(node, options.states, options.timeout)
        if approach(plan, present(plan, state.name, state.position), options.speed, options.reach) is not None:
            raise ValueError("the robot has not arrived at the plan's start")
    node.get_logger().info(f"following {options.plan} for {plan.times[-1]:.1f} s")
    follow(node, client, plan, options)


def options_of(words=None):
    parser = argparse.ArgumentParser(description="Carry out a plan that `vigor export --format json` wrote.")
    parser.add_argument("plan")
    parser.add_argument("--action", default="/joint_trajectory_controller/follow_joint_trajectory")
    parser.add_argument("--states", default="/joint_states", help="topic of the robot's joint states")
    parser.add_argument("--reach", type=float, default=0.1, help="longest way to the start, in radians")
    parser.add_argument("--speed", type=float, default=0.2, help="largest speed on this way, in radians a second")
    parser.add_argument(
        "--tolerance", type=float, default=0.1, help="most radians beside the plan, on the way and at its end"
    )
    parser.add_argument("--time-tolerance", type=float, default=1.0, help="most seconds late")
    parser.add_argument("--timeout", type=float, default=5.0, help="seconds to wait for the robot and its controller")
    return parser.parse_args(words)


def main(words=None):
    import rclpy

    options = options_of(words)
    rclpy.init()
    node = rclpy.create_node("follow_plan")
    try:
        run(node, options)
        return 0
    except (OSError, KeyError, TypeError, ValueError) as error:
        node.get_logger().error(f"{type(error).__name__ if isinstance(error, KeyError) else ''} {error}".strip())
        return 2
    finally:
        node.destroy_node()
        rclpy.shutdown()


if __name__ == "__main__":
    sys.exit(main())
