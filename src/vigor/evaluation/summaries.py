"""Summaries of evaluations, as `result.json`, `metrics.jsonl` and rows of benchmarks have them: their description."""

from collections.abc import Iterable, Iterator
from typing import Any, TypedDict

from vigor.basics.errors import UserError


class Ways(TypedDict):
    """`vigor.evaluation.evaluation.Versatility`, of a context or as a mean."""

    working_components: float
    distinct_solutions: float
    entropy: float


class ContextSummary(TypedDict, total=False):
    """Figures of one context, by component."""

    context: list[float]
    versatility: Ways
    weights: list[float]
    success: list[float]
    distance: list[float]
    predicted: list[float]


class Summary(TypedDict, total=False):
    """Figures of training or of test contexts; empty if there are none, predicted ones of a task that is not judged."""

    success_best: float
    success_mixture: float
    success_components: list[float]
    success_chosen: float
    distance_best: float
    predicted_best: float
    predicted_mixture: float
    versatility: Ways
    contexts: list[ContextSummary]


def components(summary: Any) -> set[int]:
    """Numbers of components that a summary speaks of, which should be one; raises a UserError if it is incomplete."""
    if not summary:
        return set()
    kind = "success" if "success_mixture" in summary else "predicted"
    needed = {f"{kind}_best", f"{kind}_mixture", "versatility"}
    if missing := needed - summary.keys():
        raise UserError(f"{min(missing)} is missing")
    for name in needed - {"versatility"}:
        if not -1e-6 <= summary[name] <= 1 + 1e-3:
            raise UserError(f"{name} must be from 0 to 1")
    return set(_lengths(summary))


def _lengths(summary: Any) -> Iterator[int]:
    if "success_components" in summary:
        yield len(summary["success_components"])
    for context in summary.get("contexts", ()):
        if missing := {"context", "versatility", "weights"} - context.keys():
            raise UserError(f"{min(missing)} of a context is missing")
        yield from (len(context[name]) for name in ("weights", "success", "distance", "predicted") if name in context)


def check_alike(summaries: Iterable[Any]) -> None:
    """Refuse summaries that are incomplete, or of different numbers of components."""
    if len(set().union(*map(components, summaries))) > 1:
        raise UserError("its figures are of different numbers of components")
