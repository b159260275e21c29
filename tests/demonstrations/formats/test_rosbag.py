"""Bags of ROS 2 in both storages: joints in any order, several topics, clocks that jump, poses, pauses."""

import os
import sqlite3
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path

import numpy as np
import pytest
from rosbags.rosbag2 import Reader

from helpers import movement
from recorded import POINTED, bag, goals
from vigor.basics import files
from vigor.basics.errors import UserError
from vigor.demonstrations import importers
from vigor.demonstrations.formats import rosbag as format
from vigor.demonstrations.formats.episodes import Reading
from vigor.demonstrations.formats.frames import Frames

STORAGES = ("mcap", "sqlite3")
RATE = 50
ENDS = goals(6)[::2]
"""Three goals."""


def session(rest: int = 75) -> np.ndarray:
    """States [T, 2]: to every goal and back again, with a rest at each place."""
    parts = [np.zeros((rest, 2))]
    for goal in ENDS:
        there = movement(tuple(goal), steps=100)
        parts += [there, np.repeat(there[-1:], rest, axis=0), there[::-1], np.zeros((rest, 2))]
    return np.concatenate(parts)


def times_of(states: np.ndarray) -> np.ndarray:
    return np.arange(len(states)) / RATE


@pytest.mark.parametrize("storage", STORAGES)
def test_shuffled_joints_of_two_topics_are_joined(tmp_path: Path, storage: str):
    states = session()
    times = times_of(states)
    opening = np.linspace(1.0, 0.0, len(times))[:, None]
    topics = [("/arm", ("x", "y"), times, states), ("/hand", ("gripper",), times[::3], opening[::3])]
    bag(tmp_path / "bag", topics, storage=storage)
    read = format.read(tmp_path / "bag", Reading(pause=0))
    (item,) = read.episodes
    values = dict(zip(read.columns, item.values.T, strict=True))
    count = len(item.values)
    assert count >= len(states) - 3  # But for what is after the slower topic's last message.
    np.testing.assert_array_equal(np.stack([values["x"], values["y"]], axis=1), states[:count])
    np.testing.assert_allclose(values["gripper"], opening[:count, 0], atol=1e-9)
    np.testing.assert_allclose(item.times, times[:count], atol=1e-6)
    assert any("3 joints of /arm, /hand are joined" in note for note in read.notes)


@pytest.mark.parametrize("storage", STORAGES)
def test_clock_jumps_are_said_and_nothing_is_lost(tmp_path: Path, storage: str):
    states = session()
    times = times_of(states)
    sent = times.copy()
    sent[200:] += 3600.0  # An hour ahead,
    sent[500:] -= 7000.0  # and back to before the begin.
    sent += 10_000.0
    bag(tmp_path / "bag", [("/arm", ("x", "y"), times, states)], storage=storage, sent=sent)
    read = format.read(tmp_path / "bag", Reading(pause=0))
    assert read.notes == ("the clock of /arm jumps 2 times; the recorder's is taken there",)
    np.testing.assert_array_equal(read.episodes[0].values, states)
    np.testing.assert_allclose(read.episodes[0].times, times, atol=1e-5)


def test_a_bag_is_cut_at_pauses_and_objects_are_where_they_were_then(tmp_path: Path):
    states = session()
    begins = [1.0 + 7 * number for number in range(len(ENDS))]
    poses = [("/cube", begin, (*goal, 0.5)) for begin, goal in zip(begins, ENDS, strict=True)]
    bag(tmp_path / "bag", [("/arm", ("x", "y"), times_of(states), states)], poses)
    read = format.read(tmp_path / "bag", Reading())
    assert [item.name for item in read.episodes] == [f"movement {number}" for number in range(1, 7)]
    for there, goal in zip(read.episodes[::2], ENDS, strict=True):
        np.testing.assert_allclose(there.surroundings["/cube"], [*goal, 0.5, 0, 0, 0, 1], atol=1e-12)
        np.testing.assert_allclose(there.values[-1], goal, atol=0.05)
        np.testing.assert_allclose(there.values[0], 0.0, atol=0.05)
    made = importers.import_demonstrations(POINTED, tmp_path / "bag", Reading(episodes=("1", "3", "5")))
    np.testing.assert_allclose(made.contexts, ENDS, atol=1e-6)
    assert len(made) == 3


def test_frames_are_poses_as_well(tmp_path: Path):
    states = session()
    frames = [("cube", 0.0, (*ENDS[0], 0.0)), ("camera", 0.0, (0.0, 0.0, 1.0))]
    bag(tmp_path / "bag", [("/arm", ("x", "y"), times_of(states), states)], frames=frames)
    reading = Reading(context_keys=("cube",), episodes=(1,))
    made = importers.import_demonstrations(POINTED, tmp_path / "bag", reading)
    np.testing.assert_allclose(made.contexts, [ENDS[0]], atol=1e-6)
    with pytest.raises(UserError, match="it has cube, camera: give --contexts-file FILE"):
        importers.import_demonstrations(POINTED, tmp_path / "bag", Reading())


def matrix(pose: Sequence[float]) -> np.ndarray:
    """A pose as a matrix [4, 4], by the formula of Rodrigues."""
    axis, half = np.array(pose[3:6]), np.arctan2(np.linalg.norm(pose[3:6]), pose[6])
    x, y, z = axis / np.linalg.norm(axis) if np.any(axis) else axis
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    turn = np.eye(3) + np.sin(2 * half) * cross + (1 - np.cos(2 * half)) * cross @ cross
    return np.block([[turn, np.array(pose[:3])[:, None]], [np.zeros(3), 1]])


def some_pose(seed: int) -> np.ndarray:
    drawn = np.random.default_rng(seed).normal(size=7)
    return np.append(drawn[:3], drawn[3:] / np.linalg.norm(drawn[3:]))


CHAIN = {"fixed camera": "mast", "cube": "fixed camera", "/tag": "cube", "tool": "fixed base"}
"""A tag is seen on a cube, that a camera sees, on a mast that turns; the robot's base is elsewhere in the world."""


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("frame", ["", "world", "fixed base", "tool"])
def test_poses_are_seen_through_chains_of_frames_that_are_fixed_or_move(tmp_path: Path, storage: str, frame: str):
    states = session()
    poses = {name: some_pose(seed) for seed, name in enumerate(("fixed base", "fixed camera", "cube", "/tag", "tool"))}
    masts = [some_pose(seed) for seed in (10, 11, 12)]
    begins = [1.0 + 7 * number for number in range(len(ENDS))]
    frames = [(name, 0.0, pose) for name, pose in poses.items() if name != "/tag"]
    frames += [("mast", begin, pose) for begin, pose in zip(begins, masts, strict=True)]
    topics = [("/arm", ("x", "y"), times_of(states), states)]
    bag(tmp_path / "bag", topics, [("/tag", 0.5, poses["/tag"])], frames, CHAIN, storage)
    read = format.read(tmp_path / "bag", Reading(frame=frame))
    seen = {"fixed base": matrix(poses["fixed base"]), "tool": matrix(poses["fixed base"]) @ matrix(poses["tool"])}
    reference = np.linalg.inv(seen.get(frame, np.eye(4)))
    for episode, mast in zip(read.episodes[::2], masts, strict=True):
        camera = matrix(mast) @ matrix(poses["fixed camera"])
        for name, expected in {"cube": np.eye(4), "/tag": matrix(poses["/tag"])}.items():
            expected = reference @ camera @ matrix(poses["cube"]) @ expected
            np.testing.assert_allclose(matrix(episode.surroundings[name]), expected, atol=1e-9)
    assert f"poses are as seen from {frame or 'world; choose with --frame'}" in read.notes


def test_an_object_that_is_gripped_hangs_on_the_hand_from_then_on():
    frames = Frames()
    frames.add("hand", "world", 0.0, np.array([1.0, 0, 0, 0, 0, 0, 1]))
    frames.add("cup", "world", 0.0, np.array([5.0, 0, 0, 0, 0, 0, 1]))
    frames.add("cup", "hand", 2.0, np.array([0.5, 0, 0, 0, 0, 0, 1]))
    assert frames.seen("cup", 1.0)[0] == 5.0
    assert frames.seen("cup", 3.0)[0] == 1.5
    assert frames.seen("cup", -1.0)[0] == 5.0


def test_frames_in_a_circle_apart_or_unknown_are_said(tmp_path: Path):
    topics = [("/arm", ("x", "y"), times_of(session()), session())]
    frames = [("a", 0.0, (0.0, 0.0, 0.0)), ("b", 0.0, (0.0, 0.0, 0.0))]
    bag(tmp_path / "circle", topics, frames=frames, on={"a": "b", "b": "a"})
    with pytest.raises(UserError, match="go round in a circle"):
        format.read(tmp_path / "circle", Reading())
    bag(tmp_path / "apart", topics, frames=[*frames, ("c", 0.0, (np.nan, 0.0, 0.0))], on={"b": "elsewhere"})
    read = format.read(tmp_path / "apart", Reading(frame="world"))
    assert list(read.episodes[0].surroundings) == ["a"]
    assert "nothing joins b with world; these poses are left out" in read.notes
    assert "1 poses are not finite or have no orientation, and are dropped" in read.notes
    with pytest.raises(UserError, match=r"no frame 'wordl' \(did you mean world\?\); there are a, b, elsewhere"):
        format.read(tmp_path / "apart", Reading(frame="wordl"))


def test_each_of_several_bags_is_an_episode(tmp_path: Path):
    for number, goal in enumerate(ENDS):
        there = movement(tuple(goal), steps=60)
        bag(tmp_path / f"take_{number}", [("/arm", ("x", "y"), times_of(there), there)], storage=STORAGES[number % 2])
    np.savetxt(tmp_path / "goals.csv", ENDS, delimiter=",")
    notes: list[str] = []
    made = importers.import_demonstrations(
        POINTED, tmp_path, Reading(contexts_file=tmp_path / "goals.csv"), notes.append
    )
    assert notes[0].startswith(f"{tmp_path} is a folder of 3 rosbag2 bags with 3 recordings of x, y")
    assert len(made) == 3
    one = importers.recordings(POINTED, tmp_path, Reading(context_from="end", episodes="take_1"))
    np.testing.assert_allclose(one.contexts, ENDS[1:2], atol=1e-6)


def test_what_is_said_of_several_bags_is_said_once(tmp_path: Path):
    for name, moved in (("one", 0.0), ("two", 10.0), ("three", 10.0)):
        there = movement((1.0, 0.0), steps=60)
        times = times_of(there)
        topics = [("/left", ("x",), times, there[:, :1]), ("/right", ("y",), times, there[:, 1:])]
        bag(tmp_path / name, topics, sent=times + moved * (times > 0.5))
    notes = format.read(tmp_path, Reading()).notes
    assert notes == (
        "2 joints of /left, /right are joined by name and time",
        "three, two: the clock of /left jumps 1 times; the recorder's is taken there",
        "three, two: the clock of /right jumps 1 times; the recorder's is taken there",
    )


def test_a_single_file_is_a_bag(tmp_path: Path):
    states = session()
    for storage, ending in zip(STORAGES, format.ENDINGS, strict=True):
        bag(tmp_path / storage, [("/arm", ("x", "y"), times_of(states), states)], storage=storage)
        (file,) = (tmp_path / storage).glob(f"*{ending}")
        assert len(format.read(file, Reading()).episodes) == 6


def test_a_joint_on_two_topics_is_asked_about(tmp_path: Path):
    states = session()
    times = times_of(states)
    topics = [("/arm", ("x", "y"), times, states), ("/wanted", ("x", "y"), times, states + 1)]
    bag(tmp_path / "bag", topics)
    with pytest.raises(UserError, match=r"has x on /arm and on /wanted; choose with --topics"):
        format.read(tmp_path / "bag", Reading())
    chosen = format.read(tmp_path / "bag", Reading(topics=("/wanted",), pause=0))
    np.testing.assert_array_equal(chosen.episodes[0].values, states + 1)
    with pytest.raises(UserError, match=r"no joint states on /armm \(did you mean /arm\?\)"):
        format.read(tmp_path / "bag", Reading(topics=("/armm",)))


def test_states_without_positions_are_dropped_and_said(tmp_path: Path):
    states = session()
    spoiled = states.copy()
    spoiled[5] = np.nan
    bag(tmp_path / "bag", [("/arm", ("x", "y"), times_of(states), spoiled)])
    read = format.read(tmp_path / "bag", Reading(pause=0))
    assert "1 joint states have no position, and are dropped" in read.notes
    assert len(read.episodes[0].values) == len(states) - 1


@pytest.mark.parametrize("storage", STORAGES)
def test_damaged_bags_are_one_sentence(tmp_path: Path, storage: str):
    states = session()
    bag(tmp_path / "bag", [("/arm", ("x", "y"), times_of(states), states)], storage=storage)
    (file,) = (item for item in (tmp_path / "bag").iterdir() if item.suffix in format.ENDINGS)
    whole, rng = file.read_bytes(), np.random.default_rng(0)
    for size in (0, 10, len(whole) // 2):
        file.write_bytes(whole[:size])
        with pytest.raises(UserError, match=r"is damaged|no joint states"):
            format.read(tmp_path / "bag", Reading())
    for _ in range(12):
        damaged = bytearray(whole)
        for place in rng.integers(0, len(whole), 5):
            damaged[place] = rng.integers(256)
        file.write_bytes(damaged)
        with suppress(UserError):
            format.read(tmp_path / "bag", Reading())


def test_wrong_descriptions_of_bags_are_one_sentence(tmp_path: Path):
    states = session()
    bag(tmp_path / "bag", [("/arm", ("x", "y"), times_of(states), states)])
    described = tmp_path / "bag" / "metadata.yaml"
    whole = described.read_text()
    (name,) = (item.name for item in (tmp_path / "bag").glob("*.mcap"))
    for text, says in (
        ("", "is damaged"),
        ("[1, 2", "is damaged"),
        ("!!python/object/apply:os.system ['touch harm']", "is damaged"),
        (whole.replace(name, "elsewhere.mcap"), "is damaged"),
        (whole.replace(name, "../../etc/passwd"), "is damaged"),
        (whole + "  compression_mode: FILE\n", "is compressed; unpack it first"),
        ("a" * (2**20 + 1), "at most 1 MiB can be read"),
    ):
        described.write_text(text)
        with pytest.raises(UserError, match=says):
            format.read(tmp_path / "bag", Reading())
    assert not (tmp_path / "harm").exists()


def test_bags_without_an_end_are_refused(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe.mcap")
    with pytest.raises(UserError, match="is no bag"):
        format.read(tmp_path / "pipe.mcap", Reading())
    (tmp_path / "bag").mkdir()
    (tmp_path / "bag" / "metadata.yaml").write_text("{}")
    os.mkfifo(tmp_path / "bag" / "pipe.mcap")
    with pytest.raises(UserError, match="is not a file"):
        format.read(tmp_path / "bag", Reading())


def test_what_unpacks_to_much_is_refused(tmp_path: Path, monkeypatch):
    from rosbags.rosbag2 import StoragePlugin, Writer
    from rosbags.rosbag2.enums import CompressionFormat, CompressionMode
    from rosbags.typesys import Stores, get_typestore

    packed = Writer(tmp_path / "bag", version=9, storage_plugin=StoragePlugin.MCAP)
    packed.set_compression(CompressionMode.STORAGE, CompressionFormat.ZSTD)
    with packed as writer:
        connection = writer.add_connection("/arm", format.JOINTS, typestore=get_typestore(Stores.ROS2_HUMBLE))
        for number in range(40):
            writer.write(connection, number, b"\0" * 10**6)
    (file,) = (tmp_path / "bag").glob("*.mcap")
    assert file.stat().st_size < 10**6
    monkeypatch.setattr(format, "CHUNK", 10**5)
    with pytest.raises(UserError, match="can be read"):
        format.read(tmp_path / "bag", Reading())
    monkeypatch.undo()
    states = session()
    bag(tmp_path / "other", [("/arm", ("x", "y"), times_of(states), states)])
    monkeypatch.setattr(files, "MOST", 100)
    with pytest.raises(UserError, match="at most 100 can be read"):
        format.read(tmp_path / "other", Reading())


def test_a_message_that_is_too_long_is_not_read_first(tmp_path: Path, monkeypatch):
    states = session()
    bag(tmp_path / "bag", [("/arm", ("x", "y"), times_of(states), states)], storage="sqlite3")
    (file,) = (tmp_path / "bag").glob("*.db3")
    with closing(sqlite3.connect(file)) as database, database:
        database.execute("update messages set data = zeroblob(2000000) where id = 1")
    monkeypatch.setattr(Reader, "messages", lambda *chosen: pytest.fail("messages are read"))
    with pytest.raises(UserError, match="at most 1 MiB can be read"):
        format.read(tmp_path / "bag", Reading())
