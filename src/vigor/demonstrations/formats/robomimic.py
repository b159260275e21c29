"""robomimic's HDF5 files: data/demo_i/obs/KEY, and masks that name some of them."""

import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np

from vigor.basics import files
from vigor.basics.errors import UserError, near_misses
from vigor.basics.install import missing
from vigor.demonstrations.formats.episodes import Episode, Episodes, Reading, check_count, damaged, numbered

KEY, FINGERS = "robot0_joint_pos", "robot0_gripper_qpos"
LARGEST = 2**36
"""Most bytes of a file: one with camera pictures has many, of which none are read."""
CHUNK = 2**28
"""Most bytes of a part of a table that is unpacked at once."""
WIDEST = 256
"""Most numbers of an observation that may be a context."""


def read(path: Path, reading: Reading) -> Episodes:
    """Episodes of a file; the joints are the observation `reading.key`, and columns have no names."""
    try:
        import h5py
    except ImportError:
        raise missing("HDF5 files are read by the package h5py", "hdf5") from None
    files.check_plain(path, LARGEST)
    try:
        with h5py.File(path, "r") as file:
            return _episodes(path, file, reading)
    except UserError:
        raise
    except Exception as error:
        raise damaged(path, "an HDF5 file", error) from None


def _episodes(path: Path, file: Any, reading: Reading) -> Episodes:
    data = _group(path, file, "data")
    names = sorted(data, key=lambda name: [int(part) if part.isdigit() else 0 for part in re.findall(r"\d+", name)])
    names, notes = _masked(path, file, names, reading.mask)
    rate, key, total, episodes = _rate(data), reading.key or KEY, 0, []
    for name in names:
        observed = _group(path, _group(path, data, name), "obs")
        if key not in observed:
            known = [other for other in observed if _is_table(observed, other)]
            raise UserError(f"{name} of {path} has no obs/{key}; choose with --key from {', '.join(known)}")
        joints = _dataset(path, observed, key)
        fingers = _dataset(path, observed, FINGERS) if FINGERS in observed and key != FINGERS else None
        total += joints.size + (0 if fingers is None else fingers.size)
        check_count(path, total)
        values = np.asarray(joints[()], float).reshape(len(joints), -1)
        columns = numbered(values.shape[1])
        if fingers is not None:
            opening = np.abs(np.asarray(fingers[()], float)).reshape(len(fingers), -1).sum(axis=1)
            values, columns = np.column_stack([values, opening]), (*columns, "gripper")
        around = {
            other: np.atleast_1d(np.asarray(_dataset(path, observed, other)[0], float)).ravel()
            for other in observed
            if other in reading.context_keys or not other.startswith("robot")
            if other != key and _is_table(observed, other)
        }
        times = None if rate is None else np.arange(len(values)) / rate
        episodes.append(Episode(name, values, times, around))
    if not episodes:
        raise UserError(f"{path} holds no episodes")
    notes = (f"joints are read from obs/{key}", *notes)
    return Episodes(path, "a robomimic file", columns, tuple(episodes), False, notes=notes)


def _masked(path: Path, file: Any, names: list[str], mask: str) -> tuple[list[str], tuple[str, ...]]:
    """Names that a mask has, in their order, and a sentence about it."""
    if not mask:
        return names, ()
    masks = _group(path, file, "mask") if "mask" in file else {}
    if mask not in masks:
        known = ", ".join(masks) or "none"
        raise UserError(f"{path} has no mask {mask!r}{near_misses(mask, masks)}; it has {known}")
    listed = _dataset(path, masks, mask, "SO")
    check_count(path, listed.size)
    chosen = {item.decode() if isinstance(item, bytes) else str(item) for item in listed[()].ravel()}
    return [name for name in names if name in chosen], (f"the mask {mask} has {len(chosen)} of {len(names)} episodes",)


def _rate(data: Any) -> float | None:
    """Steps a second, as the description of the environment says; None if it does not."""
    try:
        rate = json.loads(data.attrs["env_args"])["env_kwargs"]["control_freq"]
        return float(rate) if 0 < float(rate) < 1e6 else None
    except (KeyError, TypeError, ValueError, RecursionError):
        return None


def _group(path: Path, parent: Any, name: str) -> Any:
    """A group of a file; links into other files are not followed."""
    import h5py

    if not isinstance(parent.get(name, getlink=True), h5py.HardLink) or not isinstance(parent[name], h5py.Group):
        raise UserError(f"{path} is not laid out as robomimic's files: it has no group {name!r}")
    return parent[name]


def _dataset(path: Path, parent: Any, name: str, kinds: str = "iuf") -> Any:
    """A data set of a file, not yet read, whose numbers are in the file itself."""
    import h5py

    found = parent[name] if isinstance(parent.get(name, getlink=True), h5py.HardLink) else None
    if not isinstance(found, h5py.Dataset) or found.dtype.kind not in kinds or not found.shape:
        raise UserError(f"{path} has no table of numbers {parent.name}/{name}")
    if found.external or found.is_virtual:
        raise UserError(f"{path} keeps {parent.name}/{name} in other files; copy its data into one file")
    # A part is unpacked whole, however little of it belongs to the table.
    files.check_size(path, math.prod(found.chunks or ()) * found.dtype.itemsize, CHUNK)
    return found


def _is_table(parent: Any, name: str) -> bool:
    """Whether a part of a file is a table [step, numbers] that may be joints or a context."""
    import h5py

    if not isinstance(parent.get(name, getlink=True), h5py.HardLink) or not isinstance(parent[name], h5py.Dataset):
        return False
    item = parent[name]
    narrow = len(item.shape or ()) in (1, 2) and int(np.prod(item.shape[1:])) <= WIDEST and item.shape[0] > 0
    return narrow and item.dtype.kind in "iuf" and not item.external and not item.is_virtual
