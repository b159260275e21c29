"""The tab that learning is watched in."""

from typing import Any

import numpy as np

from vigor.basics.colours import PALETTE
from vigor.evaluation.evaluation import mixture_of
from vigor.studio.cards import GREY, say
from vigor.studio.learning import ITERATIONS
from vigor.studio.session import Session
from vigor.studio.widgets import PALE, careful, offer, show

SOURCES = {"what was recorded here": "recorded", "imported demonstrations": "imported", "the task's own": "own"}


class LearnTab:
    """Tab of learning: from what and for how long, and progress."""

    def __init__(self, gui: Any, session: Session) -> None:
        self._session = session
        self._source = gui.add_dropdown("From", ("nothing yet",))
        usual = min(session.learning.trainer.default_iterations, ITERATIONS[1])
        self._iterations = gui.add_slider("Iterations", *ITERATIONS, step=10, initial_value=usual)
        self._learn = gui.add_button("Learn", color=PALE)
        self._resume = gui.add_button("Resume", color=PALE, visible=False)
        self._bar: Any = gui.add_progress_bar(0)
        self._figures = gui.add_html("")
        self._curve = gui.add_uplot(
            (np.zeros(0), np.zeros(0), np.zeros(0)),
            ({"label": "iteration"}, {"label": "training", "stroke": GREY, "width": 2},
             {"label": "context on screen at start", "stroke": PALETTE[0], "width": 2}),
            title="success of a sample", scales={"x": {"time": False}, "y": {"range": (-0.03, 1.08)}}, aspect=1.7,
            visible=False,
        )  # fmt: skip
        self._learn.on_click(careful(lambda client: self.learn()))
        self._resume.on_click(careful(lambda client: session.resume()))

    def learn(self) -> None:
        """Start a run as the tab says."""
        self._session.learn(SOURCES.get(self._source.value, ""), self._iterations.value)

    def refresh(self, primary: str) -> None:
        """Show what changes now and then; primary: the button on top, which need not be here too."""
        there, progress = self._session.learning.sources, self._session.learning.progress
        names = [name for name, key in SOURCES.items() if key in there] or ["nothing yet: record first"]
        if list(self._source.options) != names:  # What was recorded comes first, once there is something.
            offer(self._source, names, 0)
        running = progress is not None and progress.running
        show(self._learn, disabled=not there, visible=not running and primary != "Learn")
        resumes = progress and not running and not progress.finished and progress.iterations
        show(self._resume, visible=bool(resumes))
        if progress is None:
            return
        show(self._bar, value=min(100.0, 100 * progress.iteration / max(1, progress.iterations)))
        show(self._figures, content=say(progress.words))
        rows = progress.metrics
        if rows:
            curves = [[mixture_of(row[part] or row["train"]) for row in rows] for part in ("train", "test")]
            self._curve.data = tuple(np.array(x, float) for x in ([row["iteration"] for row in rows], *curves))
        show(self._curve, visible=bool(rows))
