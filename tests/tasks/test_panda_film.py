"""A film of the Panda has its frames, and shows targets, keep-outs and the path of the tool."""

import imageio_ffmpeg
import numpy as np
import pytest

from vigor.basics.engine import mujoco  # The first import of mujoco chooses how to render.
from vigor.motion.shapes import Box, Sphere
from vigor.tasks.reachers import panda_reacher
from vigor.tasks.reachers.panda_reacher import REST, TASK

CONTEXT = np.array(panda_reacher.CENTRES)
SHAPES = (Sphere((0.6, -0.3, 0.5), 0.1), Box((0.5, 0.4, 0.0), (0.6, 0.5, 0.3)))


@pytest.fixture
def film(monkeypatch):
    from vigor.tasks.reachers import panda_film

    monkeypatch.setattr(panda_film, "SECONDS", 0.2)
    monkeypatch.setattr(panda_film.pictures, "FRAMES", 10)
    return panda_film


def test_a_film_has_all_its_frames(film, tmp_path):
    joints = np.array(REST) + np.linspace(0, 0.4, 50)[:, None]
    TASK.display.film(tmp_path / "film.mp4", joints, CONTEXT, SHAPES)
    frames, _ = imageio_ffmpeg.count_frames_and_secs(str(tmp_path / "film.mp4"))
    assert frames == 2 + 10  # The movement, then its last pose for a second.
    assert [path.name for path in tmp_path.iterdir()] == ["film.mp4"]


def test_the_scene_has_targets_keep_outs_and_the_path(film):
    tips = np.array([[0.4, 0.0, 0.5], [0.5, 0.0, 0.5]])
    model = film._build(panda_reacher.regions(CONTEXT), SHAPES, tips).compile()
    places, colours = model.geom_pos, model.geom_rgba
    red = np.all(np.isclose(colours, film.FORBIDDEN), axis=1)
    np.testing.assert_allclose(places[red], [SHAPES[0].centre, SHAPES[1].centre])
    for region in panda_reacher.regions(CONTEXT):
        near = np.linalg.norm(places - region.centre, axis=1) < 1e-6
        assert np.any(near & np.isclose(model.geom_size[:, 0], region.radius))
    np.testing.assert_allclose([model.geom(f"trace {i}").pos for i in range(2)], tips)
    assert mujoco.MjData(model).qpos.shape == (7,)
