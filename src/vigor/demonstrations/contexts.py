"""The context of every episode: listed by the file, in a file beside it, among what it observes, or read off the
movement."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import jax.numpy as jnp
import numpy as np

from vigor.basics import files
from vigor.basics.errors import UserError
from vigor.demonstrations.formats.episodes import Episode, Episodes, Reading
from vigor.motion import rotations
from vigor.tasks.task import Task

DECIMALS = 6
"""Digits after the point in which two contexts differ that are not the same."""
POSE = 7
"""Numbers of a pose."""
PARTS = {2: "its place seen from above", 3: "its place", 4: "its place and its heading", POSE: "all of it"}
"""Parts of a pose that a context may have, by how many numbers they are."""

Found = tuple[np.ndarray, np.ndarray, str]
"""Contexts [m, C], the context of each episode [n] as an index into these, and a sentence about where they are from."""


def find(
    task: Task,
    episodes: Episodes,
    recordings: Sequence[np.ndarray],
    grippers: Sequence[np.ndarray | None],
    reading: Reading,
) -> Found:
    """Contexts of episodes, from where the user says or where the file has them.

    recordings: [T, dimensions] each, in radians; grippers: [T] each, or None.
    """
    if reading.contexts_file is not None:
        return *_grouped(
            _of_file(task, reading.contexts_file, len(recordings))
        ), f"contexts are from {reading.contexts_file}"
    if reading.context_from:
        rows = [
            _off_movement(task, item.name, recording, gripper, reading.context_from)
            for item, recording, gripper in zip(episodes.episodes, recordings, grippers, strict=True)
        ]
        places = {"end": "where the movement ends", "gripper": "where the gripper closes"}
        said = " and ".join(places[word] for word in reading.context_from)
        return *_grouped(np.array(rows)), f"contexts are read off the movement: {said}"
    if episodes.contexts is not None and episodes.context_of is not None and not reading.context_keys:
        return episodes.contexts, episodes.context_of, "contexts are those that the file lists"
    keys = reading.context_keys or _keys(task, episodes)
    rows = [_observed(task, episodes.path, item, keys) for item in episodes.episodes]
    return *_grouped(np.array(rows)), f"contexts are {' and '.join(keys)} when an episode begins"


def _grouped(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Contexts that differ [m, C], in their order, and the number of each row's [n]."""
    _, first, inverse = np.unique(np.round(rows, DECIMALS), axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    return rows[first[order]], np.argsort(order)[inverse.reshape(-1)]


def _of_file(task: Task, path: Path, count: int) -> np.ndarray:
    """Contexts [episode, C] of a table with a row for every episode."""
    values = np.atleast_2d(files.read_table(path))
    if values.dtype.kind not in "iuf" or values.shape != (count, task.context_dimension):
        wanted = f"[{count} episodes, {task.context_dimension}]"
        raise UserError(f"{path} must hold numbers {wanted}: {', '.join(task.context_names)}; it has {values.shape}")
    return values.astype(float)


def _off_movement(
    task: Task, name: str, recording: np.ndarray, gripper: np.ndarray | None, places: Sequence[str]
) -> np.ndarray:
    """Places of the end effector [C] at moments of a recording [T, dimensions]."""
    steps = [len(recording) - 1 if place == "end" else _closing(name, gripper) for place in places]
    points = np.asarray(task.kinematics(jnp.asarray(recording[steps])))[:, -1].reshape(-1)
    if len(points) != task.context_dimension:
        raise UserError(
            f"a context of {task.name} has {task.context_dimension} numbers ({', '.join(task.context_names)}), and "
            f"{' and '.join(places)} give {len(points)}; give contexts with --contexts-file FILE"
        )
    return points


def _closing(name: str, gripper: np.ndarray | None) -> int:
    """The step at which a gripper [T] first passes the middle of its range."""
    if gripper is None:
        raise UserError("the recordings have no gripper; name it with --gripper")
    middle = (gripper.min() + gripper.max()) / 2
    above = gripper > middle
    passed = np.flatnonzero(above != above[0])
    if not len(passed):
        raise UserError(f"the gripper of {name} never closes; leave the episode out, or read contexts off the end")
    return int(passed[0])


def _keys(task: Task, episodes: Episodes) -> tuple[str, ...]:
    """Observations that must be the context: the only ones of its size, or poses that it names."""
    around = episodes.episodes[0].surroundings
    fitting = [name for name, values in around.items() if len(values) == task.context_dimension]
    if len(fitting) == 1:
        return (fitting[0],)
    poses = [name for name, values in around.items() if len(values) == POSE]
    stems = tuple(_sizes(task))
    named = [next((pose for pose in poses if stem and stem in pose.rpartition("/")[2]), None) for stem in stems]
    if all(named) and len(set(named)) == len(named) and all(size in PARTS for size in _sizes(task).values()):
        return tuple(name for name in named if name)
    if len(poses) == 1 and task.context_dimension in PARTS:
        return (poses[0],)
    has = f"it has {', '.join(around)}" if around else "the file has none"
    raise UserError(
        f"the context of every episode is missing ({', '.join(task.context_names)}); {has}: give --contexts-file FILE "
        "with a row for every episode, --context-keys NAME ..., or --context-from end"
    )


def _sizes(task: Task) -> dict[str, int]:
    """Number of coordinates of a context that each thing has, by its name: of "cup x" and "cup y", cup has 2."""
    return Counter(name.rpartition(" ")[0] for name in task.context_names)


def _part(pose: np.ndarray, size: int) -> np.ndarray:
    """As many numbers of a pose [7] as are asked for: see `PARTS`."""
    if size == 4:
        return np.append(pose[:3], rotations.heading(pose[3:]))
    return pose[:size]


def _observed(task: Task, path: Path, item: Episode, keys: Sequence[str]) -> np.ndarray:
    """Context [C] of an episode: what it observes under the keys, of poses as many numbers as the context needs."""
    unknown = [name for name in keys if name not in item.surroundings]
    if unknown:
        known = ", ".join(item.surroundings) or "nothing"
        raise UserError(f"{item.name} of {path} has no {unknown[0]!r}; it has {known}")
    parts = [item.surroundings[name] for name in keys]
    sizes = list(_sizes(task).values())
    if len(sizes) != len(keys):  # Things without names of their own.
        sizes = [task.context_dimension // len(keys)] * len(keys)
    if all(len(part) == POSE for part in parts) and all(size in PARTS for size in sizes):
        parts = [_part(part, size) for part, size in zip(parts, sizes, strict=True)]
    found = np.concatenate(parts)
    if len(found) != task.context_dimension:
        names = f"{task.context_dimension} numbers: {', '.join(task.context_names)}"
        raise UserError(f"{' and '.join(keys)} of {path} have {len(found)} numbers where a context has {names}")
    if not np.all(np.isfinite(found)):
        raise UserError(f"{item.name} of {path} has a context that is not finite")
    return found
