"""rosbag2 recordings, in MCAP or sqlite3: joint states joined by name, and poses of objects.

Messages are read as the types that they are in ROS itself: definitions that a bag brings along are not looked at.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from vigor.basics import files
from vigor.basics.errors import UserError, near_misses
from vigor.basics.install import missing
from vigor.demonstrations import timing
from vigor.demonstrations.formats.episodes import Episode, Episodes, Reading, check_count, damaged
from vigor.demonstrations.formats.frames import Frames

JOINTS = "sensor_msgs/msg/JointState"
POSE, TRANSFORMS = "geometry_msgs/msg/PoseStamped", "tf2_msgs/msg/TFMessage"
ENDINGS = (".mcap", ".db3")
LARGEST = 2**36
"""Most bytes of a bag's file: one with pictures has many, which are passed by."""
CHUNK = 2**28
"""Most bytes of a part of a bag that is unpacked at once."""
MESSAGE = 2**20
"""Most bytes of a message that is read."""
JUMP = 0.5
"""Seconds by which a sender's clock and the recorder's may part between two messages, before one of them has jumped."""
FEW = 5
"""Most bags that a sentence names."""
PAUSE = 1.0
"""Seconds of rest at which a single bag is cut, unless told otherwise."""


@dataclass
class _Series:
    """Numbers of one kind of message over time."""

    names: tuple[str, ...]
    sent: list[float] = field(default_factory=list)
    logged: list[float] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)

    def clock(self) -> tuple[np.ndarray, int]:
        """Times [T] in seconds, and how often the sender's clock has jumped; there the recorder's counts."""
        sent, logged = np.array(self.sent), np.array(self.logged)
        if not np.any(sent):
            return logged, 0
        steps, real = np.diff(sent), np.diff(logged)
        jumped = (np.abs(steps - real) > JUMP) | (steps < 0)
        steps = np.where(jumped, np.maximum(real, 0.0), steps)
        # All series have the recorder's clock as their origin, since senders may disagree.
        return logged[0] + np.concatenate([[0.0], np.cumsum(steps)]), int(np.sum(jumped))


def bags(path: Path) -> list[Path]:
    """Bags at a path: a file, a folder with metadata.yaml or a single file, or a folder of several."""
    if not path.is_dir():
        return [path] if path.suffix in ENDINGS and path.is_file() else []
    if (path / "metadata.yaml").exists():
        return [path]
    inner = sorted(item for item in path.iterdir() if (item / "metadata.yaml").is_file())
    return inner or sorted(item for item in path.iterdir() if item.suffix in ENDINGS and item.is_file())


def read(path: Path, reading: Reading) -> Episodes:
    """Episodes of one bag, cut at pauses, or of a folder with several, each an episode unless a pause is given."""
    found = bags(path)
    if not found:
        raise UserError(f"{path} is no bag: it must be an .mcap or .db3 file, or a folder with metadata.yaml")
    pause = reading.pause if reading.pause is not None else PAUSE if len(found) == 1 else 0.0
    columns: tuple[str, ...] = ()
    episodes: list[Episode] = []
    said_of: dict[str, list[str]] = {}
    for bag in found:
        names, times, values, frames, said = _joined(bag, reading)
        columns = columns or names
        if set(names) != set(columns):
            raise UserError(f"{bag} has the joints {', '.join(names)} where {found[0].name} has {', '.join(columns)}")
        values = values[:, [names.index(name) for name in columns]]
        parts = timing.cut_at_pauses(times, values, pause) if pause else [slice(0, len(times))]
        for part in parts:
            name = bag.name if len(parts) == 1 and len(found) > 1 else f"movement {len(episodes) + 1}"
            around = _around(bag, frames, times[part][0], reading.frame)
            episodes.append(Episode(name, values[part], times[part] - times[part][0], around))
        if len(parts) > 1:
            said = [*said, f"cut into {len(parts)} movements at pauses of {pause:g} s or more"]
        for sentence in [*said, *_about(frames, times[0], reading.frame)]:
            said_of.setdefault(sentence, []).append(bag.name)
    notes = tuple(_of_bags(sentence, names, len(found)) for sentence, names in said_of.items())
    return Episodes(path, _words(found), columns, tuple(episodes), ordered=False, notes=notes)


def _words(found: list[Path]) -> str:
    return "a rosbag2 bag" if len(found) == 1 else f"a folder of {len(found)} rosbag2 bags"


def _of_bags(sentence: str, names: list[str], count: int) -> str:
    """A sentence about some of so many bags, with their names unless it is about all."""
    if len(names) == count:
        return sentence
    more = f" and {len(names) - FEW} more" if len(names) > FEW else ""
    return f"{', '.join(names[:FEW])}{more}: {sentence}"


def _around(bag: Path, frames: Frames, time: float, reference: str) -> dict[str, np.ndarray]:
    """Poses [7] of everything that has one, as seen from a frame."""
    try:
        if reference:
            frames.check(reference)
        found = {name: frames.seen(name, time, reference) for name in frames.courses}
    except UserError as error:
        raise UserError(f"{bag}: {error}") from None
    return {name: pose for name, pose in found.items() if pose is not None}


def _about(frames: Frames, time: float, reference: str) -> list[str]:
    """Sentences about from where poses are seen, and about those that are not."""
    said = []
    roots = {reference} if reference else {frames.root(name, time) for name in frames.courses} - {""}
    if roots:
        said.append(
            f"poses are as seen from {' and '.join(sorted(roots))}{'' if reference else '; choose with --frame'}"
        )
    apart = [name for name in frames.courses if reference and frames.seen(name, time, reference) is None]
    if apart:
        said.append(f"nothing joins {', '.join(apart[:5])} with {reference}; these poses are left out")
    if frames.dropped:
        said.append(f"{frames.dropped} poses are not finite or have no orientation, and are dropped")
    return said


def _joined(bag: Path, reading: Reading) -> tuple[tuple[str, ...], np.ndarray, np.ndarray, Frames, list[str]]:
    """Names, times [T] and values [T, joint] of all joints of a bag, its frames, and what is to be said about it."""
    states, frames, notes = _messages(bag, reading)
    if not states:
        asked = f" on {', '.join(reading.topics)}" if reading.topics else ""
        raise UserError(f"{bag} holds no joint states with positions{asked}")
    owners: dict[str, str] = {}
    for topic, names in states:
        for name in names:
            if owners.setdefault(name, topic) != topic:
                raise UserError(f"{bag} has {name} on {owners[name]} and on {topic}; choose with --topics")
    clocks = {}
    for (topic, names), series in states.items():
        clocks[topic, names], jumps = series.clock()
        if jumps:
            notes.append(f"the clock of {topic} jumps {jumps} times; the recorder's is taken there")
    main = max(states, key=lambda key: (len(key[1]), len(states[key].values)))
    # Where all joints are known: from when the last topic begins to when the first one ends.
    begin, end = max(clock[0] for clock in clocks.values()), min(clock[-1] for clock in clocks.values())
    times = clocks[main]
    within = (times >= begin) & (times <= end)
    if np.sum(within) < 2:
        raise UserError(f"{bag} has topics of joint states at different times; choose with --topics")
    outside = len(times) - int(np.sum(within))
    if outside:
        notes.append(f"{outside} of {len(times)} joint states are dropped, where other topics are silent")
    times, columns, joints = times[within], [], [name for _, names in states for name in names]
    for key, series in states.items():
        table, clock = np.array(series.values, float), clocks[key]
        columns += [np.interp(times, clock, column) if key != main else column[within] for column in table.T]
    if len(states) > 1:
        topics = ", ".join(dict.fromkeys(topic for topic, _ in states))
        notes.append(f"{len(joints)} joints of {topics} are joined by name and time")
    return tuple(joints), times, np.stack(columns, axis=1), frames, notes


def _messages(bag: Path, reading: Reading) -> tuple[dict[tuple[str, tuple[str, ...]], _Series], Frames, list[str]]:
    """Joint states by topic and names of their joints, frames and poses by topic, and what is to be said."""
    states: dict[tuple[str, tuple[str, ...]], _Series] = {}
    frames = Frames()
    notes, count, skipped = [], 0, 0
    for topic, kind, logged, message in _opened(bag, reading):
        if kind == JOINTS:
            names = tuple(message.name)
            if len(message.position) != len(names) or not names or not np.all(np.isfinite(message.position)):
                skipped += 1
                continue
            order = sorted(range(len(names)), key=names.__getitem__)  # The order varies, also from one to the next.
            names = tuple(names[i] for i in order)
            if len(set(names)) < len(names):
                raise UserError(f"{bag} has joint states on {topic} that name a joint twice")
            series = states.setdefault((topic, names), _Series(names))
            _add(series, message.header.stamp, logged, message.position[order])
            count += len(names)
        elif kind == POSE:
            pose = _pose(message.pose.position, message.pose.orientation)
            frames.add(topic, _name(message.header.frame_id), logged, pose)
            count += 7
        else:
            for item in message.transforms:
                pose = _pose(item.transform.translation, item.transform.rotation)
                frames.add(_name(item.child_frame_id), _name(item.header.frame_id), logged, pose)
                count += 7
        check_count(bag, count)
    if skipped:
        notes.append(f"{skipped} joint states have no position, and are dropped")
    return states, frames, notes


def _add(series: _Series, stamp: Any, logged: float, values: Any) -> None:
    series.sent.append(stamp.sec + 1e-9 * stamp.nanosec)
    series.logged.append(logged)
    series.values.append(values)


def _pose(place: Any, turn: Any) -> np.ndarray:
    return np.array([place.x, place.y, place.z, turn.x, turn.y, turn.z, turn.w], float)


def _name(frame: str) -> str:
    """A frame's name; earlier versions of ROS began it with a stroke."""
    return frame.removeprefix("/")


def _opened(bag: Path, reading: Reading) -> Iterator[tuple[str, str, float, Any]]:
    """Topic, type, time in seconds and content of the messages that are of use."""
    try:
        from rosbags.rosbag2 import Reader
        from rosbags.typesys import Stores, get_typestore
    except ImportError:
        raise missing("bags are read by the package rosbags", "ros") from None
    store = get_typestore(Stores.ROS2_HUMBLE)
    _check(bag)
    try:
        with Reader(bag) as opened:
            _check_chunks(bag, opened)
            _check_rows(bag, opened)
            chosen = [item for item in opened.connections if item.msgtype in (JOINTS, POSE, TRANSFORMS)]
            topics = {item.topic for item in chosen if item.msgtype == JOINTS}
            for name in reading.topics:
                if name not in topics:
                    known = ", ".join(sorted(topics)) or "none"
                    raise UserError(f"{bag} has no joint states on {name}{near_misses(name, topics)}; it has {known}")
            if reading.topics:
                chosen = [item for item in chosen if item.msgtype != JOINTS or item.topic in reading.topics]
            origin = opened.start_time
            for connection, stamp, raw in opened.messages(chosen) if chosen else ():
                files.check_size(bag, len(raw), MESSAGE)
                content = store.deserialize_cdr(raw, connection.msgtype)
                yield connection.topic, connection.msgtype, 1e-9 * (stamp - origin), content
    except UserError:
        raise
    except Exception as error:
        raise damaged(bag, "a rosbag2 recording", error) from None


def _check(bag: Path) -> None:
    """Refuse a bag with parts that cannot be read in bounded memory."""
    for item in [bag] if bag.is_file() else bag.iterdir():
        if item.suffix in ENDINGS or item == bag:
            files.check_plain(item, LARGEST)
    described = bag / "metadata.yaml"
    if not bag.is_dir():
        return
    files.check_plain(described, MESSAGE)
    for line in described.read_text(encoding="utf-8", errors="replace").splitlines():
        name, _, value = line.strip().partition(":")
        if name == "compression_mode" and value.strip(" \"'").lower() not in ("", "none"):
            raise UserError(f"{bag} is compressed; unpack it first, with ros2 bag convert")


def _check_rows(bag: Path, opened: Any) -> None:
    """Refuse an sqlite3 file with a message that is too long, without reading it: SQLite has its length beside it."""
    longest = "SELECT MAX(LENGTH(data)) FROM messages JOIN topics ON topics.id = topic_id WHERE type IN (?, ?, ?)"
    for storage in getattr(opened.storage, "storages", [opened.storage]):
        path = Path(storage.path)
        if path.suffix == ".db3":
            with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as database:
                (found,) = database.execute(longest, (JOINTS, POSE, TRANSFORMS)).fetchone()
            files.check_size(bag, found or 0, MESSAGE)


def _check_chunks(bag: Path, opened: Any) -> None:
    """Refuse an MCAP file with parts that unpack to more than they say, or to more than can be."""
    from backports import zstd
    from lz4.frame import LZ4FrameDecompressor

    unpackers = {"zstd": zstd.ZstdDecompressor, "lz4": LZ4FrameDecompressor}
    for storage in getattr(opened.storage, "storages", [opened.storage]):
        for chunk in getattr(storage, "chunks", ()):
            files.check_size(bag, max(chunk.uncompressed_size, chunk.compressed_size), CHUNK)
            if chunk.compression in unpackers:
                with Path(storage.path).open("rb") as file:
                    file.seek(chunk.chunk_start_offset + 49 + len(chunk.compression))
                    packed = file.read(chunk.compressed_size)
                unpacked = unpackers[chunk.compression]().decompress(packed, max_length=chunk.uncompressed_size + 1)
                if len(unpacked) > chunk.uncompressed_size:
                    raise UserError(f"{bag} is damaged: a part of it unpacks to more than it says")
