"""`vigor studio`: serves a session to browsers until it is interrupted."""

import signal
import threading
import time
from pathlib import Path
from typing import Any

from vigor import demonstrations
from vigor.errors import UserError
from vigor.studio import guard
from vigor.tasks import load_task

RATE = 50
"""Times a second that the robot moves."""
WATCH = 0.5
"""Seconds from one look at a run to the next."""


def serve(task: str, out: Path, demos: Path | None, host: str, port: int) -> None:
    """Serve until Ctrl-C or a termination; see `vigor studio --help`."""
    try:
        import viser
    except ImportError:
        raise UserError('the studio is shown by viser; install it with: pip install "vigor[studio]"') from None
    from vigor.studio.panel import Panel
    from vigor.studio.scene import Scene
    from vigor.studio.session import Session

    class Server(viser.ViserServer):
        def request_share_url(self, verbose: bool = True) -> None:
            """Any page could ask viser to publish the studio through a server of its makers; not this one."""

    with guard.bind(host, port) as listening:
        known = load_task(task)
        imported = None if demos is None else demonstrations.load(demos, known)
        session = Session(known, out, imported)
        try:
            watchman = guard.guard_for(host)
            with guard.guarded(listening, watchman):
                server = Server(verbose=False)
            scene, panel = Scene(server, session), Panel(server, session)
            name = f"[{host}]" if ":" in host else host
            token = "" if watchman.token is None else f"/?token={watchman.token}"
            address = f"http://{name}:{listening.getsockname()[1]}{token}"
            print(f"The studio is at {address} and keeps everything in {out}; Ctrl-C ends it.", flush=True)
            _run(session, scene, panel)
            server.stop()
        finally:
            session.close()


def _run(session: Any, scene: Any, panel: Any) -> None:
    """Move the robot, and show what happens, until a signal."""
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    slow = threading.Thread(target=_watch, args=(ended, session, scene, panel), daemon=True)
    slow.start()
    due = time.monotonic()
    while not ended.wait(max(0.0, due - time.monotonic())):
        due = max(due + 1 / RATE, time.monotonic())
        session.tick(time.monotonic())
        scene.draw()
        panel.draw()
    slow.join()


def _watch(ended: threading.Event, session: Any, scene: Any, panel: Any) -> None:
    """Look at the run now and then, and draw again what has changed."""
    seen, due = -1, 0.0
    while not ended.wait(0.05):
        if time.monotonic() >= due:
            due = time.monotonic() + WATCH
            session.watch()
        if session.changes != seen:
            seen = session.changes
            scene.draw_traces()
            panel.refresh()
