"""Invariants: what demonstrations have in common, found from them alone. Beyond the paper.

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
the directions of x in which demonstrations agree most for how much the background varies: r is the ratio of the two. A
direction counts by 1 - r / LARGEST where that is positive, and its width is sqrt(r) + NARROWEST, in deviations of the
background. The energy of a movement is its squared distance, in these directions and widths, from the nearest
demonstration. It counts by 1 - r / ESSENTIAL only, since what demonstrations roughly share is a preference. D is of
neighbours, so how much may differ grows with how far apart contexts are: in a context that is farther from all
demonstrated ones than these are from each other, so many times sqrt(r) is allowed, at most FARTHEST times.

All is linear in units of the descriptors: metres and millimetres give the same. What varies less than a task says that
its descriptor can tell counts as varying so much: demonstrations that are computed may agree to the last digit.
"""

from collections.abc import Sequence
from typing import NamedTuple, TypedDict

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from vigor.basics.contents import Contents, Numbers
from vigor.motion.trajectories import usual_difference

LARGEST = 0.6
"""Ratio from which on a direction says nothing about the context."""
ESSENTIAL = 0.15
"""Ratio from which on a direction is not needed to look demonstrated."""
NARROWEST = 0.1
"""Least width of an invariant, in deviations of the background: a few demonstrations may agree by chance."""
OVER_TIME = 0.3
"""Share of a descriptor's variance over time in the background, for what is the same in all contexts."""
LEAST = 0.1
"""Least weight of a descriptor that varies in no way that matters, among those that networks see."""
FINEST = 0.05
"""Least scale of what networks see, in deviations of the descriptor."""
STRENGTH = 6.0
"""Factor on the log density in the reward: a preference for the middle of what is demonstrated."""
TAIL = 10.0
"""Energy from which on the log density falls slowly, so that what is far away is not pulled at any cost."""
FARTHEST = 3.0
"""Most that is allowed for a context's distance, in times of the usual one: beyond, nothing is known."""
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


class Invariants(NamedTuple):
    """Quantities that demonstrations have in common; of many runs with a leading axis."""

    centre: Float[Array, "*run feature"]
    """Value of each descriptor around which demonstrations agree, in its own units."""
    scale: Float[Array, "*run feature"]
    """Deviation of demonstrations there, in the same units."""
    relevance: Float[Array, "*run feature"]
    """Weight of each descriptor, by how much it tells, from LEAST to 1."""
    origin: Float[Array, "*run statistic"]
    """Mean of each statistic."""
    directions: Float[Array, "*run statistic invariant"]
    """Invariants as combinations of statistics, the most invariant first."""
    ratios: Float[Array, "*run invariant"]
    """Variance among demonstrations over that of the background."""
    known: Float[Array, "*run demonstration invariant"]
    """Invariants of the demonstrations."""
    within: Float[Array, "*run statistic"]
    """Deviation of each statistic among demonstrations of a kind, in units of its descriptor."""
    elsewhere: Float[Array, "*run statistic"]
    """Deviation of each statistic in the background, likewise."""
    shown: Float[Array, "*run demonstration coordinate"]
    """Contexts of the demonstrations."""
    unit: Float[Array, "*run coordinate"]
    """Scale of contexts, by which neighbours are usually 1 apart."""
    missed: Float[Array, "*run"]
    """Energy of a movement that succeeds in half the cases."""
    distinct: Float[Array, "*run"]
    """Half the typical difference of two demonstrations, as a root mean square over steps: movements that differ by
    more are distinct."""


_FINITE = 1e30
CONTENTS: Contents = {
    "centre": Numbers(("feature",), -_FINITE, _FINITE),
    "scale": Numbers(("feature",), 0.0, _FINITE),
    "relevance": Numbers(("feature",), 0.0, 1.0),
    "origin": Numbers(("statistic",), -_FINITE, _FINITE),
    "directions": Numbers(("statistic", "statistic"), -_FINITE, _FINITE),
    "ratios": Numbers(("statistic",), 0.0, _FINITE),
    "known": Numbers(("demonstration", "statistic"), -_FINITE, _FINITE),
    "within": Numbers(("statistic",), 0.0, _FINITE),
    "elsewhere": Numbers(("statistic",), 0.0, _FINITE),
    "shown": Numbers(("demonstration", "coordinate"), -_FINITE, _FINITE),
    "unit": Numbers(("coordinate",), 0.0, _FINITE),
    "missed": Numbers((), 1e-6, _FINITE),
    "distinct": Numbers((), 0.0, _FINITE),
}
"""Arrays of one run's invariants."""


def statistics(descriptors: Float[Array, "*batch time feature"]) -> Float[Array, "*batch statistic"]:
    """Last values, then smallest values over time, of every descriptor."""
    return jnp.concatenate([descriptors[..., -1, :], jnp.min(descriptors, axis=-2)], axis=-1)


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
    _, count, _, features = everything.shape
    mean, deviation = everything.mean((0, 1, 2)), everything.std((0, 1, 2))
    unit = np.where(deviation > _NOTHING * (1e-12 + np.abs(mean)), np.maximum(deviation, finest), 1.0)
    own, *others = summaries
    origin, units = own.mean(axis=0), np.tile(unit, 2)
    own, others = (own - origin) / units, [(other - origin) / units for other in others]

    spread = np.std([own, *others], axis=(0, 1))
    metric = np.where(spread > _NOTHING, 1 / np.maximum(spread, _NOTHING), 0.0)
    within = _between_neighbours(own, metric, owners)
    background = OVER_TIME * np.eye(2 * features)
    for other in others:
        background += _between_neighbours(other, metric, owners) / len(others)
    # So few demonstrations agree in some combinations by chance; their covariances are moved towards the diagonal.
    shrink = 2 * features / (2 * features + count)
    within, background = ((1 - shrink) * part + shrink * np.diag(np.diag(part)) for part in (within, background))
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
        return np.full(len(deviation), _FINITE)
    scaled = values[:, varies] / deviation[varies]
    distances = np.sort(np.linalg.norm(scaled[:, None] - scaled[None], axis=-1), axis=1)
    usual = np.mean(distances[:, 1 : 1 + max(1, len(values) // 2)])
    return np.where(varies, deviation * usual, _FINITE)


def _between_neighbours(points: np.ndarray, metric: np.ndarray, contexts: np.ndarray) -> np.ndarray:
    """Covariance [S, S] by differences of points [n, S] from their neighbours in other contexts, by number [n].

    Neighbours are nearest in each context, by units [S], and of the contexts the nearer half counts, since a way may be
    shown in some of them only. Where there is but one context, neighbours are in the same.
    """
    distances = np.sum((metric * (points[:, None] - points[None])) ** 2, axis=-1)
    same = contexts[:, None] == contexts
    distances[same if not np.all(same) else np.eye(len(points), dtype=bool)] = np.inf
    groups = [np.flatnonzero(contexts == context) for context in np.unique(contexts)]
    nearest = np.stack([group[distances[:, group].argmin(axis=1)] for group in groups], axis=1)
    order = np.argsort(np.take_along_axis(distances, nearest, axis=1), axis=1)[:, : max(1, len(groups) // 2)]
    apart = (points[:, None] - points[np.take_along_axis(nearest, order, axis=1)]).reshape(-1, points.shape[1])
    return apart.T @ apart / (2 * len(apart))


def seen(
    invariants: Invariants, descriptors: Float[Array, "*batch time feature"]
) -> Float[Array, "*batch time feature"]:
    """Descriptors as networks see them: on a scale that is linear where demonstrations agree, and logarithmic beyond.

    A target of 5 cm is touched or missed within a centimetre, while distances to it go up to a metre: to a network that
    sees metres both are the same, and a context further away than all that were trained with is something new.
    """
    return invariants.relevance * jnp.arcsinh((descriptors - invariants.centre) / invariants.scale)


def project(
    invariants: Invariants, descriptors: Float[Array, "*batch time feature"]
) -> Float[Array, "*batch invariant"]:
    """Invariants of movements, in deviations of the background."""
    away = statistics(descriptors) - invariants.origin
    return jnp.matmul(away, invariants.directions, precision="highest")


def weights(invariants: Invariants) -> Float[Array, "*run invariant"]:
    """Weight of each invariant in the reward, from 0 to 1."""
    return jnp.maximum(0.0, 1 - invariants.ratios / LARGEST)


def _needed(invariants: Invariants) -> Float[Array, "*run invariant"]:
    """Weight of each invariant in what a movement is judged by, from 0 to 1."""
    return jnp.maximum(0.0, 1 - invariants.ratios / ESSENTIAL)


def stretch(invariants: Invariants, contexts: Float[Array, "*batch coordinate"]) -> Float[Array, "*batch"]:
    """Distances of contexts from those demonstrated, in times of the usual one, from 1 to FARTHEST."""
    away = (contexts[..., None, :] - invariants.shown) / invariants.unit
    return jnp.clip(jnp.min(jnp.linalg.norm(away, axis=-1), axis=-1), 1.0, FARTHEST)


def _squares(
    invariants: Invariants,
    descriptors: Float[Array, "*batch time feature"],
    stretched: float | Float[Array, "*#batch"] = 1.0,
) -> Array:
    """Squared distances [*batch, demonstration, invariant] from every demonstration, in widths."""
    away = project(invariants, descriptors)[..., None, :] - invariants.known
    allowed = jnp.asarray(stretched)[..., None, None] * jnp.sqrt(invariants.ratios)
    return (away / (allowed + NARROWEST)) ** 2


def log_density(invariants: Invariants, descriptors: Float[Array, "*batch time feature"]) -> Float[Array, "*batch"]:
    """Log density of the invariants of movements around the demonstrations', with heavy tails, up to a constant."""
    squares = TAIL * jnp.log1p(_squares(invariants, descriptors) / TAIL)
    return STRENGTH * jax.nn.logsumexp(-0.5 * jnp.sum(weights(invariants) * squares, axis=-1), axis=-1)


def energy(
    invariants: Invariants,
    descriptors: Float[Array, "*batch time feature"],
    stretched: float | Float[Array, "*#batch"] = 1.0,
) -> Float[Array, "*batch"]:
    """Squared distance of movements from the nearest demonstration, by essential invariants in their widths."""
    return jnp.min(jnp.sum(_needed(invariants) * _squares(invariants, descriptors, stretched), axis=-1), axis=-1)


@jax.jit
def _energies(
    invariants: Invariants,
    described: Float[Array, "placed movement time feature"],
    contexts: Float[Array, "movement coordinate"],
) -> tuple[Float[Array, " movement"], Float[Array, "misplaced movement"]]:
    """Energies of movements in their contexts, and of the same misplaced, which come after them."""
    own, misplaced = described[0], described[1:]
    return energy(invariants, own, stretch(invariants, contexts)), energy(invariants, misplaced)


@jax.jit
def demonstrated(invariants: Invariants) -> Float[Array, "demonstration statistic"]:
    """Statistics of the demonstrations."""
    return invariants.origin + jnp.linalg.solve(invariants.directions.T, invariants.known.T).T


def labels(names: Sequence[str]) -> list[str]:
    """Names [statistic] of statistics, by those of the descriptors [F]."""
    return [f"{name}, {which}" for which in ("at the end", "smallest") for name in names]


class Essential(TypedDict):
    """An essential statistic for people to read."""

    quantity: str
    value: float
    deviation: float
    """Deviation among demonstrations."""
    elsewhere: float
    """Deviation elsewhere: of misplaced demonstrations, and in the course of a movement."""


def in_words(invariants: Invariants, names: Sequence[str]) -> list[Essential]:
    """Essential statistics, the most constant first; names: of the descriptors [F]."""
    ratios = np.asarray((invariants.within / invariants.elsewhere) ** 2)
    usual = np.median(np.asarray(demonstrated(invariants)), axis=0)
    return [
        {
            "quantity": labels(names)[i],
            "value": float(usual[i]),
            "deviation": float(invariants.within[i]),
            "elsewhere": float(invariants.elsewhere[i]),
        }
        for i in np.argsort(ratios, kind="stable")
        if ratios[i] < ESSENTIAL and invariants.within[i] > 0
    ]


def most_missed(invariants: Invariants, descriptors: Float[Array, "time feature"]) -> tuple[int, float, float]:
    """Statistic of a movement that differs most from the nearest demonstration: its number, its value, and theirs."""
    which, value, usual = _most_missed(invariants, descriptors)
    return int(which), float(value), float(usual)


@jax.jit
def _most_missed(invariants: Invariants, descriptors: Float[Array, "time feature"]) -> tuple[Array, Array, Array]:
    squares = _needed(invariants) * _squares(invariants, descriptors)
    nearest = jnp.argmin(jnp.sum(squares, axis=-1))
    # A statistic's share in how far the invariants are apart, in terms of the movement's own statistics.
    away = project(invariants, descriptors) - invariants.known[nearest]
    values, shown = statistics(descriptors), demonstrated(invariants)[nearest]
    scaled = _needed(invariants) * away / (jnp.sqrt(invariants.ratios) + NARROWEST) ** 2
    share = (values - shown) * (invariants.directions @ scaled)
    which = jnp.argmax(share)
    return which, values[which], shown[which]


def predicted_success(
    invariants: Invariants,
    descriptors: Float[Array, "*batch time feature"],
    stretched: float | Float[Array, "*#batch"] = 1.0,
) -> Float[Array, "*batch"]:
    """Probability that movements solve their contexts: 1 / (1 + (energy / missed)^2).

    stretched: of the contexts, see `stretch`.
    """
    return 1 / (1 + (energy(invariants, descriptors, stretched) / invariants.missed) ** 2)
