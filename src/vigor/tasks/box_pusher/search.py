"""Demonstrations by search in simulation: from inside and outside, against different walls, at different places.

Each search begins at a random push whose outcome is near the context. First the end of the plan is corrected by what
the box lacks; where that does not suffice, CMA-ES improves all weights. Of what succeeds the short and smooth plans are
kept: what a person would do.
"""

import jax.numpy as jnp
import numpy as np

from vigor.basics.install import missing
from vigor.tasks.box_pusher import geometry, pushes, simulation
from vigor.tasks.box_pusher.control import PROMP

try:
    from cmaes import CMA
except ImportError:
    raise missing("the search for pushes needs cmaes", "sim") from None

NEAR, BEGINNINGS = 0.06, 260
"""Corner distance up to which the outcome of a push is near a context, and how many such pushes are looked at."""
CORRECTIONS = 5
"""Times that a push is carried out and its end corrected, before CMA-ES takes over where that was not enough."""
SEARCHES, TOGETHER = 24, 12
"""Searches by CMA-ES for a context at most, and at a time."""
POPULATION, SIGMA = 12, 0.006
"""Plans of a generation, and how far they stray at first, in metres."""
GENERATIONS = 6
"""After which a search is given up."""
ENOUGH, KEPT = 0.005, 0.01
"""Corner distance at which a search is content, and up to which a plan is a demonstration; success needs .015."""
SMOOTHNESS = 0.01
"""Metres of error that a plan is worth whose weights have second differences of 1."""
EFFORT = 3.0
"""Metres by which a plan may be longer for a metre less of effort."""
ROOM = 0.008
"""Free space that the rod should have around it at the start."""
APART = 0.03
"""Plans whose paths are nearer than this are the same."""
STEPS = 100
"""Steps of a recording."""


def generate(rng: np.random.Generator, context: np.ndarray, count: int) -> list[np.ndarray]:
    """Recordings [T, 2] of at most `count` different plans that push the box to a context [3]."""
    context = np.asarray(context, float)
    weights, errors = steer(context, beginnings(context))
    chosen = choose(weights, errors, count)
    unfinished = np.argsort(errors)
    unfinished = unfinished[(errors[unfinished] > KEPT) & (errors[unfinished] < NEAR)]
    for first in range(0, min(len(unfinished), SEARCHES), TOGETHER):
        if len(chosen) == count:
            break
        some = unfinished[first : first + TOGETHER]
        weights[some], errors[some] = search(rng, context, weights[some])
        chosen = choose(weights, errors, count)
    return list(np.asarray(PROMP.rollout(jnp.asarray(weights[chosen]), STEPS)))


def beginnings(context: np.ndarray) -> np.ndarray:
    """Weights [n, D] of pushes whose outcomes are near a context [3], nearest first."""
    known = pushes.library()
    away = geometry.corner_distance(geometry.goal(known.outcomes), geometry.goal(context))
    near = np.argsort(away)[:BEGINNINGS]
    return known.weights[near[away[near] < NEAR]]


def steer(context: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Better weights [n, D] for a context [3] and their corner distances [n].

    A push that ends with the box beside its goal ends with the rod beside where it should: what would move the box to
    its goal moves the end of the plan, and less and less what comes before.
    """
    weights, share = weights.copy(), np.linspace(0.0, 1.0, PROMP.bases)[:, None]
    best, errors = weights.copy(), np.full(len(weights), np.inf)
    for _ in range(CORRECTIONS if len(weights) else 0):
        outcomes = simulation.outcomes(pushes.paths(weights)) - geometry.goal(np.zeros(3))
        now = geometry.corner_distance(geometry.goal(outcomes), geometry.goal(context))
        better = now < errors
        best[better], errors[better] = weights[better], now[better]
        points = weights.reshape(len(weights), PROMP.bases, 2) * PROMP.scale
        x, y = np.moveaxis(points - outcomes[:, None, :2], -1, 0)
        turn = (context[2] - outcomes[:, 2])[:, None]
        moved = np.stack([np.cos(turn) * x - np.sin(turn) * y, np.sin(turn) * x + np.cos(turn) * y], axis=-1)
        points = points + share * (moved + context[:2] - points)
        # A plan that is good enough stays as it is.
        weights = np.where(errors[:, None] > ENOUGH, points.reshape(weights.shape) / PROMP.scale, weights)
    return best, errors


def search(rng: np.random.Generator, context: np.ndarray, begin: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Weights [n, D] of plans for a context [3] and their corner distances [n], from weights [n, D] to begin at."""
    searches = [
        CMA(mean, SIGMA / PROMP.scale, population_size=POPULATION, seed=int(rng.integers(2**31))) for mean in begin
    ]
    best, best_costs, best_errors = begin.copy(), np.full(len(begin), np.inf), np.full(len(begin), np.inf)
    for _ in range(GENERATIONS):
        active = np.flatnonzero(best_errors > ENOUGH)
        if not len(active):
            break
        weights = np.array([[searches[i].ask() for _ in range(POPULATION)] for i in active])
        flat = weights.reshape(-1, PROMP.weights)
        errors = simulation.distances(pushes.paths(flat), np.broadcast_to(context, (len(flat), 3)))
        costs, errors = (part.reshape(weights.shape[:2]) for part in (errors + effort(flat), errors))
        for i, own, own_costs, own_errors in zip(active, weights, costs, errors, strict=True):
            searches[i].tell(list(zip(own, own_costs, strict=True)))
            k = int(np.argmin(own_costs))
            if own_costs[k] < best_costs[i]:
                best[i], best_costs[i], best_errors[i] = own[k], own_costs[k], own_errors[k]
    return best, best_errors


def effort(weights: np.ndarray) -> np.ndarray:
    """Cost [n] of weights [n, D] beside their error: roughness, and a start too close to a wall."""
    points = weights.reshape(len(weights), PROMP.bases, 2)
    roughness = np.sqrt(np.mean(np.sum(np.diff(points, n=2, axis=1) ** 2, axis=-1), axis=1))
    crowded = np.maximum(0.0, ROOM - geometry.clearance(pushes.paths(weights)[:, 0]))
    return SMOOTHNESS * roughness + 2.0 * crowded


def choose(weights: np.ndarray, errors: np.ndarray, count: int) -> np.ndarray:
    """Indices of at most `count` different plans that succeed, in turn from inside and from outside.

    Short and smooth plans come first.
    """
    good = np.flatnonzero(errors <= KEPT)
    paths = pushes.paths(weights[good])
    length = np.sum(np.linalg.norm(np.diff(paths, axis=1), axis=-1), axis=1)
    order = np.argsort(length + EFFORT * effort(weights[good]))
    good, paths = good[order], paths[order]
    chosen = _different(paths)
    within = geometry.inside(paths[chosen, 0])
    place = np.where(within, np.cumsum(within), np.cumsum(~within))
    return good[chosen][np.argsort(place, kind="stable")][:count]


def _different(paths: np.ndarray) -> np.ndarray:
    """Indices of paths [n, T, 2] without those that are nearly the same as an earlier one."""
    kept: list[int] = []
    for i, path in enumerate(paths):
        apart = np.sqrt(np.mean(np.sum((paths[kept] - path) ** 2, axis=-1), axis=-1))
        if np.all(apart >= APART):
            kept.append(i)
    return np.array(kept, int)
