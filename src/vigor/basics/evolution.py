"""Evolution strategies: many searches by CMA-ES at a time, whose candidates are judged together."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from vigor.basics.install import missing

POPULATION = 12
"""Candidates of a generation."""

Judge = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]
"""Costs [m] and errors [m] of candidates [m, D], each of the search with a number [m]. Costs are made small; errors
say when a search is content."""


class Found(NamedTuple):
    """The best of n searches by cost."""

    points: np.ndarray
    """[n, D]"""
    errors: np.ndarray
    """[n]: infinite where nothing was judged."""


def cma() -> Any:
    """The package's strategy, or a sentence about how to install it."""
    try:
        from cmaes import CMA
    except ImportError:
        raise missing("a search needs cmaes", "sim") from None
    return CMA


def search(
    seeds: Sequence[int],
    begin: np.ndarray,
    deviations: np.ndarray,
    judge: Judge,
    enough: float,
    generations: int,
) -> Found:
    """Searches that begin at points [n, D] with a seed each, and end when content or after so many generations.

    deviations: [D], how far candidates stray at first; enough: error at which a search is content.
    """
    strategy = cma()
    sigma = float(deviations.max())
    shape = np.diag((deviations / sigma) ** 2)
    searches = [
        strategy(mean, sigma, population_size=POPULATION, seed=seed, cov=shape)
        for seed, mean in zip(seeds, begin, strict=True)
    ]
    best, costs, errors = begin.copy(), np.full(len(begin), np.inf), np.full(len(begin), np.inf)
    for _ in range(generations):
        active = np.flatnonzero(errors > enough)
        if not len(active):
            break
        points = np.array([[searches[i].ask() for _ in range(POPULATION)] for i in active])
        judged = judge(points.reshape(-1, points.shape[-1]), np.repeat(active, POPULATION))
        costs_of, errors_of = (part.reshape(-1, POPULATION) for part in judged)
        for i, own, cost, error in zip(active, points, costs_of, errors_of, strict=True):
            searches[i].tell(list(zip(own, cost, strict=True)))
            k = int(np.argmin(cost))
            if cost[k] < costs[i]:
                best[i], costs[i], errors[i] = own[k], cost[k], error[k]
    return Found(best, errors)
