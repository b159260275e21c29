"""The studio without a page: what is dragged, recorded, learned and planned."""

import json
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest

from studio_runs import row, write_run
from vigor.basics.errors import UserError
from vigor.demonstrations import dataset as demonstrations
from vigor.demonstrations import preprocessing
from vigor.evaluation import policies
from vigor.learning.mixture import Mixture
from vigor.runs.run import POLICIES
from vigor.studio import obstacles
from vigor.studio.cards import named
from vigor.studio.session import CANDIDATES, Session
from vigor.studio.shared import Held
from vigor.tasks import load_task
from vigor.tasks.stage import load_stage

PLANAR = load_task("planar-reacher")
CONTEXT = np.array([0.5, 2.5, 0.5, -2.5])
EYE = np.array([0.0, 0.0, 10.0])


@pytest.fixture
def session(tmp_path):
    opened = Session(load_stage(PLANAR), tmp_path)
    opened.shared.context = CONTEXT
    yield opened
    opened.close()


def pull(session, places, now=0.0, page=0):
    """Drag the end effector along places, from above; returns the time."""
    robot, grip = session.shared.robot, session.shared.stage.grips[-1]
    session.drag(page, "start", (EYE, robot.picture.points[grip], robot.picture.points[grip]), Held("grip", grip))
    held = robot.picture.points[grip]
    for place in places:
        for share in np.linspace(0, 1, 60):
            now += 0.02
            session.drag(page, "update", (EYE, held, held + share * (place - held)), Held("grip", grip))
            session.tick(now)
        held = place
    for _ in range(20):
        now += 0.02
        session.tick(now)
    return now


def targets(context=CONTEXT):
    return [np.array([*context[:2], 0.0]), np.array([*context[2:], 0.0])]


def record(session):
    """A movement through both targets, not saved yet; when it ended."""
    shared = session.shared
    session.tick(0.0)
    start, end = shared.robot.picture.points[-1], targets()
    now = pull(session, [end[0]])
    assert shared.reached == (True, False)
    session.drag(0, "end", (EYE, start, end[0]), Held("grip", shared.stage.grips[-1]))
    now = pull(session, [end[1]], now)
    assert all(shared.reached)
    session.drag(0, "end", (EYE, start, end[1]), Held("grip", shared.stage.grips[-1]))
    return now


def test_a_recording_by_dragging_is_saved_and_valid(session, tmp_path):
    shared, recording = session.shared, session.recording
    now = record(session)
    recording.save()
    kept = demonstrations.load(tmp_path / "demonstrations", PLANAR)
    assert np.all(PLANAR.succeeds(PLANAR.distances(demonstrations.trajectories(PLANAR, kept), kept.contexts)))
    assert len(recording.traces()) == 1
    recording.play(0)
    assert shared.robot.playing
    for _ in range(300):
        now += 0.02
        session.tick(now)
        if all(shared.reached):
            break
    assert all(shared.reached)
    session.new_context()
    assert not shared.robot.playing  # What was played was for another context.
    session.choose_context(0)
    recording.play(0)
    recording.delete(0)
    assert not shared.robot.playing
    session.new_context()
    assert recording.words(recording.library.last) == ": demonstration deleted in another context"
    recording.undo()
    assert shared.notice == "Undone: demonstration deleted here."
    np.testing.assert_array_equal(shared.context, CONTEXT)
    assert recording.numbers == [0]
    recording.redo()
    assert recording.numbers == []
    recording.undo()
    assert recording.words(recording.library.last) == ": demonstration saved here"
    session.new_context()
    assert recording.words(recording.library.last) == ": demonstration saved in context 1"
    assert recording.numbers == []
    session.choose_context(0)
    session.choose_context(10**9)
    session.choose_context(-1)
    np.testing.assert_array_equal(shared.context, CONTEXT)


def test_a_recording_that_two_pages_save_at_once_is_saved_once(session):
    record(session)
    pages = [threading.Thread(target=session.recording.save) for _ in range(2)]
    for page in pages:
        page.start()
    for page in pages:
        page.join()
    assert session.recording.library.count(session.shared.context) == 1


def test_what_demonstrations_have_in_common_is_named_as_the_targets_are(session):
    quantities = [named(name, session.shared.labels) for name in PLANAR.feature_names[:2]]
    assert quantities == ["distance to target 1", "distance to target 2"]


def test_plans_are_rough_while_a_target_is_dragged_and_whole_once_it_is_let_go(session, monkeypatch):
    asked = []
    monkeypatch.setattr(session.learning, "watch", lambda: None)
    monkeypatch.setattr(session.learning, "progress", SimpleNamespace(can_plan=True, folder="run", iteration=1))
    monkeypatch.setattr(session.planning._thread, "ask", asked.append)
    (place, _), held = targets(), Held("mark", 0)
    session.watch()
    session.drag(0, "start", (EYE, place, place), held)
    assert [question.rough for question in asked] == [False]  # To grab changes nothing.
    with pytest.raises(UserError, match="still planning"):
        session.planning.play(0)
    for x in (0.1, 0.2):
        session.drag(0, "update", (EYE, place, place + np.array([x, 0.0, 0.0])), held)
        session.watch()
    session.drag(0, "end", (EYE, place, place), held)
    assert [question.rough for question in asked] == [False, True, True, False]
    np.testing.assert_array_equal(asked[2].context, asked[3].context)
    session.watch()
    assert len(asked) == 4


def test_what_fails_is_not_saved(session, tmp_path):
    recording, planning = session.recording, session.planning
    session.tick(0.0)
    pull(session, [targets()[0]])
    with pytest.raises(UserError, match=r"not saved: the movement stays \d\.\d m from target 2"):
        recording.save()
    assert session.shared.robot.recorder.active  # It stays to be looked at.
    recording.drop()
    assert not session.shared.robot.recorder.active
    recording.save()
    assert not (tmp_path / "demonstrations").exists()
    for nothing in (recording.play, recording.delete, planning.play, lambda rank: planning.export()):
        with pytest.raises(UserError, match="no such"):
            nothing(0)
    with pytest.raises(UserError, match="record a demonstration first"):
        session.learn("recorded", 10)
    with pytest.raises(UserError, match="iterations must be"):
        session.learn("own", float("nan"))


def test_an_endless_recording_is_let_go(session):
    robot, grip = session.shared.robot, session.shared.stage.grips[-1]
    tip = robot.picture.points[grip]
    session.tick(0.0)
    session.drag(0, "start", (EYE, tip, tip), Held("grip", grip))
    for now in np.linspace(0.0, 61.0, 700):
        session.tick(now)
    assert not robot.held
    assert "60 s at most" in session.shared.notice
    with pytest.raises(UserError, match="hardly moved"):
        session.recording.library.add(CONTEXT, robot.recorder.recording())


def test_time_is_recorded_only_while_somebody_holds_the_robot(session):
    robot, grip = session.shared.robot, session.shared.stage.grips[-1]
    session.tick(0.0)
    now = pull(session, [targets()[0]])
    session.drag(0, "end", (EYE, EYE, EYE), Held("grip", grip))
    seconds, seen = robot.recorder.seconds, len(robot.seen)
    for later in range(50):
        session.tick(now + later)
    assert (robot.recorder.seconds, len(robot.seen)) == (seconds, seen)
    pull(session, [targets()[1]], now + 50)
    assert robot.recorder.seconds > seconds + 1.0
    assert session.shared.missing is None


def test_a_film_is_paused_gone_through_and_slowed_down(session):
    session.shared.play(PLANAR.promp, np.full(PLANAR.promp.weights, 0.1), 3.0)
    film = session.shared.robot.film
    session.tick(0.0)
    session.tick(0.1)
    assert film.time == pytest.approx(0.1)
    session.play_at(0.5)
    session.tick(0.2)
    assert film.time == pytest.approx(0.15)
    session.go_to(float("nan"))
    session.go_to(99.0)
    session.tick(0.3)
    assert film.time == film.seconds == pytest.approx(PLANAR.arm.seconds, abs=0.05)
    session.toggle()
    assert (film.time, film.paused) == (0.0, False)
    assert film.beside == []
    session.stop_playing()
    assert not session.shared.robot.playing


def test_what_was_held_is_let_go_when_a_recording_ends(session):
    grip = session.shared.stage.grips[-1]
    session.tick(0.0)
    now = pull(session, [targets()[0]])
    session.recording.drop()
    tip = session.shared.robot.picture.points[-1]
    session.drag(0, "update", (EYE, tip, tip + 1.0), Held("grip", grip))
    session.tick(now + 0.1)
    np.testing.assert_allclose(session.shared.robot.picture.points[-1], [5.0, 0.0, 0.0], atol=1e-6)


def test_a_page_cannot_take_what_another_holds(session):
    robot, grip = session.shared.robot, session.shared.stage.grips[-1]
    tip = robot.picture.points[-1]
    session.tick(0.0)
    session.drag(1, "start", (EYE, tip, tip), Held("grip", grip))
    session.drag(2, "start", (EYE, tip, tip), Held("grip", grip))
    session.drag(2, "update", (EYE, tip, tip + np.array([0, -9, 0])), Held("grip", grip))
    session.drag(1, "update", (EYE, tip, tip + np.array([-1, 2, 0])), Held("grip", grip))
    session.drag(2, "end", (EYE, tip, tip), Held("grip", grip))
    session.tick(0.1)
    session.tick(0.2)
    assert robot.picture.points[-1, 1] > 0
    session.drag(1, "end", (None, "x", np.inf), Held("grip", grip))
    session.drag(2, "start", (EYE, tip, tip), Held("mark", 0))
    session.drag(2, "end", (EYE, tip, tip), Held("mark", 0))
    session.drag(2, "start", (EYE, robot.picture.points[-1], robot.picture.points[-1]), Held("grip", grip))
    for action in (session.new_context, session.recording.undo, lambda: session.recording.delete(0)):
        with pytest.raises(UserError, match="save the recording or drop it"):
            action()


def test_junk_and_huge_places_move_nothing_far(session):
    for phase in ("start", "update", "update"):
        for places in ((None,) * 3, ("a", [1], {}), (EYE, EYE, [np.nan] * 3), (EYE, [0, 0, 0], [1e300] * 3)):
            session.drag(0, phase, places, Held("mark", 0))
            session.drag(0, phase, places, Held("grip", 5))
            session.tick(time.monotonic())
    assert np.abs(session.shared.context).max() <= 6.0
    assert np.all(np.isfinite(session.shared.robot.picture.points))


def test_a_target_out_of_reach_is_called_so(session):
    session.drag(0, "start", (EYE, targets()[1], targets()[1]), Held("mark", 1))
    session.drag(0, "update", (EYE, targets()[1], np.array([5.9, -2.0, 0.0])), Held("mark", 1))
    assert session.shared.notice == "Target 2 is out of the arm's reach; drag it nearer."
    session.drag(0, "update", (EYE, targets()[1], np.array([2.0, -2.0, 0.0])), Held("mark", 1))
    assert session.shared.notice == ""


def test_obstacles_are_put_aside_moved_sized_and_removed(session):
    planning, shared = session.planning, session.shared
    planning.add_obstacle("ball")
    planning.add_obstacle("box")
    ball, box = shared.obstacles
    body = np.linspace(0.0, 5.0, 200)[:, None] * (1.0, 0.0, 0.0)  # Where the arm starts: straight along x.
    assert np.linalg.norm(body - ball.centre, axis=1).min() > ball.radius
    middle = np.array(box.centre)
    session.drag(0, "start", (EYE, middle, middle), Held("obstacle", 1))
    session.drag(0, "update", (EYE, middle, np.array([-2.0, 1.0, 0.0])), Held("obstacle", 1))
    session.drag(0, "end", (EYE, middle, middle), Held("obstacle", 1))
    np.testing.assert_allclose(shared.obstacles[1].centre, [-2.0, 1.0, 0.0], atol=1e-6)
    knob = np.add(ball.centre, (ball.radius, 0.0, 0.0))
    session.drag(0, "start", (EYE, knob, knob), Held("size", 0))
    session.drag(0, "update", (EYE, knob, knob + np.array([0.3, 0.0, 0.0])), Held("size", 0))
    session.drag(0, "update", (EYE, knob, [np.nan] * 3), Held("size", 0))
    session.drag(0, "end", (EYE, knob, knob), Held("size", 0))
    assert shared.obstacles[0].radius == pytest.approx(ball.radius + 0.3)
    assert shared.obstacles[0].centre == ball.centre
    session.drag(0, "start", (EYE, knob, knob), Held("size", 7))
    assert shared.drag is None
    planning.remove_obstacle()
    assert len(shared.obstacles) == 1
    for _ in range(obstacles.MOST - 1):
        planning.add_obstacle("ball")
    with pytest.raises(UserError, match="as many as the studio has"):
        planning.add_obstacle("ball")


def test_before_there_is_a_run_a_context_far_from_all_shown_is_suggested(session, monkeypatch):
    session.suggest()
    session.recording.library.current = SimpleNamespace(contexts=np.array([CONTEXT]))
    drawn = iter([CONTEXT] * (CANDIDATES - 1) + [-CONTEXT])
    monkeypatch.setattr("vigor.studio.session.draw_context", lambda stage, rng: next(drawn))
    session.suggest()
    np.testing.assert_array_equal(session.shared.context, -CONTEXT)
    session.recording.library.current = None


def test_what_was_imported_can_be_looked_at_and_kept(tmp_path):
    given = PLANAR.source.generate(np.random.default_rng(0), CONTEXT, 2)
    weights = preprocessing.fit(PLANAR, given)
    imported = demonstrations.Demonstrations(PLANAR.name, CONTEXT[None], np.zeros(2, int), weights, None, "test")
    session = Session(load_stage(PLANAR), tmp_path, imported)
    session.recording.look(1)
    np.testing.assert_array_equal(session.shared.context, CONTEXT)
    assert session.shared.robot.playing
    assert session.recording.numbers == []
    session.recording.keep(1)
    kept = demonstrations.load(tmp_path / "demonstrations", PLANAR)
    np.testing.assert_array_equal(kept.contexts, [CONTEXT])
    for number in (-1, 2):
        for action in (session.recording.look, session.recording.keep):
            with pytest.raises(UserError, match="no such demonstration was imported"):
                action(number)
    session.close()


def test_only_what_is_there_can_be_learned_from(session):
    assert session.learning.sources == {"own"}
    session.recording.imported = object()
    assert session.learning.sources == {"own", "imported"}


# A run


def test_components_of_the_context_are_shown_while_they_are_learned(session, tmp_path):
    folder = tmp_path / "runs" / "1"
    write_run(folder, json.dumps(row(10)))
    means = np.random.default_rng(0).normal(size=(1, 3, PLANAR.promp.weights))
    scales = np.tile(np.eye(PLANAR.promp.weights), (1, 3, 1, 1))
    mixtures = Mixture(np.log([[0.5, 0.3, 0.2]]), means, scales)
    policies.Policies(CONTEXT[None], 0, mixtures).save(folder / POLICIES)
    session.close()
    again = Session(load_stage(PLANAR), tmp_path)
    again.shared.context = CONTEXT
    again.watch()
    assert again.learning.progress.iteration == 10
    assert [trace.colour for trace in again.learning.traces()] == [0, 1, 2]
    again.new_context()
    assert again.learning.traces() == ()
    again.close()


def test_damaged_policies_are_a_notice(tmp_path):
    write_run(tmp_path / "runs" / "1", json.dumps(row(10)))
    (tmp_path / "runs" / "1" / POLICIES).write_bytes(b"junk")
    session = Session(load_stage(PLANAR), tmp_path)
    session.watch()
    assert "policies.npz is damaged" in session.shared.notice
    assert (session.learning.progress.iteration, session.learning.traces()) == (10, ())
    session.close()
