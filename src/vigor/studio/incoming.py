"""What comes from a page is anything at all: it is checked before it is used."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np


def vector(value: Any, low: Sequence[float], high: Sequence[float]) -> np.ndarray | None:
    """As many finite numbers as there are bounds, drawn between them; None for anything else."""
    try:
        numbers = np.array(value, np.float64)
    except (TypeError, ValueError, OverflowError):
        return None
    if numbers.shape != (len(low),) or not np.all(np.isfinite(numbers)):
        return None
    return np.clip(numbers, low, high)


def whole(value: Any, low: int, high: int) -> int | None:
    """A whole number, drawn between the bounds; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return int(min(max(value, low), high))


def pointed_at(camera: Any, pointer: Any, height: float | None) -> np.ndarray | None:
    """Where a drag points to, [3]: where the ray from the camera through the pointer meets a horizontal plane.

    Without a plane it is the pointer's own place, which lies as far from the camera as what is dragged. None if the
    ray does not meet the plane, or if these are not places.
    """
    far = 1e4
    eye, through = vector(camera, (-far,) * 3, (far,) * 3), vector(pointer, (-far,) * 3, (far,) * 3)
    if eye is None or through is None or height is None:
        return through
    ray = through - eye
    if abs(ray[2]) < 1e-9 * far or (height - eye[2]) / ray[2] <= 0:
        return None
    return eye + ray * (height - eye[2]) / ray[2]
