"""From poses as they come to a recording: real time, resampled to even steps."""

import numpy as np
from scipy.interpolate import make_interp_spline

from vigor.basics.errors import UserError
from vigor.demonstrations.preprocessing import REST

RATE = 50
"""Steps of a recording in a second."""
SHORTEST, LONGEST = 0.2, 60.0
"""Seconds that a movement takes at least, and that are kept of it at most."""


class Recorder:
    """Collects poses with their times between `start` and `discard`."""

    def __init__(self) -> None:
        self.active = False
        self._times: list[float] = []
        self._poses: list[np.ndarray] = []

    @property
    def seconds(self) -> float:
        """Time recorded so far."""
        return self._times[-1] - self._times[0] if self._times else 0.0

    @property
    def full(self) -> bool:
        """Nothing more is kept."""
        return self.seconds >= LONGEST - 0.1

    def start(self) -> None:
        self.discard()
        self.active = True

    def add(self, time: float, pose: np.ndarray) -> None:
        """A pose [dimensions] at a time in seconds; left out if nothing is recorded, or for too long already."""
        if self.active and (not self._times or (time > self._times[-1] and time - self._times[0] <= LONGEST)):
            self._times.append(time)
            self._poses.append(np.array(pose, np.float64))

    def recording(self) -> np.ndarray:
        """The recording [T, dimensions], without the rest after the movement; or a sentence about what is wrong."""
        if len(self._times) < 2:
            raise UserError("nothing was recorded; drag the orange ball")
        return without_rest_after(evenly(np.array(self._times), np.array(self._poses)))

    def discard(self) -> None:
        self.active, self._times, self._poses = False, [], []


def evenly(times: np.ndarray, poses: np.ndarray) -> np.ndarray:
    """Poses [n, dimensions] at increasing times [n] in seconds, at RATE steps a second: [T, dimensions]."""
    steps = np.arange(times[0], times[-1] + 0.5 / RATE, 1 / RATE)
    return make_interp_spline(times, poses, k=1)(np.minimum(steps, times[-1]))


def without_rest_after(recording: np.ndarray) -> np.ndarray:
    """The recording up to where it comes to rest, as `preprocessing.without_rest` drops the rest before it."""
    excursion = np.linalg.norm(recording - recording[0], axis=1).max()
    away = np.linalg.norm(recording - recording[-1], axis=1) > REST * excursion
    if excursion < 1e-6 or away.sum() < SHORTEST * RATE:
        raise UserError("the robot hardly moved; drag the orange ball")
    return recording[: np.flatnonzero(away)[-1] + 2]
