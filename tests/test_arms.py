"""An arm whose joints slide trains and plans from its URDF file; others do in the examples."""

import jax.numpy as jnp
import numpy as np
import pytest

import vigor
from helpers import SMALL

pytest.importorskip("yourdfpy")

RAIL = """<robot name="rail">
  <link name="ground"/><link name="cart"/><link name="arm"/><link name="tip"/>
  <joint name="rail" type="prismatic"><parent link="ground"/><child link="cart"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" velocity="1"/></joint>
  <joint name="lift" type="revolute"><parent link="cart"/><child link="arm"/><axis xyz="0 1 0"/>
    <origin xyz="0 0 0.4"/><limit lower="-2" upper="2" velocity="2"/></joint>
  <joint name="reach" type="prismatic"><parent link="arm"/><child link="tip"/><axis xyz="1 0 0"/>
    <origin xyz="0.2 0 0"/><limit lower="0" upper="0.4" velocity="1"/></joint>
</robot>
"""
SCENE = """
robot = "rail.urdf"
acceleration = 10
collisions = false
[objects.cup]
pose = "position"
"""


def test_an_arm_on_a_rail_trains_and_plans(tmp_path):
    (tmp_path / "rail.urdf").write_text(RAIL)
    (tmp_path / "arm.toml").write_text(SCENE)
    task, way = vigor.load_task(str(tmp_path / "arm.toml")), np.linspace(0, 1, 30)[:, None]
    poses = task.arm.robot.random_poses(4)
    home, ends = poses[0], poses[0] + 0.2 * (poses[1:] - poses[0])
    cups = np.asarray(task.arm.robot.kinematics(jnp.asarray(ends)))[:, -1]
    shown = [home + way**2 * (3 - 2 * way) * (end - home) for end in ends]
    made = vigor.Demonstrations.from_recordings(task, cups[:2], shown[:2], [0, 1], "generated")
    run = vigor.train(task, made, train_contexts=2, demos_per_context=1, test_contexts=0, progress=False, **SMALL)
    best = run.plan(cups[2])[0].best
    tip = np.asarray(run.task.kinematics(jnp.asarray(best.joints()[-1])))[-1]
    far = np.linalg.norm(cups[:2] - cups[2], axis=1).min()
    assert np.linalg.norm(tip - cups[2]) < 0.5 * far  # Much nearer than what was shown.
    assert best.trajectory(rate=20, seconds=20).positions.shape[1] == 3
