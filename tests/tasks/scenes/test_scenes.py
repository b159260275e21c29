"""Scenes: what a file says becomes a task, what demonstrations decide is kept, and mistakes are one sentence."""

import json
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest

import scenery
from helpers import quick
from vigor.basics.errors import UserError
from vigor.demonstrations import importers
from vigor.demonstrations.preprocessing import settled
from vigor.learning import starts
from vigor.planning import ranking
from vigor.tasks import load_task
from vigor.tasks.scenes import building, deciding, files
from vigor.tasks.scenes.scene import Decided
from vigor.tasks.task import Task

pytest.importorskip("yourdfpy")
QUARTER = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    return scenery.write(tmp_path_factory.mktemp("scene"))


@pytest.fixture(scope="module")
def whole(place) -> Task:
    """The task as its recordings have decided it."""
    task = load_task(str(place))
    return settled(task, importers.load(task, scenery.record(place.parent)))


def test_a_scene_is_a_task_that_its_demonstrations_decide(place):
    task = load_task(str(place))
    assert (task.name, task.promp.dimensions, task.arm.robot.joints) == ("small", 4, ("pan", "lift", "bend"))
    assert task.context_names == ("cup x", "cup y", "cup z", "cup heading")
    assert task.settle is not None
    assert load_task(str(place)) is task  # It is read again only when it has changed.
    with pytest.raises(UserError, match="known from its demonstrations"):
        task.sample_contexts(np.random.default_rng(0), 1)


def test_recordings_decide_start_bases_duration_and_contexts(whole, place):
    assert whole.settle is None
    np.testing.assert_allclose(whole.promp.start, [*scenery.HOME, 0.0], atol=0.01)
    assert deciding.FEWEST <= whole.promp.bases < deciding.MOST
    assert whole.arm.seconds >= deciding.SHORTEST
    drawn = whole.sample_contexts(np.random.default_rng(0), 50)
    known = np.array(json.loads(whole.data)["decided"]["contexts"])
    assert np.all(drawn >= known.min(axis=0) - 1e-6)
    assert np.all(drawn <= known.max(axis=0) + 1e-6)
    found = importers.load(load_task(str(place)), place.parent / "recorded")
    assert len(found) == 8  # All succeed as they are fitted, and the gripper's hundred is 1.
    assert max(item[:, 3].max() for item in found.recordings) == 1.0
    fits = np.asarray(whole.promp.rollout(jnp.asarray(found.weights)))
    ends = whole.kinematics(jnp.asarray(fits[:, -1]))[:, -1]
    np.testing.assert_allclose(ends, found.contexts[found.context_of, :3], atol=0.02)


def test_what_is_decided_is_the_same_when_it_is_read_again(whole, tmp_path):
    (tmp_path / "scene.json").write_text(whole.data)
    again = load_task(str(tmp_path / "scene.json"))
    assert again.settle is None
    assert (again.promp, again.data, again.digest) == (whole.promp, whole.data, whole.digest)
    assert again.arm.robot == whole.arm.robot


def test_descriptors_are_the_same_wherever_the_object_stands(whole):
    """The whole scene turned about the base by a quarter, with the arm: nothing looks different from the cup."""
    weights = 0.3 * np.random.default_rng(0).normal(size=whole.promp.weights).astype(np.float32)
    joints = np.asarray(whole.promp.rollout(jnp.asarray(weights)))
    cup = np.array([0.3, 0.1, 0.2, 0.5], np.float32)
    turned_joints, turned = joints + np.array([np.pi / 2, 0, 0, 0], np.float32), cup + np.array([0, 0, 0, np.pi / 2])
    turned[:3] = QUARTER @ cup[:3]
    describe = quick(whole.describe)
    one, other = describe(joints, cup), describe(turned_joints, jnp.asarray(turned, jnp.float32))
    np.testing.assert_allclose(one, other, atol=1e-5)
    named = dict(zip(whole.feature_names, np.asarray(one).T, strict=True))
    tip = np.asarray(whole.kinematics(jnp.asarray(joints)))[:, -1]
    np.testing.assert_allclose(named["distance to cup"], np.linalg.norm(tip - cup[:3], axis=1), atol=1e-5)
    cos, sin = np.cos(0.5), np.sin(0.5)
    np.testing.assert_allclose(named["x from cup"], (tip - cup[:3]) @ [cos, sin, 0], atol=1e-5)
    np.testing.assert_allclose(named["gripper"], joints[:, 3], atol=1e-6)
    rises = np.maximum(np.diff(joints[:, 3], prepend=joints[0, 3]), 0)
    mean = rises @ named["y from cup"] / rises.sum()
    np.testing.assert_allclose(named["y from cup as the gripper rises"], mean, atol=2e-3)


def test_success_is_what_the_file_says(place):
    text = scenery.SCENE.replace("end within 2 cm of cup", "pass within 5 mm and 90 degrees of cup")
    scene = files.read(scenery.write(place.parent / "other", text))
    (wanted,) = scene.success
    assert (wanted.when, wanted.object, wanted.within, wanted.degrees) == ("pass", "cup", 0.005, 90.0)
    vars(scene)["decided"] = Decided(6, (*scenery.HOME.tolist(), 0.0), 2.0, ((0.3, 0.0, 0.1, 0.0),))
    task = building.task(scene, "")
    still = np.zeros((1, task.promp.weights), np.float32)
    joints = np.asarray(task.promp.rollout(jnp.asarray(still)))
    tip = np.asarray(task.kinematics(jnp.asarray(joints)))[0, 0, -1]
    # At home the arm's hand looks down by half a radian: its z axis is that far from pointing away from the ground.
    away = [task.distances(joints, np.array([[*tip + shift, 0.0]]))[0] for shift in ((0, 0, 0), (0, 0.025, 0))]
    assert away[1] - away[0] == pytest.approx(0.02, abs=1e-5)
    assert away[0] == pytest.approx(np.pi - 0.5 - np.pi / 2, abs=1e-5)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("[objects.cup]", "[objekte.cup]"), "it has unknown fields: objekte"),
        (('pose = "position and heading"', 'pose = "upright"'), "pose must be one of position, position and heading"),
        (('pose = "position and heading"', "colour = 3"), "unknown fields: colour"),
        (("arm.urdf", "ur55"), "there is no robot 'ur55' .did you mean ur5"),
        (("arm.urdf", "gone.urdf"), "gone.urdf does not exist"),
        (("acceleration = 10", 'acceleration = 10\ntool = "hnd"'), "hnd"),
        (("acceleration = 10", "acceleration = 10\nstart = [0, 1]"), "start has 2 numbers where small arm has 3"),
        (("acceleration = 10", 'acceleration = 10\nstart = "here"'), 'start must be "demonstrations"'),
        (("acceleration = 10", "acceleration = 10\nseconds = -1"), "seconds must be a positive number"),
        (("end within 2 cm of cup", "be good"), "success cannot be 'be good'"),
        (("end within 2 cm of cup", "end within 2 cm of mug"), "success names 'mug'; the objects are cup"),
        (("[0, 100]", "[100, 0]"), "lower end first"),
        (('channel = "claw"', 'channel = "cl,aw"'), "channel is named in letters"),
        (('robot = "arm.urdf"', ""), "robot is missing"),
        (("[objects.cup]", "[objects.cup"), "not a readable TOML file"),
        (('[objects.cup]\npose = "position and heading"', ""), "needs at least one object"),
    ],
)
def test_a_mistake_is_one_sentence_with_the_files_name(tmp_path, change, said):
    assert change[0] in scenery.SCENE
    path = scenery.write(tmp_path, scenery.SCENE.replace(*change))
    with pytest.raises(UserError, match=said) as error:
        load_task(str(path))
    assert str(error.value).startswith(str(path))
    assert "\n" not in str(error.value)


MESH = '<link name="upper"><collision><geometry><mesh filename="package://gone/u.stl"/></geometry></collision></link>'
LIMIT = '<limit lower="-3" upper="3" velocity="2"/>'


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (('<link name="upper"/>', MESH), "no capsule of upper: the mesh package://gone/u.stl is not there; put it"),
        ((LIMIT, ""), "gives pan no velocity limit; say how fast such joints are, such as velocity = 2"),
        (('<child link="hand"/>', '<child link="upper"/>'), "has a loop: several joints lead to upper"),
        (('name="pan" type="revolute"', 'name="pan" type="planar"'), "name a base beyond it, such as upper"),
        (("</robot>", ""), "not a readable XML file"),
    ],
)
def test_a_mistake_in_the_robots_file_is_one_sentence(tmp_path, change, said):
    path = scenery.write(tmp_path, scenery.SCENE.replace("collisions = false", ""))
    assert change[0] in scenery.URDF
    (tmp_path / "arm.urdf").write_text(scenery.URDF.replace(*change))
    with pytest.raises(UserError, match=said) as error:
        load_task(str(path))
    assert "\n" not in str(error.value)


def test_a_scene_that_is_not_there_or_is_none_is_one_sentence(tmp_path):
    with pytest.raises(UserError, match=r"scene\.toml does not exist"):
        load_task(str(tmp_path / "scene.toml"))
    (tmp_path / "other.json").write_text("{}")
    with pytest.raises(UserError, match=r"other.json: it holds no scene"):
        load_task(str(tmp_path / "other.json"))


def test_a_robot_that_has_changed_is_read_again(tmp_path):
    path = scenery.write(tmp_path)
    assert building.load(path) is building.load(path)
    (tmp_path / "arm.urdf").write_text(scenery.URDF.replace('velocity="2"', 'velocity="1"'))
    assert building.load(path).arm.robot.velocity == (1.0, 1.0, 1.0)
    (tmp_path / "arm.urdf").write_text("")
    with pytest.raises(UserError, match=r"arm.urdf is not a readable XML file"):
        building.load(path)


def test_contexts_are_drawn_within_headings_and_orientations(place):
    text = '[objects.cup]\npose = "position and heading"'
    more = text + '\n[objects.shelf]\npose = "pose"'
    scene = files.read(scenery.write(place.parent / "posed", scenery.SCENE.replace(text, more)))
    # Headings on both sides of half a turn, and orientations a quarter turn about z apart, one of them negated.
    half = np.sqrt(0.5)
    known = ((0, 0, 0, 3.1, 0, 0, 0, 0, 0, 0, 1.0), (0, 0, 1, -3.1, 0, 0, 0, 0, 0, -half, -half))
    vars(scene)["decided"] = Decided(6, None, 2.0, known)
    drawn = deciding.sample_contexts(scene, np.random.default_rng(0), 100)
    assert drawn.shape == (100, 11)
    assert np.all(np.cos(drawn[:, 3]) < np.cos(3.0))
    angles = 2 * np.arctan2(drawn[:, 9], drawn[:, 10])
    np.testing.assert_allclose(np.linalg.norm(drawn[:, 7:], axis=1), 1.0)
    assert np.all(np.mod(angles + 0.01, 2 * np.pi) < np.pi / 2 + 0.02)


def test_the_same_context_in_other_numbers_is_as_near(place):
    """Headings on both sides of half a turn are near, and a quaternion is its negative."""
    text = '[objects.cup]\npose = "position and heading"'
    more = text + '\n[objects.shelf]\npose = "pose"'
    task = building.load(scenery.write(place.parent / "near", scenery.SCENE.replace(text, more)))
    upright = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]
    contexts = np.array([[0, 0, 0, 3.1, *upright], [0, 0, 0, 2.9, *upright], [0, 0, 0, 0.5, *upright]], np.float32)
    asked = np.array([0, 0, 0, 3.15 - 4 * np.pi, *-np.array(upright)], np.float32)
    assert starts.apart(task, jnp.asarray(contexts), jnp.asarray(asked)).argmin() == 0
    outside, warnings = ranking.beyond(task, contexts.astype(float), asked[None].astype(float))
    assert outside < 0.1
    assert warnings == [None]
