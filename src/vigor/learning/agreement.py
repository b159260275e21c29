"""Agreement of demonstrations: how what they have in common is found, from them alone. Beyond the paper.

A demonstration is judged by what it would be in other contexts: a quantity that hardly varies among demonstrations, but
does among the same movements misplaced into other training contexts, or in the course of a movement, is essential. It
need not be listed, and nothing that success is measured by is used.

Quantities of a whole movement are the last and the smallest value of every descriptor. Networks that judge step by step
cannot see these: a target passed far off looks like one that is yet to come. With x these quantities, in units of how
much their descriptors vary at all, let

    D = half the mean square of the differences x_i - x_j between demonstrations i and their nearest neighbours j in
        other contexts, of which the nearer half counts,
    B = the same among misplaced demonstrations, plus a share of the variance of the descriptors over time.

Neighbours keep several ways of solving a task apart; other contexts tell what is essential from what is merely the same
in all movements of one context, such as how far apart its targets are. The generalised eigenvectors v, D v = r B v, are
the directions of x in which demonstrations agree most for how much the background varies: r is the ratio of the two.

All is linear in units of the descriptors: metres and millimetres give the same. What varies less than a task says that
its descriptor can tell counts as varying so much: demonstrations that are computed may agree to the last digit.
"""

from collections.abc import Sequence

import jax
import numpy as np
import scipy  # Its parts are loaded when they are used.
from jaxtyping import Array, Float

from vigor.learning.invariants import LARGEST, UNLIMITED, Invariants, energy, statistics, stretch
from vigor.motion.trajectories import usual_difference

OVER_TIME = 0.3
"""Share of a descriptor's variance over time in the background, for what is the same in all contexts."""
LEAST = 0.1
"""Least weight of a descriptor that varies in no way that matters, among those that networks see."""
FINEST = 0.05
"""Least scale of what networks see, in deviations of the descriptor."""
MISSED = 10.0
"""Energy of a movement that succeeds in half the cases where no context can be left out: about what tasks with more
contexts have."""
LEAST_ENERGY = 0.25
"""Energy below which movements are alike: half a width, in one direction."""
SHOWN = 0.9
"""Share of left-out demonstrations that are predicted to succeed at least: a few may be unlike all others."""
ALL, SOME = 32, 12
"""Contexts up to which all are looked at, left out or misplaced into, and how many of more: each takes its time."""
_NOTHING = 1e-6
"""Variance of a quantity that does not vary, in its own units."""


def learn(
    demonstrations: np.ndarray,
    misplaced: np.ndarray,
    trajectories: np.ndarray,
    contexts: np.ndarray,
    finest: Sequence[float] | float = 0.0,
) -> Invariants:
    """Invariants of demonstrations, in double precision.

    demonstrations: descriptors [n, T, F]; misplaced: the same movements described in other contexts [m, n, T, F], each
    of the m by a shift of all contexts; trajectories: [n, T, dimensions]; contexts: [n, C], of each one; finest: least
    deviation of each descriptor [F] that tells anything.
    """
    owners = np.unique(contexts, axis=0, return_inverse=True)[1].reshape(-1)
    everything = np.concatenate([demonstrations[None], misplaced]).astype(np.float64)
    summaries = np.asarray(jax.jit(statistics)(everything.astype(np.float32)), np.float64)
    found = _learn(everything, summaries, contexts, owners, finest)
    own, wrong = [np.zeros(0)], [np.zeros(0)]
    for context in spread(np.unique(owners)):
        others = owners != context
        if np.sum(others) > 1:
            without = _learn(everything[:, others], summaries[:, others], contexts[others], owners[others], finest)
            energies = _energies(without, everything[:, ~others], contexts[~others].astype(np.float64))
            own.append(np.asarray(energies[0]))
            wrong.append(np.ravel(energies[1]))
    last = _missed(np.concatenate(own), np.concatenate(wrong)), 0.5 * usual_difference(trajectories)
    missed, distinct = jax.device_put(tuple(map(np.float32, last)))
    return found._replace(missed=missed, distinct=distinct)


@jax.jit
def _energies(
    invariants: Invariants,
    described: Float[Array, "placed movement time feature"],
    contexts: Float[Array, "movement coordinate"],
) -> tuple[Float[Array, " movement"], Float[Array, "misplaced movement"]]:
    """Energies of movements in their contexts, and of the same misplaced, which come after them."""
    own, misplaced = described[0], described[1:]
    return energy(invariants, own, stretch(invariants, contexts)), energy(invariants, misplaced)


def _missed(own: np.ndarray, wrong: np.ndarray) -> float:
    """Energy of a movement that succeeds in half the cases, by energies of left-out demonstrations.

    own: in their own contexts, which they solve; wrong: misplaced into others, where most fail. It is midway between
    what is usual of both, as ratios go.
    """
    if not len(own) or not len(wrong):
        return MISSED
    own, wrong = np.maximum(own, LEAST_ENERGY), np.maximum(wrong, LEAST_ENERGY)
    return float(max(np.sqrt(np.median(own) * np.median(wrong)), np.quantile(own, SHOWN)))


def spread(contexts: np.ndarray) -> np.ndarray:
    """Contexts [n] to look at: all, or of many some that are evenly spread."""
    return contexts if len(contexts) <= ALL else contexts[np.linspace(0, len(contexts) - 1, SOME).round().astype(int)]


def _learn(
    everything: np.ndarray,
    summaries: np.ndarray,
    contexts: np.ndarray,
    owners: np.ndarray,
    finest: Sequence[float] | float,
) -> Invariants:
    """`learn` without what left-out contexts and trajectories tell.

    everything: demonstrations, then misplaced ones [1 + m, n, T, F]; summaries: their statistics [1 + m, n, S];
    contexts: [n, C]; owners: number [n] of each one's context; finest: [F].
    """
    features = everything.shape[-1]
    mean, deviation = everything.mean((0, 1, 2)), everything.std((0, 1, 2))
    unit = np.where(deviation > _NOTHING * (1e-12 + np.abs(mean)), np.maximum(deviation, finest), 1.0)
    own, *others = summaries
    origin, units = own.mean(axis=0), np.tile(unit, 2)
    own, others = (own - origin) / units, [(other - origin) / units for other in others]

    within, background = _covariances(own, others, owners)
    inverse_root = np.linalg.inv(np.linalg.cholesky(background))
    ratios, axes = np.linalg.eigh(inverse_root @ within @ inverse_root.T)
    directions = inverse_root.T @ axes

    by_context = np.diag(background) - (OVER_TIME if others else 0.0)
    better, agreed, told = _better(np.diag(within), by_context)
    each = np.arange(features)
    middle = np.median(own, axis=0).reshape(2, features)[better, each] * unit
    middle += origin.reshape(2, features)[better, each]
    width = np.sqrt(np.diag(within)).reshape(2, features)[better, each] + FINEST
    found = {
        "centre": np.where(agreed, middle, mean),
        "scale": np.where(agreed, width, 1.0) * unit,
        "relevance": np.clip(1 - told / LARGEST, LEAST, 1.0),
        "origin": origin,
        "directions": directions / units[:, None],
        "ratios": np.maximum(ratios, 0.0),
        "known": own @ directions,
        "within": np.sqrt(np.diag(within)) * units,
        "elsewhere": np.sqrt(np.diag(background)) * units,
        "shown": contexts,
        "unit": _unit(contexts, owners),
        "missed": MISSED,
        "distinct": 1.0,
    }
    return Invariants(**jax.device_put({name: np.asarray(value, np.float32) for name, value in found.items()}))


def _covariances(own: np.ndarray, others: Sequence[np.ndarray], owners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Covariances [S, S] among demonstrations and in the background.

    own: statistics [n, S] of demonstrations; others: of each shift of them; owners: number [n] of each one's context.
    """
    count, size = own.shape
    spread = np.std([own, *others], axis=(0, 1))
    metric = np.where(spread > _NOTHING, 1 / np.maximum(spread, _NOTHING), 0.0)
    within = _between_neighbours(own, metric, owners)
    background = OVER_TIME * np.eye(size)
    for other in others:
        background += _between_neighbours(other, metric, owners) / len(others)
    # So few demonstrations agree in some combinations by chance; their covariances are moved towards the diagonal.
    shrink = size / (size + count)
    moved = [(1 - shrink) * part + shrink * np.diag(np.diag(part)) for part in (within, background)]
    return moved[0], moved[1]


def _better(within: np.ndarray, by_context: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """By descriptor [F]: the statistic, last or smallest, in which demonstrations agree more, whether they do, and its
    ratio; from variances [S] among them, and by context."""
    varies = by_context > _NOTHING
    single = np.where(varies, within / np.where(varies, by_context, 1.0), 1.0).reshape(2, -1)
    return single.argmin(axis=0), single.min(axis=0) < LARGEST, single.min(axis=0)


def _unit(contexts: np.ndarray, owners: np.ndarray) -> np.ndarray:
    """Scale [C] of contexts [n, C] in which neighbours, the nearer half, are 1 apart; what never varies is ignored."""
    values = contexts[np.unique(owners, return_index=True)[1]].astype(np.float64)
    deviation = values.std(axis=0)
    varies = deviation > _NOTHING * (1e-12 + np.abs(values.mean(axis=0)))
    if not np.any(varies):
        return np.full(len(deviation), UNLIMITED)
    scaled = values[:, varies] / deviation[varies]
    distances = np.sort(np.linalg.norm(scaled[:, None] - scaled[None], axis=-1), axis=1)
    usual = np.mean(distances[:, 1 : 1 + max(1, len(values) // 2)])
    return np.where(varies, deviation * usual, UNLIMITED)


def _between_neighbours(points: np.ndarray, metric: np.ndarray, contexts: np.ndarray) -> np.ndarray:
    """Covariance [S, S] by differences of points [n, S] from their neighbours in other contexts, by number [n].

    Neighbours are nearest in each context, by units [S], and of the contexts the nearer half counts, since a way may be
    shown in some of them only. Where there is but one context, neighbours are in the same.
    """
    distances = scipy.spatial.distance.cdist(metric * points, metric * points, "sqeuclidean")
    same = contexts[:, None] == contexts
    distances[same if not np.all(same) else np.eye(len(points), dtype=bool)] = np.inf
    groups = [np.flatnonzero(contexts == context) for context in np.unique(contexts)]
    nearest = np.stack([group[distances[:, group].argmin(axis=1)] for group in groups], axis=1)
    order = np.argsort(np.take_along_axis(distances, nearest, axis=1), axis=1)[:, : max(1, len(groups) // 2)]
    apart = (points[:, None] - points[np.take_along_axis(nearest, order, axis=1)]).reshape(-1, points.shape[1])
    return apart.T @ apart / (2 * len(apart))
