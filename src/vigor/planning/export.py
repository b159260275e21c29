"""A planned movement as a trajectory for a robot's controller: sampled, within every limit, in files it can read.

A ProMP knows no time and its movements do not quite end at rest. So the phase runs along a smooth clock: it speeds up
from rest, runs evenly, and slows down to rest. The clock takes as many seconds as were asked for, or as many more as
the largest speed and acceleration need.
"""

import json
import shutil
import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, get_args

import jax
import jax.numpy as jnp
import numpy as np

from vigor.basics import files
from vigor.basics.errors import UserError
from vigor.basics.install import missing
from vigor.motion.robots import Robot
from vigor.planning.constraints import Constraints
from vigor.planning.plans import Solution
from vigor.tasks.task import Task

Array = jax.Array
Format = Literal["csv", "json", "ros2", "mcap"]

RAMP = 0.15
"""Part of the time in which a movement speeds up, and in which it slows down."""
FINE = 40
"""The largest speed and acceleration are looked for at this many times the steps of the ProMP."""
SAFETY = 1.001
"""Duration over the shortest one that holds every limit at those moments: for what lies between them."""
TOLERANCE = 0.02
"""Most radians that a joint may be away from where a movement starts."""
TOPIC, TYPE = "/joint_trajectory", "trajectory_msgs/msg/JointTrajectory"


@dataclass(frozen=True, eq=False)
class Trajectory:
    """Joints over time, from rest to rest."""

    joints: tuple[str, ...]
    """Names."""
    times: np.ndarray
    """[T], in seconds"""
    positions: np.ndarray
    """[T, joint], in radians"""
    velocities: np.ndarray
    """[T, joint]"""
    accelerations: np.ndarray
    """[T, joint]"""
    slowed_by: str | None = None
    """The limit that makes it take longer than asked for, in words."""


def clock(share: Array) -> Array:
    """Phase at a share of the time, both from 0 to 1: its speed rises like a smooth step, is even, and falls again."""
    top = 1 / (1 - RAMP)

    def rise(u: Array) -> Array:  # The integral of the smooth step 3 u^2 - 2 u^3.
        return top * RAMP * (u**3 - u**4 / 2)

    slowing = jnp.where(share > 1 - RAMP, 1 - rise((1 - share) / RAMP), top * (share - RAMP / 2))
    return jnp.where(share < RAMP, rise(share / RAMP), slowing)


@partial(jax.jit, static_argnums=0)
def _move(task: Task, weights: Array, shares: Array) -> tuple[Array, Array, Array]:
    """Joints [T, joint] at shares [T] of the time, and their first and second derivatives by the share."""

    def place(share: Array) -> Array:
        return task.arm.joints(task.promp.at(weights, clock(share)))

    def speed(share: Array) -> Array:
        return jax.jvp(place, (share,), (jnp.ones_like(share),))[1]

    return place(shares), *jax.jvp(speed, (shares,), (jnp.ones_like(shares),))


def _sample(task: Task, weights: Array, shares: np.ndarray) -> list[np.ndarray]:
    """`_move` at any number of shares [T], in blocks of one size: one program whatever their number."""
    size = FINE * task.promp.steps
    blocks = -(-len(shares) // size)
    padded = np.resize(shares, (blocks, size))
    parts = [_move(task, weights, jnp.asarray(block)) for block in padded]
    return [np.concatenate(part)[: len(shares)] for part in zip(*parts, strict=True)]


def trajectory(
    task: Task, solution: Solution, limits: Constraints, rate: float = 100.0, start_pose: np.ndarray | None = None
) -> Trajectory:
    """A solution sampled `rate` times a second, from rest to rest, slowed down as far as the robot needs.

    limits: whose joints, and how many seconds it takes at least; start_pose: [joint], where the robot is now.
    Refuses, with the reason, what violates a limit other than velocity.
    """
    if not 0 < rate <= 10**4:
        raise UserError(f"the rate must be from 0 to 10,000 samples a second, not {rate:g}")
    if solution.violated is not None and not solution.violated.startswith("velocity"):
        raise UserError(f"this movement violates {solution.violated}; export another solution")
    # The sentence names one violation only, in older plans the velocity before a keep-out.
    for name, margin in solution.margins.items():
        if name != "velocity" and margin < 0:
            raise UserError(f"this movement violates {name} by {-margin:.3f}; export another solution")
    robot = limits.robot
    with jax.enable_x64(True):
        weights = jnp.asarray(solution.movement)
        place, speed, push = _sample(task, weights, np.linspace(0.0, 1.0, FINE * task.promp.steps))
        names = tuple(f"joint{i}" for i in range(1, place.shape[1] + 1)) if robot is None else robot.joints
        if robot is not None:
            _check_positions(robot, place)
        if start_pose is not None:
            _check_start(names, place[0], np.asarray(start_pose, float))
        seconds, slowed_by = limits.seconds, None
        if robot is not None:
            shortest, limit = _shortest(robot, speed, push)
            if shortest > seconds:
                seconds, slowed_by = shortest, limit
        count = int(np.ceil(seconds * rate - 1e-9)) + 1
        if count > 10**6:
            raise UserError(f"this movement takes {seconds:.1f} s, over a million samples; lower the rate")
        times = np.arange(count) / rate
        seconds = float(times[-1])  # The last sample is the end: at most 1 / rate slower than asked for.
        place, speed, push = _sample(task, weights, times / seconds)
    return Trajectory(names, times, place, speed / seconds, push / seconds**2, slowed_by)


def _check_positions(robot: Robot, place: np.ndarray) -> None:
    if place.shape[1] != len(robot.joints):
        raise UserError(
            f"{robot.name} has {len(robot.joints)} joints where the task moves {place.shape[1]}; name those"
        )
    low, high = np.array(robot.position).T
    past = np.max(np.maximum(low - place, place - high), axis=0)
    worst = int(np.argmax(past))
    if past[worst] > 0:
        raise UserError(
            f"this movement takes {robot.joints[worst]} {past[worst]:.3f} beyond its limits, {low[worst]:g} to "
            f"{high[worst]:g}; export another solution"
        )


def _check_start(names: tuple[str, ...], start: np.ndarray, pose: np.ndarray) -> None:
    if pose.shape != start.shape or not np.all(np.isfinite(pose)):
        raise UserError(f"a start pose needs {len(start)} finite numbers: {', '.join(names)}")
    away = np.abs(pose - start)
    worst = int(np.argmax(away))
    if away[worst] > TOLERANCE:
        raise UserError(
            f"this movement starts with {names[worst]} at {start[worst]:.3f}, but the robot has it at "
            f"{pose[worst]:.3f}; move the robot there first"
        )


def _shortest(robot: Robot, speed: np.ndarray, push: np.ndarray) -> tuple[float, str]:
    """Seconds in which a movement holds every speed and acceleration, and the limit that needs them, in words.

    speed, push: [T, joint] by the share of time.
    """
    if robot.acceleration is None:
        raise UserError(f"nothing gives the acceleration limits of {robot.name}; give --acceleration")
    fast = np.max(np.abs(speed), axis=0) / np.array(robot.velocity)
    hard = np.sqrt(np.max(np.abs(push), axis=0) / np.array(robot.acceleration))
    kind, needs = ("velocity", fast) if fast.max() > hard.max() else ("acceleration", hard)
    return SAFETY * float(needs.max()), f"the {kind} limit of {robot.joints[int(needs.argmax())]}"


# Files


def write(path: Path, moved: Trajectory, kind: Format) -> None:
    """Write a trajectory: a new file, or for `mcap` a new rosbag2 folder."""
    if path.exists():
        raise UserError(f"{path} exists already; choose another --out")
    match kind:
        case "csv":
            files.write_text(path, as_csv(moved), new=True)
        case "json":
            files.write_json(path, _as_json(moved), new=True)
        case "ros2":
            files.write_text(path, as_yaml(message(moved)), new=True)
        case "mcap":
            _write_bag(path, moved)
        case _:
            raise UserError(f"there is no format {kind!r}; choose from {', '.join(get_args(Format))}")


def as_csv(moved: Trajectory) -> str:
    """A line of names, then a row for every moment: time, positions, velocities, accelerations."""
    kinds = ("", "_velocity", "_acceleration")
    names = ["time", *(f"{joint}{kind}" for kind in kinds for joint in moved.joints)]
    table = np.column_stack([moved.times, moved.positions, moved.velocities, moved.accelerations])
    return "\n".join([",".join(names), *(",".join(map(repr, row)) for row in table.tolist())]) + "\n"


def _as_json(moved: Trajectory) -> dict[str, Any]:
    return {
        "joint_names": moved.joints,
        "times": moved.times.tolist(),
        "positions": moved.positions.tolist(),
        "velocities": moved.velocities.tolist(),
        "accelerations": moved.accelerations.tolist(),
    }


def message(moved: Trajectory) -> dict[str, Any]:
    """A ROS 2 `trajectory_msgs/JointTrajectory`, that begins when it is received."""
    points = [
        {
            "positions": place,
            "velocities": speed,
            "accelerations": push,
            "effort": [],
            "time_from_start": dict(zip(("sec", "nanosec"), divmod(round(time * 1e9), 10**9), strict=True)),
        }
        for time, place, speed, push in zip(
            moved.times.tolist(),
            moved.positions.tolist(),
            moved.velocities.tolist(),
            moved.accelerations.tolist(),
            strict=True,
        )
    ]
    stamp = {"sec": 0, "nanosec": 0}
    return {"header": {"stamp": stamp, "frame_id": ""}, "joint_names": list(moved.joints), "points": points}


def as_yaml(value: dict[str, Any]) -> str:
    """A message as YAML: a point a line. (What JSON writes is YAML as well.)"""
    points = "".join(f"- {json.dumps(point)}\n" for point in value["points"])
    rest = "".join(f"{name}: {json.dumps(part)}\n" for name, part in value.items() if name != "points")
    return f"{rest}points:\n{points}"


def _write_bag(path: Path, moved: Trajectory) -> None:
    """A rosbag2 folder with one message, in an MCAP file; written elsewhere first, then moved into its place."""
    try:
        from rosbags.rosbag2 import StoragePlugin, Writer
        from rosbags.typesys import Stores, get_typestore
    except ImportError:
        raise missing("rosbags are written by a package", "export") from None
    store = get_typestore(Stores.ROS2_HUMBLE)
    path.parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}."))
    try:
        with Writer(folder / path.name, version=9, storage_plugin=StoragePlugin.MCAP) as bag:
            connection = bag.add_connection(TOPIC, TYPE, typestore=store)
            bag.write(connection, 0, store.serialize_cdr(_as_message(store.types, moved), TYPE))
        (folder / path.name).rename(path)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _as_message(types: Any, moved: Trajectory) -> Any:
    """`message` in the classes of the package rosbags."""
    value = message(moved)
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
