"""Demonstrations by search in simulation: from inside and outside, against different walls, at different places.

Each search begins at a random push whose outcome is near the context, and improves all of its weights by CMA-ES until
the box ends at the goal. A search knows outcomes alone: not the goal's frame, and no other demonstration.
"""

import jax.numpy as jnp
import numpy as np

from vigor.basics import evolution
from vigor.tasks.box_pusher import geometry, pushes, simulation
from vigor.tasks.box_pusher.control import PROMP

NEAR = 0.06
"""Corner distance up to which the outcome of a push is near a context."""
SEARCHES, TOGETHER = 16, 8
"""Searches for a context at most, and at a time."""
SIGMA = 0.006
"""Deviation of plans at first, in metres."""
GENERATIONS = 5
"""After which a search is given up."""
ENOUGH, KEPT = 0.005, 0.01
"""Corner distance at which a search is content, and up to which a plan is a demonstration; success needs .015."""
SMOOTHNESS = 0.01
"""Metres of error that a plan is worth whose weights have second differences of 1."""
ROOM = 0.008
"""Free space that the rod should have around it at the start."""
APART = 0.03
"""Plans whose paths are nearer than this are the same."""
STEPS = 100
"""Steps of a recording."""


def generate(rng: np.random.Generator, context: np.ndarray, count: int) -> list[np.ndarray]:
    """Recordings [T, 2] of at most `count` different plans that push the box to a context [3]."""
    context = np.asarray(context, float)
    begin, weights, errors = beginnings(context), np.zeros((0, PROMP.weights)), np.zeros(0)
    chosen = np.zeros(0, int)
    for first in range(0, min(len(begin), SEARCHES), TOGETHER):
        found, away = search(rng, context, begin[first : first + TOGETHER])
        weights, errors = np.concatenate([weights, found]), np.concatenate([errors, away])
        chosen = choose(weights, errors, count)
        if len(chosen) == count:
            break
    return list(np.asarray(PROMP.rollout(jnp.asarray(weights[chosen]), STEPS)))


def beginnings(context: np.ndarray) -> np.ndarray:
    """Weights [n, D] of different pushes whose outcomes are near a context [3]: in turn from inside and from outside,
    the nearest first."""
    known = pushes.library()
    away = geometry.corner_distance(geometry.goal(known.outcomes), geometry.goal(context))
    order = np.argsort(away, kind="stable")
    near = known.weights[order[away[order] < NEAR]]
    paths = pushes.paths(near)
    return near[_in_turn(paths, _different(paths))]


def search(rng: np.random.Generator, context: np.ndarray, begin: np.ndarray) -> evolution.Found:
    """Weights [n, D] of plans for a context [3] and their corner distances [n], from weights [n, D] to begin at."""

    def judge(weights: np.ndarray, which: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        errors = simulation.distances(pushes.paths(weights), np.broadcast_to(context, (len(weights), 3)))
        return errors + effort(weights), errors

    seeds = [int(rng.integers(2**31)) for _ in begin]
    deviations = np.full(PROMP.weights, SIGMA / PROMP.scale)
    return evolution.search(seeds, begin, deviations, judge, ENOUGH, GENERATIONS)


def effort(weights: np.ndarray) -> np.ndarray:
    """Cost [n] of weights [n, D] beside their error: roughness, and a start too close to a wall."""
    points = weights.reshape(len(weights), PROMP.bases, 2)
    roughness = np.sqrt(np.mean(np.sum(np.diff(points, n=2, axis=1) ** 2, axis=-1), axis=1))
    crowded = np.maximum(0.0, ROOM - geometry.clearance(pushes.paths(weights)[:, 0]))
    return SMOOTHNESS * roughness + 2.0 * crowded


def choose(weights: np.ndarray, errors: np.ndarray, count: int) -> np.ndarray:
    """Indices of at most `count` different plans that succeed, the first in turn from inside and from outside."""
    good = np.flatnonzero(errors <= KEPT)
    paths = pushes.paths(weights[good])
    return good[_in_turn(paths, _different(paths))[:count]]


def _in_turn(paths: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Chosen indices of paths [n, T, 2], in turn of those that begin inside and outside the box."""
    within = geometry.inside(paths[chosen, 0])
    place = np.where(within, np.cumsum(within), np.cumsum(~within))
    return chosen[np.argsort(place, kind="stable")]


def _different(paths: np.ndarray) -> np.ndarray:
    """Indices of paths [n, T, 2] without those that are nearly the same as an earlier one."""
    kept: list[int] = []
    for i, path in enumerate(paths):
        apart = np.sqrt(np.mean(np.sum((paths[kept] - path) ** 2, axis=-1), axis=-1))
        if np.all(apart >= APART):
            kept.append(i)
    return np.array(kept, int)
