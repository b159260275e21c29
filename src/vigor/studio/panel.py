"""The session as a panel in viser: buttons, lights, curves. What it is told is checked before it is used."""

from collections.abc import Callable
from html import escape
from typing import Any

import numpy as np
import viser

from vigor.basics.colours import PALETTE
from vigor.runs.presets import preset
from vigor.runs.training import EVERY
from vigor.studio import problems
from vigor.studio.learning import Progress
from vigor.studio.session import ITERATIONS, Session

GREEN, RED, GREY = "#26a65b", "#d64541", "#b9bec6"
SOURCES = {"what was recorded here": "recorded", "imported demonstrations": "imported", "the task's own": "own"}


def light(colour: str, text: str) -> str:
    dot = f'<span style="display:inline-block;width:.8em;height:.8em;border-radius:50%;background:{colour}"></span>'
    return f'<div style="font-size:.875em;padding:0 1em .3em 1em">{dot} {text}</div>'


def say(text: str) -> str:
    return f'<div style="font-size:.875em;padding:0 1em .3em 1em">{escape(text)}</div>'


def state_of(progress: Progress) -> str:
    """Where a run stands, in words."""
    if progress.running:
        first = f"compiling, and the first {EVERY} iterations"
        state = "stopping" if progress.stopping else "learning" if progress.metrics else first
    else:
        state = "finished" if progress.finished else progress.problem or "stopped"
    return f"{state}, iteration {progress.iteration} of {progress.iterations}" if progress.metrics else state


class Panel:
    """Widgets for a session; those of all pages are the same."""

    def __init__(self, server: viser.ViserServer, session: Session) -> None:
        self._session, gui = session, server.gui
        gui.configure_theme(control_width="medium", show_logo=False, show_share_button=False)
        gui.main_panel.dock_right()
        gui.set_panel_label(f"vigor studio: {session.task.name}")
        self._state = gui.add_html("")
        with gui.add_folder("Context"):
            self._context = gui.add_dropdown("Go to", ("new",))
            self._numbers = gui.add_html("")
            self._new = gui.add_button("New context", hint="Or drag the targets")
        tabs = gui.add_tab_group()
        with tabs.add_tab("Record"):
            self._start = gui.add_button("Start", color="red")
            self._stop = gui.add_button("Stop and save", color="green", visible=False)
            self._discard = gui.add_button("Discard", visible=False)
            self._undo = gui.add_button("Undo", hint="Take back the last demonstration saved or deleted")
            self._which = gui.add_dropdown("Demonstration", ("none",))
            self._play = gui.add_button("Play")
            self._delete = gui.add_button("Delete")
        with tabs.add_tab("Learn"):
            sources = [name for name, key in SOURCES.items() if key != "imported" or session.imported is not None]
            self._source = gui.add_dropdown("From", sources)
            most = preset(session.task.name).iterations
            self._iterations = gui.add_slider("Iterations", *ITERATIONS, step=10, initial_value=most)
            self._learn = gui.add_button("Learn", color="blue")
            self._halt = gui.add_button("Stop", visible=False)
            self._resume = gui.add_button("Resume", visible=False)
            self._bar: Any = gui.add_progress_bar(0)
            self._figures = gui.add_html("")
            self._curve = gui.add_uplot(
                (np.zeros(0), np.zeros(0), np.zeros(0)),
                ({"label": "iteration"}, {"label": "training", "stroke": GREY, "width": 2},
                 {"label": "context on screen at start", "stroke": PALETTE[0], "width": 2}),
                title="success of a sample", scales={"x": {"time": False}, "y": {"range": (0, 1)}}, aspect=1.7,
                visible=False,
            )  # fmt: skip
        with tabs.add_tab("Plan"):
            self._plans = gui.add_html("")
            self._rank = gui.add_dropdown("Plan", ("none",))
            self._act = gui.add_button("Play plan")
            self._export = gui.add_button("Export plan", hint="A table of joints over time, for a controller")
        self._wire()
        self._said = ""

    def _wire(self) -> None:
        session = self._session
        for button, action in (
            (self._new, lambda client: session.new_context()),
            (self._start, lambda client: session.start()),
            (self._stop, lambda client: session.finish()),
            (self._discard, lambda client: session.discard()),
            (self._undo, lambda client: session.undo()),
            (self._play, lambda client: session.play_demonstration(self._place(self._which))),
            (self._delete, lambda client: session.delete_demonstration(self._place(self._which))),
            (self._learn, lambda client: session.learn(self._from(), self._iterations.value)),
            (self._halt, lambda client: session.stop_learning()),
            (self._resume, lambda client: session.resume_learning()),
            (self._act, lambda client: session.play_plan(self._place(self._rank))),
            (self._export, self._download),
        ):
            button.on_click(self._careful(action))
        self._context.on_update(self._careful(lambda client: session.choose_context(self._place(self._context))))

    def _careful(self, action: Callable[[Any], None]) -> Callable[[Any], None]:
        """Shows the page why something could not be done."""

        def act(event: Any) -> None:
            if event.client is None:  # The studio itself has set a value.
                return
            try:
                action(event.client)
            except Exception as error:
                problems.print_unexpected(error)
                event.client.add_notification("", problems.sentence(error), color="red", auto_close_seconds=8)

        return act

    def _place(self, dropdown: Any) -> int:
        """Place of what a dropdown shows in its list; -1 if it is not there."""
        options = list(dropdown.options)
        return options.index(dropdown.value) if dropdown.value in options else -1

    def _from(self) -> str:
        return SOURCES.get(self._source.value, "")

    def _download(self, client: Any) -> None:
        path, holds = self._session.export_plan(self._place(self._rank))
        client.send_file_download(path.name, path.read_bytes())
        said = f"exported to {path}" + ("" if holds else "; this plan is predicted to fail")
        client.add_notification("", said, color=None if holds else "red", auto_close_seconds=8)

    # From moment to moment

    def draw(self) -> None:
        """Show what changes all the time."""
        session = self._session
        recording = session.recorder.active
        done = all(session.reached)
        colour = GREEN if done and (recording or session.playing) else RED if recording or session.playing else GREY
        what = "recording" if recording else "playing" if session.playing else ""
        seconds = f" {session.recorder.seconds:.0f} s" if recording else ""
        away = "" if not what else ", solved" if done else f", {session.miss:.2g} to go"
        text = f"{what}{seconds}{away}" if what else escape(session.notice)
        self._say(light(colour, text))
        for widget, visible in (
            (self._start, not recording),
            (self._stop, recording),
            (self._discard, recording),
        ):
            if widget.visible != visible:
                widget.visible = visible

    def _say(self, text: str) -> None:
        if text != self._said:
            self._state.content = self._said = text

    def refresh(self) -> None:
        """Show what changes now and then."""
        session = self._session
        with session.lock:
            context, shown = session.context, session.library.current
            index, count = session.library.find(context), len(session.numbers)
            recording = session.recorder.active
        names = [] if shown is None else [
            f"{i + 1}: {len(shown.of(i))} demonstration{'' if len(shown.of(i)) == 1 else 's'}"
            for i in range(len(shown.contexts))
        ]  # fmt: skip
        values = zip(session.task.context_names, context, strict=True)
        self._numbers.content = say(", ".join(f"{name} {value:.3f}" for name, value in values))
        _choose(self._context, [*names, "new: not demonstrated yet"], len(names) if index is None else index)
        _choose(self._which, [f"{i + 1} of {count}" for i in range(count)] or ["none"], count - 1)
        for widget in (self._play, self._delete):
            widget.disabled = recording or not count
        self._undo.disabled = recording or not session.library.can_undo
        self._show_progress()
        self._show_plans()

    def _show_progress(self) -> None:
        progress = self._session.progress
        running = progress is not None and progress.running
        self._learn.visible, self._halt.visible = not running, running
        self._halt.disabled = progress is not None and progress.stopping
        self._resume.visible = bool(progress and not running and not progress.finished and progress.iterations)
        if progress is None:
            return
        self._bar.value = min(100.0, 100 * progress.iteration / max(1, progress.iterations))
        self._bar.animated = running
        self._figures.content = say(state_of(progress))
        rows = progress.metrics
        if rows:
            curves = [[(row[part] or row["train"])["success_mixture"] for row in rows] for part in ("train", "test")]
            self._curve.data = tuple(np.array(x, float) for x in ([row["iteration"] for row in rows], *curves))
        self._curve.visible = bool(rows)

    def _show_plans(self) -> None:
        session = self._session
        made, answer = session.plan, session.answer
        if made is None or answer is None:
            learned = session.progress is not None and session.progress.finished
            text = "planning" if learned else "learn first; then drag a target"
            self._plans.content = say(answer.problem if answer is not None and answer.problem else text)
            _choose(self._rank, ["none"], 0)
        else:
            rows = [
                f'<tr><td><span style="color:{PALETTE[part.component % len(PALETTE)]}">&#9632;</span> {rank}</td>'
                f"<td>{part.weight:.0%}</td>"
                f"<td>{'' if part.success is None else format(part.success, '.0%')}</td>"
                f'<td style="color:{GREEN if part.holds else RED}">&#9679; {"solves" if part.holds else "fails"}</td>'
                "</tr>"
                for rank, part in enumerate(made.solutions, start=1)
            ]
            head = "<tr><th>plan</th><th>weight</th><th>samples solve</th><th></th></tr>"
            style = "width:100%;text-align:left;font-size:.875em;padding:0 1em"
            table = f'<table style="{style}">{head}{"".join(rows)}</table>'
            kinds = len({part.group for part in made.solutions})
            notes = [
                f"{kinds} kind{'' if kinds == 1 else 's'}, planned in {answer.seconds:.1f} s",
                made.warning,
                made.failure,
            ]
            self._plans.content = table + "".join(say(note) for note in notes if note)
            ranks = [f"{rank}" for rank in range(1, len(made.solutions) + 1)]
            if list(self._rank.options) != ranks:
                _choose(self._rank, ranks, 0)
        self._act.disabled = self._export.disabled = made is None


def _choose(dropdown: Any, options: list[str], place: int) -> None:
    """Let a dropdown show these options and this one of them."""
    if list(dropdown.options) != options:
        dropdown.options = options
    if dropdown.value != options[place]:
        dropdown.value = options[place]
