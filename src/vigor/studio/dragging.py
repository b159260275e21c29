"""The part of a session that follows pointers: what a page drags, and where to."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from vigor.studio import incoming
from vigor.studio.shared import Drag, Shared
from vigor.tasks.stage import on_plane


class Dragging:
    """Pointers of all pages; something that one page holds no other can take."""

    def __init__(self, shared: Shared) -> None:
        self._shared = shared

    def drag(self, page: int, phase: str, places: Sequence[Any], grip: int | None, mark: int | None) -> np.ndarray:
        """Follow a page's pointer, and return the context [C] after it.

        phase: "start", "update" or "end". places: the camera's [3], that of the object where it was grabbed [3], and
        the pointer's [3], at the same distance across the view; anything else is left out.
        """
        shared = self._shared
        eye, start, end = map(incoming.place, places)
        if phase == "end" and self._holds(page, grip, mark):
            shared.let_go()
        if phase == "end" or eye is None or start is None or end is None:
            return shared.context
        if phase == "start":
            self._grab(page, grip, mark, start)
        drag = shared.drag
        if drag is None or not self._holds(page, grip, mark):
            return shared.context
        return self._follow(drag, eye, end + drag.offset)

    def _grab(self, page: int, grip: int | None, mark: int | None, place: np.ndarray) -> None:
        """Let a page hold what nobody holds; while a movement is recorded the context stays."""
        robot = self._shared.robot
        if self._shared.drag is not None or (mark is not None and robot.recorder.active):
            return
        robot.stop_playing()
        middle = robot.picture.points[grip] if mark is None else self._mark(mark)
        self._shared.drag = Drag(page, grip, mark, tuple(middle - place))

    def _follow(self, drag: Drag, eye: np.ndarray, through: np.ndarray) -> np.ndarray:
        """Take what is dragged to where the ray from an eye [3] through a place [3] leads; the context [C] after it."""
        stage, view, context = self._shared.stage, self._shared.stage.view, self._shared.context
        if drag.mark is None:
            assert drag.grip is not None
            self._shared.robot.pull(drag.grip, np.clip(stage.aim(eye, through, context), view.low, view.high))
            return context
        aim = on_plane(eye, through, self._mark(drag.mark)[2]) if view.flat else through
        return stage.dragged(context, drag.mark, np.clip(aim, view.low, view.high))

    def _holds(self, page: int, grip: int | None, mark: int | None) -> bool:
        drag = self._shared.drag
        return drag is not None and (drag.page, drag.grip, drag.mark) == (page, grip, mark)

    def _mark(self, mark: int) -> np.ndarray:
        return self._shared.stage.marks(self._shared.context)[mark].position
