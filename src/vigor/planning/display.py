"""Plans as a table in a terminal, and as HTML in a notebook."""

from collections.abc import Sequence
from html import escape

import numpy as np
from rich.table import Table

from vigor.planning.plans import Plans, Solution
from vigor.planning.violations import Kind, by_kind
from vigor.reports.terminal import ROWS, console


def print_table(plans: Plans) -> None:
    """Print ranked solutions of each plan, of many plans the best one of each; then warnings and failures."""
    task, few = plans.load_task(), len(plans) <= 3
    table = Table(title=f"{task.name}: {'solutions' if few else 'the best solution'} by context", box=None)
    table.title_justify, table.padding, table.pad_edge = "left", (0, 1, 0, 0), False
    labels = [region.label.replace(" ", "\n") for region in task.display.regions(np.asarray(plans[0].context))]
    limits = [column for column, kind in _LIMITS.items() if kind in _kinds(plans)]
    judged = all(solution.success is not None for plan in plans for solution in plan.solutions)
    success = "success" if judged else "predicted"
    for name in ("context", "rank", "kind", success, *labels, *limits, "holds"):
        table.add_column(name, justify="right", no_wrap=True)
    for number, plan in enumerate(plans.plans[:ROWS], start=1):
        for rank, solution in enumerate(plan.solutions if few else plan.solutions[:1], start=1):
            table.add_row(
                str(number),
                str(rank),
                str(solution.group),
                f"{solution.success if judged else solution.predicted:.2f}",
                *(f"{away.closest:.2f} {away.end:.2f}" for away in solution.targets.values()),
                *_margins(solution, limits),
                "yes" if solution.holds else "no",
            )
    console.print(table)
    if labels:
        console.print("Targets: distance to the boundary, closest and at the end. Limits: smallest margin.")
    if len(plans) > 1:
        good = sum(plan.failure is None for plan in plans)
        console.print(f"{good} of {len(plans)} contexts have a solution that holds")
    for number, plan in enumerate(plans.plans[:ROWS], start=1):
        for said in (plan.warning, plan.failure):
            if said:
                console.print(f"context {number}: {said}")


_LIMITS: dict[str, Kind] = {
    "joint\nlimits": "position",
    "speed": "velocity",
    "itself": "itself",
    "keep-\nout": "keep-out",
    "via": "via",
    "points": "pointing",
}
"""Kinds of margins by their column."""


def _kinds(plans: Plans) -> set[Kind]:
    """Kinds of all margins."""
    return {kind for plan in plans for solution in plan.solutions for kind in by_kind(solution.margins)}


def _margins(solution: Solution, columns: Sequence[str]) -> list[str]:
    """Smallest margins by column."""
    own = by_kind(solution.margins)
    return [f"{min(own[kind].values()):.3f}" if (kind := _LIMITS[column]) in own else "" for column in columns]


def html(plans: Plans) -> str:
    """A small table of the best solution of each context."""
    rows = "".join(
        f"<tr><td>{number}</td><td>{escape(', '.join(f'{value:.3g}' for value in plan.context))}</td>"
        f"<td>{sum(solution.holds for solution in plan.solutions)} of {len(plan)}</td>"
        f"<td>{escape(plan.failure or '')}</td></tr>"
        for number, plan in enumerate(plans.plans[:ROWS], start=1)
    )
    head = "<tr><th>context</th><th>values</th><th>solutions that hold</th><th></th></tr>"
    return f"<p>{escape(repr(plans))}</p><table>{head}{rows}</table>"
