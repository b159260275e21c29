"""Trajectories in files that robots' controllers can read: CSV, JSON, ROS 2, LeRobot."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from vigor.basics import files, folders
from vigor.basics.errors import UserError
from vigor.basics.install import missing
from vigor.basics.serialisation import FORMULAS
from vigor.planning import lerobot
from vigor.planning.trajectories import Trajectory

Format = Literal["csv", "json", "ros2", "mcap", "lerobot"]
ENDINGS: dict[str, str] = {"csv": ".csv", "json": ".json", "ros2": ".yaml", "mcap": "", "lerobot": "_lerobot"}
"""Ending of a file or a folder by its format; a rosbag2 folder has none."""
TYPE, STATE = "trajectory_msgs/msg/JointTrajectory", "sensor_msgs/msg/JointState"
TOPICS = ("/joint_trajectory", "/planned_joint_states")
"""Topics of a bag: the trajectory as one message, and the joint states of its samples. Not that of the robot's own."""


def write(path: Path, trajectory: Trajectory, kind: Format | None = None, topics: Sequence[str] = TOPICS) -> None:
    """Write a trajectory as a new file, or a new folder for `mcap` and `lerobot`; by default as the path's ending says.

    topics: those of a bag.
    """
    if kind is None:
        kind = next((name for name in get_args(Format) if ENDINGS[name] == path.suffix), None)
    if path.exists():
        raise UserError(f"{path} exists already; choose another place")
    _check_names(trajectory)
    match kind:
        case "csv":
            files.write_text(path, as_csv(trajectory), new=True)
        case "json":
            files.write_json(path, _as_json(trajectory), new=True)
        case "ros2":
            files.write_text(path, as_yaml(message(trajectory)), new=True)
        case "mcap":
            _write_bag(path, trajectory, topics)
        case "lerobot":
            lerobot.write(path, [trajectory])
        case _:
            raise UserError(
                f"{path} names no format; end it in .csv, .json or .yaml, or in nothing for a rosbag2 folder"
            )


def _check_names(trajectory: Trajectory) -> None:
    """Refuse joints and a gripper by whose names a reader would take one column, or one part, for another thing."""
    names = _columns(trajectory)
    if computed := next((name for name in names if name.startswith(FORMULAS)), ""):
        raise UserError(f"programs for tables would take {computed} for a formula; rename this joint or gripper")
    if twice := next((name for name in names if names.count(name) > 1), ""):
        raise UserError(f"the robot's joints and gripper are named so that two columns would be {twice}; rename them")
    if trajectory.gripper is not None and trajectory.gripper.channel in _as_json(replace(trajectory, gripper=None)):
        raise UserError(f"a gripper cannot be called {trajectory.gripper.channel} in what is exported; rename it")


def _columns(trajectory: Trajectory) -> list[str]:
    """Names of a table's columns."""
    kinds = ("", "_velocity", "_acceleration")
    gripper = () if trajectory.gripper is None else (trajectory.gripper.channel,)
    return ["time", *(f"{joint}{kind}" for kind in kinds for joint in trajectory.joints), *gripper]


def as_csv(trajectory: Trajectory) -> str:
    """A line of names, then a row for every moment: time, positions, velocities, accelerations, gripper."""
    names = _columns(trajectory)
    table = np.column_stack([trajectory.times, trajectory.positions, trajectory.velocities, trajectory.accelerations])
    if trajectory.gripper is not None:
        table = np.column_stack([table, trajectory.gripper.positions])
    return "\n".join([",".join(names), *(",".join(map(repr, row)) for row in table.tolist())]) + "\n"


def _as_json(trajectory: Trajectory) -> dict[str, Any]:
    return {
        "joint_names": trajectory.joints,
        "times": trajectory.times.tolist(),
        "positions": trajectory.positions.tolist(),
        "velocities": trajectory.velocities.tolist(),
        "accelerations": trajectory.accelerations.tolist(),
        **({} if trajectory.gripper is None else {trajectory.gripper.channel: trajectory.gripper.positions.tolist()}),
    }


def message(trajectory: Trajectory) -> dict[str, Any]:
    """A ROS 2 `trajectory_msgs/JointTrajectory` of the arm, that begins when it is received.

    A gripper has a controller of its own; the joint states of a bag have it.
    """
    points = [
        {
            "positions": place,
            "velocities": speed,
            "accelerations": push,
            "effort": [],
            "time_from_start": dict(zip(("sec", "nanosec"), divmod(round(time * 1e9), 10**9), strict=True)),
        }
        for time, place, speed, push in zip(
            trajectory.times.tolist(),
            trajectory.positions.tolist(),
            trajectory.velocities.tolist(),
            trajectory.accelerations.tolist(),
            strict=True,
        )
    ]
    stamp = {"sec": 0, "nanosec": 0}
    return {"header": {"stamp": stamp, "frame_id": ""}, "joint_names": list(trajectory.joints), "points": points}


def as_yaml(value: dict[str, Any]) -> str:
    """A message as YAML: a point a line. (What JSON writes is YAML as well.)"""
    points = "".join(f"- {json.dumps(point)}\n" for point in value["points"])
    rest = "".join(f"{name}: {json.dumps(part)}\n" for name, part in value.items() if name != "points")
    return f"{rest}points:\n{points}"


def _write_bag(path: Path, trajectory: Trajectory, topics: Sequence[str]) -> None:
    """A rosbag2 folder in an MCAP file; written elsewhere first, then moved into its place.

    It has the trajectory as one message, and joint states at the times of its samples.
    """
    try:
        from rosbags.rosbag2 import StoragePlugin, Writer
        from rosbags.typesys import Stores, get_typestore
    except ImportError:
        raise missing("bags are written by the package rosbags", "ros") from None
    if len(set(topics)) != 2 or not all(re.fullmatch(r"(/[A-Za-z_][A-Za-z0-9_]*)+", topic) for topic in topics):
        raise UserError(f"a bag needs two topics like {' and '.join(TOPICS)}, not {' and '.join(topics)}")
    store = get_typestore(Stores.ROS2_HUMBLE)

    def fill(folder: Path) -> None:
        with Writer(folder, version=9, storage_plugin=StoragePlugin.MCAP) as bag:
            whole, state = (
                bag.add_connection(topic, kind, typestore=store)
                for topic, kind in zip(topics, (TYPE, STATE), strict=True)
            )
            bag.write(whole, 0, store.serialize_cdr(_as_message(store.types, trajectory), TYPE))
            for step, time in enumerate(trajectory.times.tolist()):
                content = store.serialize_cdr(_as_state(store.types, trajectory, step), STATE)
                bag.write(state, round(time * 1e9), content)

    folders.write_whole(path, fill)


def _as_state(types: Any, trajectory: Trajectory, step: int) -> Any:
    """A `sensor_msgs/JointState` of one sample."""
    sec, nanosec = divmod(round(float(trajectory.times[step]) * 1e9), 10**9)
    stamp = types["builtin_interfaces/msg/Time"](sec=sec, nanosec=nanosec)
    names, places, speeds = list(trajectory.joints), trajectory.positions[step], trajectory.velocities[step]
    if trajectory.gripper is not None:
        opened = trajectory.gripper.positions
        rate = np.gradient(opened, trajectory.times)[step]
        names, places, speeds = [*names, trajectory.gripper.channel], [*places, opened[step]], [*speeds, rate]
    return types[STATE](
        header=types["std_msgs/msg/Header"](stamp=stamp, frame_id=""),
        name=names,
        position=np.array(places, np.float64),
        velocity=np.array(speeds, np.float64),
        effort=np.zeros(0),
    )


def _as_message(types: Any, trajectory: Trajectory) -> Any:
    """`message` in the classes of the package rosbags."""
    value = message(trajectory)
    time, duration = types["builtin_interfaces/msg/Time"], types["builtin_interfaces/msg/Duration"]
    header = types["std_msgs/msg/Header"](stamp=time(sec=0, nanosec=0), frame_id="")
    points = [
        types["trajectory_msgs/msg/JointTrajectoryPoint"](
            **{name: np.array(part, np.float64) for name, part in point.items() if name != "time_from_start"},
            time_from_start=duration(**point["time_from_start"]),
        )
        for point in value["points"]
    ]
    return types[TYPE](header=header, joint_names=value["joint_names"], points=points)
