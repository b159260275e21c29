"""What happens in the studio, without a page: a context, a robot that is dragged, recordings, a run, plans.

All pages of a studio share one session. Every method can be called from any thread.
"""

import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from vigor.basics.errors import UserError
from vigor.demonstrations import dataset as demonstrations
from vigor.demonstrations import preprocessing as recordings
from vigor.demonstrations.dataset import Demonstrations
from vigor.evaluation import policies
from vigor.motion.promp import rollout
from vigor.planning import export
from vigor.planning import planner as plan
from vigor.planning.plans import Plan
from vigor.runs.run import POLICIES
from vigor.studio import incoming, problems, stage
from vigor.studio.learning import Learner, Progress
from vigor.studio.library import Library
from vigor.studio.planning import Answer, PlanningThread
from vigor.studio.recording import LONGEST, Recorder
from vigor.studio.stage import Picture
from vigor.tasks.task import Task

SMOOTH = 100
"""Steps of the traces that the scene shows."""
HOLD = 0.7
"""Seconds that the last picture of a played movement stays."""
ITERATIONS = (10, 1000)
"""Least and most that a run makes."""

HINT = "Press start, then drag the orange ball."


@dataclass(frozen=True, eq=False)
class Trace:
    """The path of an end effector."""

    points: np.ndarray
    """[SMOOTH, 3]"""
    component: int | None = None
    """Of the mixture; None for a demonstration."""
    weight: float = 1.0
    """Of the component."""


@dataclass(frozen=True)
class Drag:
    """Something that a page holds on to."""

    page: int
    grip: int | None
    """Number of the robot's point; None for a mark."""
    mark: int | None
    offset: tuple[float, float, float]
    """From the pointer to the middle of what is dragged."""


class Session:
    """The state that the pages show."""

    def __init__(self, task: Task, folder: Path, imported: Demonstrations | None = None) -> None:
        self.task, self.imported = task, imported
        self.lock = threading.RLock()
        self.stage = stage.load(task)
        self.library = Library(task, folder / "demonstrations")
        self.learner = Learner(task.name, folder / "runs")
        self.recorder = Recorder()
        self.notice = HINT
        self.changes = 0
        """Counts what happened to the library, the context, traces and plans."""
        self._rng = np.random.default_rng()
        self.context = self._draw() if self.library.current is None else self.library.current.contexts[0]
        self.answer: Answer | None = None
        self.learned: tuple[Trace, ...] = ()
        """Means of the mixture of this context, as the run has them now."""
        self.progress: Progress | None = None
        self._policies: policies.Learned | None = None
        self._drag: Drag | None = None
        self._aim: np.ndarray | None = None
        self._film: tuple[list[Picture], float] | None = None
        self._film_begun: float | None = None
        self._time: float | None = None
        self.picture = self.stage.picture()
        self._path = [self.picture.points[-1]]
        self._warm_up()
        self.planning = PlanningThread(self._planned)

    def close(self) -> None:
        self.planning.close()
        self.learner.close()

    def _warm_up(self) -> None:
        """Compile what the first recording needs."""
        still = np.tile(self.stage.pose, (2, 1))
        recordings.repair(self.task, recordings.fit(self.task, [still]), self.context[None])
        self.trace(np.zeros(self.task.promp.weights))

    # Time

    def tick(self, now: float) -> None:
        """Let time pass until now, in seconds."""
        with self.lock:
            passed = 0.0 if self._time is None else min(max(now - self._time, 0.0), 0.1)
            self._time = now
            if self._film is not None:
                self._play_on(now)
            else:
                active, drag = self.recorder.active, self._drag
                grip = -1 if drag is None or drag.grip is None else drag.grip
                pulled = self._aim if drag is not None and drag.grip is not None else None
                self.stage.advance(passed, grip, pulled, active)
                self.picture = self.stage.picture()
                self.recorder.add(now, self.stage.pose)
            if self._film is not None or self.recorder.active:
                self._path.append(self.picture.points[-1])
            else:
                self._path = [self.picture.points[-1]]
        if self.recorder.seconds >= LONGEST - 0.1:
            try:
                self.finish()
            except Exception as error:  # Whatever it is, time goes on.
                problems.print_unexpected(error)
                self.notice = problems.sentence(error)

    def _play_on(self, now: float) -> None:
        assert self._film is not None
        pictures, rate = self._film
        if self._film_begun is None:
            self._film_begun, self._path = now, []
        index = int((now - self._film_begun) * rate)
        self.picture = pictures[min(index, len(pictures) - 1)]
        if index > len(pictures) + HOLD * rate:
            self._end_film()

    def _end_film(self) -> None:
        self._film = self._film_begun = None
        self.picture = self.stage.picture()
        self._path = [self.picture.points[-1]]

    @property
    def playing(self) -> bool:
        return self._film is not None

    @property
    def reached(self) -> tuple[bool, ...]:
        """Which marks are reached."""
        with self.lock:
            return self.stage.reached(self.context, np.array(self._path), self.picture)

    @property
    def miss(self) -> float:
        """How far the movement so far is from solving the context."""
        with self.lock:
            return self.stage.miss(self.context, np.array(self._path), self.picture)

    # Dragging

    def drag(
        self,
        page: int,
        phase: str,
        places: tuple[Any, Any, Any],
        grip: int | None = None,
        mark: int | None = None,
    ) -> None:
        """A page drags a point of the robot or a mark of the context.

        places: the camera's [3], that of the object where it was grabbed [3], and the pointer's [3], at the same
        distance across the view; anything else is left out. What one page holds no other can take.
        """
        eye, start, end = map(incoming.place, places)
        with self.lock:
            if phase == "end" and self._holds(page, grip, mark):
                self._drag = self._aim = None
                self._ask()
            if phase == "end" or eye is None or start is None or end is None:
                return
            if phase == "start" and self._drag is None and (mark is None or not self.recorder.active):
                if self._film is not None:
                    self._end_film()
                middle = self.picture.points[grip] if grip is not None else self._mark(mark)
                self._drag = Drag(page, grip, mark, tuple(middle - start))
            if self._drag is None or not self._holds(page, grip, mark):
                return
            through, view = end + self._drag.offset, self.stage.view
            if mark is None:
                self._aim = np.clip(self.stage.aim(eye, through, self.context), view.low, view.high)
            else:
                aim = stage.on_plane(eye, through, self._mark(mark)[2]) if view.flat else through
                self._set_context(self.stage.dragged(self.context, mark, np.clip(aim, view.low, view.high)))

    def _holds(self, page: int, grip: int | None, mark: int | None) -> bool:
        drag = self._drag
        return drag is not None and (drag.page, drag.grip, drag.mark) == (page, grip, mark)

    def _mark(self, mark: int | None) -> np.ndarray:
        assert mark is not None
        return self.stage.marks(self.context)[mark].position

    # The context

    def new_context(self) -> None:
        """Draw one of the task's."""
        drawn = self._draw()
        with self.lock:
            self._refuse_while_recording()
            self._set_context(drawn)

    def _draw(self) -> np.ndarray:
        if self.task.source.shipped is not None:  # Drawing takes simulation; those that were drawn before do as well.
            known = demonstrations.load(self.task.source.shipped, self.task).contexts
            return known[self._rng.integers(len(known))]
        return self.task.sample_contexts(self._rng, 1)[0]

    def choose_context(self, number: int) -> None:
        """Go to one of the library's."""
        with self.lock:
            self._refuse_while_recording()
            shown = self.library.current
            if shown is not None and 0 <= number < len(shown.contexts):
                self._set_context(shown.contexts[number])

    def _set_context(self, context: np.ndarray) -> None:
        if np.array_equal(context, self.context):
            return
        self.context, self.answer = context, None
        self.notice = HINT
        self._look_at_policies()
        if self._drag is None:
            self._ask()
        self.changes += 1

    def _refuse_while_recording(self) -> None:
        if self.recorder.active:
            raise UserError("stop or discard the recording first")

    # Recording

    def start(self) -> None:
        with self.lock:
            if self._film is not None:
                self._end_film()
            self.stage.reset()
            self.picture = self.stage.picture()
            self._path = [self.picture.points[-1]]
            self.recorder.start()
            self.notice = "Recording: drag the robot, then stop."
            self.changes += 1

    def finish(self) -> None:
        """Stop, and save the recording if it solves the context."""
        with self.lock:
            if not self.recorder.active:
                return
            context, solved, miss = self.context, all(self.reached), self.miss
            self._drag = self._aim = None
            self.notice = "Not saved."
            try:
                recording = self.recorder.finish()
            finally:
                self.stage.reset()
                self.changes += 1
        if not solved:
            raise UserError(f"not saved: the movement ends {miss:.2g} short of solving the context")
        self.library.add(context, recording)
        with self.lock:
            self.notice = f"Saved: {self.library.count(context)} in this context."
            self.changes += 1

    def discard(self) -> None:
        with self.lock:
            self.recorder.discard()
            self._drag = self._aim = None
            self.stage.reset()
            self.notice = "Discarded."
            self.changes += 1

    def undo(self) -> None:
        """Take back the last demonstration that was saved or deleted."""
        with self.lock:
            self._refuse_while_recording()
            self.library.undo()
            self.notice = "Undone."
            self.changes += 1

    # Looking

    def trace(self, weights: np.ndarray, component: int | None = None, weight: float = 1.0) -> Trace:
        """The path of a movement primitive [D]."""
        return Trace(self.stage.lift(self.trajectory(weights)), component, weight)

    def trajectory(self, weights: np.ndarray, steps: int = SMOOTH) -> np.ndarray:
        return np.asarray(rollout(self.task.promp, np.asarray(weights, np.float32), steps))

    @property
    def numbers(self) -> list[int]:
        """Of this context's demonstrations in the library."""
        index, shown = self.library.find(self.context), self.library.current
        return [] if index is None or shown is None else shown.of(index).tolist()

    def demonstrations(self) -> tuple[Trace, ...]:
        """Traces of this context's demonstrations."""
        with self.lock:
            shown = self.library.current
            return () if shown is None else tuple(self.trace(shown.weights[i]) for i in self.numbers)

    def play_demonstration(self, place: int) -> None:
        """Play one of this context's demonstrations."""
        with self.lock:
            shown, numbers = self.library.current, self.numbers
            if shown is None or not 0 <= place < len(numbers):
                raise UserError("this context has no demonstration to play")
            weights = shown.weights[numbers[place]]
        self._play(weights)

    def delete_demonstration(self, place: int) -> None:
        with self.lock:
            self._refuse_while_recording()
            numbers = self.numbers
            if not 0 <= place < len(numbers):
                raise UserError("this context has no demonstration to delete")
            self.library.delete(numbers[place])
            self.notice = "Deleted; undo brings it back."
            self.changes += 1

    def _play(self, weights: np.ndarray) -> None:
        film = self.stage.frames(self.trajectory(weights, self.task.promp.steps))
        with self.lock:
            self._refuse_while_recording()
            self._drag = self._aim = None
            self._film, self._film_begun = film, None

    # Learning

    def learn(self, source: str, iterations: int) -> None:
        """Start a run on what was `recorded`, what was `imported`, or the task's `own` demonstrations."""
        shown = {"recorded": self.library.current, "imported": self.imported}.get(source)
        if shown is None and source != "own":
            raise UserError("record a demonstration first, or learn from the task's own")
        bounded = incoming.whole(iterations, *ITERATIONS)
        if bounded is None:
            raise UserError(f"iterations must be a number from {ITERATIONS[0]} to {ITERATIONS[1]}")
        with self.lock:
            # What is on the screen is learned for too, demonstrated or not, so that there is something to see.
            self.learner.start(shown, self.context[None], bounded)
            self.answer, self.learned, self._policies = None, (), None
            self.changes += 1

    def stop_learning(self) -> None:
        with self.lock:
            self.learner.stop()

    def resume_learning(self) -> None:
        with self.lock:
            self.learner.resume()

    def watch(self) -> None:
        """Look at what the run has written; a few times a second."""
        progress = self.learner.progress()
        if progress is None:
            return
        with self.lock:
            before, self.progress = self.progress, progress
            if before != progress:
                self.changes += 1
            if before is None or (before.iteration, before.folder) != (progress.iteration, progress.folder):
                path, self._policies = progress.folder / POLICIES, None
                try:
                    self._policies = policies.load(path) if path.exists() else None
                except UserError as error:
                    self.notice = str(error)
                self._look_at_policies()
            if self._drag is None and not self.planning.busy:
                self._ask()

    def _look_at_policies(self) -> None:
        self.learned, known = (), self._policies
        if not isinstance(known, policies.Policies) or not known.fits(self.task):
            return
        same = np.flatnonzero(np.all(np.abs(known.contexts - self.context) < 1e-6, axis=1))
        if len(same):
            means, weights = (
                np.asarray(part[same[0]]) for part in (known.mixtures.means, np.exp(known.mixtures.log_weights))
            )
            self.learned = tuple(
                self.trace(mean, i, float(weight)) for i, (mean, weight) in enumerate(zip(means, weights, strict=True))
            )

    # Planning

    def _ask(self) -> None:
        if self.answer is None and self.progress is not None and self.progress.finished:
            self.planning.ask(self.progress.folder, self.context)

    def _planned(self, answer: Answer) -> None:
        with self.lock:
            if np.array_equal(answer.context, self.context):
                self.answer = answer
                self.changes += 1

    @property
    def plan(self) -> Plan | None:
        """For this context."""
        return None if self.answer is None or self.answer.plans is None else self.answer.plans.plans[0]

    def planned(self) -> tuple[Trace, ...]:
        """Traces of the plan's solutions, in the order of their rank."""
        with self.lock:
            made = self.plan
            return (
                ()
                if made is None
                else tuple(self.trace(np.array(part.movement), part.component, part.weight) for part in made.solutions)
            )

    def play_plan(self, rank: int) -> None:
        with self.lock:
            made = self.plan
            if made is None or not 0 <= rank < len(made.solutions):
                raise UserError("there is no plan to play; learn first, then drag a target")
            weights = np.array(made.solutions[rank].movement)
        self._play(weights)

    def export_plan(self, rank: int) -> tuple[Path, bool]:
        """Write a solution as a table for a robot, and the plan that it is of.

        Returns the table's path, and whether the solution is predicted to solve its context within the limits.
        """
        with self.lock:
            answer = self.answer
        if answer is None or answer.plans is None or not 0 <= rank < len(answer.plans.plans[0].solutions):
            raise UserError("there is no plan to export; learn first, then drag a target")
        solution = answer.plans.plans[0].solutions[rank]
        moved = export.trajectory(self.task, solution, answer.plans.constraints)
        path = plan.save(answer.plans, Path(answer.plans.run))
        table = path.with_name(f"{path.stem}_1_{rank + 1}.csv")
        export.write(table, moved, "csv")
        return table, solution.holds
