"""The time line of a movement that is played: pause, go through it, slow it down, joints over time."""

import time
from typing import Any

from vigor.studio.charts import charts
from vigor.studio.film import SPEEDS, Film
from vigor.studio.session import Session
from vigor.studio.widgets import PALE, careful, show

OFTEN = 0.25
"""Seconds from one drawing of the charts to the next."""


class TimeLine:
    """A folder that is there while something is played."""

    def __init__(self, gui: Any, session: Session) -> None:
        self._task = session.shared.task
        with gui.add_folder("Time line", visible=False) as self._folder:
            self._pause = gui.add_button("Pause", color=PALE)
            self._time = gui.add_slider("Seconds", 0.0, 1.0, step=0.01, initial_value=0.0)
            self._speed = gui.add_dropdown("Speed", tuple(SPEEDS), initial_value="1")
            self._charts = gui.add_html("")
            self._close = gui.add_button("Close", color=PALE)
        self._drawn: tuple[Film | None, float] = None, 0.0
        self._due = 0.0
        self._pause.on_click(careful(lambda client: session.toggle()))
        self._close.on_click(careful(lambda client: session.stop_playing()))
        self._time.on_update(careful(lambda client: session.go_to(self._time.value)))
        self._speed.on_update(careful(lambda client: session.play_at(SPEEDS.get(self._speed.value, 1.0))))

    def draw(self, film: Film | None) -> None:
        """Show a film, if there is one."""
        show(self._folder, visible=film is not None)
        if film is None:
            return
        show(self._time, max=max(0.02, round(film.seconds, 2)), value=round(film.time, 2))
        show(self._pause, label="Play" if film.paused else "Pause")
        if (film, film.time) != self._drawn and time.monotonic() >= self._due:
            self._drawn, self._due = (film, film.time), time.monotonic() + OFTEN
            self._charts.content = charts(self._task, film)
