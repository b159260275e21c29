"""Invariants: what demonstrations have in common, and how far movements have it, too. Beyond the paper.

Invariants are directions of the quantities of a whole movement in which demonstrations agree, with the ratio r of their
variance among demonstrations and in the background; `vigor.learning.agreement` finds them. A direction counts by
1 - r / LARGEST where that is positive, and its width is sqrt(r) + NARROWEST, in deviations of the background. The
energy of a movement is its squared distance, in these directions and widths, from the nearest demonstration. It counts
by 1 - r / ESSENTIAL only, since what demonstrations roughly share is a preference. How much may differ grows with how
far apart contexts are: in a context that is farther from all demonstrated ones than these are from each other, so many
times sqrt(r) is allowed, at most FARTHEST times.
"""

from collections.abc import Sequence
from typing import NamedTuple, TypedDict

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from vigor.basics.contents import Contents, Numbers

LARGEST = 0.6
"""Ratio from which on a direction says nothing about the context."""
ESSENTIAL = 0.15
"""Ratio from which on a direction is not needed to look demonstrated."""
NARROWEST = 0.1
"""Least width of an invariant, in deviations of the background: a few demonstrations may agree by chance."""
STRENGTH = 6.0
"""Factor on the log density in the reward: a preference for the middle of what is demonstrated."""
TAIL = 10.0
"""Energy from which on the log density falls slowly, so that what is far away is not pulled at any cost."""
FARTHEST = 3.0
"""Most that is allowed for a context's distance, in times of the usual one: beyond, nothing is known."""


class Invariants(NamedTuple):
    """Quantities that demonstrations have in common; of many runs with a leading axis."""

    centre: Float[Array, "*run feature"]
    """Value of each descriptor around which demonstrations agree, in its own units."""
    scale: Float[Array, "*run feature"]
    """Deviation of demonstrations there, in the same units."""
    relevance: Float[Array, "*run feature"]
    """Weight of each descriptor, by how much it tells, from 0 to 1."""
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


UNLIMITED = 1e30
"""Largest number that any of them is, and the unit of a coordinate that never varies."""
CONTENTS: Contents = {
    "centre": Numbers(("feature",), -UNLIMITED, UNLIMITED),
    "scale": Numbers(("feature",), 0.0, UNLIMITED),
    "relevance": Numbers(("feature",), 0.0, 1.0),
    "origin": Numbers(("statistic",), -UNLIMITED, UNLIMITED),
    "directions": Numbers(("statistic", "statistic"), -UNLIMITED, UNLIMITED),
    "ratios": Numbers(("statistic",), 0.0, UNLIMITED),
    "known": Numbers(("demonstration", "statistic"), -UNLIMITED, UNLIMITED),
    "within": Numbers(("statistic",), 0.0, UNLIMITED),
    "elsewhere": Numbers(("statistic",), 0.0, UNLIMITED),
    "shown": Numbers(("demonstration", "coordinate"), -UNLIMITED, UNLIMITED),
    "unit": Numbers(("coordinate",), 0.0, UNLIMITED),
    "missed": Numbers((), 1e-6, UNLIMITED),
    "distinct": Numbers((), 0.0, UNLIMITED),
}
"""Arrays of one run's invariants."""


def statistics(descriptors: Float[Array, "*batch time feature"]) -> Float[Array, "*batch statistic"]:
    """Last values, then smallest values over time, of every descriptor."""
    return jnp.concatenate([descriptors[..., -1, :], jnp.min(descriptors, axis=-2)], axis=-1)


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
