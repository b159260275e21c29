"""Pacing: from rest to rest, within all limits, and slow only where one is hit."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from vigor.basics.errors import UserError
from vigor.motion.panda import PANDA
from vigor.motion.robots import Robot
from vigor.planning import pacing
from vigor.planning.constraints import Constraints
from vigor.planning.trajectories import trajectory
from vigor.tasks.reachers import panda_reacher, planar_reacher

PLANAR, ARM = planar_reacher.TASK, panda_reacher.TASK
FREE = ((-np.inf, np.inf),) * 5
SLOW = 0.01
"""A duration that no robot holds: the limits alone decide."""


def some(task, seed=0, scale=0.3):
    """Weights of a movement."""
    return scale * np.random.default_rng(seed).normal(size=task.promp.weights)


def robot(velocity: float, acceleration: float, joints: int = 1) -> Robot:
    names = tuple("abcdefg"[:joints])
    return Robot("any", names, ((-np.inf, np.inf),) * joints, (velocity,) * joints, (acceleration,) * joints)


def test_the_clock_runs_from_rest_to_rest():
    share = np.linspace(0.0, 1.0, 1001)
    pace = pacing.uniform(share)
    assert pace.phase[0] == 0
    assert pace.phase[-1] == pytest.approx(1)
    assert pace.speed[0] == pace.speed[-1] == pace.push[0] == pace.push[-1] == 0
    assert np.all(np.diff(pace.phase) >= 0)
    np.testing.assert_allclose(np.gradient(pace.phase, share)[1:-1], pace.speed[1:-1], atol=1e-3)
    np.testing.assert_allclose(np.gradient(pace.speed, share)[2:-2], pace.push[2:-2], atol=0.1)


@pytest.mark.parametrize(
    ("velocity", "acceleration", "seconds"),
    [
        (1e3, 2.0, 2 * np.sqrt(3.0 / 2.0)),  # Speeds up to the middle, then slows down.
        (1.0, 2.0, 3.0 / 1.0 + 1.0 / 2.0),  # Reaches its largest speed.
        (0.1, 1e3, 30.0),
    ],
)
def test_a_straight_line_takes_as_long_as_the_textbook_says(velocity: float, acceleration: float, seconds: float):
    def line(phases):
        return np.full((len(phases), 1), 3.0), np.zeros((len(phases), 1))

    found = pacing.optimal(line, robot(velocity, acceleration), SLOW)
    assert found.times[-1] == pytest.approx(seconds, rel=5e-3)
    pace = found.at(np.linspace(0, found.times[-1], 500))
    assert np.max(3 * pace.speed) <= velocity * (1 + 1e-6)
    assert pace.speed[0] == 0
    assert pace.speed[-1] == pytest.approx(0, abs=1e-9)
    np.testing.assert_allclose(pace.phase[[0, -1]], [0, 1], atol=1e-9)


def test_without_need_it_takes_the_seconds_asked_for():
    moved = trajectory(PLANAR, some(PLANAR), Constraints(robot(1e3, 1e3, 5), 2.0), pacing="optimal")
    assert moved.seconds == pytest.approx(2.0, abs=0.011)
    assert moved.slowed_by is None


@settings(max_examples=25, deadline=None, derandomize=True)
@given(
    st.integers(0, 10**6),
    st.floats(0.05, 2),
    st.lists(st.floats(0.2, 5), min_size=5, max_size=5),
    st.lists(st.floats(0.5, 20), min_size=5, max_size=5),
    st.sampled_from([SLOW, 1.0, 4.0]),
    st.floats(20, 300),
)
@example(10**6, 2.0, [1 / 3, 0.24491143443332924, 1.0, 1.0, 1.0], [1.234375, 4.0, 2.0, 3.0, 4.0], SLOW, 55.34375)
def test_every_limit_holds(seed, scale, velocity, acceleration, seconds, rate):
    limited = Robot("any", tuple("abcde"), FREE, tuple(velocity), tuple(acceleration))
    moved = trajectory(PLANAR, some(PLANAR, seed, scale), Constraints(limited, seconds), rate, pacing="optimal")
    assert np.all(np.abs(moved.velocities) <= np.array(velocity) * (1 + 1e-6))
    assert np.all(np.abs(moved.accelerations) <= np.array(acceleration) * (1 + 1e-6))
    steps = np.diff(moved.positions, axis=0) * rate  # What a controller makes of the positions alone.
    assert np.all(np.abs(steps) <= np.array(velocity) * (1 + 1e-3) + 1e-6)
    assert np.all(np.abs(np.diff(steps, axis=0) * rate) <= np.array(acceleration) * 1.01 + 1e-3)
    np.testing.assert_allclose(moved.velocities[[0, -1]], 0, atol=1e-6)
    np.testing.assert_allclose(np.diff(moved.times), 1 / rate)
    assert moved.seconds >= seconds - 1e-3
    even = trajectory(PLANAR, some(PLANAR, seed, scale), Constraints(limited, seconds), rate)
    assert moved.seconds <= even.seconds * 1.001 + 2 / rate


def test_the_path_is_the_same_and_the_time_shorter():
    limits = Constraints(PANDA, SLOW)
    even, fast = (trajectory(ARM, some(ARM), limits, 500, pacing=kind) for kind in ("uniform", "optimal"))
    assert fast.seconds < 0.9 * even.seconds
    assert fast.slowed_by is not None
    nearest = np.linalg.norm(fast.positions[:, None] - even.positions[None], axis=-1).min(axis=1)
    assert nearest.max() < 0.01
    used = np.maximum(
        np.abs(fast.velocities) / PANDA.velocity, np.abs(fast.accelerations) / np.array(PANDA.acceleration)
    ).max(axis=1)
    assert np.median(used) > 0.95  # A limit is used nearly all the time.


def test_jerk_is_that_of_the_samples():
    moved = trajectory(ARM, some(ARM), Constraints(PANDA, 4.0), 200)
    third = np.diff(moved.positions, 3, axis=0) * 200**3
    np.testing.assert_allclose(moved.jerk[:6], np.abs(third[:, :6]).max(axis=0), rtol=0.1)


def test_limits_must_be_known():
    with pytest.raises(UserError, match="optimal pacing needs a robot with limits"):
        trajectory(PLANAR, some(PLANAR), Constraints(), pacing="optimal")
