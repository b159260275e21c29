"""The studio without a page: what is recorded and kept, what is let in, how robots follow a pointer."""

import json
import signal
import socket
import threading
import time
from functools import cache

import numpy as np
import pytest

from vigor import demonstrations, files, recordings
from vigor.errors import UserError
from vigor.promp import rollout
from vigor.studio import fitting, guard, incoming, learning, planning, recording, stage
from vigor.studio.arm import towards
from vigor.studio.library import Library
from vigor.studio.recording import RATE, Recorder
from vigor.studio.session import Session
from vigor.tasks import load_task
from vigor.tasks.box_pusher import geometry

PLANAR = load_task("planar-reacher")
CONTEXT = np.array([0.5, 2.5, 0.5, -2.5])
EYE = np.array([0.0, 0.0, 10.0])


# What comes in


@pytest.mark.parametrize(
    "junk", [None, "x", [1, 2], [1, 2, "a"], [1, 2, np.nan], [1, 2, np.inf], [[1, 2, 3]], {}, 10**400]
)
def test_what_is_no_place_is_left_out(junk):
    assert incoming.place(junk) is None


def test_values_are_drawn_between_their_bounds():
    np.testing.assert_array_equal(incoming.vector([-1e300, 0.5, 1e300], (0, 0, 0), (1, 1, 1)), [0, 0.5, 1])
    assert incoming.whole(1e300, 10, 20) == 20
    assert incoming.whole(-3, 10, 20) == 10
    assert [incoming.whole(junk, 0, 9) for junk in (None, "7", np.nan, np.inf, True, [1])] == [None] * 6


# Recording


def test_real_time_becomes_even_steps():
    times = np.array([0.0, 0.05, 0.3, 1.0])
    even = recording.evenly(times, np.stack([times, 2 * times], axis=1))
    np.testing.assert_allclose(even[:, 0], np.arange(RATE + 1) / RATE, atol=1e-9)
    np.testing.assert_allclose(even[:, 1], 2 * even[:, 0])


def test_a_recording_ends_with_its_movement():
    recorder = Recorder()
    recorder.add(0.0, np.zeros(1))
    recorder.start()
    for time_ in np.arange(0.0, 5.0, 0.01):
        recorder.add(time_, np.array([min(time_, 2.0)]))
    made = recorder.finish()
    assert 2.0 * RATE - 3 < len(made) < 2.0 * RATE + 3
    assert not recorder.active


def test_nothing_and_rest_are_refused_and_endless_recordings_cut():
    recorder = Recorder()
    recorder.start()
    with pytest.raises(UserError, match="nothing was recorded"):
        recorder.finish()
    recorder.start()
    for time_ in range(100):
        recorder.add(time_ / 10, np.ones(2))
    with pytest.raises(UserError, match="hardly moved"):
        recorder.finish()
    recorder.start()
    for time_ in range(1000):
        recorder.add(float(time_), np.array([time_]))
    assert recorder.seconds <= recording.LONGEST


# The library


@cache
def generated():
    return recordings.generate(PLANAR, seed=0, contexts=1, per_context=3, spare=0)


def solving():
    """A context of the planar reacher, and three recordings that solve it."""
    return generated().contexts[0], *generated().recordings


def test_each_demonstration_is_on_disk_at_once(tmp_path):
    library = Library(PLANAR, tmp_path / "demos")
    context, *made = solving()
    for number, movement in enumerate(made, start=1):
        library.add(context, movement)
        assert len(demonstrations.load(tmp_path / "demos", PLANAR).weights) == number
    other = context + 0.01
    with pytest.raises(UserError, match="short of solving"):
        library.add(context + 3.0, made[0])
    library.add(other, made[0])
    found = demonstrations.load(tmp_path / "demos", PLANAR)
    assert found.context_of.tolist() == [0, 0, 0, 1]
    assert (library.count(context), library.count(other), library.count(other + 1)) == (3, 1, 0)
    assert len(list((tmp_path / "demos").iterdir())) == 2
    assert Library(PLANAR, tmp_path / "demos").current.context_of.tolist() == [0, 0, 0, 1]


def test_deletions_and_additions_are_undone(tmp_path):
    library = Library(PLANAR, tmp_path)
    with pytest.raises(UserError, match="nothing to undo"):
        library.undo()
    context, movement, *_ = solving()
    library.add(context, movement)
    kept = library.current
    library.delete(0)
    assert library.current is None
    assert Library(PLANAR, tmp_path).current is None
    with pytest.raises(UserError, match="no such demonstration"):
        library.delete(0)
    library.undo()
    np.testing.assert_array_equal(demonstrations.load(tmp_path, PLANAR).weights, kept.weights)
    library.undo()
    assert library.current is None
    assert not library.can_undo


@pytest.mark.parametrize("writer", ["write_arrays", "write_json"])
def test_a_death_while_saving_leaves_what_was_there(tmp_path, monkeypatch, writer):
    library = Library(PLANAR, tmp_path)
    context, first, second, third = solving()
    library.add(context, first)

    def die(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(files, writer, die)
        with pytest.raises(KeyboardInterrupt):
            library.add(context, second)
    assert len(demonstrations.load(tmp_path, PLANAR).weights) == 1
    again = Library(PLANAR, tmp_path)
    again.add(context, third)
    assert len(demonstrations.load(tmp_path, PLANAR).weights) == 2
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("name", ["../other.npz", "/etc/passwd", "x.txt", 3, ""])
def test_a_header_names_a_file_beside_it(tmp_path, name):
    Library(PLANAR, tmp_path).add(*solving()[:2])
    header = tmp_path / demonstrations.HEADER
    header.write_text(json.dumps({**json.loads(header.read_text()), "arrays": name}))
    with pytest.raises(UserError, match=r"must name an \.npz file beside it"):
        demonstrations.load(tmp_path)


def test_a_primitive_is_moved_to_where_its_recording_was():
    context, movement, *_ = solving()
    plain = recordings.fit(PLANAR, [movement])
    moved = context + np.array([0.6, 0.6, 0.0, 0.0])
    while recordings.distances(PLANAR, plain, moved[None])[0] == 0:
        moved = moved + np.array([0.1, 0.1, 0.0, 0.0])
    weights, away = fitting.fit(PLANAR, movement, moved)
    assert away == 0
    before, after = (np.asarray(rollout(PLANAR.promp, part.astype(np.float32))) for part in (plain, weights))
    assert np.sqrt(np.mean((before - after) ** 2)) < 0.3


# Robots


@pytest.mark.parametrize("name", ["planar-reacher", "panda-reacher"])
def test_an_arm_follows_within_its_limits(name):
    task = load_task(name)
    arm = stage.load(task)
    aim = arm.picture().points[-1] + np.array([-0.2, 0.15, 0.0 if arm.view.flat else 0.1])
    before = arm.pose
    for _ in range(100):
        arm.advance(0.02, arm.grips[-1], aim, True)
        assert np.abs(arm.pose - before).max() <= 6.0 * 0.02 + 1e-6
        before = arm.pose
    assert np.linalg.norm(arm.picture().points[-1] - aim) < 0.005 * arm.view.camera[2]
    arm.advance(0.02, arm.grips[-1], np.array(arm.view.high), True)
    assert np.all(np.isfinite(arm.pose))
    arm.reset()
    np.testing.assert_array_equal(arm.pose, task.promp.start or np.zeros(5))


def test_an_elbow_can_be_pulled():
    arm = stage.load(PLANAR)
    aim = arm.picture().points[2] + np.array([-0.3, 0.8, 0.0])
    for _ in range(100):
        arm.advance(0.02, 2, aim, True)
    assert np.linalg.norm(arm.picture().points[2] - aim) < 0.05
    assert arm.picture().points[-1, 1] > 0.5


def test_a_pointer_on_a_target_means_its_depth():
    eye = np.array([0.0, -2.0, 0.0])
    marks = [stage.Mark("one", np.array([0.3, 0.5, 0.0]), 0.05), stage.Mark("two", np.array([-0.3, -0.5, 0.0]), 0.05)]
    now = np.array([0.0, 0.2, 0.0])
    for mark in marks:
        ray = (mark.position - eye) / np.linalg.norm(mark.position - eye)
        np.testing.assert_allclose(towards(eye, eye + ray, now, marks), mark.position, atol=0.05)
    np.testing.assert_allclose(towards(eye, eye + np.array([0.0, 1.0, 0.0]), now, marks), now, atol=1e-3)


def test_the_rod_is_placed_and_then_pushes():
    pusher = stage.load(load_task("box-pusher"))
    pusher.advance(0.02, -2, np.array([0.55, 0.0, 0.0]), False)
    np.testing.assert_allclose(pusher.pose, [0.55, 0.0])
    still = pusher.picture().box
    np.testing.assert_allclose(still, [*geometry.START, 0.0])
    for _ in range(100):
        pusher.advance(0.02, -2, np.array([0.68, 0.0, 0.0]), True)
    pushed = pusher.picture().box
    assert pushed[0] > still[0] + 0.03
    path, context = np.zeros((1, 3)), np.array([*(pushed - still)[:2], pushed[2]])
    assert all(pusher.reached(context, path, pusher.picture()))
    assert not any(pusher.reached(context + 0.05, path, pusher.picture()))
    turned = pusher.dragged(context, 1, pusher.marks(np.array([*context[:2], 0.4]))[1].position)
    np.testing.assert_allclose(turned, [*context[:2], 0.4], atol=1e-9)
    far = pusher.dragged(context, 0, np.array([1e3, -1e3, 0.0]))
    assert np.abs(far[:2]).max() <= 0.25
    pusher.reset()
    np.testing.assert_allclose(pusher.picture().box, still, atol=1e-6)


def test_other_tasks_are_refused():
    from conftest import POINT

    with pytest.raises(UserError, match="the studio shows"):
        stage.load(POINT)


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
