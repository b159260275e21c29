"""Recordings for the viewer Rerun: scenes with their regions, and movements on a time line."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from vigor.basics import files
from vigor.basics.colours import QUIET
from vigor.basics.errors import UserError
from vigor.basics.install import missing
from vigor.demonstrations import matching
from vigor.demonstrations.dataset import Demonstrations, trajectories
from vigor.motion.shapes import Box, Sphere
from vigor.reports.drawing import FORBIDDEN, SHADES
from vigor.reports.figures import link_points
from vigor.tasks.task import Task

MOST = 50
"""Most contexts that are shown."""


@dataclass(frozen=True, eq=False)
class Movement:
    """A movement that is shown."""

    name: str
    """Its place in the viewer's tree."""
    joints: np.ndarray
    """[T, dimensions]"""
    colour: str


@dataclass(frozen=True, eq=False)
class Scene:
    """A context with its movements."""

    context: np.ndarray
    movements: tuple[Movement, ...]
    keep_out: tuple[Sphere | Box, ...] = ()


def write(path: Path, task: Task, scenes: Sequence[Scene], seconds: float) -> None:
    """Write a new .rrd file: for every context its regions, and paths, arm and joints of its movements over time."""
    try:
        import rerun
    except ImportError:
        raise missing("recordings for Rerun are written by the package rerun-sdk", "viewer") from None
    if path.suffix != ".rrd":
        raise UserError(f"--rerun must be an .rrd file, not {path}")

    def fill(temporary: Path) -> None:
        stream = rerun.RecordingStream(f"vigor {task.name}")
        stream.save(str(temporary))
        for number, scene in enumerate(scenes[:MOST], start=1):
            _log(rerun, stream, f"context {number}", task, scene, seconds)
        stream.flush()
        stream.disconnect()

    files.write_whole(path, fill)


def of_demonstrations(task: Task, shown: Demonstrations) -> list[Scene]:
    """A scene for every demonstrated context."""
    joints = trajectories(task, shown)
    return [
        Scene(shown.contexts[context], tuple(demonstrated(joints[shown.of(context)]))) for context in shown.demonstrated
    ]


def demonstrated(joints: np.ndarray) -> list[Movement]:
    """Demonstrations [n, T, dimensions], in grey."""
    return [Movement(f"demonstrations/{number}", item, QUIET) for number, item in enumerate(joints, start=1)]


def _log(rerun: Any, stream: Any, place: str, task: Task, scene: Scene, seconds: float) -> None:
    """Log a scene at its place in the viewer's tree."""
    for number, region in enumerate(task.display.regions(scene.context)):
        _ball(rerun, stream, f"{place}/{region.label}", region.centre, region.radius, SHADES[number % len(SHADES)])
    for number, shape in enumerate(scene.keep_out, start=1):
        name = f"{place}/keep out/{number}"
        if isinstance(shape, Sphere):
            _ball(rerun, stream, name, shape.centre, shape.radius, FORBIDDEN)
        else:
            middle, half = np.add(shape.low, shape.high) / 2, np.subtract(shape.high, shape.low) / 2
            box = rerun.Boxes3D(centers=[middle], half_sizes=[half], colors=[_numbers(FORBIDDEN)])
            stream.log(_path(rerun, name), box, static=True)
    for movement in scene.movements:
        _log_movement(rerun, stream, f"{place}/{movement.name}", task, movement, seconds)


def _log_movement(rerun: Any, stream: Any, place: str, task: Task, movement: Movement, seconds: float) -> None:
    """Log a movement: its path at all times, its arm and joints over time."""
    points = _in_space(link_points(task, movement.joints))
    colour = _numbers(movement.colour)
    stream.log(_path(rerun, f"{place}/path"), rerun.LineStrips3D([points[:, -1]], colors=[colour]), static=True)
    times = np.linspace(0.0, seconds, len(points))

    def send(name: str, columns: Any) -> None:
        index = [rerun.TimeColumn("time", duration=times)]
        rerun.send_columns(_path(rerun, f"{place}/{name}"), indexes=index, columns=columns, recording=stream)

    if points.shape[1] > 1:
        send("arm", rerun.LineStrips3D.columns(strips=points, colors=[colour] * len(points)))
    send("effector", rerun.Points3D.columns(positions=points[:, -1], colors=[colour] * len(points)))
    for name, values in zip(matching.names(task), movement.joints.T, strict=True):
        send(f"joints/{name}", rerun.Scalars.columns(scalars=np.asarray(values, float)))


def _ball(rerun: Any, stream: Any, place: str, centre: Any, radius: float, colour: str) -> None:
    middle = _in_space(np.asarray(centre, float))
    ball = rerun.Ellipsoids3D(centers=[middle], half_sizes=[[radius] * 3], colors=[_numbers(colour)])
    stream.log(_path(rerun, place), ball, static=True)


def _path(rerun: Any, place: str) -> str:
    """A place in the viewer's tree as Rerun writes it, with marks before its spaces."""
    return rerun.new_entity_path(place.split("/"))


def _in_space(points: np.ndarray) -> np.ndarray:
    """Points [..., 2 or 3] in space."""
    flat = points.shape[-1] == 2
    return np.concatenate([points, np.zeros((*points.shape[:-1], 1))], axis=-1) if flat else points


def _numbers(colour: str) -> list[int]:
    """Red, green and blue of a colour."""
    return [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
