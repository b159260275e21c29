"""The session as a panel in viser: buttons, lights, curves. What it is told is checked before it is used."""

from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import viser

from vigor.basics.colours import PALETTE
from vigor.evaluation.evaluation import mixture_of
from vigor.planning.plans import Plan, Solution
from vigor.studio import guide, messages
from vigor.studio.learning import ITERATIONS
from vigor.studio.planning import Answer
from vigor.studio.recorder import LONGEST
from vigor.studio.session import Session
from vigor.studio.shared import Trace

GREEN, RED, GREY = "#26a65b", "#d64541", "#b9bec6"
SOURCES = {"what was recorded here": "recorded", "imported demonstrations": "imported", "the task's own": "own"}


def light(colour: str, text: str) -> str:
    dot = f'<span style="display:inline-block;width:.8em;height:.8em;border-radius:50%;background:{colour}"></span>'
    return f'<div style="font-size:.875em;padding:0 1em .3em 1em">{dot} {text}</div>'


def say(text: str) -> str:
    return f'<div style="font-size:.875em;padding:0 1em .3em 1em">{escape(text)}</div>'


def table(plan: Plan, traces: Sequence[Trace]) -> str:
    """The plan's solutions as HTML, two rows each: figures, then why it fails or how long its path is."""
    rows = [
        f'<tr><td><span style="color:{PALETTE[(trace.colour or 0) % len(PALETTE)]}">&#9632;</span> {rank}</td>'
        f"<td>{part.group}</td>"
        f"<td>{format(part.predicted if part.success is None else part.success, '.0%')}</td>"
        f'<td style="color:{GREEN if part.holds else RED}">&#9679; {"solves" if part.holds else "fails"}</td></tr>'
        f'<tr><td></td><td colspan="3" style="opacity:.7;padding-bottom:.3em">{escape(_about(part, trace))}</td></tr>'
        for rank, (part, trace) in enumerate(zip(plan.solutions, traces, strict=True), start=1)
    ]
    head = "<tr><th>plan</th><th>kind</th><th>samples solve</th><th></th></tr>"
    style = "width:100%;text-align:left;font-size:.875em;padding:0 1em"
    return f'<table style="{style}">{head}{"".join(rows)}</table>'


def _about(part: Solution, trace: Trace) -> str:
    """Words for what a solution violates or misses and by how much; the length of its path, if nothing."""
    if part.violated is not None:
        return f"violates {part.violated}"
    last = list(part.targets)[-1:]
    missed = [(name, at.end if [name] == last else at.closest) for name, at in part.targets.items()]
    far = [f"misses {name} by {100 * away:.0f} cm" for name, away in missed if away > 0.005]
    length = np.linalg.norm(np.diff(trace.points, axis=0), axis=1).sum()
    return ", ".join(far) if far and not part.holds else f"path of {length:.1f} m"


def recorded(seconds: float) -> str:
    """Length of a recording in words and, towards its end, when it ends by itself."""
    return f"recording {seconds:.0f} s" + (f", ends by itself at {LONGEST:.0f} s" if seconds > LONGEST - 20 else "")


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


def download(client: Any, path: Path, holds: bool) -> None:
    """Give an exported table to a page, and say whether it is predicted to solve its context."""
    client.send_file_download(path.name, path.read_bytes(), save_immediately=True)
    text = f"exported to {path}" + ("" if holds else "; this plan is predicted to fail")
    client.add_notification("", text, color=None if holds else "red", auto_close_seconds=8)


class Panel:
    """Widgets for a session; those of all pages are the same."""

    def __init__(self, server: viser.ViserServer, session: Session) -> None:
        self._session, self._shared, gui = session, session.shared, server.gui
        gui.configure_theme(control_width="medium", show_logo=False, show_share_button=False)
        gui.main_panel.dock_right()
        gui.set_panel_label(f"vigor studio: {session.shared.task.name}")
        self._guide, self._state = gui.add_html(""), gui.add_html("")
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
            self._redo = gui.add_button("Redo", visible=False)
            self._which = gui.add_dropdown("Demonstration", ("none",))
            self._play = gui.add_button("Play")
            self._delete = gui.add_button("Delete")
        with tabs.add_tab("Learn"):
            self._source = gui.add_dropdown("From", ("nothing yet",))
            usual = min(session.learning.trainer.default_iterations, ITERATIONS[1])
            self._iterations = gui.add_slider("Iterations", *ITERATIONS, step=10, initial_value=usual)
            self._learn = gui.add_button("Learn", color="blue")
            self._halt = gui.add_button("Stop", visible=False)
            self._resume = gui.add_button("Resume", visible=False)
            self._bar: Any = gui.add_progress_bar(0)
            self._figures = gui.add_html("")
            self._curve = gui.add_uplot(
                (np.zeros(0), np.zeros(0), np.zeros(0)),
                ({"label": "iteration"}, {"label": "training", "stroke": GREY, "width": 2},
                 {"label": "context on screen at start", "stroke": PALETTE[0], "width": 2}),
                title="success of a sample", scales={"x": {"time": False}, "y": {"range": (-0.03, 1.08)}}, aspect=1.7,
                visible=False,
            )  # fmt: skip
        with tabs.add_tab("Plan"):
            self._plans = gui.add_html("")
            self._rank = gui.add_dropdown("Plan", ("none",))
            self._act = gui.add_button("Play plan")
            self._export = gui.add_button("Export plan", hint="A table of joints over time, for a controller")
        self._wire()

    def _wire(self) -> None:
        session, recording = self._session, self._session.recording
        learning, planning = self._session.learning, self._session.planning
        for button, action in (
            (self._new, lambda client: session.new_context()),
            (self._start, lambda client: recording.start()),
            (self._stop, lambda client: recording.finish()),
            (self._discard, lambda client: recording.discard()),
            (self._undo, lambda client: recording.undo()),
            (self._redo, lambda client: recording.redo()),
            (self._play, lambda client: recording.play(_chosen(self._which))),
            (self._delete, lambda client: recording.delete(_chosen(self._which))),
            (self._learn, lambda client: session.learn(SOURCES.get(self._source.value, ""), self._iterations.value)),
            (self._halt, lambda client: learning.stop()),
            (self._resume, lambda client: session.resume()),
            (self._act, lambda client: planning.play(_chosen(self._rank))),
            (self._export, lambda client: download(client, *planning.export(_chosen(self._rank)))),
        ):
            button.on_click(careful(action))
        self._context.on_update(careful(lambda client: self._choose_context()))

    def _choose_context(self) -> None:
        """Go to the chosen context; if that is refused, the list shows the old one again."""
        try:
            self._session.choose_context(_chosen(self._context))
        finally:
            self._shared.changes += 1

    # From moment to moment

    def draw(self) -> None:
        """Show what changes all the time."""
        shared, robot = self._shared, self._shared.robot
        recording, playing, solved = robot.recorder.active, robot.playing, all(shared.reached)
        self._show_state(recording, playing, solved)
        for widget, visible in ((self._start, not recording), (self._stop, recording), (self._discard, recording)):
            if widget.visible != visible:
                widget.visible = visible

    def _show_state(self, recording: bool, playing: bool, solved: bool) -> None:
        if recording or playing:
            doing = recorded(self._shared.robot.recorder.seconds) if recording else "playing"
            away = "solved" if solved else self._shared.missing
            html = light(GREEN if solved else RED if recording else GREY, f"{doing}, {away}")
        else:
            html = light(GREY, escape(self._shared.notice)) if self._shared.notice else ""
        if html != self._state.content:
            self._state.content = html

    def refresh(self) -> None:
        """Show what changes now and then."""
        shared, library = self._shared, self._session.recording.library
        with shared.lock:
            context, demonstrations = shared.context, library.current
            number, count = library.find(context), len(self._session.recording.numbers)
            recording = shared.robot.recorder.active
        contexts = [] if demonstrations is None else [
            f"{i + 1}: {len(demonstrations.of(i))} demonstration{'' if len(demonstrations.of(i)) == 1 else 's'}"
            for i in range(len(demonstrations.contexts))
        ]  # fmt: skip
        values = zip(shared.task.context_names, context, strict=True)
        self._numbers.content = say(", ".join(f"{name} {value:.3f}" for name, value in values))
        _offer(self._context, [*contexts, "new: not demonstrated yet"], len(contexts) if number is None else number)
        _offer(self._which, [f"{i + 1} of {count}" for i in range(count)] or ["none"], count - 1)
        for widget in (self._play, self._delete):
            widget.disabled = recording or not count
        self._show_changes(recording)
        self._show_sources()
        self._show_progress()
        self._show_plans()
        self._show_guide(recording)

    def _show_changes(self, recording: bool) -> None:
        """Name what can be undone and made again."""
        recordings, library = self._session.recording, self._session.recording.library
        for button, name, change in ((self._undo, "Undo", library.last), (self._redo, "Redo", library.undone)):
            button.disabled = recording or change is None
            if button.label != (label := name + recordings.words(change)):
                button.label = label
        self._redo.visible = library.undone is not None

    def _show_sources(self) -> None:
        """Offer what can be learned from; what was recorded first, once there is something."""
        there = self._session.learning.sources
        names = [name for name, key in SOURCES.items() if key in there] or ["nothing yet: record first"]
        if list(self._source.options) != names:
            _offer(self._source, names, 0)
        self._learn.disabled = not there

    def _show_guide(self, recording: bool) -> None:
        session, library = self._session, self._session.recording.library
        count, planning = 0 if library.current is None else len(library.current.weights), session.planning
        plan = planning.plan
        step, sentence = guide.advise(
            self._shared.stage.instruction, count, recording, session.learning.progress,
            None if plan is None else plan.failure is None, planning.exported,
        )  # fmt: skip
        if self._guide.content != (html := guide.line(step, sentence, count)):
            self._guide.content = html

    def _show_progress(self) -> None:
        progress = self._session.learning.progress
        running = progress is not None and progress.running
        self._learn.visible, self._halt.visible = not running, running
        self._halt.disabled = progress is not None and progress.stopping
        self._resume.visible = bool(progress and not running and not progress.finished and progress.iterations)
        if progress is None:
            return
        self._bar.value = min(100.0, 100 * progress.iteration / max(1, progress.iterations))
        self._bar.animated = running
        self._figures.content = say(progress.words)
        rows = progress.metrics
        if rows:
            curves = [[mixture_of(row[part] or row["train"]) for row in rows] for part in ("train", "test")]
            self._curve.data = tuple(np.array(x, float) for x in ([row["iteration"] for row in rows], *curves))
        self._curve.visible = bool(rows)

    def _show_plans(self) -> None:
        planning, progress = self._session.planning, self._session.learning.progress
        with self._shared.lock:
            answer, plan, traces = planning.answer, planning.plan, planning.traces()
        if plan is None or answer is None:
            text = "planning" if progress is not None and progress.can_plan else "learn first; then drag a target"
            self._plans.content = say(answer.problem if answer is not None and answer.problem else text)
            _offer(self._rank, ["none"], 0)
        else:
            self._plans.content = table(plan, traces) + "".join(say(note) for note in _notes(plan, answer))
            ranks = [f"{rank}" for rank in range(1, len(plan.solutions) + 1)]
            if list(self._rank.options) != ranks:
                _offer(self._rank, ranks, 0)
        self._act.disabled = self._export.disabled = plan is None


def _notes(plan: Plan, answer: Answer) -> list[str]:
    """Sentences below the table of a plan."""
    kinds = len({part.group for part in plan.solutions})
    planned = f"{kinds} kind{'' if kinds == 1 else 's'}, planned in {answer.seconds:.1f} s"
    return [planned, *(note for note in (plan.warning, plan.failure) if note)]


def _chosen(dropdown: Any) -> int:
    """Place of what a dropdown shows in its list; -1 if it is not there."""
    options = list(dropdown.options)
    return options.index(dropdown.value) if dropdown.value in options else -1


def _offer(dropdown: Any, options: list[str], place: int) -> None:
    """Let a dropdown show these options and this one of them."""
    if list(dropdown.options) != options:
        dropdown.options = options
    if dropdown.value != options[place]:
        dropdown.value = options[place]
