"""Time in recordings: stamps made to increase, even steps, and pauses."""

from itertools import pairwise

import numpy as np
import scipy  # Its parts are loaded when they are used.

from vigor.basics.errors import UserError
from vigor.demonstrations.preprocessing import REST

EVEN = 1e-3
"""Part of a step by which steps may differ and still be even."""
STILL = 0.01
"""Share of the size of all movements within which a robot stays during a pause."""
MOVED = 0.05
"""Share of it that a movement has at least."""
LONG = 0.15
"""Share of a recording that is a pause: less may be the slow begin or end of a smooth movement."""
MOST = 10**5
"""Most steps of a recording."""


def increasing(times: np.ndarray) -> tuple[np.ndarray, int]:
    """Stamps [T] that increase, and how many steps were not: these take as long as others do."""
    steps = np.diff(times)
    good = steps > 0
    if np.all(good):
        return times, 0
    usual = float(np.median(steps[good])) if np.any(good) else 1.0
    mended = np.concatenate([[times[0]], times[0] + np.cumsum(np.where(good, steps, usual))])
    return mended, int(np.sum(~good))


def evenly(times: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Values [T, column] at even times: about as many, interpolated between stamps [T] that increase.

    What is even already stays as it is.
    """
    steps = np.diff(times)
    if np.all(np.abs(steps - steps.mean()) <= EVEN * steps.mean() + np.spacing(np.float32(abs(times).max()))):
        return values
    count = round((times[-1] - times[0]) / float(np.median(steps))) + 1
    if not 2 <= count <= MOST:
        raise UserError(f"time stamps from {times[0]:g} s to {times[-1]:g} s are too uneven to be resampled")
    even = np.linspace(times[0], times[-1], count)
    return np.stack([np.interp(even, times, column) for column in values.T], axis=1)


def begin_of_rest(values: np.ndarray) -> int:
    """The step from which on a recording [T, column] rests until its end, if that is long; else the last one."""
    away = np.linalg.norm(values - values[-1], axis=1)
    first = len(values) - int(np.argmax(away[::-1] > REST * away.max()))
    if not (len(values) - first > LONG * len(values) and 2 <= first < len(values)):
        return len(values) - 1
    return arrival(values, first)


def arrival(values: np.ndarray, rest: int) -> int:
    """The step from which on a recording [T, column], which rests from about a step on, is where it stays.

    A smooth movement slows down for a while before it is there. It has arrived when it is as near as in the later half
    of its rest, twice the noise of sensors allowed.
    """
    if rest >= len(values):
        return len(values)
    half = (len(values) - rest) // 2
    away = np.linalg.norm(values[rest:] - np.median(values[rest + half :], axis=0), axis=1)
    coming = np.flatnonzero(away > 2 * away[half:].max())
    return rest + (int(coming[-1]) + 1 if len(coming) else 0)


def cut_at_pauses(times: np.ndarray, values: np.ndarray, pause: float) -> list[slice]:
    """Movements between pauses of a recording [T, column], and between gaps that long in its stamps [T].

    A pause is a stretch of time in which the robot stays where it is. What hardly leaves its place is no movement.
    """
    steps = np.diff(times)
    width = 2 * max(1, round(pause / float(np.median(steps)) / 2)) + 1
    size = np.linalg.norm(np.ptp(values, axis=0))
    highest, lowest = scipy.ndimage.maximum_filter1d, scipy.ndimage.minimum_filter1d
    spans = highest(values, width, axis=0) - lowest(values, width, axis=0)
    still = np.linalg.norm(spans, axis=1) <= STILL * size
    moves = highest(still.astype(np.uint8), width) == 0
    edges = np.flatnonzero(np.diff(np.concatenate([[False], moves, [False]]).astype(int))).reshape(-1, 2)
    gaps = np.flatnonzero(steps >= pause) + 1
    if not len(edges):
        return [slice(0, len(values))]
    parts = []
    # The middle of every pause: what is still by this measure may be the slow begin or end of a movement.
    middles = [0, *((edges[:-1, 1] + edges[1:, 0]) // 2).tolist(), len(values)]
    for (begin, end), (before, after) in zip(edges.tolist(), pairwise(middles), strict=True):
        low, high = max([before, *gaps[gaps <= begin].tolist()]), min([after, *gaps[gaps >= end].tolist()])
        first = high - arrival(values[low:high][::-1], high - begin)
        last = low + arrival(values[low:high], end - low)
        cuts = [first, *gaps[(gaps > begin) & (gaps < end)].tolist(), last]
        parts += [slice(a, b) for a, b in pairwise(cuts)]
    parts = [part for part in parts if np.linalg.norm(np.ptp(values[part], axis=0)) > MOVED * size]
    return parts or [slice(0, len(values))]
