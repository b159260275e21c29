"""A figure of the ways that were demonstrated in a context and of those that were learned, side by side."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scipy.interpolate import CubicSpline

from vigor.basics.colours import PALETTE, QUIET
from vigor.demonstrations.repertoire import Repertoire
from vigor.evaluation.policies import Learned
from vigor.reports import drawing
from vigor.reports.figures import STEPS, link_points
from vigor.tasks.task import Task

DRAWN = 60
"""Movements that are drawn from a mixture."""
ROWS = 3
"""Most contexts of a figure."""


def figure(task: Task, known: Repertoire, policies: Learned, contexts: Sequence[int]) -> Figure:
    """Demonstrations of contexts, by index among the policies', and successful movements of their mixtures.

    A row for each context; a way has the same colour everywhere, movements far from all ways are grey.
    """
    shown = list(contexts)[:ROWS]
    sides = [part(task, known, policies, index) for index in shown for part in (_demonstrated, _drawn)]
    points = [link_points(task, _smooth(own)) for own, _, _ in sides]
    regions = [task.display.regions(policies.contexts[index]) for index in shown for _ in range(2)]
    made, panels = drawing.panels(points, regions, columns=2)
    for views, (_, ways, title), paths, targets in zip(panels, sides, points, regions, strict=True):
        drawing.title(views[0][1], title)
        for axes, ax in views:
            drawing.draw_regions(ax, axes, targets)
            for way in np.unique(ways)[::-1]:
                colour, own = _colour(known, way), paths[ways == way]
                for path in own:
                    style: dict[str, Any] = {"color": colour, "linewidth": 1.3, "alpha": 0.55, "zorder": 2}
                    ax.plot(*path[:, -1, axes].T, **style)
        for way in np.unique(ways[ways < len(known.names)]):
            drawing.draw_arm(views[0][1], paths[ways == way][0], targets, _colour(known, way))
    gone = np.unique(np.concatenate([ways for _, ways, _ in sides]))
    names = [*known.names, "far from all ways"]
    keys = [drawing.key(names[way], _colour(known, way), 2.5) for way in gone]
    drawing.finish(made, f"{task.name}: ways demonstrated and ways learned", keys + drawing.region_keys(regions[0]))
    return made


def _smooth(joints: np.ndarray) -> np.ndarray:
    """Movements [n, T, dimensions] at STEPS steps."""
    return CubicSpline(np.linspace(0, 1, joints.shape[1]), joints, axis=1)(np.linspace(0, 1, STEPS))


def _colour(known: Repertoire, way: int) -> str:
    return PALETTE[way % len(PALETTE)] if way < len(known.names) else QUIET


def _demonstrated(task: Task, known: Repertoire, policies: Learned, index: int) -> tuple[np.ndarray, np.ndarray, str]:
    """Demonstrations [n, T, dimensions] of a context, their ways [n], and a title."""
    own = known.of(policies.contexts[index])
    count = int((~known.shown[own]).sum())
    unseen = "never learned from" if count == len(own) else f"{count} of them never learned from"
    return known.movements[own], known.way[own], f"{len(own)} demonstrations, {unseen}"


def _drawn(task: Task, known: Repertoire, policies: Learned, index: int) -> tuple[np.ndarray, np.ndarray, str]:
    """Successful movements [n, T, dimensions] that are drawn from a context's mixture, their ways [n], and a title."""
    rows = slice(index, index + 1)
    weights, _, samples = (part[0] for part in policies.movements(task, rows, DRAWN, seed=0))
    component = np.random.default_rng(0).choice(len(weights), DRAWN, p=weights / weights.sum())
    drawn = samples[component, np.arange(DRAWN)]
    succeeded = task.succeeds(task.distances(drawn, np.repeat(policies.contexts[rows], DRAWN, axis=0)))
    kept = drawn[succeeded] if np.any(succeeded) else drawn[:1]
    said = f"{DRAWN} movements drawn, {int(succeeded.sum())} succeed"
    return kept, known.went(known.between(kept)), said
