"""Recording: real time becomes even steps, rest is dropped."""

import numpy as np
import pytest

from vigor.basics.errors import UserError
from vigor.studio.recorder import LONGEST, RATE, Recorder, evenly


def test_real_time_becomes_even_steps():
    times = np.array([0.0, 0.05, 0.3, 1.0])
    even = evenly(times, np.stack([times, 2 * times], axis=1))
    np.testing.assert_allclose(even[:, 0], np.arange(RATE + 1) / RATE, atol=1e-9)
    np.testing.assert_allclose(even[:, 1], 2 * even[:, 0])


def test_a_recording_ends_with_its_movement():
    recorder = Recorder()
    recorder.add(0.0, np.zeros(1))
    recorder.start()
    for time_ in np.arange(0.0, 5.0, 0.01):
        recorder.add(time_, np.array([min(time_, 2.0)]))
    made = recorder.recording()
    assert 2.0 * RATE - 3 < len(made) < 2.0 * RATE + 3
    assert recorder.active
    recorder.discard()
    assert not recorder.active


def test_nothing_and_rest_are_refused_and_endless_recordings_cut():
    recorder = Recorder()
    recorder.start()
    with pytest.raises(UserError, match="nothing was recorded"):
        recorder.recording()
    recorder.start()
    for time_ in range(100):
        recorder.add(time_ / 10, np.ones(2))
    with pytest.raises(UserError, match="hardly moved"):
        recorder.recording()
    recorder.start()
    for time_ in range(1000):
        recorder.add(float(time_), np.array([time_]))
    assert recorder.seconds <= LONGEST
    assert recorder.full
