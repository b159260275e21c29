"""`vigor studio`: serves a session to browsers until it is interrupted."""

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from vigor.basics import locks
from vigor.basics.errors import UserError
from vigor.basics.install import missing
from vigor.demonstrations import dataset as demonstrations
from vigor.studio import guard, messages
from vigor.tasks import load_task
from vigor.tasks.stage import load_stage

RATE = 50
"""Times a second that the robot moves."""
LOCK = "studio.lock"
"""Lock of the folder that is served."""
WATCH = 0.5
"""Seconds from one look at a run to the next."""


def serve(task: str, out: Path | None, demos: Path | None, host: str, port: int) -> None:
    """Serve until Ctrl-C or a termination; see `vigor studio --help`. out: `studio/TASK` if None."""
    try:
        import viser
    except ImportError:
        raise missing("the studio is shown by viser", "studio") from None
    from vigor.studio.panel import Panel
    from vigor.studio.scene import Scene
    from vigor.studio.session import Session

    class Server(viser.ViserServer):
        def request_share_url(self, verbose: bool = True) -> None:
            """Any page could ask viser to publish the studio through a server of its makers; not this one."""

    known = load_task(task)
    stage = load_stage(known)  # Before there is a folder.
    imported = None if demos is None else demonstrations.load(demos, known)
    out = Path("studio") / known.name if out is None else out
    with guard.bind(host, port) as listening, _claimed(out):
        session = Session(stage, out, imported)
        try:
            own_port = listening.getsockname()[1]
            watchman = guard.guard_for(host, own_port)
            with guard.guarded(listening, watchman):
                server = Server(verbose=False)
            scene = Scene(server, session)
            panel = Panel(server, session, scene)
            name = f"[{host}]" if ":" in host else host
            address = f"http://{name}:{own_port}/?token={watchman.token}"
            print(f"The studio is at {address} and keeps everything in {out}; Ctrl-C ends it.", flush=True)
            _run(session, scene, panel)
            server.stop()
        finally:
            session.close()


@contextmanager
def _claimed(folder: Path) -> Iterator[None]:
    """Lock a folder: two studios would write over each other's demonstrations."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = locks.take(folder / LOCK)
    except OSError as error:
        raise UserError(f"{folder} cannot be written to: {error.strerror}; choose another --out") from None
    if lock is None:
        raise UserError(f"another studio is open in {folder}; use that one or choose another --out")
    try:
        yield
    finally:
        locks.drop(lock)


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


def _watch(ended: threading.Event, session: Any, scene: Any, panel: Any, pause: float = WATCH) -> None:
    """Look at the run now and then, and draw again what has changed."""
    shared, seen, due = session.shared, -1, 0.0
    while not ended.wait(0.05):
        if time.monotonic() >= due:
            due = time.monotonic() + pause
            _try(session.watch, shared)
        if shared.changes != seen:
            seen = shared.changes
            _try(scene.draw_traces, shared)
            _try(panel.refresh, shared)


def _try(action: Callable[[], None], shared: Any) -> None:
    """Do something; an error is told on the page, which goes on."""
    try:
        action()
    except Exception as error:
        sentence = messages.sentence(error)
        if sentence != shared.notice:  # Told once, though it may happen again and again.
            messages.print_unexpected(error)
            shared.notice = sentence
