"""VIGOR: versatile robot behaviour from a handful of demonstrations.

task = vigor.load_task("planar-reacher")
run = vigor.train(task, vigor.Demonstrations.generate(task))
best = run.plan([0.5, 2.2, 0.3, -2.8])[0].best
best.trajectory(rate=100).save("out.csv")
"""

import importlib
from typing import TYPE_CHECKING, Any

from vigor.basics.version import __version__

if TYPE_CHECKING:
    from vigor.api import Run, load, resume, train
    from vigor.basics.errors import UserError
    from vigor.demonstrations.dataset import Demonstrations
    from vigor.motion import descriptors, kinematics
    from vigor.motion.loading import robot
    from vigor.motion.promp import ProMP
    from vigor.motion.robots import Robot
    from vigor.motion.shapes import Box, Sphere
    from vigor.planning.demands import Pointing, Via
    from vigor.planning.plans import Plan, Plans, Solution
    from vigor.planning.skills import Skill
    from vigor.planning.trajectories import Trajectory
    from vigor.runs.presets import preset
    from vigor.tasks import load_task
    from vigor.tasks.task import Arm, Display, Judge, Region, Source, Task

_HOMES = {
    "vigor.api": ("Run", "load", "resume", "train"),
    "vigor.basics.errors": ("UserError",),
    "vigor.demonstrations.dataset": ("Demonstrations",),
    "vigor.motion.loading": ("robot",),
    "vigor.motion.promp": ("ProMP",),
    "vigor.motion.robots": ("Robot",),
    "vigor.motion.shapes": ("Box", "Sphere"),
    "vigor.planning.demands": ("Pointing", "Via"),
    "vigor.planning.plans": ("Plan", "Plans", "Solution"),
    "vigor.planning.skills": ("Skill",),
    "vigor.planning.trajectories": ("Trajectory",),
    "vigor.runs.presets": ("preset",),
    "vigor.tasks": ("load_task",),
    "vigor.tasks.task": ("Arm", "Display", "Judge", "Region", "Source", "Task"),
}
"""Modules of the public names; each is imported when one of its names is first used, so that `import vigor` is fast."""
_MODULES = {"descriptors": "vigor.motion.descriptors", "kinematics": "vigor.motion.kinematics"}
"""Modules that are public themselves: parts for tasks of one's own."""

__all__ = [
    "Arm",
    "Box",
    "Demonstrations",
    "Display",
    "Judge",
    "Plan",
    "Plans",
    "Pointing",
    "ProMP",
    "Region",
    "Robot",
    "Run",
    "Skill",
    "Solution",
    "Source",
    "Sphere",
    "Task",
    "Trajectory",
    "UserError",
    "Via",
    "__version__",
    "descriptors",
    "kinematics",
    "load",
    "load_task",
    "preset",
    "resume",
    "robot",
    "train",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(_MODULES[name])
    for module, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(module), name)
    raise AttributeError(f"module 'vigor' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
