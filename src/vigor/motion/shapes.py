"""Shapes in space or in the plane: what no link of a robot may enter."""

import math
from dataclasses import dataclass

import numpy as np

from vigor.basics.errors import UserError


@dataclass(frozen=True)
class Sphere:
    """A ball, or a disc in the plane, that no link may enter."""

    centre: tuple[float, ...]
    radius: float

    def __post_init__(self) -> None:
        if not np.all(np.isfinite(self.centre)) or not 0 < self.radius < math.inf:
            raise UserError("a keep-out sphere needs a finite centre and a positive radius")


@dataclass(frozen=True)
class Box:
    """A box with edges along the axes, or a rectangle in the plane, that no link may enter."""

    low: tuple[float, ...]
    high: tuple[float, ...]

    def __post_init__(self) -> None:
        corners = (*self.low, *self.high)
        if len(self.low) != len(self.high) or not np.all(np.isfinite(corners)):
            raise UserError("a keep-out box needs two finite corners")
        if not all(low < high for low, high in zip(self.low, self.high, strict=True)):
            raise UserError("a keep-out box needs its lower corner first, then its upper corner")

    @property
    def centre(self) -> tuple[float, ...]:
        return tuple((low + high) / 2 for low, high in zip(self.low, self.high, strict=True))


def in_plane(shape: Sphere | Box) -> Sphere | Box:
    """The disc or rectangle that a shape in space cuts out of the plane z = 0; one in the plane as it is."""
    if len(shape.centre) == 2:
        return shape
    if isinstance(shape, Sphere):
        x, y, z = shape.centre
        if abs(z) >= shape.radius:
            raise UserError(f"the keep-out sphere at height {z:g} does not meet the plane of the arm")
        return Sphere((x, y), math.sqrt(shape.radius**2 - z**2))
    if not shape.low[2] < 0 < shape.high[2]:
        raise UserError("the keep-out box does not meet the plane of the arm, z = 0")
    return Box(shape.low[:2], shape.high[:2])
