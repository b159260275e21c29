"""Contexts in which a demonstration would help most: where plans are predicted to fail, and many contexts are alike."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from scipy.spatial.distance import cdist

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


def suggest(planner: Planner, count: int = 3, seed: int = 0) -> tuple[Suggestion, ...]:
    """Contexts of the task's distribution in which a demonstration would help most, the best first.

    A demonstration helps the contexts around it. So each suggestion is the candidate around which most success is
    missing: the sum over candidates of (1 - predicted success), each by exp(-distance^2 / 2) and by how far it is from
    all contexts that are demonstrated or suggested already. Where nothing is predicted to fail, what is farthest from
    demonstrations comes first.
    """
    if not 1 <= count <= CANDIDATES:
        raise UserError(f"from 1 to {CANDIDATES} contexts can be suggested, not {count}")
    if not 0 <= seed < 2**32:
        raise UserError(f"the seed must be from 0 to 2**32 - 1, not {seed}")
    task, trained = planner.task, planner.trained
    drawn = np.asarray(task.sample_contexts(np.random.default_rng(seed), CANDIDATES), float)
    mixtures, _ = planner.mixtures(drawn, Constraints(), seed)
    success = prediction.component_success(
        jax.random.key(seed), task, planner.common, jnp.asarray(drawn, jnp.float32), mixtures
    )
    best = np.asarray(jnp.max(success, axis=1), float)
    drawn, trained = (task.contexts_near(part, trained[0]) for part in (drawn, trained))
    unit = np.maximum(np.std(drawn, axis=0), 1e-12)
    alike = np.exp(-0.5 * cdist(drawn / unit, drawn / unit, "sqeuclidean") / drawn.shape[1])
    known, found, free = trained, [], np.ones(len(drawn))
    for _ in range(count):
        nearest = cdist(drawn / unit, known / unit).min(axis=1) / np.sqrt(drawn.shape[1])
        missing = (1 - best + 1e-3) * (1 - np.exp(-0.5 * nearest**2))
        chosen = int(np.argmax(free * (alike @ missing)))
        free[chosen] = 0.0
        found.append(_suggestion(drawn[chosen], best[chosen], nearest[chosen]))
        known = np.concatenate([known, drawn[chosen : chosen + 1]])
    return tuple(found)


def _suggestion(context: np.ndarray, predicted: float, away: float) -> Suggestion:
    near = f"{away:.1f} deviations from the nearest context that is demonstrated or suggested before"
    reason = f"predicted success {predicted:.2f} there; {near}"
    return Suggestion(tuple(map(float, context)), float(predicted), float(away), reason)
