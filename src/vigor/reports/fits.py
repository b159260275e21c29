"""Figures of recordings against the movement primitives that were fitted to them: a panel for every dimension."""

import math

import jax.numpy as jnp
import numpy as np
from matplotlib.figure import Figure

from vigor.basics.colours import INK, PALETTE, QUIET
from vigor.basics.errors import UserError
from vigor.demonstrations import matching
from vigor.demonstrations.dataset import Demonstrations
from vigor.demonstrations.summary import outliers, recorded
from vigor.motion.promp import rollout
from vigor.reports import drawing
from vigor.reports.figures import STEPS
from vigor.tasks.task import Task

COLUMNS = 4
"""Most panels in a row."""


def figure(task: Task, demonstrations: Demonstrations) -> Figure:
    """Recordings, thin and grey, and their fits in colour, over the phase; what stands out has a colour of its own."""
    shown = recorded(task, demonstrations, STEPS)
    if shown is None:
        raise UserError(f"these demonstrations ({demonstrations.source}) hold no recordings to draw")
    fits = np.asarray(rollout(task.promp, jnp.asarray(demonstrations.weights), STEPS))
    stand_out = {item.number for item in outliers(task, demonstrations)}
    usual = [number for number in range(len(fits)) if number not in stand_out]
    names = matching.names(task)
    rows = math.ceil(len(names) / COLUMNS)
    columns = math.ceil(len(names) / rows)
    drawn = Figure(figsize=(0.6 + 2.9 * columns, 1.2 + 2.2 * rows), layout="constrained")
    grid = drawn.subplots(rows, columns, squeeze=False, sharex=True)
    phase = np.linspace(0.0, 1.0, STEPS)
    for number, ax in enumerate(grid.flat):
        if number >= len(names):
            ax.set_axis_off()
            continue
        lines = np.stack([np.broadcast_to(phase, shown.shape[:2]), shown[..., number]], axis=-1)
        fitted = np.stack([np.broadcast_to(phase, fits.shape[:2]), fits[..., number]], axis=-1)
        drawing.draw_paths(ax, fitted[usual], PALETTE[0], 0.55)
        drawing.draw_paths(ax, fitted[sorted(stand_out)], PALETTE[1], 0.9)
        drawing.draw_paths(ax, lines, QUIET, 0.5)
        ax.autoscale_view()
        ax.set(xlim=(0, 1), xticks=[0, 0.5, 1], xticklabels=["0", ".5", "1"])
        drawing.clean(ax)
        drawing.title(ax, names[number])
        if number + columns >= len(names):
            ax.set_xlabel("phase", fontsize=9, color=INK)
            ax.tick_params(labelbottom=True)
    keys = [drawing.key("recording", QUIET, 0.8), drawing.key("fit", PALETTE[0], 2.0)]
    keys += [drawing.key("fit that stands out", PALETTE[1], 2.0)] if stand_out else []
    drawing.finish(drawn, f"{task.name}: {len(fits)} recordings and their fits", keys)
    return drawn
