"""Send a plan to a robot: sampled, within its limits, in files that its controller reads.

Run it with:  python examples/05_export.py [RUN]

RUN is the folder of the run of example 02, with its plan.json. The robot is a table with two axes, described in a URDF
file. The rosbag needs:  pip install "vigor-skills[export]"
"""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

from vigor.motion import robots
from vigor.planning import export
from vigor.planning import plans as solutions

URDF = """<robot name="table">
  <joint name="x" type="prismatic"><limit lower="-1" upper="2" velocity="0.5" effort="10"/></joint>
  <joint name="y" type="prismatic"><limit lower="-1" upper="1" velocity="0.5" effort="10"/></joint>
</robot>
"""


def main(folder: Path) -> export.Trajectory:
    made = solutions.load(folder / "plan.json")
    (folder / "table.urdf").write_text(URDF)
    table = robots.from_urdf(folder / "table.urdf", acceleration=2.0)

    moved = export.trajectory(
        made.load_task(),
        made.plans[0].solutions[0],
        replace(made.constraints, robot=table, seconds=2.0),
        rate=100,
        start_pose=np.zeros(2),  # Where the table is now: a plan that starts elsewhere is refused.
    )
    fastest = np.abs(moved.velocities).max(axis=0)
    print(f"asked for 2 s, takes {moved.times[-1]:.2f} s; fastest {fastest.round(3)} of {table.velocity}")

    export.write(folder / "moved.csv", moved, "csv")
    export.write(folder / "moved.yaml", moved, "ros2")
    export.write(folder / "moved_bag", moved, "mcap")
    return moved


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "runs/example"))
