"""A session of the studio, without a page: a context, a robot that is dragged, recordings, a run, plans.

All pages of a studio share one session. Every method of it and of its parts can be called from any thread.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from vigor.demonstrations import dataset, preprocessing
from vigor.demonstrations.dataset import Demonstrations
from vigor.studio import messages
from vigor.studio.dragging import Dragging
from vigor.studio.learning import Learning
from vigor.studio.library import Library
from vigor.studio.planning import Planning
from vigor.studio.recording import Recording
from vigor.studio.shared import Shared
from vigor.studio.trainer import Trainer
from vigor.tasks.stage import Stage
from vigor.tasks.task import Task


class Session:
    """All that happens in a studio: its parts, and what concerns several of them."""

    def __init__(self, stage: Stage, folder: Path, imported: Demonstrations | None = None) -> None:
        task = stage.task
        library, trainer = Library(task, folder / "demonstrations"), Trainer(task, folder / "runs")
        self._rng = np.random.default_rng()
        first = draw_context(task, self._rng) if library.current is None else library.current.contexts[0]
        self.shared = Shared(stage, first)
        self.recording = Recording(self.shared, library)
        self.learning = Learning(self.shared, trainer, library, imported)
        self._dragging = Dragging(self.shared)
        self._warm_up()
        self.planning = Planning(self.shared)

    def close(self) -> None:
        self.planning.close()
        self.learning.trainer.close()

    def _warm_up(self) -> None:
        """Compile what the first recording needs."""
        task, still = self.shared.task, np.tile(self.shared.stage.pose, (2, 1))
        preprocessing.repair(task, preprocessing.fit(task, [still]), self.shared.context[None])
        self.shared.trace(np.zeros(task.promp.weights))

    def tick(self, now: float) -> None:
        """Let time pass until now, in seconds."""
        robot = self.shared.robot
        with self.shared.lock:
            robot.advance(now)
        if robot.recorder.full:
            try:
                self.recording.finish()
            except Exception as error:  # Whatever it is, time goes on.
                messages.print_unexpected(error)
                self.shared.notice = messages.sentence(error)

    def watch(self) -> None:
        """Look at what the run has written, and plan with it once it has ended; a few times a second."""
        self.learning.watch()
        with self.shared.lock:
            self._ask()

    def _ask(self) -> None:
        """Ask for a plan, if a run has finished or was stopped and nothing is being dragged."""
        progress = self.learning.progress
        if self.shared.drag is None and progress is not None and progress.can_plan:
            self.planning.ask(progress.folder, progress.iteration)

    def learn(self, source: str, iterations: int) -> None:
        """Start a run, see `Learning.start`; the plans of the last one go."""
        with self.shared.lock:
            self.learning.start(source, iterations)
            self.planning.forget()

    def resume(self) -> None:
        """Let a run that was stopped go on; its plans go."""
        with self.shared.lock:
            self.learning.resume()
            self.planning.forget()

    # The context

    def drag(
        self, page: int, phase: str, places: Sequence[Any], grip: int | None = None, mark: int | None = None
    ) -> None:
        """A page drags a point of the robot or a mark of the context, see `Dragging.drag`."""
        with self.shared.lock:
            self._go_to(self._dragging.drag(page, phase, places, grip, mark))

    def new_context(self) -> None:
        """Go to a context drawn from the task's distribution."""
        drawn = draw_context(self.shared.task, self._rng)
        with self.shared.lock:
            self.shared.refuse_while_recording()
            self._go_to(drawn)

    def choose_context(self, number: int) -> None:
        """Go to one of the library's contexts."""
        with self.shared.lock:
            self.shared.refuse_while_recording()
            recorded = self.recording.library.current
            if recorded is not None and 0 <= number < len(recorded.contexts):
                self._go_to(recorded.contexts[number])

    def _go_to(self, context: np.ndarray) -> None:
        if not np.array_equal(context, self.shared.context):
            self.shared.context = context
            self.shared.tell(self.shared.hint)
        self._ask()


def draw_context(task: Task, rng: np.random.Generator) -> np.ndarray:
    """A context [C] from the task's distribution."""
    if task.source.shipped is not None:  # Drawing takes simulation; those that were drawn before do as well.
        known = dataset.load(task.source.shipped, task).contexts
        return known[rng.integers(len(known))]
    return task.sample_contexts(rng, 1)[0]
