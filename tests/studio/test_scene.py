"""The scene: links point from joint to joint, and a page shows all that there is to drag."""

from types import SimpleNamespace

import numpy as np
import pytest
from viser.transforms import SO3

from vigor.studio.scene import USUAL_ASPECT, about_upright, fit, stroke, turn_to
from vigor.studio.traces import WIDTHS
from vigor.tasks import load_task
from vigor.tasks.stage import load_stage


@pytest.mark.parametrize("direction", [(0, 0, 1), (0, 0, -1), (1, 0, 0), (-3, 4, 0), (0.1, -2, 0.5), (0, 1e-9, -1)])
def test_the_upright_axis_is_turned_into_a_direction(direction):
    turned = SO3(turn_to(np.array(direction, float))).apply(np.array([0.0, 0.0, 1.0]))
    np.testing.assert_allclose(turned, np.array(direction) / np.linalg.norm(direction), atol=1e-6)


def test_a_turn_about_the_upright_axis():
    np.testing.assert_allclose(SO3(about_upright(0.3)).apply(np.array([1.0, 0.0, 2.0])), [np.cos(0.3), np.sin(0.3), 2])


def test_what_a_page_shows_fits_its_window():
    """The panel comes to a tablet's side after it has connected."""
    camera = SimpleNamespace(aspect=0.7, fov=0.8)
    for aspect in (0.7, 0.42):
        camera.aspect = aspect
        fit(0.8, camera)
        np.testing.assert_allclose(np.tan(camera.fov / 2) * aspect, np.tan(0.4) * USUAL_ASPECT)
    camera.aspect = 1.6
    fit(0.8, camera)
    assert camera.fov == pytest.approx(0.8)


@pytest.mark.parametrize("name", ["planar-reacher", "panda-reacher", "box-pusher"])
def test_lines_are_as_thin_for_every_robot(name):
    view = load_stage(load_task(name)).view
    height = 2 * np.linalg.norm(np.subtract(view.camera, view.look_at)) * np.tan(view.field / 2)
    assert 1.5 < 700 * WIDTHS["way"] * stroke(view) / height < 4  # Pixels of a window's height.
