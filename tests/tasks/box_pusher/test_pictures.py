"""Pictures of the box pusher."""

import numpy as np
import pytest

from vigor.tasks.box_pusher import (
    TASK,
    pictures,
    scene,
)


@pytest.mark.parametrize("view", ["front", "above"])
def test_frames_show_box_and_goal(some_pushes, arm: scene.Arm, view: str):
    _, rollouts = some_pushes
    (picture,) = pictures.frames(rollouts.states[0, :1], np.array([0.1, 0.05, 0.3]), view, arm)
    assert picture.shape == (480, 640, 3)
    red, green, blue = picture.reshape(-1, 3).astype(int).T
    assert np.mean((red > 1.8 * green) & (red > 1.8 * blue)) > 0.01
    assert np.mean((green > 1.8 * red) & (green > 1.8 * blue)) > 0.003


def test_a_video_has_all_its_frames(some_pushes, tmp_path):
    imageio_ffmpeg = pytest.importorskip("imageio_ffmpeg")
    plans, _ = some_pushes
    path = tmp_path / "push.mp4"
    count = pictures.video(path, plans[0], np.array([0.1, 0.0, 0.0]), arm="capsules")
    frames, _ = imageio_ffmpeg.count_frames_and_secs(str(path))
    assert frames == count == 88  # 3.5 s


def test_figures_of_final_states_and_executed_paths(some_pushes):
    plans, _ = some_pushes
    contexts = np.tile([0.05, 0.0, 0.1], (4, 1))
    final = pictures.final_states(plans[:4], contexts, arm="capsules")
    assert sum(bool(ax.images) for ax in final.axes) == 4
    both = pictures.planned_and_executed(plans[:3], contexts[0])
    assert [len(ax.patches) for ax in both.axes] == [3, 3, 3]


def test_a_report_shows_the_best_component_of_each_context(some_pushes):
    plans, _ = some_pushes
    contexts = np.array([[0.05, 0.0, 0.1], [0.0, 0.05, -0.1]])
    success = np.array([[0.0, 0.2, 0.0], [0.0, 0.0, 1.0]])
    made = TASK.display.pictures(contexts, np.asarray(plans[:6]).reshape(2, 3, *plans[0].shape), success)
    expected = {
        "planned_and_executed": pictures.planned_and_executed(plans[3:6], contexts[1]),
        "final_states": pictures.final_states(np.asarray(plans)[[1, 5]], contexts),
    }
    assert made.keys() == expected.keys()
    for name, figure in expected.items():
        assert [ax.get_title("left") for ax in made[name].axes] == [ax.get_title("left") for ax in figure.axes]
