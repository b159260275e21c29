"""Shapes: they check themselves, and those in space are cut by the plane."""

import math

import numpy as np
import pytest

from vigor.basics.errors import UserError
from vigor.motion.shapes import Box, Capsule, Plane, Sphere, in_plane, parse


def test_any_sequence_of_numbers_serves():
    assert Sphere(np.array([3, -2]), 0.25) == Sphere((3.0, -2.0), 0.25)
    assert Box([0, 0, 0], [1, 2, 3]) == Box((0.0, 0.0, 0.0), (1.0, 2.0, 3.0))
    assert hash(Sphere([1, 2], 1)) == hash(Sphere((1.0, 2.0), 1.0))
    assert Box((0, 0), (1, 3)).centre == (0.5, 1.5)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Sphere((0.0, 0.0), 0.0), "positive radius"),
        (lambda: Sphere((0.0, 0.0), np.nan), "positive radius"),
        (lambda: Sphere((0.0, 0.0), 1e300), "positive radius"),
        (lambda: Sphere((0.0, np.nan), 1.0), "2 or 3 finite coordinates"),
        (lambda: Sphere((0.0, 1e300), 1.0), "2 or 3 finite coordinates"),
        (lambda: Sphere((0.0,), 1.0), "2 or 3 finite coordinates"),
        (lambda: Box((0.0, 0.0), (1.0, 0.0)), "lower corner first"),
        (lambda: Box((0.0, 0.0), (1.0, 1.0, 1.0)), "two corners of 2 or 3"),
        (lambda: Box((0.0, -np.inf), (1.0, 1.0)), "two corners of 2 or 3"),
        (lambda: Capsule((0.0, 0.0), (1.0, 0.0), 0.1), "two ends of 3"),
        (lambda: Capsule((0.0, 0.0, 0.0), (1.0, 0.0, np.nan), 0.1), "two ends of 3"),
        (lambda: Capsule((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), 0.0), "positive radius"),
        (lambda: Plane((0.0, 0.0, 0.0)), "not all 0"),
        (lambda: Plane((0.0, 1.0)), "normal of 3"),
        (lambda: Plane((0.0, 0.0, 1.0), np.inf), "finite height"),
    ],
)
def test_what_is_no_shape_is_one_sentence(make, said):
    with pytest.raises(UserError, match=said):
        make()


def test_a_capsule_has_the_volume_of_a_cylinder_and_a_ball():
    long, ball = Capsule([0, 0, 1], np.array([0, 0, 3]), 0.5), Capsule((1, 1, 1), (1, 1, 1), 0.5)
    assert long == Capsule((0.0, 0.0, 1.0), (0.0, 0.0, 3.0), 0.5)
    assert ball.volume == pytest.approx(4 / 3 * math.pi * 0.125)
    assert long.volume == pytest.approx(ball.volume + 2 * math.pi * 0.25)


def test_the_normal_of_a_plane_has_length_one():
    assert Plane((0, 3, -4), 0.2) == Plane((0.0, 0.6, -0.8), 0.2)


def test_a_shape_in_the_plane_stays_as_it_is():
    for shape in (Sphere((1.0, 2.0), 0.5), Box((0.0, 0.0), (1.0, 1.0))):
        assert in_plane(shape) is shape


def test_the_plane_cuts_a_disc_out_of_a_sphere_and_a_rectangle_out_of_a_box():
    assert in_plane(Sphere((1.0, 2.0, 3.0), 5.0)) == Sphere((1.0, 2.0), 4.0)
    assert in_plane(Box((0.0, 1.0, -1.0), (2.0, 3.0, 1.0))) == Box((0.0, 1.0), (2.0, 3.0))


@pytest.mark.parametrize("shape", [Sphere((0.0, 0.0, 2.0), 1.0), Box((0.0, 0.0, 1.0), (1.0, 1.0, 2.0))])
def test_a_shape_above_the_plane_is_refused(shape):
    with pytest.raises(UserError, match="does not meet the plane"):
        in_plane(shape)


def test_shapes_as_the_command_line_names_them():
    assert parse("sphere:1,2,.5") == Sphere((1.0, 2.0), 0.5)
    assert parse("sphere:1,2,3,.5") == Sphere((1.0, 2.0, 3.0), 0.5)
    assert parse("box:0,0,0,1,2,3") == Box((0.0, 0.0, 0.0), (1.0, 2.0, 3.0))


@pytest.mark.parametrize("text", ["ball:1,2,3", "sphere:1,2", "sphere:1,2,x", "sphere", "box:1,2,3,4,5", ""])
def test_other_shapes_are_refused(text):
    with pytest.raises(UserError, match="is no keep-out"):
        parse(text)
