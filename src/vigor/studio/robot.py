"""The robot of a session from moment to moment: it is dragged, recorded, or plays a movement."""

import numpy as np

from vigor.studio.film import Film
from vigor.studio.recorder import Recorder
from vigor.tasks.stage import Missing, Stage

LONGEST_STEP = 0.1
"""Most seconds that pass at a time, however long nobody looked."""


class Robot:
    """The robot on its stage. One thread at a time uses it: its session sees to that.

    To grab it starts a recording. Time is recorded only while somebody holds it, or while its gripper moves.
    """

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.recorder = Recorder()
        self.film: Film | None = None
        self._pull: tuple[int, np.ndarray] | None = None
        self._time: float | None = None
        self._recorded = 0.0
        self._look()

    def _look(self) -> None:
        """Begin anew where the robot stands on its stage."""
        self.picture = self.stage.picture()
        self.seen = [self.picture]
        """Pictures of the movement so far."""

    # Time

    def advance(self, now: float) -> None:
        """Let time pass until now, in seconds."""
        passed = 0.0 if self._time is None else min(max(now - self._time, 0.0), LONGEST_STEP)
        self._time = now
        if self.film is not None:
            self.film.advance(passed)
            self.seen = self.film.seen
            self.picture = self.seen[-1]
            return
        moves = self._pull is not None or self.stage.busy
        if not moves or self.recorder.full:
            return
        grip, aim = self._pull or (-1, None)
        self.stage.advance(passed, grip, aim, self.recorder.active)
        self.picture = self.stage.picture()
        if self.recorder.active:
            self._recorded += passed
            self.recorder.add(self._recorded, self.picture.pose)
            self.seen.append(self.picture)
        else:
            self.seen = [self.picture]

    def reached(self, context: np.ndarray) -> tuple[bool, ...]:
        """Whether each mark of a context [C] is reached by the movement so far."""
        return self.stage.layout.reached(context, self.seen)

    def missing(self, context: np.ndarray) -> Missing | None:
        """Something that the movement so far lacks to solve a context [C]; None if it solves it."""
        return self.stage.layout.missing(context, self.seen)

    # Dragging

    @property
    def held(self) -> bool:
        return self._pull is not None

    def grab(self, grip: int) -> None:
        """Take hold of one of the robot's points; a recording starts, or goes on."""
        self.stop_playing()
        count = len(self.picture.points)
        places = {number % count for number in self.stage.placing}
        if not self.recorder.active and grip % count not in places:
            self.record()

    def pull(self, grip: int, aim: np.ndarray) -> None:
        """Pull one of the robot's points towards an aim [3] from now on."""
        self._pull = grip, aim

    def let_go(self) -> None:
        self._pull = None

    # Recording

    def record(self) -> None:
        """Record from where a movement starts."""
        self.stop_playing()
        self.stage.reset()
        self._look()
        self._recorded = 0.0
        self.recorder.start()

    def discard(self) -> None:
        """Drop the recording; the robot goes back to where a movement starts."""
        self.recorder.discard()
        self.stage.reset()
        self._look()

    # Playing

    @property
    def playing(self) -> bool:
        return self.film is not None

    def play(self, film: Film) -> None:
        """Show a film instead of the stage."""
        self.film = film

    def stop_playing(self) -> None:
        if self.film is not None:
            self.film = None
            self._look()
