"""Units in which joints are told: radians, degrees, or percent of a joint's range."""

from typing import Any, Literal

import numpy as np

from vigor.basics.errors import UserError

Unit = Literal["rad", "deg", "percent"]
"""`percent`: from -100 at a joint's lower limit to 100 at its upper one."""


def to_radians(values: np.ndarray, unit: Unit, limits: Any = ()) -> np.ndarray:
    """Joints [T, joint] of a unit in radians; limits: [joint, 2], which percent needs."""
    if unit == "deg":
        return np.deg2rad(values)
    if unit == "percent":
        low, high = _bounded(limits)
        return low + (values + 100) / 200 * (high - low)
    return values


def from_radians(values: np.ndarray, unit: Unit, limits: Any = ()) -> np.ndarray:
    """The inverse of `to_radians`."""
    if unit == "deg":
        return np.rad2deg(values)
    if unit == "percent":
        low, high = _bounded(limits)
        return (values - low) / (high - low) * 200 - 100
    return values


def _bounded(limits: Any) -> tuple[np.ndarray, np.ndarray]:
    low, high = np.array(limits, float).reshape(-1, 2).T
    if not len(low) or not np.all(np.isfinite(high - low)):
        raise UserError("percent needs joints that have limits; choose rad or deg")
    return low, high
