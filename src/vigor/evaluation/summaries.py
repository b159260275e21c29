"""Summaries of evaluations, as `result.json`, `metrics.jsonl` and rows of benchmarks have them: their description."""

from collections.abc import Iterable, Iterator
from typing import Any, TypedDict

from vigor.basics.errors import UserError
from vigor.evaluation.resemblance import FIGURES


class Ways(TypedDict):
    """`vigor.evaluation.evaluation.Versatility`, of a context or as a mean."""

    working_components: float
    distinct_solutions: float
    entropy: float


class WayShare(TypedDict):
    """Share of a way among demonstrations and among samples."""

    name: str
    demonstrations: float
    samples: float


class ResemblanceSummary(TypedDict, total=False):
    """Means of `vigor.evaluation.resemblance.Resemblance`."""

    coverage: float
    precision: float
    alike: float
    entropy: float
    entropy_shown: float
    difference: float
    contexts: int
    ways: list[WayShare]


class ContextResemblance(TypedDict):
    """`vigor.evaluation.resemblance.Resemblance` of a context."""

    coverage: float
    precision: float
    alike: float | None
    entropy: float
    entropy_shown: float
    difference: float
    demonstrations: list[float]
    samples: list[float]


class ContextSummary(TypedDict, total=False):
    """Figures of one context, by component; `resemblance` where some demonstrations are held out."""

    context: list[float]
    versatility: Ways
    weights: list[float]
    success: list[float]
    distance: list[float]
    predicted: list[float]
    resemblance: ContextResemblance


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
    resemblance: ResemblanceSummary
    contexts: list[ContextSummary]


def components(summary: Any) -> set[int]:
    """Numbers of components that a summary speaks of, which should be one; raises a UserError if it is incomplete."""
    if not summary:
        return set()
    kind = _kind(summary)
    needed = {f"{kind}_best", f"{kind}_mixture", "versatility"}
    if missing := needed - summary.keys():
        raise UserError(f"{min(missing)} is missing")
    for name in needed - {"versatility"}:
        if not -1e-6 <= summary[name] <= 1 + 1e-3:
            raise UserError(f"{name} must be from 0 to 1")
    for own in (summary, *summary.get("contexts", ())):
        _check_resemblance(own.get("resemblance", {}))
    return set(_lengths(summary))


def _kind(summary: Any) -> str:
    """Name of the figures that a summary must have: of success, or of predicted success where nothing is judged."""
    return "success" if "success_mixture" in summary else "predicted"


def _check_resemblance(figures: Any) -> None:
    """Refuse figures of a resemblance that are no shares."""
    rates = [figures[name] for name in FIGURES if figures.get(name) is not None]
    rates += [way[who] for way in figures.get("ways", ()) for who in ("demonstrations", "samples")]
    rates += [*figures.get("demonstrations", ()), *figures.get("samples", ())]
    if any(not -1e-6 <= rate <= 1 + 1e-6 for rate in rates):
        raise UserError("figures of a resemblance must be from 0 to 1")


def _lengths(summary: Any) -> Iterator[int]:
    if "success_components" in summary:
        yield len(summary["success_components"])
    for context in summary.get("contexts", ()):
        if missing := {"context", "versatility", "weights", _kind(summary)} - context.keys():
            raise UserError(f"{min(missing)} of a context is missing")
        if not context["weights"]:
            raise UserError("a context has no component")
        yield from (len(context[name]) for name in ("weights", "success", "distance", "predicted") if name in context)


def check_alike(summaries: Iterable[Any]) -> None:
    """Refuse summaries that are incomplete, or of different numbers of components."""
    if len(set().union(*map(components, summaries))) > 1:
        raise UserError("its figures are of different numbers of components")
