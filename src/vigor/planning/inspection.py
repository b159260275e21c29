"""A skill in words: what it is, where it works, what it needs and where it is from."""

import textwrap
from collections.abc import Iterable, Mapping
from typing import Any

import jax

from vigor.motion.robots import Robot
from vigor.planning.skills import Skill


def in_words(skill: Skill) -> list[str]:
    """Lines about a skill."""
    card, origin = skill.card, skill.card.provenance
    ranges = zip(card.context_names, skill.contexts.min(axis=0), skill.contexts.max(axis=0), strict=True)
    count = len(jax.tree.leaves(skill.ensembles)[0])
    kept = "all" if origin.every == 1 else f"{count}"
    lines = [
        f"{skill.path}: a skill for {card.task}, {skill.path.stat().st_size / 1e6:.2f} MB",
        "",
        f"  learned from   {origin.demonstrations} demonstrations in {origin.contexts} contexts, {origin.source}",
        f"  their licence  {origin.licence or 'not said'}",
        f"  where it works {_listed(f'{name} {low:.3g} to {high:.3g}' for name, low, high in ranges)}",
        *(f"  {_LABELS[part]:<14} {_figures(row)}" for part, row in card.figures.items() if row),
        f"  what counts    {_listed(row['quantity'] for row in card.common) or 'nothing in particular'}",
        f"  robot          {_robot(card.robot)}",
        f"  networks       {kept} of {origin.iterations} iterations, {_parameters(skill.ensembles):,} numbers",
        f"  trained        {origin.trained or 'at an unknown date'}, seed {origin.seed}",
        f"  packed         {origin.packed}, by vigor {origin.version}",
    ]
    if card.program:
        lines.append(
            f"  needs          the task's file, {card.program}, which is not in it: --task path/to/{card.program}"
        )
    return lines


_LABELS = {"train": "demonstrated", "test": "others"}


def _listed(parts: Iterable[str]) -> str:
    """Parts of a line, on further lines where they are long."""
    return ("\n" + " " * 17).join(textwrap.wrap("; ".join(parts), 100))


def _figures(row: Mapping[str, float]) -> str:
    return ", ".join(f"{name.replace('_', ' of ')} {value:.3f}" for name, value in row.items())


def _robot(robot: Robot | None) -> str:
    return (
        "none is known, so that plans have no limits" if robot is None else f"{robot.name}: {', '.join(robot.joints)}"
    )


def _parameters(ensembles: Any) -> int:
    return sum(leaf.size for leaf in jax.tree.leaves(ensembles))
