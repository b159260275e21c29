"""The studio without a page: sessions, learning, planning, and who is let in."""

import dataclasses
import json
import signal
import socket
import sys
import threading
import time

import numpy as np
import pytest

from helpers import solving
from vigor.basics import files
from vigor.basics.errors import UserError
from vigor.demonstrations import dataset as demonstrations
from vigor.runs.run import CONFIG, METRICS, POLICIES, Setup
from vigor.studio import app, guard, learning, planning
from vigor.studio.library import Library
from vigor.studio.session import Session
from vigor.tasks import load_task

PLANAR = load_task("planar-reacher")
CONTEXT = np.array([0.5, 2.5, 0.5, -2.5])
EYE = np.array([0.0, 0.0, 10.0])
PYTHON = sys.executable


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
    for action in (session.new_context, session.undo, lambda: session.delete_demonstration(0)):
        with pytest.raises(UserError, match="stop or discard"):
            action()


def test_junk_and_huge_places_move_nothing_far(session):
    for phase in ("start", "update", "update"):
        for places in ((None,) * 3, ("a", [1], {}), (EYE, EYE, [np.nan] * 3), (EYE, [0, 0, 0], [1e300] * 3)):
            session.drag(0, phase, places, mark=0)
            session.drag(0, phase, places, grip=5)
            session.tick(time.monotonic())
    assert np.abs(session.context).max() <= 6.0
    assert np.all(np.isfinite(session.picture.points))


# Learning and planning


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


def pretend(folder, monkeypatch, program):
    """Let learners run a program of one line instead of training."""
    script = folder / "trainer"
    script.write_text(f"#!{PYTHON}\nimport sys, time\n{program}\n")
    script.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(script))


def test_a_run_outlives_its_studio_and_is_found(tmp_path, monkeypatch):
    pretend(tmp_path, monkeypatch, "time.sleep(60)")
    killed = learning.Learner("planar-reacher", tmp_path / "runs")
    killed.start(None, CONTEXT[None], 10)
    again = learning.Learner("planar-reacher", tmp_path / "runs")
    assert (again.progress().running, again.progress().stopping) == (True, False)
    for action in (again.resume, lambda: again.start(None, CONTEXT[None], 10)):
        with pytest.raises(UserError, match="under way"):
            action()
    again.stop()
    again.stop()
    assert again.progress().stopping or not again.running
    wait_for(lambda: not again.running, 10.0)
    assert not again.progress().stopping
    killed.close()
    pid = tmp_path / "runs" / "1.pid"
    pid.write_text("1")  # Whoever has this number now is left alone.
    monkeypatch.setattr(learning.os, "kill", lambda *_: pytest.fail("a stranger was sent a signal"))
    again.close()


def test_a_resumed_run_adds_to_its_log(tmp_path, monkeypatch):
    write_run(tmp_path / "1", json.dumps(row(10)))
    (tmp_path / "1.log").write_text("vigor: before\n")
    learner = learning.Learner("planar-reacher", tmp_path)
    for program, said in (("sys.exit(3)", "it ended with code 3"), ("print('vigor: now'); sys.exit(3)", "now")):
        pretend(tmp_path, monkeypatch, program)
        learner.resume()
        learner._process.wait()
        assert learner.progress().problem == said
    assert (tmp_path / "1.log").read_text() == "vigor: before\nvigor: now\n"


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


def test_planning_goes_on_after_any_error(tmp_path, monkeypatch, capsys):
    answers = []

    class Planner:
        folder = tmp_path

        def plan(self, context):
            if context[0] < 0:
                raise RuntimeError("out of memory\nand a page of details")
            return "plans"

    monkeypatch.setattr(planning.plan, "load", lambda folder: Planner())
    thread = planning.PlanningThread(answers.append)
    for x in (-1.0, 1.0):
        thread.ask(tmp_path, np.array([x]))
        wait_for(lambda: not thread.busy, 10.0)
    thread.close()
    assert [(answer.plans, answer.problem) for answer in answers] == [
        (None, "RuntimeError: out of memory"),
        ("plans", None),
    ]
    assert "in plan\n" in capsys.readouterr().err  # Where it came from is in the terminal.


# Looking at a run


def row(iteration, **other):
    return {"iteration": iteration, "train": {"success_mixture": 0.5}, "test": {}} | other


def write_run(folder, *lines):
    """A run's folder with these evaluations."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / CONFIG).write_text(json.dumps({"config": {"iterations": 30}}))
    (folder / METRICS).write_text("".join(f"{line}\n" for line in lines))


@pytest.mark.parametrize(
    "damaged",
    ["{", "[]", "7", "{}", json.dumps(row("x")), json.dumps(row(20, train={})), json.dumps(row(20, test={"a": 1}))],
)
def test_a_damaged_evaluation_is_skipped(tmp_path, damaged):
    write_run(tmp_path / "1", json.dumps(row(10)), damaged)
    progress = learning.Learner("planar-reacher", tmp_path).progress()
    assert (progress.iteration, progress.iterations, progress.metrics) == (10, 30, (row(10),))


def test_damaged_policies_are_a_notice(tmp_path):
    write_run(tmp_path / "runs" / "1", json.dumps(row(10)))
    (tmp_path / "runs" / "1" / POLICIES).write_bytes(b"junk")
    session = Session(PLANAR, tmp_path)
    session.watch()
    assert "policies.npz is damaged" in session.notice
    assert (session.progress.iteration, session.learned) == (10, ())
    session.close()


# The folder


def test_runs_of_another_task_are_refused(tmp_path):
    for number, task in ((9, "planar-reacher"), (10, "box-pusher")):
        files.write_json(tmp_path / "runs" / str(number) / CONFIG, dataclasses.asdict(Setup(task)))
    with pytest.raises(UserError, match="holds runs of box-pusher, not of planar-reacher"):
        Session(PLANAR, tmp_path)


def test_a_folder_that_cannot_be_written_to_is_refused(tmp_path):
    (tmp_path / "file").touch()
    for out in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(UserError, match=r"file.* cannot be written to: .*; choose another --out"):
            app.serve("planar-reacher", out, None, "127.0.0.1", 0)


def test_a_folder_has_one_studio(tmp_path):
    with app._claim(tmp_path), pytest.raises(UserError, match="another studio is open"):
        app.serve("planar-reacher", tmp_path, None, "127.0.0.1", 0)
    app._claim(tmp_path).close()


# The page


@pytest.mark.parametrize("part", ["watch", "draw_traces", "refresh"])
def test_the_page_is_refreshed_after_any_error(monkeypatch, part):
    monkeypatch.setattr(app, "WATCH", 0.0)
    ended, done = threading.Event(), []

    class Everything:
        """Session, scene and panel in one; the first call of a part fails."""

        notice, changes = "", 0

        def __getattr__(self, name):
            def act():
                if name == "watch":
                    self.changes += 1
                done.append(name)
                if done.count("refresh") == 3:
                    ended.set()
                if name == part and done.count(name) == 1:
                    raise KeyError("lost")

            return act

    everything = Everything()
    app._watch(ended, everything, everything, everything)
    assert everything.notice == "KeyError: 'lost'"
    assert done == ["watch", "draw_traces", "refresh"] * 3


@pytest.mark.slow
def test_a_box_pusher_is_learned_from_its_own_demonstrations(tmp_path):
    session = Session(load_task("box-pusher"), tmp_path)
    session.learn("own", 10)
    try:
        wait_for(lambda: not session.learner.running, 300.0)
        session.watch()
        assert (session.progress.problem, session.progress.finished) == (None, True)
        assert session.learned  # What is on the screen is learned for.
    finally:
        session.close()


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
