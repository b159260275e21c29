"""Values from a page, which can be anything at all: checked before they are used."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

FAR = 1e4
"""Largest coordinate of anything."""


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


def place(value: Any) -> np.ndarray | None:
    """A place [3] in the scene, or a camera's; None for anything else."""
    return vector(value, (-FAR,) * 3, (FAR,) * 3)
