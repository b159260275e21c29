"""A scene in the studio: it is recorded from nothing, and its recordings decide it."""

import numpy as np
import pytest

from helpers import EXAMPLE
from vigor.demonstrations import dataset
from vigor.studio.session import Session
from vigor.tasks import load_task
from vigor.tasks.stage import load_stage

SCENE = EXAMPLE.with_name("08_two_targets.toml")


def test_a_scene_is_recorded_from_nothing(tmp_path):
    task = load_task(str(SCENE))
    stage = load_stage(task)
    assert stage.surfaces
    session = Session(stage, tmp_path)
    shared, robot, grip = session.shared, session.shared.robot, stage.grips[-1]
    now = 0.0
    session.tick(now)
    robot.grab(grip)
    for mark in stage.layout.marks(shared.context):
        begin = robot.picture.points[grip]
        for share in np.linspace(0.0, 1.0, 60):
            robot.pull(grip, begin + share * (mark.position - begin))
            now += 0.02
            session.tick(now)
        for _ in range(25):
            now += 0.02
            session.tick(now)
    assert shared.missing is None
    session.recording.save()
    assert "Saved: 1" in shared.notice
    assert session.recording.library.settled.settle is None
    assert len(session.recording.traces()) == 1
    session.recording.play(0)
    seconds = session.recording.library.settled.arm.seconds  # As long as it was recorded.
    assert robot.film.seconds == pytest.approx(seconds)
    assert seconds != pytest.approx(task.arm.seconds)
    session.close()
    again = Session(stage, tmp_path)
    assert len(again.recording.traces()) == 1
    np.testing.assert_array_equal(again.shared.context, dataset.load(tmp_path / "demonstrations", task).contexts[0])
    again.close()


def test_objects_are_turned_and_tools_too(tmp_path):
    stage = load_stage(load_task(str(EXAMPLE.with_name("07_into_a_fixture.toml"))))
    session = Session(stage, tmp_path)
    before = session.shared.context
    session.turn("junk", 0)
    np.testing.assert_array_equal(session.shared.context, before)
    session.turn(np.array([np.cos(0.2), np.sin(0.2), 0.0, 0.0]), 0)
    np.testing.assert_allclose(np.abs(session.shared.context[3:]), [np.sin(0.2), 0.0, 0.0, np.cos(0.2)], atol=1e-6)
    np.testing.assert_array_equal(session.shared.context[:3], before[:3])
    session.stop_turning()
    held = session.shared.robot.picture.points[-1]
    turned = np.array([0.0, np.cos(0.15), np.sin(0.15), 0.0])  # Down, and turned about the upright axis.
    session.tick(0.0)
    for now in np.arange(0.0, 2.0, 0.02):
        session.turn(turned, None)
        session.tick(now)
    session.stop_turning()
    picture = session.shared.robot.picture
    np.testing.assert_allclose(picture.points[-1], held, atol=0.01)
    np.testing.assert_allclose(picture.tool[:, 0], [np.cos(0.3), np.sin(0.3), 0.0], atol=0.1)
    assert session.shared.robot.recorder.active
    session.close()
