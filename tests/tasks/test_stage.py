"""Stages: the arms and the box pusher in live physics follow a hand."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from vigor.tasks import load_task
from vigor.tasks.arms import towards
from vigor.tasks.box_pusher import geometry
from vigor.tasks.stage import Mark, load_stage, on_plane

PLANAR = load_task("planar-reacher")


@pytest.mark.parametrize("name", ["planar-reacher", "panda-reacher"])
def test_an_arm_follows_within_its_limits(name):
    task = load_task(name)
    arm = load_stage(task)
    aim = arm.picture().points[-1] + np.array([-0.2, 0.15, 0.0 if arm.view.flat else 0.1])
    before = arm.picture().pose
    for _ in range(100):
        arm.advance(0.02, arm.grips[-1], aim, True)
        assert np.abs(arm.picture().pose - before).max() <= 6.0 * 0.02 + 1e-6
        before = arm.picture().pose
    assert np.linalg.norm(arm.picture().points[-1] - aim) < 0.005 * arm.view.camera[2]
    arm.advance(0.02, arm.grips[-1], np.array(arm.view.high), True)
    assert np.all(np.isfinite(arm.picture().pose))
    arm.reset()
    np.testing.assert_array_equal(arm.picture().pose, task.promp.start or np.zeros(5))


def test_a_robot_has_links_to_look_at_without_a_stage_of_its_own():
    task = load_task("panda-reacher")
    usual = load_stage(replace(task, display=replace(task.display, stage=None)))
    assert len(usual.surfaces) == len(usual.picture().places) == len(load_stage(task).surfaces) > 0


def test_an_elbow_can_be_pulled():
    arm = load_stage(PLANAR)
    aim = arm.picture().points[2] + np.array([-0.3, 0.8, 0.0])
    for _ in range(100):
        arm.advance(0.02, 2, aim, True)
    assert np.linalg.norm(arm.picture().points[2] - aim) < 0.05
    assert arm.picture().points[-1, 1] > 0.5


def test_a_pointer_on_a_target_means_its_depth():
    eye = np.array([0.0, -2.0, 0.0])
    marks = [Mark("one", np.array([0.3, 0.5, 0.0]), 0.05), Mark("two", np.array([-0.3, -0.5, 0.0]), 0.05)]
    now = np.array([0.0, 0.2, 0.0])
    for mark in marks:
        ray = (mark.position - eye) / np.linalg.norm(mark.position - eye)
        np.testing.assert_allclose(towards(eye, eye + ray, now, marks), mark.position, atol=0.05)
    np.testing.assert_allclose(towards(eye, eye + np.array([0.0, 1.0, 0.0]), now, marks), now, atol=1e-3)


def test_the_rod_is_placed_and_then_pushes():
    pusher = load_stage(load_task("box-pusher"))
    pusher.advance(0.02, -2, np.array([0.55, 0.0, 0.0]), False)
    np.testing.assert_allclose(pusher.picture().pose, [0.55, 0.0])
    still = pusher.picture().bodies[0].pose
    np.testing.assert_allclose(still, [*geometry.START, 0.0])
    for _ in range(100):
        pusher.advance(0.02, -2, np.array([0.68, 0.0, 0.0]), True)
    pushed = pusher.picture().bodies[0].pose
    assert pushed[0] > still[0] + 0.03
    context, layout = np.array([*(pushed - still)[:2], pushed[2]]), pusher.layout
    assert all(layout.reached(context, [pusher.picture()]))
    assert not any(layout.reached(context + 0.05, [pusher.picture()]))
    assert layout.missing(context + 0.05, [pusher.picture()]).words == "7.1 cm and 3 degrees off the goal"
    turned = layout.dragged(context, 1, layout.marks(np.array([*context[:2], 0.4]))[1].position)
    np.testing.assert_allclose(turned, [*context[:2], 0.4], atol=1e-9)
    far = layout.dragged(context, 0, np.array([1e3, -1e3, 0.0]))
    assert np.abs(far[:2]).max() <= 0.25
    pusher.reset()
    np.testing.assert_allclose(pusher.picture().bodies[0].pose, still, atol=1e-6)


def test_the_box_is_an_open_body_and_its_goal_as_large():
    pusher = load_stage(load_task("box-pusher"))
    (body,) = pusher.picture().bodies
    corners = [np.array([np.subtract(block.centre, half), np.add(block.centre, half)])
               for block in body.blocks for half in [np.array(block.size) / 2]]  # fmt: skip
    low, high = np.min([corner[0] for corner in corners], axis=0), np.max([corner[1] for corner in corners], axis=0)
    np.testing.assert_allclose((low, high), ((-0.08, -0.12, 0.0), (0.08, 0.12, geometry.HEIGHT)))
    inside = [np.all((corner[0] < (0, 0, 0.02)) & (corner[1] > (0, 0, 0.02))) for corner in corners]
    assert not any(inside)
    goal, knob = pusher.layout.marks(np.array([0.1, 0.0, 0.3]))
    assert (goal.size, goal.angle, knob.size, knob.radius) == (geometry.SIZE, 0.3, None, 0.0)


def test_rays_meet_planes():
    eye = np.array([0.0, 0.0, 2.0])
    np.testing.assert_allclose(on_plane(eye, np.array([0.5, 0.0, 1.0]), 0.0), [1.0, 0.0, 0.0])
    for beside in (np.array([1.0, 1.0, 2.0]), np.array([0.0, 1.0, 3.0])):  # Level, and upwards.
        np.testing.assert_array_equal(on_plane(eye, beside, 0.0), beside)


def test_a_task_without_a_stage_gets_one():
    """A point among the regions of example 01: those that contexts move can be dragged, the goal cannot."""
    task = load_task(f"{Path(__file__).parents[2] / 'examples' / '01_own_task.py'}:TASK")
    stage = load_stage(task)
    context = np.array([0.4, 0.1, 1.0, 0.0])
    gate, obstacle, goal = stage.layout.marks(context)
    assert (gate.moves, obstacle.moves, goal.moves) == (True, True, False)
    np.testing.assert_allclose(stage.layout.dragged(context, 1, np.array([0.9, 0.2, 0.0])), [0.4, 0.1, 0.9, 0.2])
    np.testing.assert_allclose(stage.layout.dragged(context, 2, np.array([9.0, 9.0, 0.0])), context)
    seen = [stage.picture()]
    for aim in (gate.position, np.array([1.0, 0.4, 0.0]), goal.position):
        for _ in range(60):
            stage.advance(0.02, stage.grips[-1], aim, True)
            seen.append(stage.picture())
        if aim is gate.position:
            assert "away from solving it" in stage.layout.missing(context, seen).words
    assert stage.layout.missing(context, seen) is None
    assert stage.view.from_above


def test_paths_of_the_rod_are_drawn_above_the_box():
    pusher = load_stage(load_task("box-pusher"))
    path = pusher.lift(np.zeros((3, 2)))
    top = max(block.centre[2] + block.size[2] / 2 for block in pusher.picture().bodies[0].blocks)
    assert np.all(path[:, 2] > top)
