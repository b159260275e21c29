"""Export: all formats hold the same numbers, and nothing is written over."""

import csv
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rosbags.highlevel import AnyReader
from ruamel.yaml import YAML

from vigor.basics.errors import UserError
from vigor.demonstrations.formats import rosbag
from vigor.demonstrations.formats.episodes import Reading
from vigor.motion.panda import PANDA
from vigor.planning import export
from vigor.planning.trajectories import GripperPath, Trajectory


@pytest.fixture(scope="module")
def moved() -> Trajectory:
    """Some numbers in the form of a trajectory."""
    rng = np.random.default_rng(0)
    positions, velocities, accelerations = rng.normal(size=(3, 31, 7))
    return Trajectory(PANDA.joints, np.arange(31) / 20, positions, velocities, accelerations, np.zeros((31, 9, 3)))


def numbers_of(path: Path) -> dict[str, np.ndarray]:
    rows = list(csv.reader(path.read_text().splitlines()))
    return dict(zip(rows[0], np.array(rows[1:], float).T, strict=True))


def test_a_rosbag_holds_the_numbers_of_the_csv(moved, tmp_path):
    export.write(tmp_path / "moved.csv", moved, "csv")
    export.write(tmp_path / "bag", moved, "mcap")
    table = numbers_of(tmp_path / "moved.csv")
    with AnyReader([tmp_path / "bag"]) as bag:
        found = [(item.topic, time, bag.deserialize(raw, item.msgtype)) for item, time, raw in bag.messages()]
        kinds = {item.topic: item.msgtype for item in bag.connections}
    assert kinds == dict(zip(export.TOPICS, (export.TYPE, export.STATE), strict=True))
    (message,) = (content for topic, _, content in found if topic == "/joint_trajectory")
    states = [(time, content) for topic, time, content in found if topic == "/planned_joint_states"]
    np.testing.assert_array_equal([content.position for _, content in states], moved.positions)
    np.testing.assert_allclose([1e-9 * time for time, _ in states], moved.times, atol=1e-9)
    assert message.joint_names == list(PANDA.joints)
    for kind, name in (("positions", ""), ("velocities", "_velocity"), ("accelerations", "_acceleration")):
        rows = np.array([getattr(point, kind) for point in message.points])
        np.testing.assert_array_equal(rows, np.stack([table[f"{joint}{name}"] for joint in PANDA.joints], axis=1))
        np.testing.assert_array_equal(rows, getattr(moved, kind))
    times = [point.time_from_start.sec + 1e-9 * point.time_from_start.nanosec for point in message.points]
    np.testing.assert_allclose(times, table["time"], atol=1e-9)
    assert list((tmp_path / "bag").glob("*.mcap"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bag", "moved.csv"]


def test_json_and_yaml_hold_the_same(moved, tmp_path):
    export.write(tmp_path / "moved.json", moved, "json")
    export.write(tmp_path / "moved.yaml", moved, "ros2")
    read = json.loads((tmp_path / "moved.json").read_text())
    np.testing.assert_array_equal(read["positions"], moved.positions)
    message = YAML(typ="safe", pure=True).load((tmp_path / "moved.yaml").read_text())
    assert message["joint_names"] == list(PANDA.joints)
    assert len(message["points"]) == len(moved.times)
    for point, place, time in zip(message["points"], moved.positions, moved.times, strict=True):
        np.testing.assert_array_equal(point["positions"], place)
        assert point["time_from_start"]["sec"] + 1e-9 * point["time_from_start"]["nanosec"] == pytest.approx(time)


@pytest.mark.parametrize(("name", "kind"), [("moved.csv", "csv"), ("moved.json", "json"), ("moved.yaml", "ros2")])
def test_the_ending_says_the_format(moved, tmp_path, name, kind):
    moved.save(tmp_path / name)
    export.write(tmp_path / f"asked_{name}", moved, kind)
    assert (tmp_path / name).read_bytes() == (tmp_path / f"asked_{name}").read_bytes()


def test_a_path_without_ending_is_a_rosbag(moved, tmp_path):
    moved.save(str(tmp_path / "bag"))
    assert (tmp_path / "bag" / "metadata.yaml").exists()


def test_another_ending_is_refused(moved, tmp_path):
    with pytest.raises(UserError, match=r"moved\.txt names no format; end it in \.csv"):
        moved.save(tmp_path / "moved.txt")
    assert not list(tmp_path.iterdir())


def test_a_bag_has_the_topics_that_are_asked_for(moved, tmp_path):
    export.write(tmp_path / "bag", moved, "mcap", ("/arm/trajectory", "/arm/states"))
    (item,) = rosbag.read(tmp_path / "bag", Reading(topics="/arm/states", pause=0)).episodes
    np.testing.assert_array_equal(item.values, moved.positions)
    for topics in (("/a", "/a"), ("a", "/b"), ("/a b", "/c")):
        with pytest.raises(UserError, match="a bag needs two topics like"):
            export.write(tmp_path / "other", moved, "mcap", topics)
    assert [path.name for path in tmp_path.iterdir()] == ["bag"]


@pytest.mark.parametrize("kind", ["csv", "json", "ros2", "mcap", "lerobot"])
def test_nothing_is_written_over(moved, tmp_path, kind):
    (tmp_path / "there").write_text("mine")
    with pytest.raises(UserError, match="there exists already; choose another place"):
        export.write(tmp_path / "there", moved, kind)
    assert [path.name for path in tmp_path.iterdir()] == ["there"]
    assert (tmp_path / "there").read_text() == "mine"


@pytest.mark.parametrize(
    ("first", "gripper", "said"),
    [
        ("time", "gripper", "two columns would be time"),
        (f"{PANDA.joints[1]}_velocity", "gripper", f"two columns would be {PANDA.joints[1]}_velocity"),
        (PANDA.joints[0], PANDA.joints[3], f"two columns would be {PANDA.joints[3]}"),
        (PANDA.joints[0], "positions", "a gripper cannot be called positions"),
        ("=1+1", "gripper", r"would take =1\+1 for a formula"),
        (PANDA.joints[0], "@grip", "would take @grip for a formula"),
    ],
)
@pytest.mark.parametrize("ending", [".csv", ".json", ".yaml", ""])
def test_names_that_a_reader_would_confuse_are_refused(moved, tmp_path, first, gripper, said, ending):
    confusing = replace(moved, joints=(first, *moved.joints[1:]), gripper=GripperPath(gripper, np.zeros(31)))
    with pytest.raises(UserError, match=said):
        export.write(tmp_path / f"moved{ending}", confusing)
    assert not list(tmp_path.iterdir())
