"""Demonstrations at a glance: how many each context has, how good and how different they are, what stands out."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from vigor.demonstrations.dataset import Demonstrations, trajectories
from vigor.demonstrations.preprocessing import held
from vigor.motion.trajectories import distinct_solutions, resample, usual_difference
from vigor.tasks.task import Task

FAR = 5.0
"""Usual deviations from the median beyond which a demonstration stands out."""
FEW = 4
"""Fewest demonstrations of a context of which one can be far from the others."""


@dataclass(frozen=True, eq=False)
class Summary:
    """A set at a glance, by demonstrated context."""

    contexts: np.ndarray
    """[c]: indices of the demonstrated contexts."""
    counts: np.ndarray
    """[c]: demonstrations."""
    success: np.ndarray
    """[c]: share of the demonstrations whose ProMP succeeds; all of them if the task is not judged."""
    distance: np.ndarray
    """[c]: mean distance of the ProMPs from solving the context."""
    solutions: np.ndarray
    """[c]: distinct solutions among them (see `distinct_solutions`)."""
    spread: np.ndarray
    """[c]: mean difference between two demonstrations (root mean square over steps of the joints' distance)."""


def summarise(task: Task, demonstrations: Demonstrations) -> Summary:
    """Numbers of demonstrations of each context, how good and how different they are."""
    movements = trajectories(task, demonstrations)
    distances = task.distances(movements, demonstrations.contexts[demonstrations.context_of])
    least = 0.5 * usual_difference(movements) if task.judge.distinct is None else task.judge.distinct
    rows = []
    for context in demonstrations.demonstrated:
        of = demonstrations.of(context)
        apart = movements[of, None] - movements[None, of]
        differences = np.sqrt(np.sum(apart**2, axis=-1).mean(axis=-1))
        distinct = np.unique(distinct_solutions(movements[of], least))
        spread = differences.sum() / max(1, len(of) * (len(of) - 1))
        success = np.mean(task.succeeds(distances[of]))
        rows.append((context, len(of), success, distances[of].mean(), len(distinct), spread))
    return Summary(*map(np.array, zip(*rows, strict=True)))


@dataclass(frozen=True)
class Outlier:
    """A demonstration that stands out, in words."""

    number: int
    """Index in the set."""
    context: int
    reason: str

    def __str__(self) -> str:
        return f"demonstration {self.number + 1} of context {self.context + 1} {self.reason}"


def recorded(task: Task, demonstrations: Demonstrations, steps: int) -> np.ndarray | None:
    """Recordings [n, steps, dimensions] as their ProMPs follow them; None if the set has none.

    Their last poses are held for a while, unless their ProMPs were fitted to them as they are.
    """
    if demonstrations.recordings is None:
        return None
    fits = trajectories(task, demonstrations)
    ways = [
        np.stack([resample(item if plain else held(item), fits.shape[1]) for item in demonstrations.recordings])
        for plain in (False, True)
    ]
    plain = bool(np.argmin([np.mean((way - fits) ** 2) for way in ways]))
    return np.stack([resample(item if plain else held(item), steps) for item in demonstrations.recordings])


def outliers(task: Task, demonstrations: Demonstrations) -> tuple[Outlier, ...]:
    """Demonstrations that are fitted much worse than most, or far from all others of their context."""
    fits = trajectories(task, demonstrations)
    found = []
    shown = recorded(task, demonstrations, fits.shape[1])
    if shown is not None:
        away = _apart(fits, shown)
        found += [(number, f"is badly fitted, {away[number]:.2g} away on average") for number in _standing_out(away)]
    nearest = np.full(len(fits), np.nan)
    for context in demonstrations.demonstrated:
        of = demonstrations.of(context)
        if len(of) >= FEW:
            apart = _apart(fits[of, None], fits[None, of])
            np.fill_diagonal(apart, np.inf)
            nearest[of] = apart.min(axis=1)
    found += [
        (number, f"is far from the others of its context, {nearest[number]:.2g} from the nearest")
        for number in _standing_out(nearest)
    ]
    return tuple(Outlier(i, int(demonstrations.context_of[i]), reason) for i, reason in sorted(found))


def _apart(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Root mean square over steps of the joints' distance [...] of movements [..., T, dimensions]."""
    return np.sqrt(np.sum((a - b) ** 2, axis=-1).mean(axis=-1))


def _standing_out(values: np.ndarray) -> list[int]:
    """Indices of values [n] far above the median, by the median deviation from it; NaN are left out."""
    known = values[np.isfinite(values)]
    if len(known) < FEW:
        return []
    middle = float(np.median(known))
    usual = 1.4826 * float(np.median(np.abs(known - middle)))
    far = np.nan_to_num(values) > max(middle + FAR * usual, 2 * middle)
    return np.flatnonzero(far).tolist()


def lacking(task: Task, summary: Summary) -> list[str]:
    """Sentences about contexts that have fewer demonstrations than a run learns from, or fewer distinct movements."""
    said, wanted = [], task.source.per_context
    few = [(int(i), int(count)) for i, count in zip(summary.contexts, summary.counts, strict=True) if count < wanted]
    if few:
        some = _some([f"context {i + 1} has {count}" for i, count in few])
        said.append(f"{_have(few)} fewer than the {wanted} demonstrations that a run learns from: {some}")
    most = int(summary.solutions.max())
    single = [int(i) + 1 for i, ways in zip(summary.contexts, summary.solutions, strict=True) if ways < most]
    if single:
        said.append(f"{_have(single)} fewer distinct movements than the {most} of others: {_some(single)}")
    return said


def _have(contexts: Sequence[Any]) -> str:
    return "1 context has" if len(contexts) == 1 else f"{len(contexts)} contexts have"


def _some(items: Sequence[Any]) -> str:
    """The first five, and how many more there are."""
    return ", ".join(map(str, items[:5])) + (f" and {len(items) - 5} more" if len(items) > 5 else "")
