"""Ways of demonstrations and of policies, in words."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from vigor.demonstrations.repertoire import Repertoire

WORDS = {
    "coverage": "held-out demonstrations covered",
    "precision": "samples like a demonstration",
    "alike": "demonstrations like another",
    "entropy": "entropy of ways, samples",
    "entropy_shown": "entropy of ways, demonstrations",
    "difference": "difference of shares of ways",
}
"""Figures of `vigor.evaluation.resemblance` as tables name them."""
MOST = 5
"""Most ways that are named."""
LEAST = 0.005
"""Least share of demonstrations or of samples of a way that is named."""


def in_words(figures: Mapping[str, Any]) -> str:
    """Shares of ways: "way 1, tool left: 44% of demonstrations, 41% of samples; ..."."""
    return _listed(
        f"{way['name']}: {way['demonstrations']:.0%} of demonstrations, {way['samples']:.0%} of samples"
        for way in usual(figures)
    )


def usual(figures: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Ways of a summary that are gone at all, with their shares."""
    return [way for way in figures.get("ways", ()) if max(way["demonstrations"], way["samples"]) >= LEAST]


def compared(result: Mapping[str, Any], splits: Mapping[str, str]) -> dict[str, Mapping[str, Any]]:
    """Figures of the parts of a result that were compared with held-out demonstrations, by the names of splits."""
    parts = {name: result.get(key) for key, name in splits.items()}
    found = {name: part.get("resemblance") for name, part in parts.items() if isinstance(part, Mapping)}
    return {
        name: {**figures, "ways": usual(figures)} for name, figures in found.items() if isinstance(figures, Mapping)
    }


def of_repertoire(known: Repertoire) -> str:
    """Ways of demonstrations in words: how many there are, and how often each is gone."""
    count = len(known.names)
    shares = known.shares(np.arange(len(known.way)))
    named = _listed(f"{name} ({share:.0%})" for name, share in zip(known.names, shares, strict=True))
    by_context = [known.alike(known.of(context)) for context in np.unique(known.contexts, axis=0)]
    alike = float(np.mean(np.concatenate(by_context)))
    ways = "one way" if count == 1 else f"{count} ways: {named}"
    return f"Demonstrations go {ways}. {alike:.0%} of them are like another one of their context"


def _listed(words: Iterable[str]) -> str:
    """At most MOST of words, one after the other."""
    said = list(words)
    more = f"; and {len(said) - MOST} more" if len(said) > MOST else ""
    return "; ".join(said[:MOST]) + more
