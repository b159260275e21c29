"""The session as a panel in viser: the guide with the button to press, and a tab for each step."""

from html import escape
from typing import Any

import viser

from vigor.studio import guide, page
from vigor.studio.cards import GREEN, GREY, RED, light, quiet, recorded, state
from vigor.studio.clicks import Clicks
from vigor.studio.learn_tab import LearnTab
from vigor.studio.plan_tab import PlanTab
from vigor.studio.scene import Scene
from vigor.studio.session import Session
from vigor.studio.show_tab import ShowTab
from vigor.studio.time_line import TimeLine
from vigor.studio.view_tab import ViewTab
from vigor.studio.widgets import PALE, careful, download, show, theme


class Panel:
    """Widgets for a session; those of all pages are the same."""

    def __init__(self, server: viser.ViserServer, session: Session, scene: Scene) -> None:
        self._session, self._shared, gui = session, session.shared, server.gui
        self._advice = guide.Advice(guide.SHOW, "", "")
        theme(gui)
        gui.main_panel.dock_right()
        gui.set_panel_label(f"vigor studio: {session.shared.task.name}")
        gui.add_html(page.script(f"{session.shared.task.name}: vigor studio", session.shared.stage.view.from_above))
        planning, recording = session.planning, session.recording
        self._guide = gui.add_html("")
        self._primary = gui.add_button("Save", disabled=True)
        self._again = gui.add_button("Again", color=PALE, visible=False, hint="Drop this recording, and start anew")
        self._state, self._numbers = gui.add_html(""), gui.add_html("")
        clicks = Clicks(gui, {
            "play": planning.play, "point": planning.point, "hide": planning.hide, "go": session.choose_context,
            "replay": recording.play, "delete": recording.delete, "look": recording.look, "keep": recording.keep,
        })  # fmt: skip
        self._time_line = TimeLine(gui, session)
        tabs = gui.add_tab_group()
        with tabs.add_tab("Show"):
            self._show = ShowTab(gui, session, clicks)
        with tabs.add_tab("Learn"):
            self._learn = LearnTab(gui, session)
        with tabs.add_tab("Plan"):
            self._plan = PlanTab(gui, session, clicks)
        with tabs.add_tab("View"):
            ViewTab(gui, session, scene)
        self._advised = False, False
        """Whether the robot was held, and a recording solved, when there was advice last."""
        self._primary.on_click(careful(self._press))
        self._again.on_click(careful(lambda client: recording.drop()))
        self._wire_keys(gui)

    def _wire_keys(self, gui: Any) -> None:
        """Space, Ctrl+Z and Delete."""
        session, recording = self._session, self._session.recording
        for label, key, modifier, action in (
            ("Play or pause", "space", None, lambda client: session.toggle()),
            ("Undo", "Z", "cmd/ctrl", lambda client: recording.undo()),
            ("Delete the last demonstration here", "delete", None, lambda client: recording.delete(-1)),
        ):
            gui.add_command(label, hotkey=key, modifier=modifier).on_trigger(careful(action))

    def _press(self, client: Any) -> None:
        """Do what the guide advises."""
        session = self._session
        match self._advice.button:
            case "Save":
                session.recording.save()
            case "Again":
                session.recording.drop()
            case "New context":
                session.new_context()
            case "Learn":
                self._learn.learn()
            case "Stop":
                session.learning.stop()
            case "Export plan":
                download(client, session.planning.export())

    # From moment to moment

    def draw(self) -> None:
        """Show what changes all the time."""
        shared, robot = self._shared, self._shared.robot
        with shared.lock:
            film, held, recording, notice = robot.film, robot.held, robot.recorder.active, shared.notice
            missing = shared.missing if film is not None or recording else None
        html = light(GREY, escape(notice)) if notice and notice != self._advice.sentence else ""
        if film is not None:
            html = light(GREEN if missing is None else GREY, f"{film.words}, {state(missing)}") + html
        elif recording:
            doing = recorded(robot.recorder.seconds) if held else "let go"
            html = light(GREEN if missing is None else RED, f"{doing}, {state(missing)}") + html
        show(self._state, content=html)
        self._show.draw()
        self._time_line.draw(film)
        if (held, recording and missing is None) != self._advised:
            self._advised = held, recording and missing is None
            shared.changes += 1

    def refresh(self) -> None:
        """Show what changes now and then."""
        values = zip(self._shared.task.context_names, self._shared.context, strict=True)
        show(self._numbers, content=quiet(", ".join(f"{name} {value:.3f}" for name, value in values)))
        self._advise()
        self._show.refresh()
        self._learn.refresh(self._advice.button)
        self._plan.refresh(self._advice.button)

    def _advise(self) -> None:
        session, shared, library = self._session, self._shared, self._session.recording.library
        with shared.lock:
            count = 0 if library.current is None else len(library.current.weights)
            answer, plan = session.planning.answer, session.planning.plan
            now = guide.State(
                instruction=shared.stage.layout.instruction, movable=shared.movable, demonstrations=count,
                here=len(session.recording.numbers), recording=shared.robot.recorder.active, held=shared.robot.held,
                solved=shared.missing is None, progress=session.learning.progress,
                holds=None if plan is None else plan.failure is None, unplanned=(answer and answer.problem) or "",
                moving=session.moving, obstacles=len(shared.obstacles), exported=session.planning.exported,
                unreachable=shared.hint,
            )  # fmt: skip
        self._advice = advice = guide.advise(now)
        show(self._guide, content=guide.line(advice, count))
        show(self._primary, label=advice.button, disabled=not advice.ready)
        show(self._again, visible=advice.button == "Save" and advice.ready)
