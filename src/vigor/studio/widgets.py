"""Helpers for widgets of viser."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from vigor.studio import messages

PALE = (233, 236, 239)
"""Colour of a button that is not the next to press."""


def theme(gui: Any, dark: bool = False) -> None:
    """Give all pages their look."""
    gui.configure_theme(control_width="medium", show_logo=False, show_share_button=False, dark_mode=dark)


def show(widget: Any, **values: Any) -> None:
    """Change those values of a widget that are others now: every change is sent to all pages."""
    for name, value in values.items():
        if getattr(widget, name) != value:
            setattr(widget, name, value)


def careful(action: Callable[[Any], None]) -> Callable[[Any], None]:
    """The action of a widget, given the page; the page is shown why something could not be done."""

    def act(event: Any) -> None:
        if event.client is None:  # The studio itself has set a value.
            return
        try:
            action(event.client)
        except Exception as error:
            messages.print_unexpected(error)
            event.client.add_notification("", messages.sentence(error), color="red", auto_close_seconds=8)

    return act


def download(client: Any, path: Path) -> None:
    """Give a file to a page."""
    client.send_file_download(path.name, path.read_bytes(), save_immediately=True)


def chosen(dropdown: Any) -> int:
    """Place of what a dropdown shows in its list; -1 if it is not there."""
    options = list(dropdown.options)
    return options.index(dropdown.value) if dropdown.value in options else -1


def offer(dropdown: Any, options: list[str], place: int) -> None:
    """Let a dropdown show these options and this one of them."""
    if list(dropdown.options) != options:
        dropdown.options = options
    if dropdown.value != options[place]:
        dropdown.value = options[place]
