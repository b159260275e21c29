"""Recordings in the formats that other programs write, laid out as these do; and a task for them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from helpers import POINT, movement
from vigor.motion.robots import Robot
from vigor.tasks.task import Arm, Gripper

XY = Robot("xy", ("x", "y"), ((-3.0, 3.0), (-3.0, 3.0)), (10.0, 10.0), (100.0, 100.0))
POINTED = replace(POINT, name="pointed", arm=Arm(robot=XY))
"""A point moved by a robot with the joints x and y ends within .1 of its context."""
RAIL = Robot("rail", ("x",), ((-3.0, 3.0),), (10.0,), (100.0,))
GRIPPING = replace(POINT, name="gripping", arm=Arm(RAIL, lambda moved: moved[..., :1], gripper=Gripper("claw")))
"""The same with one joint and a gripper."""


def goals(count: int, seed: int = 0) -> np.ndarray:
    """Places [count, 2] to end at, of which every two are the same."""
    return np.repeat(np.random.default_rng(seed).uniform(-2, 2, (-(-count // 2), 2)), 2, axis=0)[:count].astype(
        np.float32
    )


def gripped(goal: np.ndarray, steps: int) -> np.ndarray:
    """States [steps, 3]: a movement to a goal, and a gripper that closes halfway, from 100 to 0."""
    return np.column_stack([movement(tuple(goal), steps=steps), np.where(np.arange(steps) < steps / 2, 100.0, 0.0)])


def lerobot(
    folder: Path,
    version: str = "v3.0",
    episodes: int = 4,
    names: object = ("x.pos", "y.pos", "gripper.pos"),
    environment: bool = True,
    scale: float = 1.0,
    fps: int = 30,
    steps: int = 40,
) -> np.ndarray:
    """A LeRobot data set of movements to goals; returns these [episode, 2].

    names: a list, a dict or None; scale: of the joints, for other units.
    """
    ends = goals(episodes)
    states = [gripped(goal, steps + number % 3) * (scale, scale, 1.0) for number, goal in enumerate(ends)]
    data_set(folder, version, states, names, ends if environment else None, fps)
    return ends


def data_set(
    folder: Path,
    version: str,
    states: Sequence[np.ndarray],
    names: object,
    surroundings: np.ndarray | None,
    fps: int = 30,
) -> None:
    """A data set as LeRobot writes it: `info.json`, tasks, episodes and data.

    states: [T, motor] of every episode; surroundings: state of the environment [episode, n].
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    tables, length = [], [len(state) for state in states]
    for number, state in enumerate(states):
        count = len(state)
        columns = {
            "observation.state": fixed(state),
            "action": fixed(state + np.eye(state.shape[1])[-1]),
            "timestamp": pa.array(np.arange(count, dtype=np.float32) / np.float32(fps)),
            "frame_index": pa.array(np.arange(count)),
            "episode_index": pa.array(np.full(count, number)),
            "index": pa.array(np.arange(count) + sum(length[:number])),
            "task_index": pa.array(np.zeros(count, np.int64)),
        }
        if surroundings is not None:
            columns["observation.environment_state"] = fixed(np.repeat(surroundings[number][None], count, axis=0))
        tables.append(pa.table(columns))
    shape, listed = [states[0].shape[1]], list(names) if isinstance(names, tuple) else names
    vector = {"dtype": "float32", "shape": shape, "names": listed}
    features = {"observation.state": vector, "action": vector}
    if surroundings is not None:
        size = [surroundings.shape[1]]
        features["observation.environment_state"] = {"dtype": "float32", "shape": size, "names": None}
    scalar = {"shape": [1], "names": None}
    features |= {"timestamp": {"dtype": "float32"} | scalar}
    features |= {name: {"dtype": "int64"} | scalar for name in ("frame_index", "episode_index", "index", "task_index")}
    info = {
        "codebase_version": version,
        "robot_type": "xy",
        "total_episodes": len(states),
        "total_frames": sum(length),
        "total_tasks": 1,
        "chunks_size": 1000,
        "fps": fps,
        "splits": {"train": f"0:{len(states)}"},
        "features": features,
    }
    (folder / "meta").mkdir(parents=True)
    (folder / "data" / "chunk-000").mkdir(parents=True)
    if version == "v3.0":
        info |= {"data_files_size_in_mb": 100, "video_files_size_in_mb": 200, "video_path": None}
        info["data_path"] = "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
        half = len(tables) // 2  # Two files, as when the first is full.
        for number, part in enumerate((tables[:half], tables[half:])):
            if part:
                pq.write_table(pa.concat_tables(part), folder / "data" / "chunk-000" / f"file-{number:03d}.parquet")
    else:
        info["data_path"] = "data/chunk-{episode_chunk:03d}/episode_{episode_index:06d}.parquet"
        for number, table in enumerate(tables):
            pq.write_table(table, folder / "data" / "chunk-000" / f"episode_{number:06d}.parquet")
        rows = [{"episode_index": i, "tasks": ["reach"], "length": count} for i, count in enumerate(length)]
        (folder / "meta" / "episodes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        (folder / "meta" / "tasks.jsonl").write_text('{"task_index": 0, "task": "reach"}\n')
    (folder / "meta" / "info.json").write_text(json.dumps(info))


def fixed(values: np.ndarray) -> object:
    """Rows [T, n] as lists of a fixed length, as LeRobot has them."""
    import pyarrow as pa

    return pa.FixedSizeListArray.from_arrays(pa.array(values.astype(np.float32).ravel()), values.shape[1])


def bag(
    path: Path,
    states: Sequence[tuple[str, tuple[str, ...], np.ndarray, np.ndarray]],
    poses: Sequence[tuple[str, float, Sequence[float]]] = (),
    frames: Sequence[tuple[str, float, Sequence[float]]] = (),
    on: Mapping[str, str] | None = None,
    storage: str = "mcap",
    sent: np.ndarray | None = None,
    seed: int = 0,
) -> None:
    """A bag as ROS 2 records it.

    states: topic, joints, times [T] and positions [T, joint], whose order is drawn anew for every message; poses,
    frames of /tf: topic or frame, time and place, perhaps with a quaternion; on: what frames and poses hang on, if not
    on the world; sent: times [T] that senders claim, if not the true ones.
    """
    from rosbags.rosbag2 import StoragePlugin, Writer
    from rosbags.typesys import Stores, get_typestore

    store, rng = get_typestore(Stores.ROS2_HUMBLE), np.random.default_rng(seed)
    types = store.types
    plugin = StoragePlugin.MCAP if storage == "mcap" else StoragePlugin.SQLITE3

    def header(time: float, frame: str = "") -> object:
        stamp = types["builtin_interfaces/msg/Time"](sec=int(time), nanosec=round(time % 1 * 1e9) % 10**9)
        return types["std_msgs/msg/Header"](stamp=stamp, frame_id=frame)

    def triple(kind: str, place: Sequence[float]) -> object:
        return types[f"geometry_msgs/msg/{kind}"](**dict(zip("xyz", map(float, place), strict=True)))

    def turned(place: Sequence[float]) -> object:
        turn = map(float, place[3:] if len(place) > 3 else (0.0, 0.0, 0.0, 1.0))
        return types["geometry_msgs/msg/Quaternion"](**dict(zip("xyzw", turn, strict=True)))

    messages = []
    hung = on or {}
    for topic, names, times, positions in states:
        for step, (time, row) in enumerate(zip(times.tolist(), positions, strict=True)):
            order = rng.permutation(len(names))
            message = types["sensor_msgs/msg/JointState"](
                header=header(time if sent is None else float(sent[step])),
                name=[names[i] for i in order],
                position=row[order].astype(np.float64),
                velocity=np.zeros(0),
                effort=np.zeros(0),
            )
            messages.append((time, topic, "sensor_msgs/msg/JointState", message))
    for topic, time, place in poses:
        pose = types["geometry_msgs/msg/Pose"](position=triple("Point", place[:3]), orientation=turned(place))
        kind = "geometry_msgs/msg/PoseStamped"
        messages.append((time, topic, kind, types[kind](header=header(time, hung.get(topic, "")), pose=pose)))
    for frame, time, place in frames:
        moved = types["geometry_msgs/msg/Transform"](translation=triple("Vector3", place[:3]), rotation=turned(place))
        item = types["geometry_msgs/msg/TransformStamped"](
            header=header(time, hung.get(frame, "world")), child_frame_id=frame, transform=moved
        )
        topic = "/tf_static" if frame.startswith("fixed") else "/tf"
        messages.append((time, topic, "tf2_msgs/msg/TFMessage", types["tf2_msgs/msg/TFMessage"](transforms=[item])))
    with Writer(path, version=9, storage_plugin=plugin) as writer:
        known = {
            topic: writer.add_connection(topic, kind, typestore=store)
            for topic, kind in dict.fromkeys((topic, kind) for _, topic, kind, _ in messages)
        }
        for time, topic, kind, message in sorted(messages, key=lambda item: item[0]):
            writer.write(known[topic], round(time * 1e9), store.serialize_cdr(message, kind))


def robomimic(path: Path, episodes: int = 4, steps: int = 40) -> np.ndarray:
    """A file as robomimic writes it; returns its goals [episode, 2]."""
    import h5py

    ends = goals(episodes)
    with h5py.File(path, "w") as file:
        data = file.create_group("data")
        data.attrs["env_args"] = json.dumps({"env_name": "Lift", "type": 1, "env_kwargs": {"control_freq": 20}})
        for number, goal in enumerate(ends):
            demo = data.create_group(f"demo_{number}")
            demo.attrs["num_samples"] = steps
            state = gripped(goal, steps)
            demo["actions"] = np.zeros((steps, 7))
            demo["obs/robot0_joint_pos"] = state[:, :2]
            demo["obs/robot0_gripper_qpos"] = state[:, 2:] * (4e-4, -4e-4)
            demo["obs/robot0_eef_pos"] = np.zeros((steps, 3))
            demo["obs/object"] = np.repeat(goal[None], steps, axis=0)
            demo["obs/agentview_image"] = np.zeros((steps, 8, 8, 3), np.uint8)
        file["mask/train"] = np.array([f"demo_{number}" for number in range(0, episodes, 2)], dtype="S8")
    return ends
