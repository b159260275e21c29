"""Resemblance of what a policy does to what was demonstrated in its context, by demonstrations never learned from.

Movements are drawn from a context's mixture, and only those that succeed count. All figures are expectations over its
components' samples, each weighed by its component's weight, so that they do not depend on how many were looked at.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from vigor.demonstrations.repertoire import Repertoire

DRAWN = 100
"""Movements that a user draws: coverage is what these are expected to cover."""


@dataclass(frozen=True)
class Resemblance:
    """Resemblance of one context's policy to the demonstrations of this context."""

    coverage: float
    """Expected share of held-out demonstrations that some successful one of DRAWN movements is like."""
    precision: float
    """Share of successful movements that are like some demonstration of the context; 0 if none succeeds."""
    alike: float | None
    """Share of the context's demonstrations that are like another of them, what precision can be expected to reach;
    None if there is only one."""
    entropy: float
    """Entropy of the ways among successful movements, to the base of the number of all ways (as D3IL has it)."""
    entropy_shown: float
    """The same of demonstrations."""
    difference: float
    """Jensen-Shannon distance of the shares of ways among demonstrations and among successful movements, 0 to 1."""
    demonstrations: tuple[float, ...]
    """Share of each way among the context's demonstrations [way], and of none of these, which is 0."""
    samples: tuple[float, ...]
    """Share of each way among successful movements [way], and of movements that are far from all ways."""


def resemblance(
    known: Repertoire, context: np.ndarray, weights: np.ndarray, joints: np.ndarray, succeeded: np.ndarray
) -> Resemblance | None:
    """Resemblance in a context [C]; None if none of its demonstrations are held out.

    weights: [component], joints: [component, sample, T, dimensions], succeeded: [component, sample].
    """
    own = known.of(context)
    held_out = own[~known.shown[own]]
    if not len(held_out):
        return None
    chance = np.repeat((weights / succeeded.shape[1])[:, None], succeeded.shape[1], axis=1)[succeeded]
    between = known.between(joints[succeeded])
    like = between < known.distinct
    total = float(chance.sum())
    shares = known.shares(own)
    drawn = np.bincount(known.went(between), chance, minlength=len(shares) + 1) / (total or 1.0)
    return Resemblance(
        coverage=float(np.mean(1 - (1 - np.minimum(1.0, chance @ like[:, held_out])) ** DRAWN)),
        precision=float(chance @ np.any(like[:, own], axis=1) / total) if total > 0 else 0.0,
        alike=float(np.mean(known.alike(own))) if len(own) > 1 else None,
        entropy=normalised_entropy(drawn, len(shares)),
        entropy_shown=normalised_entropy(shares, len(shares)),
        difference=difference(np.append(shares, 0.0), drawn) if total > 0 else 1.0,
        demonstrations=(*shares.tolist(), 0.0),
        samples=tuple(drawn.tolist()),
    )


FIGURES = ("coverage", "precision", "alike", "entropy", "entropy_shown", "difference")
"""Figures of a resemblance, as summaries have their means."""


def summary(known: Repertoire, found: Sequence[Resemblance | None]) -> dict[str, Any]:
    """Means over the contexts in which something is held out, and the shares of ways there; empty if there is none."""
    there = [each for each in found if each is not None]
    if not there:
        return {}
    values = {name: [getattr(each, name) for each in there if getattr(each, name) is not None] for name in FIGURES}
    shares = [np.mean([getattr(each, who) for each in there], axis=0).tolist() for who in ("demonstrations", "samples")]
    names = (*known.names, "far from all ways")
    return {name: float(np.mean(own)) for name, own in values.items() if own} | {
        "contexts": len(there),
        "ways": [
            {"name": name, "demonstrations": theirs, "samples": ours}
            for name, theirs, ours in zip(names, *shares, strict=True)
        ],
    }


def difference(one: np.ndarray, other: np.ndarray) -> float:
    """Jensen-Shannon distance of shares [way] from others: 0 if they are equal, 1 if they have no way in common."""
    between = _entropy((one + other) / 2) - (_entropy(one) + _entropy(other)) / 2
    return float(np.sqrt(max(0.0, between / np.log(2))))


def normalised_entropy(shares: np.ndarray, behaviours: int) -> float:
    """Entropy of the shares [n], which need not sum to one, to the base of `behaviours`; at most 1, and 0 if empty."""
    if shares.sum() <= 0 or behaviours < 2:
        return 0.0
    return float(min(1.0, _entropy(shares) / np.log(behaviours)))


def _entropy(shares: np.ndarray) -> float:
    """Entropy of shares [n], which need not sum to one, in nats."""
    p = shares[shares > 0] / shares.sum()
    return float(-np.sum(p * np.log(p)))
