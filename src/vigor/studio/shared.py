"""State that the parts of a session share, and that the pages show."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from vigor.basics.errors import UserError
from vigor.motion.promp import ProMP, rollout
from vigor.motion.shapes import Box, Sphere
from vigor.studio.film import Film
from vigor.studio.robot import Robot
from vigor.tasks.stage import Body, Mark, Missing, Picture, Stage

SMOOTH = 300
"""Steps of the traces that the scene shows."""


@dataclass(frozen=True, eq=False)
class Trace:
    """The path of an end effector."""

    points: np.ndarray
    """[SMOOTH, 3]"""
    colour: int | None = None
    """Number of its colour; None for a demonstration."""
    kind: Literal["demonstration", "way", "sample"] = "demonstration"
    holds: bool = True
    """Whether it is predicted to solve its context without violating anything."""
    rank: int | None = None
    """Rank of the solution that it is of, from 0."""
    end: tuple[Body, ...] = ()
    """Bodies where it leaves them."""
    off: str = ""
    """Distance of the first of them from its goal, in words."""


class Held(NamedTuple):
    """Something that can be dragged."""

    kind: Literal["grip", "mark", "obstacle", "size"]
    """A point of the robot, a mark of the context, an obstacle, or the knob that sizes an obstacle."""
    number: int


@dataclass(frozen=True)
class Drag:
    """Something that a page holds on to."""

    page: int
    held: Held
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
        self.obstacles: tuple[Sphere | Box, ...] = ()
        """Shapes that no link may enter, in space; in the plane their sections with it count."""
        self.speed = 1.0
        """Speed at which movements are played."""
        self.demonstrations = self.ways = self.ghosts = True
        """Whether demonstrations, means or plans, and ghosts of them are drawn."""
        self.samples = False
        """Whether samples of the mixture are drawn too."""
        self.most = 6
        """Ways that are drawn at most, the best first."""
        self.notice = self.hint
        self.changes = 0
        """Number of changes so far to demonstrations, context, traces, progress or plans."""

    def tell(self, notice: str) -> None:
        """Say something on the page about what has just changed."""
        self.notice = notice
        self.changes += 1

    def draw(self, what: str, wanted: bool) -> None:
        """Draw `demonstrations`, `ways`, `samples` or `ghosts` from now on, or no more."""
        with self.lock:
            setattr(self, what, wanted)
            self.changes += 1

    def go_to(self, context: np.ndarray) -> None:
        """Go to a context; what was played was for another one."""
        self.robot.stop_playing()
        self.context = context

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
    def missing(self) -> Missing | None:
        """Something that the movement so far lacks to solve the context; None if it solves it."""
        with self.lock:
            return self.robot.missing(self.context)

    @property
    def numbered(self) -> bool:
        """Whether marks are called by their numbers: where the instruction does."""
        return "target 1" in self.stage.layout.instruction

    @property
    def names(self) -> list[str]:
        """Names of the marks."""
        marks = self.stage.layout.marks(self.context)
        return [f"target {i}" if self.numbered else mark.label for i, mark in enumerate(marks, start=1)]

    @property
    def movable(self) -> str:
        """Something that can be dragged to change the context, in words."""
        marks = self.stage.layout.marks(self.context)
        named = next((mark.label for mark in marks if mark.moves), "")
        return f"the {named}" if named and not self.numbered else "a target"

    @property
    def labels(self) -> dict[str, str]:
        """Names of the marks, by the first words of their labels, with which features name them."""
        first = [mark.label.partition(" ")[0] for mark in self.stage.layout.marks(self.context)]
        return dict(zip(first, self.names, strict=True))

    @property
    def hint(self) -> str:
        """Why nothing can be done in the context; empty if something can."""
        marks = self.stage.layout.marks(self.context)
        far = out_of_reach(self.stage.picture().points, marks)
        if far is None:
            return ""
        name = self.names[far - 1]
        return f"{name[0].upper()}{name[1:]} is out of the arm's reach; drag it nearer."

    def refuse_while_recording(self) -> None:
        if self.robot.recorder.active:
            raise UserError("save the recording or drop it first")

    def trace(self, promp: ProMP, weights: np.ndarray, **others: Any) -> Trace:
        """The path of a movement primitive with weights [D]; others: further fields of the trace."""
        return Trace(self.stage.lift(movement(promp, weights, SMOOTH)), **others)

    def play(
        self, promp: ProMP, weights: np.ndarray, seconds: float, others: Sequence[tuple[Trace, np.ndarray]] = ()
    ) -> None:
        """Let the robot play a movement primitive with weights [D] in so many seconds.

        others: ways with their weights, as its ghosts.
        """
        pictures, rate = self.frames(promp, weights)
        if not self.robot.picture.bodies:  # What is simulated takes its own time.
            rate = (len(pictures) - 1) / seconds
        ghosts = [(way, self.frames(promp, own)[0]) for way, own in others]
        with self.lock:
            self.refuse_while_recording()
            self.let_go()
            self.robot.play(Film(pictures, rate, self.speed, ghosts))

    def frames(self, promp: ProMP, weights: np.ndarray) -> tuple[list[Picture], float]:
        """Pictures of a movement primitive with weights [D], and how many of them make a second."""
        simulated = bool(self.robot.picture.bodies)  # It depends on its steps then; else more of them are smoother.
        return self.stage.frames(movement(promp, weights, promp.steps if simulated else SMOOTH))


def movement(promp: ProMP, weights: np.ndarray, steps: int) -> np.ndarray:
    """Movement [steps, dimensions] of a movement primitive with weights [D]."""
    return np.asarray(rollout(promp, np.asarray(weights, np.float32), steps))


def out_of_reach(points: np.ndarray, marks: Sequence[Mark]) -> int | None:
    """Number, from 1, of the first target that is farther away than an arm with joints at points [n, 3] is long."""
    if len(points) < 2:  # A point goes anywhere.
        return None
    length = np.linalg.norm(np.diff(points, axis=0), axis=1).sum()
    away = [np.linalg.norm(mark.position - points[0]) - mark.radius if mark.radius else 0.0 for mark in marks]
    return next((number for number, far in enumerate(away, start=1) if far > length), None)
