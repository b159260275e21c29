"""The studio without a page: sessions, learning, planning, and who is let in."""

import signal
import socket
import threading
import time

import numpy as np
import pytest

from test_studio_recording import solving
from vigor import demonstrations
from vigor.errors import UserError
from vigor.studio import guard, learning, planning
from vigor.studio.library import Library
from vigor.studio.session import Session
from vigor.tasks import load_task

PLANAR = load_task("planar-reacher")
CONTEXT = np.array([0.5, 2.5, 0.5, -2.5])
EYE = np.array([0.0, 0.0, 10.0])


# The session


@pytest.fixture
def session(tmp_path):
    made = Session(PLANAR, tmp_path)
    made.context = CONTEXT
    yield made
    made.close()


def pull(session, places, now=0.0, page=0):
    """Drag the end effector along places, from above; returns the time."""
    grip = session.stage.grips[-1]
    session.drag(page, "start", (EYE, session.picture.points[grip], session.picture.points[grip]), grip=grip)
    held = session.picture.points[grip]
    for place in places:
        for share in np.linspace(0, 1, 60):
            now += 0.02
            session.drag(page, "update", (EYE, held, held + share * (place - held)), grip=grip)
            session.tick(now)
        held = place
    for _ in range(20):
        now += 0.02
        session.tick(now)
    return now


def targets(context=CONTEXT):
    return [np.array([*context[:2], 0.0]), np.array([*context[2:], 0.0])]


def test_a_recording_by_dragging_is_saved_and_valid(session, tmp_path):
    session.tick(0.0)
    session.start()
    start, end = session.picture.points[-1], targets()
    now = pull(session, [end[0]])
    assert session.reached == (True, False)
    session.drag(0, "end", (EYE, start, end[0]), grip=session.stage.grips[-1])
    now = pull(session, [end[1]], now)
    assert all(session.reached)
    session.finish()
    kept = demonstrations.load(tmp_path / "demonstrations", PLANAR)
    assert np.all(PLANAR.succeeds(PLANAR.distances(demonstrations.trajectories(PLANAR, kept), kept.contexts)))
    assert len(session.demonstrations()) == 1
    session.play_demonstration(0)
    assert session.playing
    for _ in range(300):
        now += 0.02
        session.tick(now)
        if all(session.reached):
            break
    assert all(session.reached)
    session.delete_demonstration(0)
    session.undo()
    assert session.numbers == [0]
    session.new_context()
    assert session.numbers == []
    session.choose_context(0)
    session.choose_context(10**9)
    session.choose_context(-1)
    np.testing.assert_array_equal(session.context, CONTEXT)


def test_what_fails_is_not_saved(session, tmp_path):
    session.tick(0.0)
    session.start()
    pull(session, [targets()[0]])
    with pytest.raises(UserError, match="short of solving"):
        session.finish()
    session.start()
    session.discard()
    assert not (tmp_path / "demonstrations").exists()
    for nothing in (session.play_demonstration, session.delete_demonstration, session.play_plan, session.export_plan):
        with pytest.raises(UserError):
            nothing(0)
    with pytest.raises(UserError, match="record a demonstration first"):
        session.learn("recorded", 10)
    with pytest.raises(UserError, match="iterations must be"):
        session.learn("own", float("nan"))


def test_a_page_cannot_take_what_another_holds(session):
    grip, tip = session.stage.grips[-1], session.picture.points[-1]
    session.tick(0.0)
    session.drag(1, "start", (EYE, tip, tip), grip=grip)
    session.drag(2, "start", (EYE, tip, tip), grip=grip)
    session.drag(2, "update", (EYE, tip, tip + np.array([0, -9, 0])), grip=grip)
    session.drag(1, "update", (EYE, tip, tip + np.array([-1, 2, 0])), grip=grip)
    session.drag(2, "end", (EYE, tip, tip), grip=grip)
    session.tick(0.1)
    session.tick(0.2)
    assert session.picture.points[-1, 1] > 0
    session.drag(1, "end", (None, "x", np.inf), grip=grip)
    session.drag(2, "start", (EYE, tip, tip), mark=0)
    session.start()
    with pytest.raises(UserError, match="stop or discard"):
        session.new_context()


def test_junk_and_huge_places_move_nothing_far(session):
    for phase in ("start", "update", "update"):
        for places in ((None,) * 3, ("a", [1], {}), (EYE, EYE, [np.nan] * 3), (EYE, [0, 0, 0], [1e300] * 3)):
            session.drag(0, phase, places, mark=0)
            session.drag(0, phase, places, grip=5)
            session.tick(time.monotonic())
    assert np.abs(session.context).max() <= 6.0
    assert np.all(np.isfinite(session.picture.points))


# Learning and planning


def test_the_most_demonstrations_are_learned_from():
    def counts(*each):
        context_of = np.repeat(np.arange(len(each)), each)
        return demonstrations.Demonstrations(
            "x", np.zeros((len(each), 1)), context_of, np.zeros((len(context_of), 1)), None, "test"
        )

    assert learning.choice(counts(1)) == (1, 1)
    assert learning.choice(counts(5, 5, 1)) == (2, 5)
    assert learning.choice(counts(3, 2, 2)) == (3, 2)


@pytest.mark.slow
def test_a_run_is_started_stopped_and_resumed(tmp_path):
    learner = learning.Learner("planar-reacher", tmp_path)
    assert learner.progress() is None
    with pytest.raises(UserError, match="no run to resume"):
        learner.resume()
    library = Library(PLANAR, tmp_path / "demos")
    context, first, second, third = solving()
    library.add(context, first)
    library.add(context, second)
    learner.start(library.current, context[None] + 0.1, 500)
    with pytest.raises(UserError, match="under way"):
        learner.start(library.current, context[None], 500)
    wait_for(lambda: learner.progress().iteration >= 10)
    learner.stop()
    wait_for(lambda: not learner.running)
    stopped = learner.progress()
    assert (stopped.finished, stopped.problem, stopped.iterations) == (False, None, 500)
    again = learning.Learner("planar-reacher", tmp_path)
    library.add(context, third)  # The run has its own copy.
    again.resume()
    wait_for(lambda: again.progress().iteration > stopped.iteration)
    assert again.progress().problem is None
    again.close()
    assert again._process.returncode in (130, -signal.SIGINT)


def wait_for(condition, seconds=90.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.1)


def test_the_latest_context_is_planned_for(tmp_path, monkeypatch):
    begun, go, answers = threading.Event(), threading.Event(), []

    class Planner:
        folder = tmp_path

        def plan(self, context):
            begun.set()
            go.wait()
            if context[0] < 0:
                raise UserError("out of reach")
            return "plans"

    monkeypatch.setattr(planning.plan, "load", lambda folder: Planner())
    thread = planning.PlanningThread(answers.append)
    thread.ask(tmp_path, np.array([0.0]))
    begun.wait()
    for x in (1.0, 2.0, -3.0):
        thread.ask(tmp_path, np.array([x]))
    go.set()
    wait_for(lambda: not thread.busy)
    thread.close()
    assert [answer.context[0] for answer in answers] == [0.0, -3.0]
    assert [answer.problem for answer in answers] == [None, "out of reach"]


# Who is let in


def test_a_page_from_elsewhere_is_refused():
    local = guard.Guard(None)
    assert local.refuses("/", {"Host": "127.0.0.1:8080"}) is None
    assert local.refuses("/", {"Host": "localhost:8080", "Origin": "http://localhost:8080"}) is None
    assert local.refuses("/", {"Host": "[::1]:8080"}) is None
    assert local.refuses("/", {"Host": "127.0.0.1:8080", "Origin": "http://evil.example"})
    assert local.refuses("/", {"Host": "127.0.0.1:8080", "Origin": "null"})
    assert local.refuses("/", {"Host": "evil.example:8080"})
    assert local.refuses("/", {})


def test_a_network_needs_the_token():
    assert guard.guard_for("127.0.0.1").token is None
    open_ = guard.guard_for("0.0.0.0")
    host = {"Host": "10.0.0.5:8080"}
    assert open_.refuses("/", host)
    assert open_.refuses("/?token=", host)
    assert open_.refuses("/?token=wrong", host | {"Cookie": f"{guard.COOKIE}=wrong; ]["})
    assert open_.refuses(f"/?token={open_.token}", host) is None
    assert open_.refuses("/", host | {"Cookie": f"{guard.COOKIE}={open_.token}"}) is None
    assert open_.refuses("/", host | {"Cookie": f"{guard.COOKIE}={open_.token}", "Origin": "http://evil.example"})
    assert open_.refuses("/?token=ä", host)


def test_a_port_that_is_taken_or_impossible_is_one_sentence():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(UserError, match=f"port {port} is taken.*--port {port + 1}"):
            guard.bind("127.0.0.1", port)
    with pytest.raises(UserError, match="from 0 to 65535"):
        guard.bind("127.0.0.1", 10**6)
    with pytest.raises(UserError, match="cannot be listened on"):
        guard.bind("no.such.host.invalid", 8080)
