"""The arm with its rod: where it stands, and how it is told to."""

import numpy as np
import pytest

from vigor.basics.engine import mujoco
from vigor.basics.errors import UserError
from vigor.motion.panda import model
from vigor.tasks.box_pusher import (
    control,
    geometry,
    scene,
)


def test_the_rod_stands_where_it_is_told_to(arm: scene.Arm):
    model = scene.model(arm)
    data = mujoco.MjData(model)
    rng = np.random.default_rng(0)
    radius, angle = rng.uniform(*geometry.REACH, 50), rng.uniform(-1.5, 1.5, 50)
    points = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    for point, joints in zip(points, control.joint_angles(points), strict=True):
        data.qpos[:7] = joints
        mujoco.mj_kinematics(model, data)
        np.testing.assert_allclose(data.site("tip").xpos, [*point, control.HEIGHT], atol=1e-9)
        np.testing.assert_allclose(data.site("tip").xmat[[2, 5, 8]], [0, 0, -1], atol=1e-6)
        assert np.all((joints > model.jnt_range[:7, 0]) & (joints < model.jnt_range[:7, 1]))


def test_inverse_kinematics_agrees_with_a_solver():
    mink = pytest.importorskip("mink")
    model = scene.model("capsules")
    configuration = mink.Configuration(model)
    points = np.array([[0.42, -0.2], [0.55, 0.0], [0.7, 0.15]])
    joints = control.joint_angles(points)
    for point, expected in zip(points, joints, strict=True):
        task = mink.FrameTask("tip", "site", position_cost=1.0, orientation_cost=1.0, lm_damping=1e-6)
        start = np.array(scene.model("capsules").qpos0)
        start[:7] = joints[1] + 0.05
        configuration.update(start)
        down = mink.SE3.from_rotation_and_translation(
            mink.SO3.from_matrix(_down(expected, model)), np.array([*point, control.HEIGHT])
        )
        task.set_target(down)
        posture = mink.PostureTask(model, cost=1e-4)
        posture.set_target(np.concatenate([expected, start[7:]]))
        for _ in range(80):
            velocity = mink.solve_ik(configuration, [task, posture], 0.1, "daqp")
            velocity[7:] = 0
            configuration.integrate_inplace(velocity, 0.1)
        reached = configuration.get_transform_frame_to_world("tip", "site").translation()
        np.testing.assert_allclose(reached, [*point, control.HEIGHT], atol=1e-3)
        np.testing.assert_allclose(configuration.q[:7], expected, atol=0.02)


def _down(joints: np.ndarray, model) -> np.ndarray:
    data = mujoco.MjData(model)
    data.qpos[:7] = joints
    mujoco.mj_kinematics(model, data)
    return data.site("tip").xmat.reshape(3, 3).copy()


def test_both_arms_are_the_same_robot(arm: scene.Arm):
    own, other = scene.model("capsules"), scene.model(arm)
    data, other_data = mujoco.MjData(own), mujoco.MjData(other)
    rng = np.random.default_rng(1)
    for _ in range(20):
        data.qpos[:7] = other_data.qpos[:7] = rng.uniform(own.jnt_range[:7, 0], own.jnt_range[:7, 1])
        data.qvel[:7] = other_data.qvel[:7] = rng.normal(size=7)
        for part, where in ((own, data), (other, other_data)):
            mujoco.mj_forward(part, where)
        np.testing.assert_allclose(data.site("tip").xpos, other_data.site("tip").xpos, atol=1e-9)
        np.testing.assert_allclose(data.qacc, other_data.qacc, rtol=1e-6, atol=1e-9)
    for name in ("jnt_range", "actuator_ctrlrange", "actuator_forcerange", "actuator_gainprm", "actuator_biasprm"):
        np.testing.assert_allclose(getattr(own, name), getattr(other, name), err_msg=name)
    assert np.allclose(own.jnt_range[1], [-1.7628, 1.7628])


def test_without_menagerie_the_arm_is_of_capsules(monkeypatch: pytest.MonkeyPatch, tmp_path):
    pytest.importorskip("mujoco_menagerie")
    monkeypatch.setenv("MENAGERIE_ROOT", str(tmp_path))
    assert not model.spec().meshes
    with pytest.raises(UserError, match="MENAGERIE_ROOT"):
        model.spec("menagerie")


def test_points_out_of_reach_are_drawn_into_it():
    near, far = control.joint_angles(np.array([[0.1, 0.0], [2.0, 2.0]]))
    np.testing.assert_allclose(near, control.joint_angles(np.array([0.31, 0.0])))
    np.testing.assert_allclose(far, control.joint_angles(0.78 * np.array([1, 1]) / np.sqrt(2)))
