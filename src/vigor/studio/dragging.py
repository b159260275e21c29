"""The part of a session that follows pointers: what a page drags, and where to."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from vigor.studio import incoming, obstacles
from vigor.studio.shared import Drag, Held, Shared
from vigor.tasks.stage import on_plane


class Dragging:
    """Pointers of all pages; something that one page holds no other can take."""

    def __init__(self, shared: Shared) -> None:
        self._shared = shared

    def drag(self, page: int, phase: str, places: Sequence[Any], held: Held) -> np.ndarray:
        """Follow a page's pointer, and return the context [C] after it.

        phase: "start", "update" or "end". places: the camera's [3], that of the object where it was grabbed [3], and
        the pointer's [3], at the same distance across the view; anything else is left out.
        """
        shared = self._shared
        eye, start, end = map(incoming.place, places)
        if phase == "end" and self._holds(page, held):
            shared.let_go()
        if phase == "end" or eye is None or start is None or end is None:
            return shared.context
        if phase == "start":
            self._grab(page, held, start)
        drag = shared.drag
        if drag is None or not self._holds(page, held):
            return shared.context
        return self._follow(drag, eye, end + drag.offset)

    def _grab(self, page: int, held: Held, place: np.ndarray) -> None:
        """Let a page hold what nobody holds; while a movement is recorded the context stays."""
        robot = self._shared.robot
        if self._shared.drag is not None or not self._there(held):
            return
        if held.kind != "grip" and robot.recorder.active:
            what = "targets" if held.kind == "mark" else "obstacles"
            self._shared.tell(f"Save the recording or drop it first; then {what} can be dragged.")
            return
        robot.stop_playing()
        if held.kind == "grip":
            robot.grab(held.number)
            self._shared.tell("")
        self._shared.drag = Drag(page, held, tuple(self._middle(held) - place))

    def _there(self, held: Held) -> bool:
        """Whether there is such a thing: an obstacle may have been removed."""
        return held.kind in ("grip", "mark") or 0 <= held.number < len(self._shared.obstacles)

    def _follow(self, drag: Drag, eye: np.ndarray, through: np.ndarray) -> np.ndarray:
        """Take what is dragged to where the ray from an eye [3] through a place [3] leads; the context [C] after it."""
        stage, view, context = self._shared.stage, self._shared.stage.view, self._shared.context
        kind, number = drag.held
        if kind == "grip":
            self._shared.robot.pull(number, np.clip(stage.aim(eye, through, context), view.low, view.high))
            return context
        if not self._there(drag.held):
            return context
        aim = on_plane(eye, through, self._middle(drag.held)[2]) if view.flat else through
        aim = np.clip(aim, view.low, view.high)
        if kind == "mark":
            return stage.layout.dragged(context, number, aim)
        old = self._shared.obstacles[number]
        new = obstacles.moved(old, aim) if kind == "obstacle" else obstacles.sized(old, aim, view)
        self._shared.obstacles = obstacles.replaced(self._shared.obstacles, number, new)
        return context

    def _holds(self, page: int, held: Held) -> bool:
        drag = self._shared.drag
        return drag is not None and (drag.page, drag.held) == (page, held)

    def _middle(self, held: Held) -> np.ndarray:
        """Place [3] of something that can be dragged."""
        shared = self._shared
        if held.kind == "grip":
            return shared.robot.picture.points[held.number]
        if held.kind == "mark":
            return shared.stage.layout.marks(shared.context)[held.number].position
        shape = shared.obstacles[held.number]
        return np.array(shape.centre) if held.kind == "obstacle" else obstacles.knob(shape)
