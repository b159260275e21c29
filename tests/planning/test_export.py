"""Export: every limit holds whatever the movement, all formats hold the same numbers, and refusals leave nothing."""

import csv
import json
from dataclasses import replace
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rosbags.highlevel import AnyReader
from ruamel.yaml import YAML

from vigor.basics.errors import UserError
from vigor.motion.robots import PANDA, Robot
from vigor.motion.shapes import Sphere
from vigor.planning import constraints, export
from vigor.planning.constraints import Constraints
from vigor.planning.plans import Solution
from vigor.tasks.box_pusher import TASK as PUSHER
from vigor.tasks.reachers import panda_reacher, planar_reacher

PLANAR, ARM = planar_reacher.TASK, panda_reacher.TASK
FREE = ((-np.inf, np.inf),) * 5


def solution(weights, violated=None):
    return Solution(tuple(map(float, weights)), 0, 1.0, None, None, None, None, 1, {}, {}, violated)


def some(task, seed=0, scale=0.3):
    return solution(scale * np.random.default_rng(seed).normal(size=task.promp.weights))


def judged(task, chosen, limits):
    """A solution with its margins and what it violates."""
    found = constraints.margins(task, constraints.bounds(task, limits), np.array([chosen.movement], np.float32))
    own = jax.tree.map(lambda leaf: np.asarray(leaf)[0], found)
    return replace(chosen, margins=constraints.smallest(limits, own), violated=constraints.violation(limits, own))


limit = st.lists(st.floats(0.1, 20), min_size=5, max_size=5).map(tuple)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.01, 3), limit, limit, st.floats(0.2, 20), st.floats(5, 300))
def test_time_scaling_holds_every_limit(seed, scale, velocity, acceleration, seconds, rate):
    robot = Robot("any", tuple("abcde"), FREE, velocity, acceleration)
    moved = export.trajectory(PLANAR, some(PLANAR, seed, scale), Constraints(robot, seconds), rate)
    assert np.all(np.abs(moved.velocities) <= velocity)
    assert np.all(np.abs(moved.accelerations) <= acceleration)
    # What a controller makes of the positions alone.
    steps = np.diff(moved.positions, axis=0) * rate
    assert np.all(np.abs(steps) <= np.array(velocity) * (1 + 1e-9) + 1e-9)
    assert np.all(np.abs(np.diff(steps, axis=0) * rate) <= np.array(acceleration) * (1 + 1e-6) + 1e-6)
    assert moved.times[-1] >= seconds - 1e-9
    np.testing.assert_allclose(np.diff(moved.times), 1 / rate)
    for ends in (moved.velocities[[0, -1]], moved.accelerations[[0, -1]]):
        np.testing.assert_allclose(ends, 0, atol=1e-9)


def test_a_movement_is_no_slower_than_its_limits_need():
    robot = Robot("any", tuple("abcde"), FREE, (1.0,) * 5, (4.0,) * 5)
    moved = export.trajectory(PLANAR, some(PLANAR, scale=2), Constraints(robot, 0.01), rate=2000)
    used = max(np.max(np.abs(moved.velocities)), np.sqrt(np.max(np.abs(moved.accelerations)) / 4.0))
    assert used > 0.995


@pytest.mark.parametrize(
    ("velocity", "acceleration", "said"),
    [(0.1, 1e3, "the velocity limit of c"), (1e3, 0.1, "the acceleration limit of c"), (1e3, 1e3, None)],
)
def test_the_limit_that_slows_a_movement_down_is_named(velocity, acceleration, said):
    def only(third):
        return (1e3, 1e3, third, 1e3, 1e3)

    robot = Robot("any", tuple("abcde"), FREE, only(velocity), only(acceleration))
    moved = export.trajectory(PLANAR, some(PLANAR), Constraints(robot, 2.0))
    assert moved.slowed_by == said
    assert (moved.times[-1] > 2.0) == (said is not None)


def test_the_clock_runs_from_rest_to_rest():
    with jax.enable_x64(True):
        share = jnp.linspace(0.0, 1.0, 1001)
        phase, speed = map(np.asarray, jax.jvp(export.clock, (share,), (jnp.ones_like(share),)))
    assert phase[0] == 0
    assert phase[-1] == pytest.approx(1)
    assert speed[0] == speed[-1] == 0
    assert np.all(np.diff(phase) >= 0)
    np.testing.assert_allclose(np.gradient(phase, 1e-3)[1:-1], speed[1:-1], atol=1e-3)


def test_the_shape_of_the_movement_is_kept():
    chosen = some(ARM)
    moved = export.trajectory(ARM, chosen, Constraints(PANDA, 8.0))
    assert moved.joints == PANDA.joints
    path = np.asarray(ARM.promp.rollout(jnp.asarray(chosen.movement), 4000))
    nearest = np.linalg.norm(moved.positions[:, None, :6] - path[None], axis=-1).min(axis=1)
    assert nearest.max() < 3e-3
    np.testing.assert_allclose(moved.positions[[0, -1], :6], path[[0, -1]], atol=1e-5)
    assert np.all(moved.positions[:, 6] == 0)


def test_a_path_in_the_plane_becomes_joint_angles():
    moved = export.trajectory(PUSHER, some(PUSHER), Constraints(PUSHER.arm.robot, 3.0))
    low, high = np.array(PANDA.position).T
    assert moved.positions.shape[1] == 7
    assert np.all((moved.positions > low) & (moved.positions < high))


@pytest.fixture
def moved():
    return export.trajectory(ARM, some(ARM), Constraints(PANDA, 8.0), rate=20)


def numbers_of(path: Path) -> dict[str, np.ndarray]:
    rows = list(csv.reader(path.read_text().splitlines()))
    return dict(zip(rows[0], np.array(rows[1:], float).T, strict=True))


def test_a_rosbag_holds_the_numbers_of_the_csv(moved, tmp_path):
    export.write(tmp_path / "moved.csv", moved, "csv")
    export.write(tmp_path / "bag", moved, "mcap")
    table = numbers_of(tmp_path / "moved.csv")
    with AnyReader([tmp_path / "bag"]) as bag:
        ((connection, _, raw),) = bag.messages()
        message = bag.deserialize(raw, connection.msgtype)
    assert connection.msgtype == "trajectory_msgs/msg/JointTrajectory"
    assert message.joint_names == list(PANDA.joints)
    for kind, name in (("positions", ""), ("velocities", "_velocity"), ("accelerations", "_acceleration")):
        rows = np.array([getattr(point, kind) for point in message.points])
        np.testing.assert_array_equal(rows, np.stack([table[f"{joint}{name}"] for joint in PANDA.joints], axis=1))
    times = [point.time_from_start.sec + 1e-9 * point.time_from_start.nanosec for point in message.points]
    np.testing.assert_allclose(times, table["time"], atol=1e-9)
    assert list((tmp_path / "bag").glob("*.mcap"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bag", "moved.csv"]


def test_json_and_yaml_hold_the_same(moved, tmp_path):
    export.write(tmp_path / "moved.json", moved, "json")
    export.write(tmp_path / "moved.yaml", moved, "ros2")
    read = json.loads((tmp_path / "moved.json").read_text())
    np.testing.assert_array_equal(read["positions"], moved.positions)
    message = YAML(typ="safe", pure=True).load((tmp_path / "moved.yaml").read_text())
    assert message["joint_names"] == list(PANDA.joints)
    assert len(message["points"]) == len(moved.times)
    for point, place, time in zip(message["points"], moved.positions, moved.times, strict=True):
        np.testing.assert_array_equal(point["positions"], place)
        assert point["time_from_start"]["sec"] + 1e-9 * point["time_from_start"]["nanosec"] == pytest.approx(time)


def test_what_violates_a_limit_is_refused():
    far = np.zeros(ARM.promp.weights)
    far[2::6] = 4.0
    with pytest.raises(UserError, match="takes panda_joint3"):
        export.trajectory(ARM, solution(far), Constraints(PANDA, 8.0))
    with pytest.raises(UserError, match="violates keep-out 1"):
        export.trajectory(ARM, replace(some(ARM), violated="keep-out 1: a link is 0.1 inside"), Constraints(PANDA, 8.0))
    with pytest.raises(UserError, match="acceleration limits of Franka Panda"):
        export.trajectory(ARM, some(ARM), Constraints(replace(PANDA, acceleration=None), 8.0))
    with pytest.raises(UserError, match="7 joints where the task moves 5"):
        export.trajectory(PLANAR, some(PLANAR), Constraints(PANDA, 8.0))


def test_a_movement_that_is_too_fast_is_slowed_down():
    limits = Constraints(PANDA, 0.1, (Sphere((5.0, 5.0, 5.0), 0.1),))
    quick = judged(ARM, some(ARM), limits)
    assert quick.violated.startswith("velocity")
    moved = export.trajectory(ARM, quick, limits)
    assert moved.times[-1] > 0.3
    assert moved.slowed_by is not None
    assert np.all(np.abs(moved.velocities) <= PANDA.velocity)


def test_a_movement_that_is_too_fast_and_in_a_keep_out_is_refused():
    limits = Constraints(PANDA, 0.1, (Sphere((0.0, 0.0, 0.2), 0.1),))
    both = judged(ARM, some(ARM), limits)
    assert both.margins["velocity"] < 0
    with pytest.raises(UserError, match="violates keep-out 1: a link is"):
        export.trajectory(ARM, both, limits)
    # Whatever the sentence says, the margins count.
    fast = judged(ARM, some(ARM), replace(limits, keep_out=())).violated
    for violated in (fast, None):
        with pytest.raises(UserError, match=r"violates keep-out 1 by 0\.160; export another"):
            export.trajectory(ARM, replace(both, violated=violated), limits)


def test_the_robot_must_be_where_the_movement_starts():
    rest = np.append(panda_reacher.REST, 0.0)
    limits = Constraints(PANDA, 8.0)
    export.trajectory(ARM, some(ARM), limits, start_pose=rest + 0.01)
    with pytest.raises(UserError, match=r"starts with panda_joint4 at -2\.0.*move the robot there first"):
        export.trajectory(ARM, some(ARM), limits, start_pose=rest + 0.1 * np.eye(7)[3])
    for pose in (rest[:6], np.full(7, np.nan)):
        with pytest.raises(UserError, match="7 finite numbers"):
            export.trajectory(ARM, some(ARM), limits, start_pose=pose)


@pytest.mark.parametrize("rate", [0.0, -1.0, 1e9, np.nan])
def test_a_senseless_rate_is_refused(rate):
    with pytest.raises(UserError, match="rate"):
        export.trajectory(PLANAR, some(PLANAR), Constraints(seconds=3.0), rate)


@pytest.mark.parametrize("kind", ["csv", "json", "ros2", "mcap"])
def test_nothing_is_written_over(moved, tmp_path, kind):
    (tmp_path / "there").write_text("mine")
    with pytest.raises(UserError, match="there exists already; choose another --out"):
        export.write(tmp_path / "there", moved, kind)
    assert [path.name for path in tmp_path.iterdir()] == ["there"]
    assert (tmp_path / "there").read_text() == "mine"
