"""Obstacles: put where there is room, moved and sized."""

import numpy as np
import pytest

from vigor.motion.shapes import Box, Sphere
from vigor.planning import constraints, ranking
from vigor.studio.obstacles import LARGEST, SMALLEST, body, knob, moved, new, sized
from vigor.tasks import load_task
from vigor.tasks.reachers import panda_reacher
from vigor.tasks.stage import Mark, Picture, View, load_stage

FLAT = View((0, 0, 10), (0, 0, 0), (0, 1, 0), 0.8, True, 0.1, 0.1, (-6, -6, 0), (6, 6, 0))
SPACE = View((1, 1, 1), (0, 0, 0), (0, 0, 1), 0.8, False, 0.1, 0.1, (-6, -6, 0), (6, 6, 6))


def test_a_new_one_is_where_there_is_most_room():
    where = np.array([[1.0, 0.1, 0.0], [0.0, 3.0, 0.0], [0.0, -2.0, 0.0]])
    mark = Mark("target", np.array([0.0, 3.2, 0.0]), 0.1)
    for points in (np.zeros((1, 3)), np.array([[0.0, 0.0, 0.0], [2.0, 0.0, 0.0]])):
        for kind, shape in (("ball", Sphere), ("box", Box)):
            robot = body(Picture(points, np.zeros(1)), ())
            found = new(kind, where, robot, [mark], FLAT)
            assert isinstance(found, shape)
            np.testing.assert_allclose(found.centre, where[2])


def test_the_knob_follows_a_hand():
    for view in (FLAT, SPACE):
        for shape in (Sphere((1.0, 2.0, 0.0), 0.5), Box((0.0, 1.0, -1.0), (2.0, 3.0, 1.0))):
            aim = knob(shape) + np.array([0.2, 0.0, 0.0])
            np.testing.assert_allclose(knob(sized(shape, aim, view)), aim)
            np.testing.assert_allclose(sized(shape, aim, view).centre, shape.centre)
            np.testing.assert_allclose(moved(shape, aim).centre, aim)
            np.testing.assert_allclose(knob(moved(shape, aim)) - aim, knob(shape) - shape.centre)


def test_no_hand_makes_one_vanish_or_cover_everything():
    ball = Sphere((0.0, 0.0, 0.0), 0.5)
    assert sized(ball, np.zeros(3), SPACE).radius == SMALLEST * SPACE.ball
    assert sized(ball, np.full(3, 99.0), SPACE).radius == LARGEST * SPACE.ball
    flat = sized(Box((-1.0,) * 3, (1.0,) * 3), np.zeros(3), FLAT)
    assert flat.high[2] == 1.0  # It still meets the plane of the arm.


@pytest.mark.parametrize("kind", ["ball", "box"])
def test_a_new_one_is_clear_of_the_whole_arm_where_it_starts(kind):
    task = load_task("panda-reacher")
    stage = load_stage(task)
    picture, marks = stage.picture(), stage.layout.marks(np.array(panda_reacher.CENTRES))
    robot, tip = body(picture, stage.surfaces), picture.points[-1]
    for seed in range(8):
        path = tip + np.linspace(0, 1, 50)[:, None] * np.random.default_rng(seed).normal(scale=0.5, size=3)
        shape = new(kind, path, robot, marks, stage.view)
        assert ranking._blocked(task, constraints.of_task(task, (shape,))) is None
