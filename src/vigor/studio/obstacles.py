"""Obstacles: balls and boxes that plans keep out of, moved by their middle and sized by a knob."""

from collections.abc import Sequence

import numpy as np

from vigor.motion.shapes import Box, Sphere
from vigor.tasks.stage import Mark, Picture, Surface, View

USUAL, SMALLEST, LARGEST = 3.0, 1.0, 20.0
"""Half the size of a new obstacle, of the smallest and of the largest, in radii of the ball that the robot has."""
ROOM = 0.5
"""Half the size of a new obstacle, in parts of the room around it: a box's corners are in it, too."""
POINTS = 2000
"""Points of a robot that a new obstacle keeps clear of, about."""
MOST = 8
"""Most obstacles at a time."""

Obstacle = Sphere | Box


def knob(shape: Obstacle) -> np.ndarray:
    """Place [3] of the knob that sizes an obstacle: on a ball's side, or a box's upper corner."""
    if isinstance(shape, Sphere):
        return np.add(shape.centre, (shape.radius, 0.0, 0.0))
    return np.array(shape.high)


def moved(shape: Obstacle, aim: np.ndarray) -> Obstacle:
    """An obstacle whose middle is at an aim [3]."""
    if isinstance(shape, Sphere):
        return Sphere(tuple(aim), shape.radius)
    half = (np.array(shape.high) - shape.low) / 2
    return Box(tuple(aim - half), tuple(aim + half))


def sized(shape: Obstacle, aim: np.ndarray, view: View) -> Obstacle:
    """An obstacle whose knob is at an aim [3]; its middle stays."""
    centre, least, most = np.array(shape.centre), SMALLEST * view.ball, LARGEST * view.ball
    if isinstance(shape, Sphere):
        return Sphere(shape.centre, float(np.clip(np.linalg.norm(aim - centre), least, most)))
    half = np.clip(np.abs(aim - centre), least, most)
    if view.flat:  # Its height says nothing.
        half[2] = (shape.high[2] - shape.low[2]) / 2
    return Box(tuple(centre - half), tuple(centre + half))


def replaced(shapes: Sequence[Obstacle], number: int, shape: Obstacle) -> tuple[Obstacle, ...]:
    """The obstacles with another one in the place of a number."""
    return tuple(shape if i == number else old for i, old in enumerate(shapes))


def among(points: np.ndarray, marks: Sequence[Mark]) -> np.ndarray:
    """Places [n, 3] among a robot at points [m, 3] and marks."""
    corners = np.concatenate([points, *(mark.position[None] for mark in marks)])
    return np.random.default_rng(0).uniform(corners.min(axis=0), corners.max(axis=0), (50, 3))


def body(picture: Picture, surfaces: Sequence[Surface]) -> np.ndarray:
    """Points [n, 3] all over a robot: on the surfaces of its links, or along them if it has none."""
    if surfaces:
        parts = zip(surfaces, picture.places, picture.turns, strict=True)
        points = np.concatenate([part.vertices @ turn.T + place for part, place, turn in parts])
        return points[:: max(1, len(points) // POINTS)]
    along = np.linspace(0.0, 1.0, 9)[:, None, None]
    links = ((1 - along) * picture.points[:-1] + along * picture.points[1:]).reshape(-1, 3)
    return np.concatenate([picture.points, links])


def new(kind: str, where: np.ndarray, robot: np.ndarray, marks: Sequence[Mark], view: View) -> Obstacle:
    """A ball or a box at the one of some places [n, 3] that is freest: of a robot's points [m, 3], and of marks."""
    away = np.linalg.norm(where[:, None] - robot, axis=-1).min(axis=1) - view.link
    for mark in marks:
        away = np.minimum(away, np.linalg.norm(where - mark.position, axis=1) - mark.radius)
    best = int(np.argmax(away))
    half = float(np.clip(ROOM * away[best], SMALLEST * view.ball, USUAL * view.ball))
    centre = where[best] * (1.0, 1.0, 0.0 if view.flat else 1.0)
    return Sphere(tuple(centre), half) if kind == "ball" else Box(tuple(centre - half), tuple(centre + half))
