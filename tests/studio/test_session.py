"""The studio without a page: what is dragged, recorded, learned and planned."""

import json
import time

import numpy as np
import pytest

from studio_runs import row, write_run
from vigor.basics.errors import UserError
from vigor.demonstrations import dataset as demonstrations
from vigor.evaluation import policies
from vigor.learning.mixture import Mixture
from vigor.runs.run import POLICIES
from vigor.studio.session import Session
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
    session.drag(page, "start", (EYE, robot.picture.points[grip], robot.picture.points[grip]), grip=grip)
    held = robot.picture.points[grip]
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
    shared, recording = session.shared, session.recording
    session.tick(0.0)
    recording.start()
    start, end = shared.robot.picture.points[-1], targets()
    now = pull(session, [end[0]])
    assert shared.reached == (True, False)
    session.drag(0, "end", (EYE, start, end[0]), grip=shared.stage.grips[-1])
    now = pull(session, [end[1]], now)
    assert all(shared.reached)
    recording.finish()
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
    recording.delete(0)
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


def test_what_fails_is_not_saved(session, tmp_path):
    recording, planning = session.recording, session.planning
    session.tick(0.0)
    recording.start()
    pull(session, [targets()[0]])
    with pytest.raises(UserError, match=r"not saved: the movement stays \d\.\d\d m from target 2"):
        recording.finish()
    recording.start()
    recording.discard()
    assert not (tmp_path / "demonstrations").exists()
    for nothing in (recording.play, recording.delete, planning.play, planning.export):
        with pytest.raises(UserError, match="no such"):
            nothing(0)
    with pytest.raises(UserError, match="record a demonstration first"):
        session.learn("recorded", 10)
    with pytest.raises(UserError, match="iterations must be"):
        session.learn("own", float("nan"))


def test_an_endless_recording_is_ended(session):
    session.recording.start()
    for now in np.linspace(0.0, 61.0, 700):
        session.tick(now)
    assert not session.shared.robot.recorder.active
    assert "hardly moved" in session.shared.notice


def test_what_was_held_is_let_go_when_a_recording_ends(session):
    grip = session.shared.stage.grips[-1]
    session.tick(0.0)
    session.recording.start()
    now = pull(session, [targets()[0]])
    session.recording.discard()
    tip = session.shared.robot.picture.points[-1]
    session.drag(0, "update", (EYE, tip, tip + 1.0), grip=grip)
    session.tick(now + 0.1)
    np.testing.assert_allclose(session.shared.robot.picture.points[-1], [5.0, 0.0, 0.0], atol=1e-6)


def test_a_page_cannot_take_what_another_holds(session):
    robot, grip = session.shared.robot, session.shared.stage.grips[-1]
    tip = robot.picture.points[-1]
    session.tick(0.0)
    session.drag(1, "start", (EYE, tip, tip), grip=grip)
    session.drag(2, "start", (EYE, tip, tip), grip=grip)
    session.drag(2, "update", (EYE, tip, tip + np.array([0, -9, 0])), grip=grip)
    session.drag(1, "update", (EYE, tip, tip + np.array([-1, 2, 0])), grip=grip)
    session.drag(2, "end", (EYE, tip, tip), grip=grip)
    session.tick(0.1)
    session.tick(0.2)
    assert robot.picture.points[-1, 1] > 0
    session.drag(1, "end", (None, "x", np.inf), grip=grip)
    session.drag(2, "start", (EYE, tip, tip), mark=0)
    session.recording.start()
    for action in (session.new_context, session.recording.undo, lambda: session.recording.delete(0)):
        with pytest.raises(UserError, match="stop or discard"):
            action()


def test_junk_and_huge_places_move_nothing_far(session):
    for phase in ("start", "update", "update"):
        for places in ((None,) * 3, ("a", [1], {}), (EYE, EYE, [np.nan] * 3), (EYE, [0, 0, 0], [1e300] * 3)):
            session.drag(0, phase, places, mark=0)
            session.drag(0, phase, places, grip=5)
            session.tick(time.monotonic())
    assert np.abs(session.shared.context).max() <= 6.0
    assert np.all(np.isfinite(session.shared.robot.picture.points))


def test_a_target_out_of_reach_is_called_so(session):
    session.drag(0, "start", (EYE, targets()[1], targets()[1]), mark=1)
    session.drag(0, "update", (EYE, targets()[1], np.array([5.9, -2.0, 0.0])), mark=1)
    assert session.shared.notice == "Target 2 is out of the arm's reach; drag it nearer."
    session.drag(0, "update", (EYE, targets()[1], np.array([2.0, -2.0, 0.0])), mark=1)
    assert session.shared.notice == ""


def test_only_what_is_there_can_be_learned_from(session):
    assert session.learning.sources == {"own"}
    session.learning.imported = object()
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
    np.testing.assert_allclose([trace.weight for trace in again.learning.traces()], [0.5, 0.3, 0.2], rtol=1e-6)
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
