"""Trajectories: every limit holds whatever the movement, and nothing goes through a keep-out."""

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vigor.basics.errors import UserError
from vigor.motion.panda import PANDA
from vigor.motion.robots import Robot
from vigor.motion.shapes import Sphere
from vigor.planning import trajectories
from vigor.planning.constraints import Constraints
from vigor.planning.demands import Via
from vigor.planning.trajectories import trajectory
from vigor.tasks.box_pusher import TASK as PUSHER
from vigor.tasks.reachers import panda_reacher, planar_reacher

PLANAR, ARM = planar_reacher.TASK, panda_reacher.TASK
FREE = ((-np.inf, np.inf),) * 5


def some(task, seed=0, scale=0.3):
    """Weights of a movement."""
    return scale * np.random.default_rng(seed).normal(size=task.promp.weights)


limit = st.lists(st.floats(0.1, 20), min_size=5, max_size=5).map(tuple)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.01, 3), limit, limit, st.floats(0.2, 20), st.floats(5, 300))
def test_time_scaling_holds_every_limit(seed, scale, velocity, acceleration, seconds, rate):
    robot = Robot("any", tuple("abcde"), FREE, velocity, acceleration)
    moved = trajectory(PLANAR, some(PLANAR, seed, scale), Constraints(robot, seconds), rate)
    assert np.all(np.abs(moved.velocities) <= velocity)
    assert np.all(np.abs(moved.accelerations) <= acceleration)
    # What a controller makes of the positions alone.
    steps = np.diff(moved.positions, axis=0) * rate
    assert np.all(np.abs(steps) <= np.array(velocity) * (1 + 1e-9) + 1e-9)
    assert np.all(np.abs(np.diff(steps, axis=0) * rate) <= np.array(acceleration) * (1 + 1e-6) + 1e-6)
    assert moved.seconds >= seconds - 1e-9
    np.testing.assert_allclose(np.diff(moved.times), 1 / rate)
    for ends in (moved.velocities[[0, -1]], moved.accelerations[[0, -1]]):
        np.testing.assert_allclose(ends, 0, atol=1e-9)


def test_a_movement_is_no_slower_than_its_limits_need():
    robot = Robot("any", tuple("abcde"), FREE, (1.0,) * 5, (4.0,) * 5)
    moved = trajectory(PLANAR, some(PLANAR, scale=2), Constraints(robot, 0.01), rate=2000)
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
    moved = trajectory(PLANAR, some(PLANAR), Constraints(robot, 2.0))
    assert moved.slowed_by == said
    assert (moved.seconds > 2.0) == (said is not None)
    assert len(repr(moved)) < 200


def test_the_shape_of_the_movement_is_kept():
    weights = some(ARM)
    moved = trajectory(ARM, weights, Constraints(PANDA, 8.0), rate=20)
    assert moved.joints == PANDA.joints
    path = np.asarray(ARM.promp.rollout(jnp.asarray(weights), 4000))
    nearest = np.linalg.norm(moved.positions[:, None, :6] - path[None], axis=-1).min(axis=1)
    assert nearest.max() < 3e-3
    np.testing.assert_allclose(moved.positions[[0, -1], :6], path[[0, -1]], atol=1e-5)
    assert np.all(moved.positions[:, 6] == 0)


def test_points_are_the_links_at_the_times_of_the_samples():
    moved = trajectory(PLANAR, some(PLANAR), Constraints(seconds=3.0), rate=30)
    links = np.exp(1j * np.cumsum(moved.positions, axis=1))
    ends = np.cumsum(np.concatenate([np.zeros((len(links), 1)), links], axis=1), axis=1)
    np.testing.assert_allclose(moved.points, np.stack([ends.real, ends.imag], axis=-1), atol=1e-9)


def test_a_path_in_the_plane_becomes_joint_angles():
    moved = trajectory(PUSHER, some(PUSHER), Constraints(PUSHER.arm.robot, 3.0))
    low, high = np.array(PANDA.position).T
    assert moved.positions.shape[1] == 7
    assert np.all((moved.positions > low) & (moved.positions < high))


def test_what_violates_a_limit_is_refused():
    far = np.zeros(ARM.promp.weights)
    far[2::6] = 4.0
    with pytest.raises(UserError, match="violates the limit of panda_joint3 by 1"):
        trajectory(ARM, far, Constraints(PANDA, 8.0))
    with pytest.raises(UserError, match="acceleration limits of Franka Panda"):
        trajectory(ARM, some(ARM), Constraints(replace(PANDA, acceleration=None), 8.0))
    with pytest.raises(UserError, match="7 joints where planar-reacher moves 5"):
        trajectory(PLANAR, some(PLANAR), Constraints(PANDA, 8.0))


def test_a_robot_is_kept_out_of_itself_also_where_no_limits_are_known():
    folded = np.zeros((ARM.promp.bases, 6))
    folded[-3:, 3], folded[-3:, 5] = -0.7, -1.9  # The hand in the forearm.
    with pytest.raises(UserError, match="violates the robot itself: a link is"):
        trajectory(ARM, folded.reshape(-1), Constraints())


def test_a_movement_that_is_too_fast_is_slowed_down():
    moved = trajectory(ARM, some(ARM), Constraints(PANDA, 0.1, (Sphere((5.0, 5.0, 5.0), 0.1),)))
    assert moved.seconds > 0.3
    assert moved.slowed_by is not None
    assert np.all(np.abs(moved.velocities) <= PANDA.velocity)


def test_a_movement_that_is_too_fast_and_in_a_keep_out_is_refused():
    with pytest.raises(UserError, match=r"violates keep-out 1: a link is 0\.169 inside; export another"):
        trajectory(ARM, some(ARM), Constraints(PANDA, 0.1, (Sphere((0.0, 0.0, 0.2), 0.1),)))


# Keep-outs


def gap(movement, centre, refine=10):
    """Distance of the links of a trajectory to a point, searched at many more moments than it has samples."""
    joints = movement.positions
    fine = np.linspace(0, len(joints) - 1, refine * len(joints))
    joints = np.stack([np.interp(fine, np.arange(len(joints)), column) for column in joints.T], axis=1)
    ends = np.cumsum(np.exp(1j * np.cumsum(joints, axis=1)), axis=1)
    starts = np.concatenate([np.zeros((len(ends), 1)), ends[:, :-1]], axis=1)
    point, way = complex(*centre), ends - starts
    along = np.clip(((point - starts) * way.conj()).real, 0, 1)
    return np.abs(starts + along * way - point).min()


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([0.3, 1.0, 10.0]), st.floats(0.5, 4), st.floats(0.02, 0.5))
def test_no_movement_is_written_through_a_keep_out(seed, scale, away, radius):
    """However fast the arm moves and however small the keep-out is."""
    weights = some(PLANAR, seed, scale)
    centre = tuple(away * np.array([np.cos(seed), np.sin(seed)]))
    try:
        moved = trajectory(PLANAR, weights, Constraints(keep_out=(Sphere(centre, radius),)), rate=1000)
    except UserError:
        return
    assert gap(moved, centre) > radius - 1e-3


def test_what_is_far_from_a_keep_out_is_written():
    moved = trajectory(PLANAR, some(PLANAR), Constraints(keep_out=(Sphere((-4.0, 0.0), 0.2),)))
    assert gap(moved, (-4.0, 0.0)) > 0.5


def test_a_keep_out_may_nearly_be_touched():
    weights = some(PLANAR)
    path = trajectory(PLANAR, weights, Constraints(), rate=2000).points[:, -1]
    # Beyond the outermost point of the tip.
    outermost = path[np.argmax(np.linalg.norm(path, axis=1))]
    centre = outermost * (1 + 0.3 / np.linalg.norm(outermost))
    trajectory(PLANAR, weights, Constraints(keep_out=(Sphere(tuple(centre), 0.3 - 1e-4),)))
    with pytest.raises(UserError, match="violates keep-out 1"):
        trajectory(PLANAR, weights, Constraints(keep_out=(Sphere(tuple(centre), 0.3 + 1e-4),)))


def test_a_keep_out_between_two_moments_is_seen():
    """The arm turns so quickly that no moment at which limits are looked for first is in the keep-out."""
    weights = np.zeros((PLANAR.promp.bases, 5))
    weights[:, 0] = 300 * np.linspace(0.2, 1.0, PLANAR.promp.bases)
    moved = trajectory(PLANAR, weights.reshape(-1), Constraints(), rate=trajectories.FINE * PLANAR.promp.steps / 3)
    tip = moved.points[:, -1]
    steps = np.linalg.norm(np.diff(tip, axis=0), axis=1)
    middle = int(np.argmax(steps))
    assert steps[middle] > 0.5
    angle = np.arctan2(*(tip[middle] + tip[middle + 1])[::-1])
    centre = 4.9 * np.array([np.cos(angle), np.sin(angle)])
    assert np.linalg.norm(tip - centre, axis=1).min() > 0.1
    with pytest.raises(UserError, match="violates keep-out 1"):
        trajectory(PLANAR, weights.reshape(-1), Constraints(keep_out=(Sphere(tuple(centre), 0.01),)))


# Refusals


@pytest.mark.parametrize("factor", [1e4, 1e12, 1e300])
def test_a_movement_that_no_robot_makes_is_refused(factor):
    for limits in (Constraints(), Constraints(keep_out=(Sphere((-4.0, 0.0), 0.2),))):
        with pytest.raises(UserError, match="this movement "):
            trajectory(PLANAR, factor * some(PLANAR, scale=2), limits)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_weights_are_finite_and_as_many_as_the_task_has(value):
    weights = some(PLANAR)
    with pytest.raises(UserError, match="25 finite weights"):
        trajectory(PLANAR, np.where(np.arange(25) == 3, value, weights), Constraints())
    with pytest.raises(UserError, match="25 finite weights"):
        trajectory(PLANAR, weights[:-1], Constraints())


# The end, and demands on the tool


def test_a_movement_holds_still_at_its_end():
    robot = Robot("any", tuple("abcde"), FREE, (9.0,) * 5, (90.0,) * 5)
    held = trajectory(PLANAR, some(PLANAR), Constraints(robot, 3.0, hold=0.5), rate=50)
    whole = trajectory(PLANAR, some(PLANAR), Constraints(robot, 2.5), rate=50)
    assert held.seconds == pytest.approx(3.0)
    np.testing.assert_allclose(held.positions[: len(whole.times)], whole.positions)
    np.testing.assert_array_equal(held.positions[len(whole.times) - 1 :], held.positions[-1:].repeat(26, axis=0))
    assert not np.any(held.velocities[-25:])


@pytest.mark.parametrize("time", [0.2, 0.5, None])
def test_a_via_point_is_looked_for_at_its_time(time):
    moved = trajectory(PLANAR, some(PLANAR), Constraints(seconds=4.0), rate=500)
    step = round((0.35 if time is None else time) * 2000)
    place = tuple(moved.points[step, -1])
    trajectory(PLANAR, some(PLANAR), Constraints(seconds=4.0, via=(Via(place, 1e-3, time),)))
    beside = Via(tuple(moved.points[step, -1] + (0.0, 50.0)), 49.0, time)
    with pytest.raises(UserError, match="violates via-point 1: the tool stays"):
        trajectory(PLANAR, some(PLANAR), Constraints(seconds=4.0, via=(beside,)))


@pytest.mark.parametrize("rate", [0.0, -1.0, 1e9, 1e-9, np.nan, np.inf])
def test_a_senseless_rate_is_refused(rate):
    with pytest.raises(UserError, match="the rate must be from"):
        trajectory(PLANAR, some(PLANAR), Constraints(), rate)


@pytest.mark.parametrize(
    ("seconds", "hold", "rate"), [(3600.0, 0.0, 10_000), (120.0, 110.0, 10_000), (3600.0, 0.0, 60)]
)
def test_more_samples_than_a_file_should_have_are_refused(seconds, hold, rate):
    with pytest.raises(UserError, match="samples; at most 200,000 can be written"):
        trajectory(PLANAR, some(PLANAR), Constraints(seconds=seconds, hold=hold), rate)
