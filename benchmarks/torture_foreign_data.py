"""Foreign programs of `torture.py` in numbers and data sets: pickled, computed, linked, or beside them."""

import io
import json
import os
import pickle
import shutil
import sqlite3
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from torture_foreign import MARK, PROGRAM, WAYS, Words, changed, way, written
from torture_processes import POINT, TASK


class Pickled:
    """Something that leaves the mark when it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (MARK,)


# Numbers that are pickled, or programs


def _instead(path: str, content: Callable[[], bytes], words: Words) -> Words:
    written(path, content())
    return words


def _pickled() -> bytes:
    return pickle.dumps(Pickled())


def _pickled_array() -> bytes:
    file = io.BytesIO()
    np.save(file, np.array([Pickled()], dtype=object), allow_pickle=True)
    return file.getvalue()


def _pickled_arrays(name: str) -> bytes:
    file = io.BytesIO()
    np.savez(file, **{name: np.array([Pickled()], dtype=object)})
    return file.getvalue()


def _as_torch() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("archive/data.pkl", _pickled())
        archive.writestr("__main__.py", PROGRAM)
    return file.getvalue()


def _computed_header() -> bytes:
    words = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({PROGRAM.strip()},)}}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(words).to_bytes(2, "little") + words.encode() + bytes(8)


CONTEXTS = ("plan", "run", "--task", TASK, "--contexts-file", "contexts.npy", "--out", "new.json")
EVALUATE, RESUME = ("evaluate", "run", "--task", TASK), ("train", "--resume", "begun", "--task", TASK)
IMPORT = ("demos", "import", TASK, "recorded.npz", "--out", "new")
INSPECT = ("inspect", "skill.vigor")
INSTEAD: dict[str, tuple[str, Callable[[], bytes], Words]] = {
    "policies: pickled": ("run/policies.npz", partial(_pickled_arrays, "means"), EVALUATE),
    "policies: a pickle": ("run/policies.npz", _pickled, EVALUATE),
    "checkpoint: a pickle": ("begun/checkpoint.safetensors", _pickled, RESUME),
    "checkpoint: as torch writes it": ("begun/checkpoint.safetensors", _as_torch, RESUME),
    "invariants: a pickle": ("run/invariants.safetensors", _pickled, EVALUATE),
    "demonstrations: pickled": (
        "demos/demonstrations.npz",
        partial(_pickled_arrays, "weights"),
        ("demos", "check", "demos"),
    ),
    "recordings: pickled": ("recorded.npz", partial(_pickled_arrays, "samples"), IMPORT),
    "recordings: an archive that Python runs": ("recorded.npz", _as_torch, IMPORT),
    "contexts: pickled": ("contexts.npy", _pickled_array, CONTEXTS),
    "contexts: a computed header": ("contexts.npy", _computed_header, CONTEXTS),
    "table: computed cells": (
        "recorded/contexts.csv",
        lambda: f"=cmd|' /C touch {MARK}'!A0,1,2,{PROGRAM}".encode(),
        ("demos", "import", TASK, "recorded", "--out", "new"),
    ),
    "skill: a pickle": ("skill.vigor", _pickled, INSPECT),
    "skill: an archive that Python runs": ("skill.vigor", _as_torch, INSPECT),
    "skill: a program": ("skill.vigor", PROGRAM.encode, INSPECT),
    "result: objects": (
        "run/result.json",
        lambda: json.dumps({"py/object": "builtins.open", "py/reduce": [{"py/type": "open"}, [MARK, "w"]]}).encode(),
        ("suggest", "run", "--task", TASK),
    ),
    "metrics: expressions": ("run/metrics.jsonl", PROGRAM.encode, ("report", "run", "--task", TASK)),
}
for _name, _given in INSTEAD.items():
    WAYS[_name] = partial(_instead, *_given)


# Data sets


LEROBOT = ("demos", "import", POINT, "lerobot", "--out", "new")
BAG, SQLITE = ("demos", "import", POINT, "bag", "--out", "new"), ("demos", "import", POINT, "sqlite", "--out", "new")
ROBOMIMIC = ("demos", "import", POINT, "robomimic.hdf5", "--out", "new")


@way("LeRobot: an extension type that is pickled")
def _extension() -> Words:
    import pyarrow.parquet as pq

    file = Path("lerobot/data/chunk-000/file-000.parquet")
    table = pq.read_table(file)
    at = table.column_names.index("observation.state")
    hidden = {"ARROW:extension:name": "arrow.py_extension_type", "ARROW:extension:metadata": _pickled()}
    table = table.set_column(at, table.field(at).with_metadata(hidden), table.column(at))
    pq.write_table(table, file)
    return LEROBOT


@way("LeRobot: places of files that are computed")
def _places() -> Words:
    changed("lerobot/meta/info.json", data_path="{0.__class__.__mro__}" + PROGRAM, robot_type="../../evil")
    return LEROBOT


@way("LeRobot: programs beside the data")
def _beside() -> Words:
    for name in ("__init__.py", "lerobot.py", "dataset.py", "meta/stats.pkl", "data/chunk-000/loader.py"):
        written(f"lerobot/{name}", PROGRAM)
    written("lerobot/meta/stats.safetensors", _pickled())
    return LEROBOT


@way("rosbag: a description with objects")
def _yaml() -> Words:
    file = Path("bag/metadata.yaml")
    file.write_text(file.read_text() + f"\nmore: !!python/object/apply:builtins.open [{MARK}, w]\n")
    return BAG


@way("rosbag: a description of nothing else")
def _yaml_alone() -> Words:
    Path("bag/metadata.yaml").write_text(f"!!python/object/apply:builtins.open [{MARK}, w]\n")
    return BAG


@way("rosbag: files that are elsewhere")
def _relative() -> Words:
    file = Path("bag/metadata.yaml")
    written("evil.mcap", _pickled())
    file.write_text(file.read_text().replace("bag.mcap", "../evil.mcap"))
    return BAG


@way("rosbag: definitions that are programs")
def _definitions() -> Words:
    file = next(Path("sqlite").glob("*.db3"))
    hostile = f"string name\nfloat64 __import__('builtins').open('{MARK}','w')\n"
    with sqlite3.connect(file) as database:
        database.execute("update topics set type = type, serialization_format = 'cdr'")
        for (name,) in database.execute("select name from sqlite_master where name = 'message_definitions'").fetchall():
            database.execute(f"update {name} set encoded_message_definition = ?", (hostile,))
    database.close()
    return SQLITE


@way("rosbag: a view that loads an extension")
def _view() -> Words:
    file = next(Path("sqlite").glob("*.db3"))
    with sqlite3.connect(file) as database:
        database.execute("alter table messages rename to hidden")
        database.execute("create view messages as select *, load_extension('./evil.so') from hidden")
    database.close()
    return SQLITE


@way("HDF5: objects")
def _objects() -> Words:
    import h5py

    with h5py.File("robomimic.hdf5", "r+") as file:
        file["data"].attrs["env_args"] = np.void(_pickled())
        del file["data/demo_0/obs/robot0_joint_pos"]
        file["data/demo_0/obs/robot0_joint_pos"] = np.void(_pickled())
    return ROBOMIMIC


@way("HDF5: links out of it")
def _outside() -> Words:
    import h5py

    shutil.copy("robomimic.hdf5", "other.hdf5")
    with h5py.File("robomimic.hdf5", "r+") as file:
        del file["data/demo_0"]
        file["data/demo_0"] = h5py.ExternalLink("other.hdf5", "/data/demo_1")
        file["data/demo_9"] = h5py.SoftLink("/data/demo_9")
    return ROBOMIMIC
