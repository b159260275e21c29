"""Send a plan to a robot: sampled, within its limits, in files that its controller reads.

Run it with:  python examples/05_export.py [RUN]

RUN is the folder of the run of example 02, with its plan.json. The robot is a table with two axes, described in a URDF
file. Needs:  pip install "vigor-skills[ros,robots]"
"""

import sys
from pathlib import Path

import numpy as np

import vigor

URDF = """<robot name="table">
  <link name="frame"/> <link name="beam"/> <link name="pen"/>
  <joint name="x" type="prismatic">
    <parent link="frame"/> <child link="beam"/> <axis xyz="1 0 0"/>
    <limit lower="-1" upper="2" velocity="0.5" effort="10"/>
  </joint>
  <joint name="y" type="prismatic">
    <parent link="beam"/> <child link="pen"/> <axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" velocity="0.5" effort="10"/>
  </joint>
</robot>
"""


def main(folder: Path) -> vigor.Trajectory:
    (folder / "table.urdf").write_text(URDF)
    table = vigor.Robot.from_urdf(folder / "table.urdf", acceleration=2.0)

    best = vigor.Plans.load(folder / "plan.json")[0].best
    # The table is at (0, 0) now: a plan that starts elsewhere is refused.
    moved = best.trajectory(rate=100, seconds=2.0, start_pose=(0.0, 0.0), robot=table)
    print(moved)
    print(f"fastest {np.abs(moved.velocities).max(axis=0).round(3)} of {table.velocity}")

    for name in ("moved.csv", "moved.yaml", "moved_bag"):  # A table, a ROS 2 message, a rosbag.
        moved.save(folder / name)
    return moved


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "runs/example"))
