"""The box, its goal, and the distance between them.

The box starts at `START` with its long side across the robot's reach. A context (dx, dy, rotation) says how far it is
to be moved. A pose is (x, y, angle).
"""

import numpy as np

SIZE = (0.16, 0.24)
"""Outside of the box along x and y when it starts, in metres."""
HEIGHT, WALL, BOTTOM = 0.05, 0.008, 0.005
"""Height of the box, thickness of its walls and of its bottom."""
START = (0.55, 0.0)
"""Centre of the box when it starts, from the robot's base."""
ROD = 0.01
"""Radius of the rod."""
REACH = (0.31, 0.78)
"""Distances from the robot's base that the rod can take at its height."""

CORNERS = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]]) * np.array(SIZE) / 2
"""[4, 2]: corners of the box in its own frame, in turn."""


def corners(poses: np.ndarray) -> np.ndarray:
    """Corners [..., 4, 2] of boxes at poses [..., 3]."""
    poses = np.asarray(poses, float)
    cos, sin = np.cos(poses[..., 2, None]), np.sin(poses[..., 2, None])
    x, y = CORNERS.T
    return poses[..., None, :2] + np.stack([cos * x - sin * y, sin * x + cos * y], axis=-1)


def corner_distance(poses: np.ndarray, goals: np.ndarray) -> np.ndarray:
    """Mean distance [...] of the four corners of boxes at poses [..., 3] to those of boxes at goals [..., 3]."""
    return np.linalg.norm(corners(poses) - corners(goals), axis=-1).mean(axis=-1)


def goal(contexts: np.ndarray) -> np.ndarray:
    """Poses [..., 3] that contexts [..., 3] ask for."""
    return np.asarray(contexts, float) + np.array([*START, 0.0])


def initial_distance(contexts: np.ndarray) -> np.ndarray:
    """Distance [...] of a box that nobody touches."""
    return corner_distance(goal(np.zeros_like(contexts)), goal(contexts))


def sign_combination(contexts: np.ndarray) -> np.ndarray:
    """Number [...] of the combination of the signs of dy and rotation that contexts [..., 3] have, of four."""
    return 2 * (contexts[..., 1] > 0) + (contexts[..., 2] > 0)


def inside(points: np.ndarray) -> np.ndarray:
    """Whether points [..., 2] lie within the outline of the box where it starts."""
    return np.all(np.abs(np.asarray(points) - START) < np.array(SIZE) / 2, axis=-1)


def clearance(points: np.ndarray) -> np.ndarray:
    """Free space [...] from a rod at points [..., 2] to the walls of the box where it starts; negative in a wall."""
    offset = np.abs(np.asarray(points, float) - START)
    beyond = offset - np.array(SIZE) / 2
    outside = np.linalg.norm(np.maximum(beyond, 0.0), axis=-1)
    within = np.min(-beyond, axis=-1) - WALL
    return np.where(np.any(beyond > 0, axis=-1), outside, within) - ROD


def beside_walls(points: np.ndarray, gap: float = 0.001) -> np.ndarray:
    """Points [..., 2], those where the rod would stand in a wall moved straight out of it, to the nearer side."""
    points = np.asarray(points, float)
    offset = points - START
    half = np.array(SIZE) / 2
    beyond = np.abs(offset) - half
    axis = np.argmax(beyond, axis=-1)[..., None]  # Of the wall that the point is nearest to.
    nearest = np.take_along_axis(beyond, axis, axis=-1)
    side = np.where(np.take_along_axis(offset, axis, axis=-1) < 0, -1.0, 1.0)
    out = nearest > -WALL / 2
    free = side * (np.take_along_axis(np.broadcast_to(half, offset.shape), axis, axis=-1))
    free = free + side * np.where(out, ROD + gap, -(WALL + ROD + gap))
    moved = offset.copy()
    np.put_along_axis(moved, axis, free, axis=-1)
    # Towards the inside a point must also clear the wall across.
    room = half - WALL - ROD - gap
    moved = np.where(out, moved, np.clip(moved, -room, room))
    return np.where((clearance(points) < gap)[..., None], moved + START, points)


MIRRORS = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]])
"""[4, 2]: signs of x and y in the box's mirror images, the box itself first.

To the side the arm is its own mirror image too. Along its reach it is not, but it gives way so little that a mirrored
push ends within millimetres.
"""


def mirrored(weights: np.ndarray, contexts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mirror images of pushes: weights [4, n, D] and contexts [4, n, 3] of weights [n, D] in contexts [n, 3]."""
    turned = np.concatenate([MIRRORS, MIRRORS.prod(axis=1, keepdims=True)], axis=1)
    points = np.asarray(weights).reshape(len(weights), -1, 2) * MIRRORS[:, None, None]
    return points.reshape(len(MIRRORS), *np.shape(weights)), np.asarray(contexts) * turned[:, None]
