"""Mutations of files for `torture.py`: what a stranger, a typo or a bad disk makes of them, drawn from a seed.

Arrays are broken as their descriptions say (`vigor.basics.contents`), JSON by the types that it is read as: a new field
is broken without new code. A mutation that breaks its description is `wrong`: whoever accepts it is at fault.
"""

import io
import json
import os
import random
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
import safetensors.numpy

from mutations_values import JUNK, Mutation, broken, change_value
from vigor.basics.contents import Contents


def mutate(path: Path, rng: random.Random, kind: Any = None, contents: Contents | None = None) -> Mutation:
    """Change a file in place. kind: type that its JSON is read as; contents: description of its arrays."""
    known: dict[str, Callable[[], Mutation]] = {
        ".json": lambda: _json(path, rng, kind),
        ".jsonl": lambda: _json(path, rng, kind),
        ".toml": lambda: _toml(path, rng, kind),
        ".npz": lambda: _arrays(path, rng, contents),
        ".safetensors": lambda: _arrays(path, rng, contents),
        ".vigor": lambda: _card(path, rng, kind) if rng.random() < 0.5 else _arrays(path, rng, contents),
        ".parquet": lambda: _parquet(path, rng),
        ".hdf5": lambda: _hdf5(path, rng),
        ".mcap": lambda: _bytes(path, rng),
        ".db3": lambda: _bytes(path, rng),
    }
    special = known.get(path.suffix, lambda: _words(path, rng))
    return _bytes(path, rng) if rng.random() < 0.25 else special()


def _bytes(path: Path, rng: random.Random) -> Mutation:
    """Something that a disk, or a stranger who knows no format, does."""
    content = bytearray(path.read_bytes())
    at = rng.randrange(len(content) + 1)
    way = rng.choice(("flip", "cut", "insert", "empty", "folder", "pipe", "device", "gone", "deep", "long"))
    if way in ("folder", "pipe", "device", "gone"):
        path.unlink()
        {"folder": path.mkdir, "pipe": lambda: os.mkfifo(path), "gone": lambda: None}.get(
            way, lambda: path.symlink_to("/dev/zero")
        )()
        return Mutation(way, way != "gone")
    if way == "flip":
        for _ in range(rng.randint(1, 8)):
            content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    elif way == "insert":
        content[at:at] = rng.randbytes(rng.randint(1, 64))
    elif way == "long":
        content[at:at] = b"9" * 5000
    elif way == "deep":
        content = bytearray(100_000 * rng.choice((b"[", b'{"a":', b"<a>", b"(")))
    else:
        del content[at if way == "cut" else 0 :]
    path.write_bytes(bytes(content))
    return Mutation(f"{way} at {at}", way == "deep" or (way == "empty" and path.suffix != ".jsonl"))


# Texts


def _json(path: Path, rng: random.Random, kind: Any) -> Mutation:
    lines = [path.read_text()] if path.suffix == ".json" else path.read_text().splitlines()
    number = rng.randrange(len(lines))
    value = json.loads(lines[number])
    mutation = change_value(value, rng, kind)
    lines[number] = json.dumps(value)
    path.write_text("\n".join(lines))
    return mutation


def _toml(path: Path, rng: random.Random, kind: Any) -> Mutation:
    value = tomllib.loads(path.read_text())
    mutation = change_value(value, rng, kind)
    path.write_text("".join(f"{json.dumps(name)} = {_in_toml(part)}\n" for name, part in value.items()))
    return mutation


def _in_toml(value: Any) -> str:
    """A value in a line; what TOML does not have is left to its reader."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(name)} = {_in_toml(part)}" for name, part in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_in_toml, value)) + "]"
    return str(value) if isinstance(value, float) else json.dumps(value)


def _words(path: Path, rng: random.Random) -> Mutation:
    """A number or a name of a text file that is none."""
    text = path.read_text()
    numbers = [i for i in range(len(text)) if text[i].isdigit()]
    at = rng.choice(numbers or [0])
    junk = rng.choice(("nan", "1e999", "1_0", "\uff11", "0x10", "\x1b[2J", "", "1" * 5000, "x", "1e30", "\n", ","))
    path.write_text(text[:at] + junk + text[at + 1 :])
    none = junk in ("nan", "1e999", "1_0", "\uff11", "0x10", "x")
    return Mutation(f"{junk[:10]!r} at {at}", none and path.suffix == ".csv")


# Arrays


def _arrays(path: Path, rng: random.Random, contents: Contents | None) -> Mutation:
    """An array that is not as its description says."""
    packed = path.suffix == ".npz"
    arrays, metadata = _unpacked(path)
    name = rng.choice(sorted(arrays))
    mutation, changed = broken(arrays[name], (contents or {}).get(name), rng, packed)
    arrays[name] = changed
    if mutation.words == "removed":
        del arrays[name]
    elif mutation.words == "one more":
        arrays["more"] = changed
    elif mutation.words == "metadata" and metadata:
        metadata[rng.choice(sorted(metadata))] = str(rng.choice(JUNK))
    if packed:
        whole = io.BytesIO()
        np.savez_compressed(whole, **arrays)
        path.write_bytes(whole.getvalue())
    else:
        path.write_bytes(safetensors.numpy.save({n: np.ascontiguousarray(a) for n, a in arrays.items()}, metadata))
    return mutation._replace(words=f"{name}: {mutation.words}")


def _unpacked(path: Path) -> tuple[dict[str, np.ndarray], dict[str, str] | None]:
    """Arrays and metadata of a file."""
    if path.suffix == ".npz":
        with np.load(path) as file:
            return {name: file[name] for name in file.files}, None
    with safetensors.safe_open(path, "numpy") as file:
        return {name: file.get_tensor(name) for name in file.keys()}, file.metadata()  # noqa: SIM118


def _card(path: Path, rng: random.Random, kind: Any) -> Mutation:
    """Something else in the card of a skill."""
    arrays, metadata = _unpacked(path)
    assert metadata is not None
    value = json.loads(metadata["card"])
    mutation = change_value(value, rng, kind)
    metadata["card"] = json.dumps(value)
    path.write_bytes(safetensors.numpy.save(arrays, metadata))
    return mutation


# Formats of others

COLUMNS = ("episode_index", "frame_index", "timestamp", "observation.state")
"""Columns of a LeRobot data set that are read."""


def _parquet(path: Path, rng: random.Random) -> Mutation:
    """A column of a data set that is gone, lacks a value, is of words, or has rows twice or of other lengths."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pq.read_table(path)
    name = rng.choice(table.column_names)
    place, rows = table.column_names.index(name), table.column(name).to_pylist()
    way, at = rng.choice(("gone", "null", "words", "twice", "number", "ragged")), rng.randrange(len(rows))
    if way == "gone":
        table = table.drop_columns([name])
    elif way == "twice":
        table = pa.concat_tables([table, table])
    else:
        number = rng.choice((float("nan"), float("inf"), 1e300, -1e30))
        changed = {
            "null": None,
            "number": [number] * len(rows[at]) if isinstance(rows[at], list) else number,
            "ragged": [1.0],
        }.get(way)
        column = list(map(str, rows)) if way == "words" else [*rows[:at], changed, *rows[at + 1 :]]
        try:
            table = table.set_column(place, name, pa.array(column))
        except pa.ArrowException:  # Not what a file can hold.
            return Mutation("nothing", False)
    pq.write_table(table, path)
    finite = way != "number" or not np.isfinite(number)
    return Mutation(f"{name}: {way}", way == "twice" or (name in COLUMNS and finite))


def _hdf5(path: Path, rng: random.Random) -> Mutation:
    """Joints of an episode that are gone, elsewhere, without end, or no finite numbers."""
    import h5py

    way = rng.choice(("gone", "outside", "endless", "words", "not finite", "folder", "chunk"))
    with h5py.File(path, "r+") as file:
        group = file["data/demo_1/obs"]
        values = group["robot0_joint_pos"][()]
        del group["robot0_joint_pos"]
        if way == "outside":
            group["robot0_joint_pos"] = h5py.ExternalLink("/etc/passwd", "/data")
        elif way == "endless":
            group.create_dataset("robot0_joint_pos", (10**9, 2), chunks=(10**5, 2))
        elif way == "chunk":
            options = {"maxshape": (None, 2), "chunks": (10**8, 2), "compression": "gzip"}
            group.create_dataset("robot0_joint_pos", (40, 2), "f8", **options)
        elif way == "words":
            group["robot0_joint_pos"] = values.astype("S8")
        elif way == "not finite":
            values[rng.randrange(len(values))] = np.nan
            group["robot0_joint_pos"] = values
        elif way == "folder":
            group.create_group("robot0_joint_pos")
    return Mutation(way, True)
