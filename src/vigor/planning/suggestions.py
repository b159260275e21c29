"""Contexts in which a demonstration would help most: those that are farthest from all that is demonstrated."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import scipy  # Its parts are loaded when they are used.

from vigor.basics.errors import UserError
from vigor.learning import prediction
from vigor.planning.constraints import Constraints
from vigor.planning.planner import Planner

CANDIDATES = 128
"""Contexts that are drawn, planned for and compared."""


@dataclass(frozen=True)
class Suggestion:
    """A context to demonstrate, and why."""

    context: tuple[float, ...]
    predicted: float
    """Predicted success of its best way today."""
    away: float
    """Distance from the nearest demonstrated context, in deviations of the contexts."""
    reason: str
    """Both in words."""


def suggest(
    planner: Planner, count: int = 3, seed: int = 0, candidates: np.ndarray | None = None
) -> tuple[Suggestion, ...]:
    """Contexts in which a demonstration would help most, the best first; candidates: [n, C], those that can be shown,
    or contexts of the task's distribution.

    Each is the candidate that is farthest from all contexts that are demonstrated or suggested already: between
    demonstrations movements are known from several sides, beyond them from one.
    """
    if not 0 <= seed < 2**32:
        raise UserError(f"the seed must be from 0 to 2**32 - 1, not {seed}")
    task, known = planner.task, planner.trained
    drawn = np.asarray(task.sample_contexts(np.random.default_rng(seed), CANDIDATES), float)
    asked = drawn if candidates is None else candidates
    if not 1 <= count <= len(asked):
        raise UserError(f"from 1 to {len(asked)} contexts can be suggested, not {count}")
    drawn, asked, known = (task.contexts_near(part, planner.trained[0]) for part in (drawn, asked, known))
    unit = np.maximum(np.std(drawn, axis=0), 1e-12)
    found: list[int] = []
    distances: list[float] = []
    for _ in range(count):
        far = away(asked, known, unit)
        far[found] = -1.0
        found.append(int(far.argmax()))
        distances.append(float(far.max()))
        known = np.concatenate([known, asked[found[-1:]]])
    predicted = _predicted(planner, asked[found], seed)
    return tuple(_suggestion(*one) for one in zip(asked[found], predicted, distances, strict=True))


def away(contexts: np.ndarray, known: np.ndarray, unit: np.ndarray) -> np.ndarray:
    """Distances [n] of contexts from the nearest of those that are known, in units of the coordinates [C]."""
    return scipy.spatial.distance.cdist(contexts / unit, known / unit).min(axis=1) / np.sqrt(contexts.shape[1])


def _predicted(planner: Planner, contexts: np.ndarray, seed: int) -> np.ndarray:
    """Predicted success [n] of the best way in each context."""
    mixtures, _ = planner.mixtures(contexts, Constraints(), seed)
    success = prediction.component_success(
        jax.random.key(seed), planner.task, planner.common, jnp.asarray(contexts, jnp.float32), mixtures
    )
    return np.asarray(jnp.max(success, axis=1), float)


def _suggestion(context: np.ndarray, predicted: float, away: float) -> Suggestion:
    near = f"{away:.1f} deviations from the nearest context that is demonstrated or suggested before"
    reason = f"predicted success {predicted:.2f} there; {near}"
    return Suggestion(tuple(map(float, context)), float(predicted), float(away), reason)
