"""Random pushes: smooth movements against each wall of the box, from inside and from outside.

Where they touch a wall, how they are aimed, how far they go, when they begin and how fast they are is random. Their
outcomes show what a single push can do: contexts are drawn from them, and searches for demonstrations start at those
that come closest.
"""

from dataclasses import dataclass
from functools import cache

import jax.numpy as jnp
import numpy as np

from vigor.motion.promp import rollout
from vigor.tasks.box_pusher import geometry, simulation
from vigor.tasks.box_pusher.control import PROMP

WAYS = 8
"""Ways of pushing: against walls 0 to 3 from inside, then from outside."""
NORMALS = np.array([[1, 0], [0, 1], [-1, 0], [0, -1]])
"""[4, 2]: outward normals of the walls, as they are numbered in the scene."""
_LIBRARY = 1200
"""Pushes that are tried out for searches to start from, beside their mirror images."""
FARTHEST, NEAREST = 0.125, 0.025
"""Corner distances between which an outcome can be a context."""


@dataclass(frozen=True, eq=False)
class Pushes:
    """n pushes and what became of them."""

    weights: np.ndarray
    """[n, D]: of the ProMP."""
    outcomes: np.ndarray
    """[n, 3]: movement of the box, as a context says it."""


def draw(rng: np.random.Generator, ways: np.ndarray) -> np.ndarray:
    """Weights [n, D] of random pushes in given ways [n]."""
    n = len(ways)
    normal = NORMALS[ways % 4].astype(float)
    tangent = np.stack([-normal[:, 1], normal[:, 0]], axis=1)
    within = ways < 4
    half = np.array(geometry.SIZE) / 2
    depth, breadth = np.abs(normal) @ half, np.abs(tangent) @ half
    # The rod starts a gap away from the wall, somewhere along it.
    gap = rng.uniform(0.01, 0.06, n) + geometry.ROD
    away = np.where(within, depth - geometry.WALL - gap, depth + gap)
    room = breadth - np.where(within, geometry.WALL + geometry.ROD + 0.01, 0.015)
    along = rng.uniform(-1, 1, n) * room
    start = away[:, None] * normal + along[:, None] * tangent
    # It pushes across the wall, at a slant, and turns a little on its way.
    heading = np.arctan2(normal[:, 1], normal[:, 0]) + np.where(within, 0.0, np.pi) + rng.normal(0, 0.4, n)
    bend = rng.normal(0, 0.7, n)
    length = gap + rng.uniform(0.03, 0.17, n)
    progress = _progress(rng, n)
    middle = (progress[:, 1:] + progress[:, :-1]) / 2
    angles = heading[:, None] + bend[:, None] * (middle - 0.5)
    steps = (length[:, None] * np.diff(progress))[..., None] * np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    points = start[:, None] + np.concatenate([np.zeros((n, 1, 2)), np.cumsum(steps, axis=1)], axis=1)
    return points.reshape(n, -1) / PROMP.scale


def _progress(rng: np.random.Generator, count: int) -> np.ndarray:
    """Shares [count, basis] of their ways that random movements have gone, from 0 to 1.

    Each begins and ends at a time of its own, so that some are slow and some fast, and is fastest early or late.
    """
    begin, end, late = rng.uniform(0.0, 0.2, count), rng.uniform(0.7, 1.0, count), rng.uniform(0.7, 1.4, count)
    time = (np.linspace(0, 1, PROMP.bases) - begin[:, None]) / (end - begin)[:, None]
    time = np.clip(time, 0.0, 1.0) ** late[:, None]
    return 3 * time**2 - 2 * time**3


def paths(weights: np.ndarray) -> np.ndarray:
    """Planned paths [n, T, 2] of weights [n, D]."""
    return np.asarray(rollout(PROMP, jnp.asarray(weights)))


def try_out(rng: np.random.Generator, count: int) -> Pushes:
    """Random pushes, all ways equally often, carried out in simulation."""
    ways = np.arange(count) % WAYS
    weights = draw(rng, ways)
    return Pushes(weights, simulation.outcomes(paths(weights)) - geometry.goal(np.zeros(3)))


@cache
def library() -> Pushes:
    """The pushes that searches start from, always the same; they take about a minute.

    Each is there four times: as it was tried out, and mirrored, with the outcome that its mirror image would have.
    """
    tried = try_out(np.random.default_rng(2024), _LIBRARY)
    weights, outcomes = geometry.mirrored(tried.weights, tried.outcomes)
    return Pushes(weights.reshape(-1, PROMP.weights), outcomes.reshape(-1, 3))


def sample_contexts(rng: np.random.Generator, count: int) -> np.ndarray:
    """Contexts [count, 3] that one push can reach, in any direction, in turn from the four sign combinations of dy and
    rotation.

    Displacement and rotation are correlated in what pushes do; the turns balance it, as in the paper.
    """
    found: list[list[np.ndarray]] = [[] for _ in range(4)]
    lacking = -(-count // 4)
    while min(map(len, found)) < lacking:
        outcomes = try_out(rng, 64).outcomes
        distance = geometry.initial_distance(outcomes)
        for outcome in outcomes[(distance > NEAREST) & (distance < FARTHEST)]:
            found[geometry.sign_combination(outcome)].append(outcome)
    return np.array([found[i % 4][i // 4] for i in range(count)]).reshape(count, 3)
