"""Quality and versatility of policies: success of every component's samples, ranked, and distinct solutions.

The paper draws samples of every component of every context, ranks the components by success, and reports the best one.
Beside it stands what a user gets who draws a plan without knowing the ground truth: the success of the whole mixture.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from vigor.basics.errors import OutOfRange, UserError
from vigor.basics.serialisation import to_json
from vigor.demonstrations.repertoire import Repertoire
from vigor.evaluation import resemblance
from vigor.evaluation.policies import Learned
from vigor.evaluation.resemblance import Resemblance, normalised_entropy
from vigor.learning import prediction
from vigor.learning.invariants import Invariants
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
    success: np.ndarray | None
    """[context, component]: share of successful samples; None for a task that is not judged."""
    distance: np.ndarray | None
    """[context, component]: mean distance of the samples; None likewise."""
    predicted: np.ndarray | None
    """[context, component]: success that is predicted without ground truth (see `vigor.learning.invariants`); None
    where it is not known what demonstrations have in common."""
    versatility: tuple[Versatility, ...]
    """By context."""
    known: Repertoire | None = None
    """Repertoire of all demonstrations, if some are held out."""
    resemblance: tuple[Resemblance | None, ...] = ()
    """By context, if some demonstrations are held out; None where none are."""

    def summary(self, rows: slice) -> dict[str, Any]:
        """Means over some contexts, and the figures of each, as `result.json` has them."""
        weights = self.weights[rows]
        if not len(weights):
            return {}
        found: dict[str, Any] = {}
        columns = {"weights": weights}
        if self.success is not None and self.distance is not None:
            success, distance = self.success[rows], self.distance[rows]
            found |= _best_and_mixture("success", success, weights)
            found["success_components"] = np.sort(success, axis=1)[:, ::-1].mean(axis=0).tolist()
            found["distance_best"] = float(distance.min(axis=1).mean())
            columns |= {"success": success, "distance": distance}
        if self.predicted is not None:
            predicted = self.predicted[rows]
            found |= _best_and_mixture("predicted", predicted, weights)
            columns["predicted"] = predicted
            if self.success is not None:
                chosen = np.take_along_axis(self.success[rows], predicted.argmax(axis=1)[:, None], axis=1)
                found["success_chosen"] = float(chosen.mean())
        versatility = [item.__dict__ for item in self.versatility[rows]]
        found["versatility"] = {name: float(np.mean([each[name] for each in versatility])) for name in versatility[0]}
        alike = self.resemblance[rows]
        if self.known is not None and (means := resemblance.summary(self.known, alike)):
            found["resemblance"] = means
        found["contexts"] = [
            {"context": context.tolist(), "versatility": versatility[i]}
            | {name: values[i].tolist() for name, values in columns.items()}
            | ({"resemblance": to_json(alike[i])} if alike and alike[i] is not None else {})
            for i, context in enumerate(self.policies.contexts[rows])
        ]
        return found

    def __repr__(self) -> str:
        return f"Evaluation({len(self.weights)} contexts: {in_words(self.summary(slice(None)))})"

    @property
    def train(self) -> dict[str, Any]:
        return self.summary(slice(0, self.policies.training))

    @property
    def test(self) -> dict[str, Any]:
        return self.summary(slice(self.policies.training, None))


def evaluate(
    task: Task,
    policies: Learned,
    samples: int | None = None,
    seed: int = 0,
    common: Invariants | None = None,
    known: Repertoire | None = None,
) -> Evaluation:
    """Draw samples of every component of every context and judge them by the task's own metric.

    samples: per component, as many as the task says by default; common: what demonstrations have in common, by which
    success is predicted; known: the repertoire of all demonstrations, if some are held out.
    """
    if not task.judged and common is None:
        raise UserError(f"{task.name} is not judged, and it is not known what its demonstrations have in common")
    samples = task.judge.samples if samples is None else samples
    blocks = [
        _evaluate(task, policies, samples, seed, common, known, first)
        for first in range(0, len(policies.contexts), _BLOCK)
    ]
    weights, *arrays, versatility, alike = zip(*blocks, strict=True)
    success, distance, predicted = (None if parts[0] is None else np.concatenate(parts) for parts in arrays)
    by_context = (tuple(item for block in part for item in block) for part in (versatility, alike))
    versatile, resembling = by_context
    return Evaluation(policies, np.concatenate(weights), success, distance, predicted, versatile, known, resembling)


def _evaluate(
    task: Task,
    policies: Learned,
    samples: int,
    seed: int,
    common: Invariants | None,
    known: Repertoire | None,
    first: int,
) -> tuple[Any, ...]:
    """Figures of a block of contexts, in the order in which an `Evaluation` has them."""
    rows = slice(first, first + _BLOCK)
    weights, means, joints = policies.movements(task, rows, samples, seed)
    for values in (weights, means, joints):
        _check_finite("movements", values, first)
    owner = np.repeat(policies.contexts[rows], weights.shape[1] * samples, axis=0).astype(np.float32)
    flat, shape = joints.reshape(-1, *joints.shape[-2:]), joints.shape[:3]
    success = distance = predicted = None
    distinct = 1.0 if task.judge.distinct is None else task.judge.distinct
    succeeded = np.ones(shape, bool)
    if common is not None:
        drawn = prediction.movement_success(task, common, flat, owner).reshape(shape)
        _check_finite("descriptors", drawn, first)
        predicted, succeeded = drawn.mean(axis=-1), drawn >= 0.5
        distinct = prediction.distinct_of(task, common)
    if task.judged:
        distances = task.distances(flat, owner).reshape(shape)
        _check_finite("distances", distances, first)
        succeeded = task.succeeds(distances)
        success, distance = succeeded.mean(axis=-1), distances.mean(axis=-1)
    versatility = [_versatility(distinct, *parts) for parts in zip(weights, means, joints, succeeded, strict=True)]
    alike: list[Resemblance | None] = []
    if known is not None:
        parts = zip(policies.contexts[rows], weights, joints, succeeded, strict=True)
        alike = [resemblance.resemblance(known, *own) for own in parts]
    return weights, success, distance, predicted, versatility, alike


def _check_finite(what: str, values: np.ndarray, first: int) -> None:
    """Refuse values [context, ...] of contexts from `first` on that are not finite."""
    finite = np.isfinite(values).reshape(len(values), -1).all(axis=1)
    if not np.all(finite):
        raise OutOfRange(f"the {what} of context {first + 1 + int(np.argmin(finite))} are not finite")


def _best_and_mixture(name: str, rates: np.ndarray, weights: np.ndarray) -> dict[str, float]:
    """Means over contexts of rates [context, component]: of the best component, and of the mixture."""
    return {
        f"{name}_best": float(rates.max(axis=1).mean()),
        f"{name}_mixture": float((weights * rates).sum(axis=1).mean()),
    }


def _versatility(
    distinct: float, weights: np.ndarray, means: np.ndarray, joints: np.ndarray, succeeded: np.ndarray
) -> Versatility:
    """Versatility of one context.

    distinct: smallest difference of distinct solutions; weights: [component], means: [component, T, dimensions],
    joints: [component, sample, T, dimensions], succeeded: [component, sample].
    """
    components = len(weights)
    working = succeeded.mean(axis=1) >= 0.5
    known = succeeded[:, :_COMPARED]
    plans = joints[:, :_COMPARED][known]
    solutions = distinct_solutions(plans, distinct)
    shares = np.bincount(solutions, np.repeat(weights, known.sum(axis=1))) if len(plans) else np.zeros(1)
    return Versatility(
        float(working.sum()),
        float(len(np.unique(distinct_solutions(means[working], distinct)))),
        normalised_entropy(shares, components),
    )


def measure_of(part: Mapping[str, Any]) -> str:
    """Name of what the figures of training or test contexts say: "success", or "predicted" for a task not judged."""
    return "success" if "success_mixture" in part else "predicted"


def mixture_of(part: Mapping[str, Any]) -> float:
    """Success of the mixture, or what is predicted of it for a task not judged."""
    return part[f"{measure_of(part)}_mixture"]


def in_words(part: Mapping[str, Any]) -> str:
    """Figures of the best component and of the mixture, of training or test contexts, in short."""
    kind = measure_of(part)
    words = {"success": "success", "predicted": "predicted success"}[kind]
    return f"{words} {part[f'{kind}_best']:.3f} (best), {part[f'{kind}_mixture']:.3f} (mixture)"


def filled(values: Sequence[Any]) -> np.ndarray:
    """Numbers [n], or lists of them [n, longest]; NaN where one is missing."""
    longest = max((len(value) for value in values if isinstance(value, list)), default=0)
    if not longest:
        return np.array([math.nan if value is None else value for value in values], float)
    lists = [value if isinstance(value, list) else [] for value in values]
    return np.array([[*value, *[math.nan] * (longest - len(value))] for value in lists], float)
