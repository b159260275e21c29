"""A skill in words: what it is, where it works, what it needs and where it is from."""

import textwrap
from collections.abc import Mapping
from typing import Any

import jax

from vigor.motion.robots import Robot
from vigor.planning.skills import Skill


def in_words(skill: Skill) -> list[str]:
    """Lines about a skill."""
    card, origin = skill.card, skill.card.provenance
    ranges = zip(card.context_names, skill.contexts.min(axis=0), skill.contexts.max(axis=0), strict=True)
    count = len(jax.tree.leaves(skill.ensembles)[0])
    kept = f"all {count}" if origin.every == 1 else f"{count} of {origin.iterations}"
    counted = [str(row["quantity"]) for row in card.common]
    more = [f"and {len(counted) - MOST} more"] if len(counted) > MOST else []
    parts = {
        "learned from": [f"{origin.demonstrations} demonstrations in {origin.contexts} contexts, {origin.source}"],
        "their licence": [origin.licence or "not said"],
        "where it works": [f"{name} {low:.3g} to {high:.3g}" for name, low, high in ranges],
        **{_LABELS[part]: _figures(row) for part, row in card.figures.items() if row},
        "what counts": counted[:MOST] + more or ["nothing in particular"],
        "robot": [_robot(card.robot)],
        "networks": [f"{origin.networks} of each of {kept} iterations, {_parameters(skill.ensembles):,} numbers"],
        "trained": [f"{origin.trained or 'at an unknown date'}, seed {origin.seed}"],
        "packed": [f"{origin.packed}, by vigor {origin.version}"],
    }
    if card.program:
        needed = f"the task's file, {card.program}, which is not in it: --task path/to/{card.program}"
        parts["needs"] = [needed]
    said = f"{skill.path}: a skill for {card.task}, {skill.path.stat().st_size / 1e6:.2f} MB"
    return [said, "", *(_line(label, items) for label, items in parts.items())]


MOST = 8
"""Most quantities that are listed of those that demonstrations agree in, the clearest first."""
_WIDTH, _INDENT = 80, 21
_LABELS = {"train": "training contexts", "test": "test contexts"}


def _line(label: str, items: list[str]) -> str:
    """Items after their label, on further lines where they are long."""
    lines = textwrap.wrap("; ".join(items), _WIDTH - _INDENT, break_on_hyphens=False)
    return f"  {label:<{_INDENT - 2}}" + ("\n" + " " * _INDENT).join(lines)


def _figures(row: Mapping[str, float]) -> list[str]:
    """Figures of contexts: those of success, then those of predicted success, with what they are of."""
    kinds: dict[str, list[str]] = {}
    for name, value in row.items():
        kind, _, part = name.partition("_")
        kinds.setdefault(kind, []).append(f"{value:.3f} ({part})")
    return [f"{kind} {', '.join(values)}" for kind, values in kinds.items()]


def _robot(robot: Robot | None) -> str:
    return (
        "none is known, so that plans have no limits" if robot is None else f"{robot.name}: {', '.join(robot.joints)}"
    )


def _parameters(ensembles: Any) -> int:
    return sum(leaf.size for leaf in jax.tree.leaves(ensembles))
