"""`vigor export`."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tyro.conf import Positional

from vigor.basics.device import use_device
from vigor.basics.errors import UserError
from vigor.cli.arguments import MaybeFile, MaybeNumber, Names, Numbers, PlanFile, TaskOfRun, chosen, read_plans


@dataclass(frozen=True)
class Export:
    """Write a planned movement for a robot's controller, slowed down as far as its limits need."""

    plan: Positional[PlanFile]
    """A file that `vigor plan` wrote, or the folder of a run for its own contexts."""
    format: Literal["csv", "json", "ros2", "mcap", "lerobot"]
    """`ros2`: a trajectory_msgs/JointTrajectory as YAML; `mcap`: a rosbag2 folder with such a message and with joint
    states; `lerobot`: a data set (v3.0) that `lerobot-replay` reads."""
    context: int = 1
    """Number of the plan's context, counted from 1; 0 for an episode of each (lerobot)."""
    solution: int = 1
    """Rank of its solution."""
    rate: float = 100.0
    """Samples a second."""
    seconds: MaybeNumber = None
    """Duration of the movement, or longer if a limit needs it. Default: the plan's."""
    pacing: Literal["uniform", "optimal"] = "uniform"
    """Where limits need more time: `uniform` slows down all of the movement, `optimal` only where a limit is hit."""
    start_pose: Numbers = ()
    """Joints of the robot now: it is led from there to where the movement starts, unless something is in the way."""
    unit: Literal["rad", "deg", "percent"] = "rad"
    """Unit of a LeRobot robot; `percent`: from -100 to 100 between the limits of a joint."""
    names: Names = ()
    """Names of a LeRobot robot's motors, in the order of the joints. Default: the joints' with .pos."""
    topics: tuple[str, str] = ("/joint_trajectory", "/planned_joint_states")
    """Topics of a bag: of the trajectory, and of the joint states."""
    urdf: MaybeFile = None
    """The robot's limits, for another robot than the task's."""
    joints: Names = ()
    """Joints of the URDF file that are moved, in the order of the task; by default all."""
    acceleration: MaybeNumber = None
    """Largest acceleration of every joint, which a URDF file cannot say."""
    out: MaybeFile = None
    """New file, or folder for mcap. Default: beside the plan."""
    task: TaskOfRun = None
    """Task of the plan, path/to/file.py:NAME, if its own file cannot be found or was never run here."""

    def __call__(self, words: list[str]) -> int:
        from vigor.motion.robots import Robot

        if self.urdf is None and (self.joints or self.acceleration is not None):
            raise UserError("--joints and --acceleration belong to a robot that --urdf describes")
        if self.format != "lerobot" and (self.context == 0 or self.unit != "rad" or self.names):
            raise UserError("--context 0, --unit and --names belong to --format lerobot")
        use_device("cpu")
        plans = read_plans(self.plan, self.task)
        robot = plans.constraints.robot
        if self.urdf is not None:
            robot = Robot.from_urdf(self.urdf, self.joints, self.acceleration)
        contexts = range(1, len(plans) + 1) if self.context == 0 else [self.context]
        solutions = [chosen(plans, context, self.solution)[1] for context in contexts]
        pose = self.start_pose or None
        made = [item.trajectory(self.rate, self.seconds, pose, robot, self.pacing) for item in solutions]
        path = self._write(made, robot)
        for trajectory in made:
            asked = plans.constraints.seconds if self.seconds is None else self.seconds
            print(f"{path}: {_described(trajectory, asked, robot is not None)}")
        if any(solution.solves is False for solution in solutions):
            print("vigor: this movement is predicted to fail: it does not solve its context", file=sys.stderr)
        return 0

    def _write(self, made: list[Any], robot: Any) -> Path:
        """Write the trajectories, beside the plan unless told otherwise; returns the new path."""
        from vigor.planning import export, lerobot

        stem = self.plan / "plan" if self.plan.is_dir() else self.plan.with_suffix("")
        ending = ".trajectory.json" if self.format == "json" else export.ENDINGS[self.format]
        path = self.out or stem.with_name(f"{stem.name}_{self.context}_{self.solution}{ending}")
        if self.format != "lerobot":
            export.write(path, made[0], self.format, self.topics)
            return path
        limits = () if robot is None else robot.position
        lerobot.write(path, made, self.plan.stem, self.names, self.unit, limits)
        return path


def _described(made: Any, asked: float, limited: bool) -> str:
    """A trajectory in words."""
    said = "" if limited else "; no limits are known, give a --urdf"
    if made.slowed_by is not None:
        said = f"; slowed from {asked:.2f} s to {made.seconds - made.led:.2f} s by {made.slowed_by}"
    if made.led:
        said += f"; the first {made.led:.2f} s lead to its start"
    worst = int(made.jerk.argmax())
    jerk = f"; largest jerk {made.jerk[worst]:.3g} /s³, of {made.joints[worst]}"
    return f"{len(made.times)} samples, {made.seconds:.2f} s{said}{jerk}"
