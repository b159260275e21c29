"""State that the parts of a session share, and that the pages show."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vigor.basics.errors import UserError
from vigor.motion.promp import rollout
from vigor.studio.robot import Robot
from vigor.tasks.stage import Mark, Stage

SMOOTH = 300
"""Steps of the traces that the scene shows."""


@dataclass(frozen=True, eq=False)
class Trace:
    """The path of an end effector."""

    points: np.ndarray
    """[SMOOTH, 3]"""
    colour: int | None = None
    """Number of its colour; None for a demonstration."""
    weight: float = 1.0
    """Weight of the component that it is of."""


@dataclass(frozen=True)
class Drag:
    """Something that a page holds on to: a point of the robot or a mark of the context."""

    page: int
    grip: int | None
    """Number of the robot's point; None for a mark."""
    mark: int | None
    """Number of the mark; None for a point."""
    offset: tuple[float, float, float]
    """Distance from the pointer to the middle of what is dragged."""


class Shared:
    """The context, the robot, what is dragged and a notice. Whoever changes or reads several of them holds the lock."""

    def __init__(self, stage: Stage, context: np.ndarray) -> None:
        self.task, self.stage = stage.task, stage
        self.lock = threading.RLock()
        self.robot = Robot(stage)
        self.context = context
        self.drag: Drag | None = None
        self.notice = self.hint
        self.changes = 0
        """Number of changes so far to demonstrations, context, traces, progress or plans."""

    def tell(self, notice: str) -> None:
        """Say something on the page about what has just changed."""
        self.notice = notice
        self.changes += 1

    def let_go(self) -> None:
        """End what is dragged."""
        self.drag = None
        self.robot.let_go()

    @property
    def reached(self) -> tuple[bool, ...]:
        """Whether each mark is reached."""
        with self.lock:
            return self.robot.reached(self.context)

    @property
    def missing(self) -> str:
        """Words for what the movement so far lacks to solve the context, see `Stage.missing`."""
        with self.lock:
            return self.robot.missing(self.context)

    @property
    def hint(self) -> str:
        """Why nothing can be done in the context; empty if something can."""
        far = out_of_reach(self.stage.picture().points, self.stage.marks(self.context))
        return f"Target {far} is out of the arm's reach; drag it nearer." if far else ""

    def refuse_while_recording(self) -> None:
        if self.robot.recorder.active:
            raise UserError("stop or discard the recording first")

    def trajectory(self, weights: np.ndarray, steps: int = SMOOTH) -> np.ndarray:
        """Movement [steps, dimensions] of a movement primitive [D]."""
        return np.asarray(rollout(self.task.promp, np.asarray(weights, np.float32), steps))

    def trace(self, weights: np.ndarray, colour: int | None = None, weight: float = 1.0) -> Trace:
        """The path of a movement primitive [D]."""
        return Trace(self.stage.lift(self.trajectory(weights)), colour, weight)

    def play(self, weights: np.ndarray) -> None:
        """Let the robot play a movement primitive [D]."""
        pictures, rate = self.stage.frames(self.trajectory(weights, self.task.promp.steps))
        with self.lock:
            self.refuse_while_recording()
            self.let_go()
            self.robot.play(pictures, rate)


def out_of_reach(points: np.ndarray, marks: Sequence[Mark]) -> int | None:
    """Number, from 1, of the first target that is farther away than an arm with joints at points [n, 3] is long."""
    length = np.linalg.norm(np.diff(points, axis=0), axis=1).sum()
    away = [np.linalg.norm(mark.position - points[0]) - mark.radius if mark.radius else 0.0 for mark in marks]
    return next((number for number, far in enumerate(away, start=1) if far > length), None)
