"""`vigor export`."""

import sys
from dataclasses import dataclass
from typing import Literal

from tyro.conf import Positional

from vigor.basics.device import use_device
from vigor.basics.errors import UserError
from vigor.cli.arguments import MaybeFile, MaybeNumber, Numbers, PlanFile, TaskOfRun, chosen, read_plans


@dataclass(frozen=True)
class Export:
    """Write a planned movement for a robot's controller, slowed down as far as its limits need."""

    plan: Positional[PlanFile]
    """A file that `vigor plan` wrote, or the folder of a run for its own contexts."""
    format: Literal["csv", "json", "ros2", "mcap"]
    """`ros2`: a trajectory_msgs/JointTrajectory as YAML; `mcap`: a rosbag2 folder with such a message."""
    context: int = 1
    """Number of the plan's context, counted from 1."""
    solution: int = 1
    """Rank of its solution."""
    rate: float = 100.0
    """Samples a second."""
    seconds: MaybeNumber = None
    """Duration of the movement, or longer if a limit needs it. Default: the plan's."""
    start_pose: Numbers = ()
    """Joints of the robot now; a movement that starts elsewhere is refused."""
    urdf: MaybeFile = None
    """The robot's limits, for another robot than the task's."""
    joints: tuple[str, ...] = ()
    """Joints of the URDF file that are moved, in the order of the task; by default all."""
    acceleration: MaybeNumber = None
    """Largest acceleration of every joint, which a URDF file cannot say."""
    out: MaybeFile = None
    """New file, or folder for mcap. Default: beside the plan."""
    task: TaskOfRun = None
    """Task of the plan, path/to/file.py:NAME, if its own file cannot be found or was never run here."""

    def __call__(self, words: list[str]) -> int:
        from vigor.motion.robots import Robot
        from vigor.planning import export

        if self.urdf is None and (self.joints or self.acceleration is not None):
            raise UserError("--joints and --acceleration belong to a robot that --urdf describes")
        use_device("cpu")
        plans = read_plans(self.plan, self.task)
        _, solution = chosen(plans, self.context, self.solution)
        robot = plans.constraints.robot
        if self.urdf is not None:
            robot = Robot.from_urdf(self.urdf, self.joints, self.acceleration)
        made = solution.trajectory(self.rate, self.seconds, self.start_pose or None, robot)
        stem = self.plan / "plan" if self.plan.is_dir() else self.plan.with_suffix("")
        ending = ".trajectory.json" if self.format == "json" else export.ENDINGS[self.format]
        path = self.out or stem.with_name(f"{stem.name}_{self.context}_{self.solution}{ending}")
        export.write(path, made, self.format)
        said = "" if robot is not None else "; no limits are known, give a --urdf"
        if made.slowed_by is not None:
            asked = plans.constraints.seconds if self.seconds is None else self.seconds
            said = f"; slowed from {asked:.2f} s to {made.seconds:.2f} s by {made.slowed_by}"
        print(f"{path}: {len(made.times)} samples, {made.seconds:.2f} s{said}")
        if solution.solves is False:
            print("vigor: this movement is predicted to fail: it does not solve its context", file=sys.stderr)
        return 0
