"""Rings in the scene that turn objects and the tool."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from viser.transforms import SO3

from vigor.studio.session import Session
from vigor.tasks.stage import Mark, Picture


def wxyz(rotation: np.ndarray) -> np.ndarray:
    """Quaternion [4] of a rotation [3, 3]."""
    return SO3.from_matrix(rotation).wxyz


class Rings:
    """One ring around an object with a heading, three around one with a pose, and around the tool if it turns."""

    def __init__(self, scene: Any, session: Session, picture: Picture, marks: Sequence[Mark]) -> None:
        self._scene, self._session = scene, session
        self._marks = {i: self._ring(f"{i}", mark.radius, mark.turns, i) for i, mark in enumerate(marks) if mark.turns}
        stage = session.shared.stage
        self._tool = self._ring("tool", 1.5 * stage.view.ball, "pose", None) if stage.turns else None
        self.draw(picture, marks)

    def _ring(self, name: str, radius: float, turns: str, mark: int | None) -> Any:
        ring = self._scene.add_transform_controls(
            f"/rings/{name}", 3 * radius, disable_axes=True, disable_sliders=True, depth_test=False,
            active_axes=(True, True, turns == "pose"),
        )  # fmt: skip

        async def turn(event: Any) -> None:
            self._session.turn(event.target.wxyz, mark)

        async def stop(event: Any) -> None:
            self._session.stop_turning()

        ring.on_update(turn)
        ring.on_drag_end(stop)
        return ring

    def draw(self, picture: Picture, marks: Sequence[Mark]) -> None:
        """Put the rings where what they turn is now; one that is being turned keeps its orientation."""
        turning = self._session.turning
        for number, ring in self._marks.items():
            ring.position = marks[number].position
            if turning != number:
                ring.wxyz = wxyz(marks[number].rotation)
        if self._tool is not None and picture.tool is not None:
            self._tool.position = picture.points[-1]
            if turning != "tool":
                self._tool.wxyz = wxyz(picture.tool)
