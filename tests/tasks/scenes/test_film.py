"""A film of a scene has its frames; what a gripper closes at goes with the tool until it opens."""

import numpy as np
import pytest

import scenery
from vigor.motion.shapes import Sphere
from vigor.tasks import load_task
from vigor.tasks.scenes import files

pytest.importorskip("yourdfpy")
CONTEXT = np.array([0.42, 0.1, 0.1, 0.2])


@pytest.fixture
def film(monkeypatch):
    from vigor.tasks.scenes import film

    monkeypatch.setattr(film, "SECONDS", 0.2)
    monkeypatch.setattr(film.pictures, "FRAMES", 10)
    return film


@pytest.mark.parametrize("suffix", ["mp4", "gif"])
def test_a_film_shows_the_movement_and_then_its_last_pose(film, tmp_path, suffix):
    import imageio_ffmpeg

    task = load_task(str(scenery.write(tmp_path / "scene")))
    moved = scenery.recording(scenery.robot(tmp_path / "scene"), CONTEXT, np.random.default_rng(0)) / [1, 1, 1, 100]
    path = tmp_path / f"film.{suffix}"
    task.display.film(path, moved, CONTEXT, [Sphere((0.6, -0.3, 0.5), 0.1)])
    frames, _ = imageio_ffmpeg.count_frames_and_secs(str(path))
    assert frames == 2 + 10
    assert sorted(part.name for part in tmp_path.iterdir()) == [f"film.{suffix}", "scene"]


def test_what_is_held_goes_with_the_tool(film, tmp_path):
    scene = files.read(scenery.write(tmp_path))
    tips = CONTEXT[:3] + np.array([[0.2, 0, 0], [0.01, 0, 0], [0, 0, 0.1], [0, 0.1, 0.1], [0, 0.2, 0.1]])
    quarter = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    axes = np.array([np.eye(3), np.eye(3), quarter, quarter, quarter])
    places, turns = film._objects(scene, CONTEXT, np.array([[0], [1], [1], [0], [1.0]]), tips, axes)
    np.testing.assert_allclose(places[:2, 0], np.tile(CONTEXT[:3], (2, 1)), atol=1e-6)
    taken = tips[2] + [0.0, -0.01, 0.0]  # A centimetre beside the tool, which has turned by a quarter.
    np.testing.assert_allclose(places[2, 0], taken, atol=1e-6)
    np.testing.assert_allclose(turns[2, 0], quarter @ turns[1, 0], atol=1e-6)
    np.testing.assert_allclose(places[3:, 0], [taken, taken], atol=1e-6)  # Let go; then too far away to be taken.
