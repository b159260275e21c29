"""`vigor studio`: serves the session to browsers until it is interrupted."""

import signal
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from vigor import demonstrations
from vigor.errors import UserError
from vigor.studio import guard
from vigor.tasks import load_task

RATE = 50
"""Times a second that the robot moves."""
WATCH = 0.5
"""Seconds from one look at a run to the next."""


@dataclass(frozen=True)
class Options:
    """What `vigor studio` is told."""

    task: str
    out: Path
    demos: Path | None
    host: str
    port: int


def serve(options: Options) -> None:
    """Serve until Ctrl-C or a termination."""
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

    listening = guard.bind(options.host, options.port)
    task = load_task(options.task)
    imported = None if options.demos is None else demonstrations.load(options.demos, task)
    session = Session(task, options.out, imported)
    watchman = guard.guard_for(options.host)
    with guard.guarded(listening, watchman):
        server = Server(verbose=False)
    scene, panel = Scene(server, session), Panel(server, session)
    port = listening.getsockname()[1]
    host = f"[{options.host}]" if ":" in options.host else options.host
    token = "" if watchman.token is None else f"/?token={watchman.token}"
    print(f"The studio is at http://{host}:{port}{token} and keeps everything in {options.out}", flush=True)

    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda number, frame: ended.set())
    signal.signal(signal.SIGINT, lambda number, frame: ended.set())
    slow = threading.Thread(target=_watch, args=(ended, session, scene, panel), daemon=True)
    slow.start()
    due = time.monotonic()
    while not ended.wait(max(0.0, due - time.monotonic())):
        due = max(due + 1 / RATE, time.monotonic())
        session.tick(time.monotonic())
        scene.draw()
        panel.draw()
    slow.join()
    session.close()
    server.stop()


def _watch(ended, session, scene, panel) -> None:
    """Look at the run, and redraw what has changed."""
    seen, looked = -1, 0.0
    while not ended.wait(0.05):
        if time.monotonic() - looked > WATCH:
            looked = time.monotonic()
            before = session.progress
            session.watch()
            running = (
                (before is not None and before.running),
                (session.progress is not None and session.progress.running),
            )
            if running[0] or running[1]:
                panel.refresh()
        if session.changes != seen:
            seen = session.changes
            scene.draw_traces()
            panel.refresh()
