"""Shapes in space or in the plane: what no link of a robot may enter."""

import math
from dataclasses import dataclass

import numpy as np

from vigor.basics.errors import UserError
from vigor.basics.files import NUMBER

LARGEST = 1e6
"""No coordinate or size may be beyond: clearances are computed in single precision."""


@dataclass(frozen=True)
class Sphere:
    """A ball, or a disc in the plane, that no link may enter."""

    centre: tuple[float, ...]
    radius: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "centre", tuple(map(float, self.centre)))
        if not _fits(self.centre) or not 0 < self.radius <= LARGEST:
            raise UserError("a keep-out sphere needs a centre of 2 or 3 finite coordinates and a positive radius")


@dataclass(frozen=True)
class Box:
    """A box with edges along the axes, or a rectangle in the plane, that no link may enter."""

    low: tuple[float, ...]
    high: tuple[float, ...]

    def __post_init__(self) -> None:
        for name in ("low", "high"):
            object.__setattr__(self, name, tuple(map(float, getattr(self, name))))
        if len(self.low) != len(self.high) or not _fits(self.low) or not _fits(self.high):
            raise UserError("a keep-out box needs two corners of 2 or 3 finite coordinates")
        if not all(low < high for low, high in zip(self.low, self.high, strict=True)):
            raise UserError("a keep-out box needs its lower corner first, then its upper corner")

    @property
    def centre(self) -> tuple[float, ...]:
        return tuple((low + high) / 2 for low, high in zip(self.low, self.high, strict=True))


@dataclass(frozen=True)
class Capsule:
    """All points in space within a radius of a line; around a point it is a ball."""

    start: tuple[float, float, float]
    end: tuple[float, float, float]
    radius: float

    def __post_init__(self) -> None:
        for name in ("start", "end"):
            object.__setattr__(self, name, tuple(map(float, getattr(self, name))))
        if not all(len(end) == 3 and _fits(end) for end in (self.start, self.end)) or not 0 < self.radius <= LARGEST:
            raise UserError("a capsule needs two ends of 3 finite coordinates and a positive radius")

    @property
    def volume(self) -> float:
        return math.pi * self.radius**2 * (math.dist(self.start, self.end) + 4 / 3 * self.radius)


@dataclass(frozen=True)
class Plane:
    """The half of space that a normal points away from: a floor, a wall."""

    normal: tuple[float, float, float]
    """Direction out of it; any length."""
    height: float = 0.0
    """Distance of its surface from the origin, along the normal."""

    def __post_init__(self) -> None:
        if len(self.normal) != 3 or not _fits(self.normal) or not any(self.normal) or not abs(self.height) <= LARGEST:
            raise UserError("a plane needs a normal of 3 finite coordinates, not all 0, and a finite height")
        length = math.hypot(*self.normal)
        object.__setattr__(self, "normal", tuple(float(value) / length for value in self.normal))


def _fits(point: tuple[float, ...]) -> bool:
    """Whether a point is one of the plane or of space."""
    return len(point) in (2, 3) and bool(np.all(np.abs(point) <= LARGEST))


def parse(text: str) -> Sphere | Box:
    """A shape as the command line names it: sphere:X,Y,Z,RADIUS or box:X,Y,Z,X,Y,Z, in the plane without Z."""
    kind, _, values = text.partition(":")
    words = [word.strip() for word in values.split(",")]
    numbers = tuple(map(float, words)) if all(map(NUMBER.fullmatch, words)) else ()
    if kind == "sphere" and len(numbers) in (3, 4):
        return Sphere(numbers[:-1], numbers[-1])
    if kind == "box" and len(numbers) in (4, 6):
        return Box(numbers[: len(numbers) // 2], numbers[len(numbers) // 2 :])
    raise UserError(f"{text!r} is no keep-out; write sphere:X,Y,Z,RADIUS or box:X,Y,Z,X,Y,Z, in the plane without Z")


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
