"""Plans as a figure, as a table in a terminal, as HTML in a notebook, and as scenes for a viewer."""

from collections.abc import Sequence
from html import escape

import jax.numpy as jnp
import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from rich.table import Table

from vigor.demonstrations.dataset import Demonstrations, trajectories
from vigor.motion.shapes import Sphere
from vigor.planning.plans import Plans, Solution
from vigor.planning.violations import Kind, by_kind
from vigor.reports import drawing
from vigor.reports.drawing import FORBIDDEN, WANTED
from vigor.reports.figures import PANELS, STEPS, link_points
from vigor.reports.terminal import ROWS, console
from vigor.reports.viewer import Movement, Scene, demonstrated
from vigor.tasks.task import Task


def figure(plans: Plans) -> Figure:
    """Ranked solutions of every plan, a colour each, with drawn samples; the arm of the first of each of two kinds.

    Solutions that fail or violate a constraint are dotted.
    """
    task, shown = plans.load_task(), plans.plans[:PANELS]
    groups = [[_movements(task, own) for own in (plan.solutions, plan.samples)] for plan in shown]
    regions = [task.display.regions(np.asarray(plan.context)) for plan in shown]
    outlines = [task.display.outlines(np.asarray(plan.context)) for plan in shown]
    room = [points for group in groups for points in group if len(points)]
    vias = [Sphere(item.point, item.radius) for item in plans.constraints.via]
    drawn_figure, panels = drawing.panels([*room, *drawing.outline_points(outlines)], regions, 0.25)
    for number, (plan, views, (means, drawn)) in enumerate(zip(shown, panels, groups, strict=True)):
        drawing.title(views[0][1], f"context {number + 1}" + ("" if plan.failure is None else ": no solution holds"))
        drawing.draw_outlines(views[0][1], outlines[number])
        ranks = {solution.component: rank for rank, solution in enumerate(plan.solutions)}
        for axes, ax in views:
            drawing.draw_regions(ax, axes, regions[number])
            drawing.draw_shapes(ax, axes, plans.constraints.keep_out, FORBIDDEN)
            drawing.draw_shapes(ax, axes, vias, WANTED)
            for sample, points in zip(plan.samples, drawn, strict=True):
                drawing.draw_paths(ax, points[None, :, -1, axes], drawing.colour(ranks[sample.component]), 0.35)
            for rank, (solution, points) in reversed(list(enumerate(zip(plan.solutions, means, strict=True)))):
                path, width = points[:, -1, axes].T, 2.0 if len(views) == 1 else 1.4
                if solution.holds:
                    drawing.draw_mean(ax, path, rank, width)
                else:
                    ax.plot(*path, ":", color=drawing.colour(rank), linewidth=width, zorder=3)
        first = {solution.group: rank for rank, solution in reversed(list(enumerate(plan.solutions)))}
        for rank in sorted(first.values())[:2]:
            drawing.draw_arm(views[0][1], means[rank], regions[number], drawing.colour(rank))
        rates = [item.predicted if item.success is None else item.success for item in plan.solutions]
        drawing.write_rates(views[0][1], np.array(rates))
    count = max(len(plan.solutions) for plan in shown)
    keys = [drawing.key(f"solution {rank + 1}", drawing.colour(rank), 2.5) for rank in range(count)]
    keys += drawing.region_keys(regions[0]) + drawing.outline_keys(outlines[0])
    keys += [Patch(facecolor=WANTED, label="via-point")] if vias else []
    keys += [Patch(facecolor=FORBIDDEN, label="keep out")] if plans.constraints.keep_out else []
    some = f", {len(shown)} of {len(plans.plans)} contexts shown" if len(shown) < len(plans.plans) else ""
    note = "dotted: fails or violates a constraint\npercent: success of samples around it"
    drawing.finish(drawn_figure, f"{task.name}: plans{some}", keys, note)
    return drawn_figure


def _movements(task: Task, solutions: Sequence[Solution]) -> np.ndarray:
    """Points [n, T, points, 2 or 3] of solutions."""
    if not solutions:
        return np.zeros((0, STEPS, 1, 1))
    weights = jnp.asarray([solution.movement for solution in solutions])
    return link_points(task, np.asarray(task.promp.rollout(weights, STEPS)))


def scenes(plans: Plans, shown: Demonstrations | None = None) -> list[Scene]:
    """Contexts with their solutions, the best first, and with what was demonstrated in them, if given."""
    task, found = plans.load_task(), []
    for plan in plans:
        ranked = [
            Movement(f"solutions/{rank + 1}", item.joints(STEPS), drawing.colour(rank))
            for rank, item in enumerate(plan.solutions)
        ]
        if shown is not None:
            same = np.all(np.abs(shown.contexts[shown.context_of] - plan.context) < 1e-5, axis=1)
            ranked += demonstrated(trajectories(task, shown)[same])
        found.append(Scene(np.asarray(plan.context), tuple(ranked), plans.constraints.keep_out))
    return found


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
