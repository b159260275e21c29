"""The robot of a session from moment to moment: it is dragged, recorded, or plays a movement."""

import numpy as np

from vigor.studio.recorder import Recorder
from vigor.tasks.stage import Picture, Stage

HOLD = 0.7
"""Seconds that the last picture of a played movement stays."""
LONGEST_STEP = 0.1
"""Most seconds that pass at a time, however long nobody looked."""


class Robot:
    """The robot on its stage. One thread at a time uses it: its session sees to that."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.recorder = Recorder()
        self._pull: tuple[int, np.ndarray] | None = None
        self._film: tuple[list[Picture], float] | None = None
        self._film_begun: float | None = None
        self._time: float | None = None
        self._look()

    def _look(self) -> None:
        """Begin a new path where the robot stands on its stage."""
        self.picture = self.stage.picture()
        self._path = [self.picture.points[-1]]

    # Time

    def advance(self, now: float) -> None:
        """Let time pass until now, in seconds."""
        passed = 0.0 if self._time is None else min(max(now - self._time, 0.0), LONGEST_STEP)
        self._time = now
        if self._film is not None:
            self._play_on(now)
        else:
            grip, aim = self._pull or (-1, None)
            self.stage.advance(passed, grip, aim, self.recorder.active)
            self.picture = self.stage.picture()
            self.recorder.add(now, self.stage.pose)
        if self._film is None and not self.recorder.active:
            self._path.clear()
        self._path.append(self.picture.points[-1])

    def reached(self, context: np.ndarray) -> tuple[bool, ...]:
        """Whether each mark of a context [C] is reached by the movement so far."""
        return self.stage.reached(context, np.array(self._path), self.picture)

    def missing(self, context: np.ndarray) -> str:
        """Words for what the movement so far lacks to solve a context [C], see `Stage.missing`."""
        return self.stage.missing(context, np.array(self._path), self.picture)

    # Dragging

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
        self.recorder.start()

    def finish(self) -> np.ndarray:
        """The recording [T, dimensions]; the robot goes back to where a movement starts."""
        try:
            return self.recorder.finish()
        finally:
            self.stage.reset()

    def discard(self) -> None:
        self.recorder.discard()
        self.stage.reset()

    # Playing

    @property
    def playing(self) -> bool:
        return self._film is not None

    def play(self, pictures: list[Picture], rate: float) -> None:
        """Show pictures, so many a second, instead of the stage."""
        self._film, self._film_begun = (pictures, rate), None

    def _play_on(self, now: float) -> None:
        assert self._film is not None
        pictures, rate = self._film
        if self._film_begun is None:
            self._film_begun, self._path = now, []
        number = int((now - self._film_begun) * rate)
        self.picture = pictures[min(number, len(pictures) - 1)]
        if number > len(pictures) + HOLD * rate:
            self.stop_playing()

    def stop_playing(self) -> None:
        if self._film is not None:
            self._film = self._film_begun = None
            self._look()
