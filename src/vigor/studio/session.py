"""A session of the studio, without a page: a context, a robot that is dragged, recordings, a run, plans.

All pages of a studio share one session. Every method of it and of its parts can be called from any thread.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from vigor.demonstrations import dataset, preprocessing
from vigor.demonstrations.dataset import Demonstrations
from vigor.studio import incoming
from vigor.studio.dragging import Dragging
from vigor.studio.learning import Learning
from vigor.studio.library import Library
from vigor.studio.planning import Planning
from vigor.studio.recorder import LONGEST
from vigor.studio.recording import Recording
from vigor.studio.shared import Held, Shared
from vigor.studio.trainer import Trainer
from vigor.tasks.stage import Stage

CANDIDATES = 32
"""Contexts that are drawn to find one that is far from all that was shown."""


class Session:
    """All that happens in a studio: its parts, and what concerns several of them."""

    def __init__(self, stage: Stage, folder: Path, imported: Demonstrations | None = None) -> None:
        task = stage.task
        library, trainer = Library(task, folder / "demonstrations"), Trainer(task, folder / "runs")
        self._rng = np.random.default_rng()
        first = draw_context(stage, self._rng) if library.current is None else library.current.contexts[0]
        self.shared = Shared(stage, first)
        self.recording = Recording(self.shared, library, imported)
        self.learning = Learning(self.shared, trainer, self.recording)
        self._dragging = Dragging(self.shared)
        self.turning: int | str | None = None
        """Number of the mark that is being turned, or "tool"."""
        self._warm_up()
        self.planning = Planning(self.shared)

    def close(self) -> None:
        self.planning.close()
        self.learning.trainer.close()

    def _warm_up(self) -> None:
        """Compile what the first recording needs."""
        task, still = self.shared.task, np.tile(self.shared.robot.picture.pose, (2, 1))
        preprocessing.repair(task, preprocessing.fit(task, [still]), self.shared.context[None])
        self.shared.trace(task.promp, np.zeros(task.promp.weights))
        self.shared.robot.missing(self.shared.context)

    def tick(self, now: float) -> None:
        """Let time pass until now, in seconds."""
        robot = self.shared.robot
        with self.shared.lock:
            robot.advance(now)
            if robot.recorder.full and robot.held:
                self.shared.let_go()
                self.shared.tell(f"A movement takes {LONGEST:.0f} s at most: save this one or drop it.")

    def watch(self) -> None:
        """Look at what the run has written, and plan with it once it has ended; a few times a second."""
        self.learning.watch()
        with self.shared.lock:
            self._ask()

    def _ask(self) -> None:
        """Ask for a plan, if a run has finished or was stopped."""
        progress = self.learning.progress
        if progress is not None and progress.can_plan:
            self.planning.ask(progress.folder, progress.iteration, self.moving)

    @property
    def moving(self) -> bool:
        """Whether the context or an obstacle is on its way."""
        drag = self.shared.drag
        return isinstance(self.turning, int) or (drag is not None and drag.held.kind != "grip")

    def learn(self, source: str, iterations: int) -> None:
        """Start a run, see `Learning.start`; the plans of the last one go."""
        with self.shared.lock:
            self.learning.start(source, iterations)
            self.planning.forget()
            self.shared.tell(self.shared.hint)

    def resume(self) -> None:
        """Let a run that was stopped go on; its plans go."""
        with self.shared.lock:
            self.learning.resume()
            self.planning.forget()

    # Playing

    def toggle(self) -> None:
        """Pause what is played, or go on."""
        with self.shared.lock:
            if self.shared.robot.film is not None:
                self.shared.robot.film.toggle()

    def go_to(self, seconds: float) -> None:
        """Stand still at a moment of what is played."""
        with self.shared.lock:
            if self.shared.robot.film is not None and np.isfinite(seconds):
                self.shared.robot.film.go_to(seconds)

    def play_at(self, speed: float) -> None:
        """Play at so many times the real speed."""
        with self.shared.lock:
            self.shared.speed = speed
            if self.shared.robot.film is not None:
                self.shared.robot.film.speed = speed

    def stop_playing(self) -> None:
        with self.shared.lock:
            self.shared.robot.stop_playing()

    # The context

    def drag(self, page: int, phase: str, places: Sequence[Any], held: Held) -> None:
        """A page drags something, see `Dragging.drag`."""
        with self.shared.lock:
            before = self.shared.obstacles
            self._go_to(self._dragging.drag(page, phase, places, held))
            if self.shared.obstacles is not before:
                self.shared.changes += 1

    def turn(self, quaternion: Any, mark: int | None) -> None:
        """Turn a mark of the context, or the tool, to an orientation (w, x, y, z); anything else is left out."""
        checked = incoming.vector(quaternion, (-2.0,) * 4, (2.0,) * 4)
        if checked is None or not np.linalg.norm(checked) > 0.1:
            return
        rotation, shared = Rotation.from_quat(checked[[1, 2, 3, 0]]).as_matrix(), self.shared
        with shared.lock:
            if mark is None:
                self._turn_tool(rotation)
            elif shared.robot.recorder.active:
                shared.tell("Save the recording or drop it first; then objects can be turned.")
            else:
                self.turning = mark
                self._go_to(shared.stage.layout.turned(shared.context, mark, rotation))

    def _turn_tool(self, rotation: np.ndarray) -> None:
        """Turn the tool where it is; a recording starts, or goes on."""
        robot, grip = self.shared.robot, self.shared.stage.grips[-1]
        if self.shared.drag is None and self.turning != "tool":
            robot.grab(grip)
            robot.pull(grip, robot.picture.points[grip])
        self.turning = "tool"
        self.shared.stage.turn(rotation)

    def stop_turning(self) -> None:
        """Let go of what is turned."""
        with self.shared.lock:
            if self.turning == "tool" and self.shared.drag is None:
                self.shared.robot.let_go()
            self.turning = None
            self._ask()

    def grasp(self, opening: float) -> None:
        """Open or close the gripper, from 0 to 1; a recording starts, or goes on."""
        with self.shared.lock:
            if 0 <= opening <= 1:
                self.shared.robot.grab(self.shared.stage.grips[-1])
                self.shared.stage.grasp(opening)

    def new_context(self) -> None:
        """Go to a context drawn from the task's distribution."""
        drawn = draw_context(self.shared.stage, self._rng)
        with self.shared.lock:
            self.shared.refuse_while_recording()
            self._go_to(drawn)

    def suggest(self) -> None:
        """Go to a context in which showing something would help most.

        By a run's predictions, if there is one; else to the one of many drawn that is farthest from all shown.
        """
        progress, known = self.learning.progress, self.recording.library.current
        with self.shared.lock:
            self.shared.refuse_while_recording()
            if progress is not None and progress.can_plan:
                self.planning.suggest(progress.folder, progress.iteration)
                return
        drawn = np.array([draw_context(self.shared.stage, self._rng) for _ in range(CANDIDATES)])
        away = np.zeros(CANDIDATES)
        if known is not None:
            unit = np.maximum(drawn.std(axis=0), 1e-12)
            away = np.linalg.norm((drawn[:, None] - known.contexts) / unit, axis=-1).min(axis=1)
        with self.shared.lock:
            self._go_to(drawn[int(np.argmax(away))])
            self.shared.tell("Show something here: it is far from all that was shown.")

    def choose_context(self, number: int) -> None:
        """Go to one of the library's contexts."""
        with self.shared.lock:
            self.shared.refuse_while_recording()
            recorded = self.recording.library.current
            if recorded is not None and 0 <= number < len(recorded.contexts):
                self._go_to(recorded.contexts[number])

    def _go_to(self, context: np.ndarray) -> None:
        if not np.array_equal(context, self.shared.context):
            self.shared.go_to(context)
            self.shared.tell(self.shared.hint)
        self._ask()


def draw_context(stage: Stage, rng: np.random.Generator) -> np.ndarray:
    """A context [C] to show something in."""
    task = stage.task
    if task.source.shipped is not None:  # Drawing takes simulation; those that were drawn before do as well.
        known = dataset.load(task.source.shipped, task).contexts
        return known[rng.integers(len(known))]
    return stage.layout.draw(rng)
