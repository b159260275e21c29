"""The reachers on their stage: an arm that passes through a first target and ends in a second."""

from collections.abc import Sequence

import numpy as np

from vigor.tasks.arms import DraggedArm, Skin
from vigor.tasks.layouts import Aim, Regions
from vigor.tasks.stage import View
from vigor.tasks.task import Task

INSTRUCTION = "Drag the orange ball through target 1, then into target 2."
AIMS = (Aim("pass", 0), Aim("end", 1))


def reacher(
    task: Task, view: View, limits: Sequence[tuple[float, float]], speed: float, skin: Skin | None = None
) -> DraggedArm:
    """The stage of a reacher whose joints have these limits and no larger speed."""
    speeds = np.full(task.promp.dimensions, speed)
    return DraggedArm(task, view, Regions(task, AIMS), limits, speeds.tolist(), skin=skin)
