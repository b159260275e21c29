"""The tab that says what is drawn, from where, and in which colours."""

from typing import Any

from vigor.studio.scene import Scene
from vigor.studio.session import Session
from vigor.studio.shared import Shared
from vigor.studio.widgets import careful, theme


class ViewTab:
    """Views of the scene, what was shown beside what was learned, light and dark."""

    def __init__(self, gui: Any, session: Session, scene: Scene) -> None:
        shared = session.shared
        sides = ("Reset",) if shared.stage.view.from_above else ("Front", "Top", "Reset")
        look = gui.add_button_group("From", sides)
        look.on_click(careful(lambda client: scene.look(client, look.value)))
        for name, label, hint in (
            ("demonstrations", "Demonstrations", "Grey lines: what was shown in this context"),
            ("ways", "Learned ways", "Coloured lines: means of what was learned, or plans"),
            ("samples", "Samples", "Thin lines: movements drawn from what was learned"),
            ("ghosts", "Ghosts", "All ways beside the one that is played"),
        ):
            self._toggle(gui.add_checkbox(label, getattr(shared, name), hint=hint), shared, name)
        dark = gui.add_checkbox("Dark", False)

        def paint(client: Any) -> None:
            theme(gui, bool(dark.value))
            scene.darken(bool(dark.value))

        dark.on_update(careful(paint))

    def _toggle(self, box: Any, shared: Shared, name: str) -> None:
        box.on_update(careful(lambda client: shared.draw(name, bool(box.value))))
