"""The tab in which demonstrations are given, looked at and deleted."""

from typing import Any

import numpy as np

from vigor.motion.promp import ProMP
from vigor.studio import thumbnails
from vigor.studio.cards import GREEN, RED
from vigor.studio.clicks import Clicks
from vigor.studio.session import Session
from vigor.studio.thumbnails import Drawing, Frame
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
        """Contexts, then demonstrations of the one on the screen, then those from elsewhere."""
        return self._recorded() + self._imported()

    def _recorded(self) -> str:
        library = self._session.recording.library
        known, here = library.current, library.find(self._shared.context)
        if known is None:
            return ""
        promp = library.settled.promp
        drawings = [
            self._drawing(context, promp, known.weights[known.of(number)])
            for number, context in enumerate(known.contexts)
        ]
        frame = Frame.around(self._shared.stage.view, drawings)
        contexts = [
            thumbnails.button(
                thumbnails.picture(frame, drawing), f"{number + 1}: {len(drawing.paths)}", f"go {number}",
                current=number == here,
            )
            for number, drawing in enumerate(drawings)
        ]  # fmt: skip
        own = [] if here is None else [
            thumbnails.button(
                thumbnails.picture(frame, Drawing(drawings[here].marks, [path])), f"{rank + 1}", f"replay {rank}",
                thumbnails.corner("&#10005;", RED, f"delete {rank}", "delete"),
            )
            for rank, path in enumerate(drawings[here].paths)
        ]  # fmt: skip
        rows = thumbnails.row("Contexts, and how often shown: click to go there", contexts)
        return rows + thumbnails.row("Shown here: click to play, &#10005; deletes", own)

    def _imported(self) -> str:
        recording = self._session.recording
        given = recording.imported
        if given is None:
            return ""
        drawings = [
            self._drawing(given.contexts[number], recording.imported_task.promp, weights[None])
            for number, weights in zip(given.context_of, given.weights, strict=True)
        ]
        frame = Frame.around(self._shared.stage.view, drawings)
        pictures = [
            thumbnails.button(
                thumbnails.picture(frame, drawing), f"{i + 1}", f"look {i}",
                thumbnails.corner("+", GREEN, f"keep {i}", "keep it as one of your own"),
            )
            for i, drawing in enumerate(drawings)
        ]  # fmt: skip
        return thumbnails.row("Imported: click to look at one, + keeps it here", pictures)

    def _drawing(self, context: np.ndarray, promp: ProMP, rows: np.ndarray) -> Drawing:
        """Movement primitives with weights [n, D] in a context."""
        paths = [self._path(promp, weights) for weights in rows]
        return Drawing(self._shared.stage.layout.marks(context), paths)

    def _path(self, promp: ProMP, weights: np.ndarray) -> np.ndarray:
        """Path [T, 3] of a demonstration."""
        key = weights.tobytes()
        if key not in self._paths:
            self._paths[key] = self._shared.trace(promp, weights).points
        return self._paths[key]
