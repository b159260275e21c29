"""The tab in which demonstrations are given, looked at and deleted."""

from typing import Any

import numpy as np

from vigor.studio import thumbnails
from vigor.studio.clicks import Clicks
from vigor.studio.session import Session
from vigor.studio.widgets import PALE, careful, show


class ShowTab:
    """Contexts and demonstrations as small pictures, the gripper, and what can be undone."""

    def __init__(self, gui: Any, session: Session, clicks: Clicks) -> None:
        self._session, self._shared, self._clicks = session, session.shared, clicks
        recording = session.recording
        there = session.shared.stage.gripper is not None
        self._gripper = gui.add_slider("Gripper", 0, 1, step=1, initial_value=0, visible=there)
        self._new = gui.add_button_group("Context", ("New", "Suggest"), hint="Or drag the targets")
        self._undo = gui.add_button("Undo", color=PALE, hint="Take back the last demonstration saved or deleted")
        self._redo = gui.add_button("Redo", color=PALE, visible=False)
        self._list = gui.add_html("")
        self._paths: dict[bytes, np.ndarray] = {}
        """Paths of demonstrations that were drawn before, by their weights."""
        self._gripper.on_update(careful(lambda client: session.grasp(self._gripper.value)))
        self._new.on_click(careful(lambda client: self._go()))
        self._undo.on_click(careful(lambda client: recording.undo()))
        self._redo.on_click(careful(lambda client: recording.redo()))

    def _go(self) -> None:
        if self._new.value == "Suggest":
            self._session.suggest()
        else:
            self._session.new_context()

    def draw(self) -> None:
        """Show what changes all the time."""
        gripper = self._shared.stage.gripper
        if gripper is not None:
            show(self._gripper, value=round(gripper))

    def refresh(self) -> None:
        """Show what changes now and then."""
        recording, library = self._session.recording, self._session.recording.library
        busy = self._shared.robot.recorder.active
        for button, name, change in ((self._undo, "Undo", library.last), (self._redo, "Redo", library.undone)):
            show(button, disabled=busy or change is None, label=name + recording.words(change))
        show(self._redo, visible=library.undone is not None)
        show(self._list, content=self._clicks.around(self._rows()))

    def _rows(self) -> str:
        """Contexts, then demonstrations of the one on the screen."""
        known, view = self._session.recording.library.current, self._shared.stage.view
        if known is None:
            return ""
        layout, here = self._shared.stage.layout, self._session.recording.library.find(self._shared.context)
        contexts = [
            thumbnails.button(
                thumbnails.picture(view, layout.marks(context), [self._path(i) for i in known.of(number)]),
                f"{number + 1}: {len(known.of(number))}", f"go {number}", current=number == here,
            )
            for number, context in enumerate(known.contexts)
        ]  # fmt: skip
        own = [] if here is None else [
            thumbnails.button(
                thumbnails.picture(view, layout.marks(known.contexts[here]), [self._path(i)]),
                f"{rank + 1}", f"replay {rank}", f"delete {rank}",
            )
            for rank, i in enumerate(known.of(here))
        ]  # fmt: skip
        rows = thumbnails.row("Contexts, and how often shown: click to go there", contexts)
        return rows + thumbnails.row("Shown here: click to play", own)

    def _path(self, number: int) -> np.ndarray:
        """Path [T, 3] of a demonstration."""
        library = self._session.recording.library
        assert library.current is not None
        weights = library.current.weights[number]
        key = weights.tobytes()
        if key not in self._paths:
            self._paths[key] = self._shared.trace(library.settled.promp, weights).points
        return self._paths[key]
