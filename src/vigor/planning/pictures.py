"""Plans as a figure, and as scenes for a viewer."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from vigor.demonstrations.dataset import Demonstrations, trajectories
from vigor.motion.promp import rollout
from vigor.motion.shapes import Sphere
from vigor.planning.plans import Plans, Solution
from vigor.reports import drawing
from vigor.reports.drawing import FORBIDDEN, WANTED
from vigor.reports.figures import PANELS, STEPS, link_points
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
    weights = np.array([solution.movement for solution in solutions], np.float32)
    return link_points(task, np.asarray(rollout(task.promp, weights, STEPS)))


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
