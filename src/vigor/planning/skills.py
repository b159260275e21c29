"""Skills: everything that planning needs of a run in one file, without its demonstrations.

The file is in the format safetensors: arrays, and in its metadata a card, JSON that says what they are. It holds no
program. A scene is in the card whole; a task that is a program is named, and the user has to give its file.
"""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import jax
import numpy as np

from vigor.basics.errors import Notice, UserError
from vigor.basics.serialisation import to_json
from vigor.learning.algorithm import VigorSettings
from vigor.learning.invariants import Essential, Invariants
from vigor.learning.starts import Starts
from vigor.motion.robots import Robot
from vigor.planning.can_plan import CanPlan
from vigor.planning.choice import Model
from vigor.planning.planner import Planner
from vigor.tasks import TASKS, Task, load_task
from vigor.tasks.scenes import building as scenes

SUFFIX = ".vigor"
"""Ending of a skill's file."""


@dataclass(frozen=True)
class Provenance:
    """Origin of a skill."""

    source: str
    """Where its demonstrations come from, in words."""
    licence: str
    """Licence of these, as whoever packed it has said; empty if nothing was said."""
    contexts: int
    """Contexts that have demonstrations."""
    demonstrations: int
    seed: int
    fingerprint: str
    """Digest of the demonstrations and of the task's file."""
    iterations: int
    """Iterations of the run."""
    every: int
    """Distance from one that is kept to the next, the last one among them."""
    networks: int
    """Networks that are kept of each, by turns."""
    trained: str
    """Date of the run."""
    packed: str
    """Date of the skill."""
    version: str
    """Version of the program that packed it."""


@dataclass(frozen=True)
class Card:
    """Description of a skill: what it is, what it needs and where it is from."""

    task: str
    """Name of the task."""
    program: str
    """File and name of a task that is a program, for instance my_task.py:TASK; empty otherwise."""
    digest: str
    """SHA-256 of the program or of the scene; empty for a task that comes with the package."""
    scene: dict[str, Any] | None
    """The scene with its robot; None for a task that is none."""
    descriptors: str
    """Name of the set of descriptors."""
    context_names: tuple[str, ...]
    features: int
    """Descriptors per time step."""
    weights: int
    """Movement-primitive weights."""
    robot: Robot | None
    settings: VigorSettings
    figures: Mapping[str, Mapping[str, float]]
    """Success of training and test contexts, measured or predicted, when the run ended."""
    common: tuple[Essential, ...]
    """Essential quantities, that demonstrations agree in, see `invariants.in_words`."""
    provenance: Provenance


@dataclass(frozen=True, eq=False, repr=False)
class Skill(CanPlan):
    """A skill in its file: plans for contexts that it never saw. See `vigor.load`."""

    path: Path
    card: Card
    contexts: np.ndarray
    """[m, C]: contexts with demonstrations."""
    starts: Starts
    """Movements where mixtures begin: the demonstrations' own, as movement primitives."""
    common: Invariants
    """Invariants, what demonstrations have in common, and the calibration of predicted success."""
    ensembles: Any
    """[iteration, network, ...]"""
    given: Task | str | None = field(default=None)
    """The task itself, or where it is, if the skill has only its name."""

    @cached_property
    def task(self) -> Task:  # type: ignore[override]
        """The task, which is loaded when it is asked for."""
        return _task(self)

    def _load_planner(self, every: int) -> Planner:
        known = (self.task, self.card.settings, self.contexts, self.starts, self.common)
        return Planner(*known, jax.device_put(self.ensembles), self.path, every)

    def _model(self, number: int) -> Model:
        raise UserError(f"{self.path} is a skill, which has no demonstrations; plan with its run to name one")

    def __repr__(self) -> str:
        origin = self.card.provenance
        return f"Skill({self.card.task}, from {origin.demonstrations} demonstrations of {origin.contexts} contexts)"


# Its task


def _task(skill: Skill) -> Task:
    """The task of a skill; no program is run but the one that the user names."""
    path, card = skill.path, skill.card
    if skill.given is not None:
        task = _given(path, card, skill.given)
    elif card.scene is not None:
        task = _scene(path, card, card.scene)
    elif card.task in TASKS and not card.program:
        task = load_task(card.task)
    else:
        where = f"--task path/to/{card.program}" if card.program else "the task itself"
        raise UserError(f"{path} needs its task {card.task}, a program that is not in it; give {where}")
    task = task.with_descriptors(card.descriptors)
    found = (task.context_names, task.features, task.promp.weights)
    if found != (card.context_names, card.features, card.weights):
        raise UserError(f"{path} does not fit {task.name}: contexts, descriptors or movements differ")
    if to_json(task.arm.robot) != to_json(card.robot):
        said = f"the robot of {task.name} is not as it was when {path} was packed; that of the task is used"
        warnings.warn(said, Notice, stacklevel=2)
    return task


def _given(path: Path, card: Card, given: Task | str) -> Task:
    task = load_task(given)
    if task.name != card.task:
        raise UserError(f"{path} is a skill of {card.task}, not of {task.name}")
    if task.settle is not None:
        raise UserError(f"{path} has its scene in it, as demonstrations have decided it; leave out --task")
    if task.digest != card.digest:
        said = f"{task.origin or task.name} is not the task that {path} was packed with; it is used as you asked"
        warnings.warn(said, Notice, stacklevel=2)
    return task


def _scene(path: Path, card: Card, values: dict[str, Any]) -> Task:
    try:
        task = scenes.of_values(values, str(path.resolve()))
    except UserError as error:
        raise UserError(f"{path} is damaged: scene: {error}; pack it again") from None
    if task.digest != card.digest:
        raise UserError(f"{path} is damaged: its scene is not the one that it was packed with; pack it again")
    return task
