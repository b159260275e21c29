"""Quality and versatility of policies: success of every component's samples, ranked, and distinct solutions.

The paper draws samples of every component of every context, ranks the components by success, and reports the best one.
Beside it stands what a user gets who draws a plan without knowing the ground truth: the success of the whole mixture.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from vigor.evaluation.policies import Learned
from vigor.motion.trajectories import distinct_solutions
from vigor.tasks.task import Task

_COMPARED = 20
"""Samples per component that are looked at for distinct solutions."""
_BLOCK = 64
"""Contexts that are sampled at a time, to bound memory."""


@dataclass(frozen=True)
class Versatility:
    """Number of ways that a context's policy knows; meaningless without the success rate beside it."""

    working_components: float
    """Components that succeed in at least half their samples."""
    distinct_solutions: float
    """Distinct solutions among the means of the working components."""
    entropy: float
    """Entropy of the distinct solutions among successful samples, over the logarithm of the number of components."""


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """Figures of every component of every context; training contexts come first."""

    policies: Learned
    weights: np.ndarray
    """[context, component]: how likely each component is."""
    success: np.ndarray
    """[context, component]: share of successful samples."""
    distance: np.ndarray
    """[context, component]: mean distance of the samples."""
    versatility: tuple[Versatility, ...]
    """By context."""

    def summary(self, rows: slice) -> dict[str, Any]:
        """Means over some contexts, and the figures of each, as `result.json` has them."""
        weights, success, distance = self.weights[rows], self.success[rows], self.distance[rows]
        if not len(success):
            return {}
        versatility = [item.__dict__ for item in self.versatility[rows]]
        return {
            "success_best": float(success.max(axis=1).mean()),
            "success_mixture": float((weights * success).sum(axis=1).mean()),
            "success_components": np.sort(success, axis=1)[:, ::-1].mean(axis=0).tolist(),
            "distance_best": float(distance.min(axis=1).mean()),
            "versatility": {name: float(np.mean([item[name] for item in versatility])) for name in versatility[0]},
            "contexts": [
                {
                    "context": context.tolist(),
                    "success": s.tolist(),
                    "distance": d.tolist(),
                    "weights": w.tolist(),
                    "versatility": v,
                }
                for context, s, d, w, v in zip(
                    self.policies.contexts[rows], success, distance, weights, versatility, strict=True
                )
            ],
        }

    def __repr__(self) -> str:
        best, mixture = self.success.max(axis=1).mean(), (self.weights * self.success).sum(axis=1).mean()
        return f"Evaluation({len(self.success)} contexts: success {best:.3f} (best), {mixture:.3f} (mixture))"

    @property
    def train(self) -> dict[str, Any]:
        return self.summary(slice(0, self.policies.training))

    @property
    def test(self) -> dict[str, Any]:
        return self.summary(slice(self.policies.training, None))


def evaluate(task: Task, policies: Learned, samples: int | None = None, seed: int = 0) -> Evaluation:
    """Draw samples of every component of every context and judge them by the task's own metric.

    samples: per component; as many as the task says by default.
    """
    samples = task.judge.samples if samples is None else samples
    blocks = [_evaluate(task, policies, samples, seed, first) for first in range(0, len(policies.contexts), _BLOCK)]
    weights, success, distance = (np.concatenate(parts) for parts in list(zip(*blocks, strict=True))[:3])
    return Evaluation(policies, weights, success, distance, tuple(v for block in blocks for v in block[3]))


def _evaluate(
    task: Task, policies: Learned, samples: int, seed: int, first: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[Versatility]]:
    """Weights, success, distance [context, component] and versatility of a block of contexts."""
    rows = slice(first, first + _BLOCK)
    weights, means, joints = policies.movements(task, rows, samples, seed)
    owner = np.repeat(policies.contexts[rows], weights.shape[1] * samples, axis=0)
    distances = task.distances(joints.reshape(-1, *joints.shape[-2:]), owner.astype(np.float32))
    distances = distances.reshape(joints.shape[:3])
    succeeded = task.succeeds(distances)
    versatility = [_versatility(task, *parts) for parts in zip(weights, means, joints, succeeded, strict=True)]
    return weights, succeeded.mean(axis=-1), distances.mean(axis=-1), versatility


def _versatility(
    task: Task, weights: np.ndarray, means: np.ndarray, joints: np.ndarray, succeeded: np.ndarray
) -> Versatility:
    """Versatility of one context.

    weights: [component], means: [component, T, dimensions], joints: [component, sample, T, dimensions],
    succeeded: [component, sample].
    """
    components = len(weights)
    working = succeeded.mean(axis=1) >= 0.5
    known = succeeded[:, :_COMPARED]
    plans = joints[:, :_COMPARED][known]
    solutions = distinct_solutions(plans, task.judge.distinct)
    shares = np.bincount(solutions, np.repeat(weights, known.sum(axis=1))) if len(plans) else np.zeros(1)
    return Versatility(
        float(working.sum()),
        float(len(np.unique(distinct_solutions(means[working], task.judge.distinct)))),
        normalised_entropy(shares, components),
    )


def normalised_entropy(shares: np.ndarray, behaviours: int) -> float:
    """Entropy of the shares [n], which need not sum to one, to the base of `behaviours`; at most 1, and 0 if empty."""
    total = shares.sum()
    if total <= 0 or behaviours < 2:
        return 0.0
    p = shares[shares > 0] / total
    return float(min(1.0, -np.sum(p * np.log(p)) / np.log(behaviours)))
