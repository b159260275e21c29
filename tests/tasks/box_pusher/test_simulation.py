"""Pushes carried out in simulation."""

import numpy as np
import pytest

from vigor.basics.engine import mujoco
from vigor.tasks.box_pusher import (
    control,
    geometry,
    scene,
    simulation,
)


def test_rollouts_are_the_same_alone_together_and_with_either_arm(some_pushes, arm: scene.Arm):
    plans, together = some_pushes
    again = simulation.roll_out(plans[[5, 2]], arm)
    np.testing.assert_array_equal(simulation.roll_out(plans[5:6]).states, together.states[5:6])
    np.testing.assert_allclose(again.states, together.states[[5, 2]], atol=1e-9)


def test_a_push_moves_the_box_and_leaves_it_standing(some_pushes):
    plans, rollouts = some_pushes
    assert rollouts.states.shape[:2] == (16, 351)
    moved = geometry.corner_distance(rollouts.poses[:, -1], geometry.goal(np.zeros(3)))
    assert np.all(moved > 0.01)
    assert np.degrees(rollouts.tilts.max()) < 0.5
    assert np.abs(rollouts.heights).max() < 0.001
    np.testing.assert_allclose(rollouts.tips[:, 0, :2], plans[:, 0], atol=1e-9)
    # Contact deflects the rod; it ends near its plan all the same. The box has come to rest.
    deflection = np.linalg.norm(rollouts.tips[:, -1, :2] - plans[:, -1], axis=1)
    assert 0.002 < deflection.mean() < 0.02
    np.testing.assert_allclose(rollouts.poses[:, -1], rollouts.poses[:, -10], atol=5e-4)


def test_a_box_pushed_at_random_for_a_minute_stays_whole_and_on_the_table():
    rng = np.random.default_rng(0)
    model = scene.model("capsules")
    data = mujoco.MjData(model)
    steps = round(60 / scene.TIMESTEP)
    knots = geometry.START + rng.uniform(-1, 1, (45, 2)) * [0.2, 0.25]
    knots[0] = geometry.START
    targets = control.follow(knots[None], steps, 0)[0]
    state = simulation.initial_states(knots[:1])[0]
    mujoco.mj_setState(model, data, state, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    states, _ = mujoco.rollout.rollout(model, data, state[None], targets[None])
    rollout = simulation.Rollouts(states, np.zeros((1, steps, 3)))
    poses = rollout.poses[0]
    assert np.linalg.norm(np.diff(poses[:, :2], axis=0), axis=1).sum() > 0.5
    assert np.degrees(rollout.tilts.max()) < 2
    assert np.abs(rollout.heights).max() < 0.003
    table = model.geom("table")
    assert np.all(np.abs(geometry.corners(poses) - table.pos[:2]) < table.size[:2])
    assert np.abs(states[0, :, 1 + model.nq + 7 :]).max() < 5  # No jump.


def test_corner_distance_by_hand():
    start = geometry.goal(np.zeros(3))
    assert geometry.corner_distance(start, geometry.goal(np.array([0.03, 0.04, 0.0]))) == pytest.approx(0.05)
    # Turned by half, every corner goes to the one across: a diagonal of 16 by 24 cm.
    assert geometry.initial_distance(np.array([0, 0, np.pi])) == pytest.approx(np.hypot(0.16, 0.24))
    # Turned by a quarter, corner (8, 12) goes to (-12, 8).
    assert geometry.initial_distance(np.array([0, 0, np.pi / 2])) == pytest.approx(np.hypot(0.20, 0.04))


def test_the_rod_is_set_down_beside_a_wall_and_the_box_not_fired_away():
    half_x, half_y = np.array(geometry.SIZE) / 2
    offsets = np.array([[half_x - 0.001, 0.02], [-half_x + 0.006, -0.05], [0.01, half_y - 0.004], [half_x, half_y]])
    points = offsets + geometry.START
    assert np.all(geometry.clearance(points) < 0)
    moved = geometry.beside_walls(points)
    assert np.all(geometry.clearance(moved) > 0.0009)
    assert np.linalg.norm(moved - points, axis=1).max() < 0.03
    still = np.broadcast_to(points[:, None], (4, 50, 2))
    rollouts = simulation.roll_out(still)
    assert geometry.corner_distance(rollouts.poses, geometry.goal(np.zeros(3))).max() < 0.03
    free = np.array([[0.55, 0.0], [0.7, 0.1]])
    np.testing.assert_array_equal(geometry.beside_walls(free), free)
