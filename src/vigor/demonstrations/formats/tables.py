"""Recordings in tables: text files with a row a step, and .npz files."""

import re
from pathlib import Path

import numpy as np

from vigor.basics import files
from vigor.basics.errors import UserError
from vigor.demonstrations.dataset import cut, numbers
from vigor.demonstrations.formats.episodes import Episode, Episodes, Reading, numbered

ENDINGS = (".csv", ".tsv", ".txt")
TIME = re.compile(r"(?:time|timestamp|time_stamp|stamp|seconds|secs?|t)[ _.\[(]*(s|ms|us|ns)?[\])]?", re.IGNORECASE)
"""Names of a column of time stamps, with its unit."""
UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
"""Seconds of a unit of time."""


def read_csv(path: Path, reading: Reading) -> Episodes:
    """Recordings from a text file, or from a folder of them.

    A recording has a row for every step and a column for every joint, names in its first row or none, and may have a
    column of time stamps. A folder may have contexts.csv, with a row for every context; then recordings are in
    demonstrations/<context>_<anything>.csv, where <context> is the row, counted from 0.
    """
    if path.is_file():
        return _episodes(path, [path], None)
    if not (path / "contexts.csv").exists():
        found = recordings(path)
        if (path / "demonstrations").exists() or not found:
            files.check_plain(path / "contexts.csv")
        return _episodes(path, found, None)
    contexts = files.read_csv(path / "contexts.csv")
    found = sorted((path / "demonstrations").glob("*.csv"))
    if not found:
        raise UserError(
            f"{path / 'demonstrations'} holds no .csv files named CONTEXT_NAME.csv, for instance 0_first.csv"
        )
    return _episodes(path, found, contexts)


def recordings(path: Path) -> list[Path]:
    """Tables in a folder; other text there may be about them."""
    return sorted(file for file in path.iterdir() if file.suffix.lower() in (".csv", ".tsv"))


def _episodes(path: Path, found: list[Path], contexts: np.ndarray | None) -> Episodes:
    """Recordings of some files; where contexts [m, C] are given, the names of the files begin with their numbers."""
    columns: tuple[str, ...] | None = None
    named, episodes, context_of = False, [], []
    for file in found:
        if contexts is not None:
            context_of.append(_context(file, len(contexts)))
        names, values = files.read_named(file)
        own = numbered(values.shape[1]) if names is None else names
        if len(set(own)) < len(own):
            raise UserError(f"{file} names two columns alike; give each a name of its own")
        if columns is None:
            columns, named = own, names is not None
        if own != columns:
            raise UserError(f"{file} has the columns {', '.join(own)} where {found[0].name} has {', '.join(columns)}")
        if len(values) < 2:
            raise UserError(f"{file} must have at least 2 steps")
        episodes.append(Episode(file.name, values))
    assert columns is not None
    columns, episodes = _with_times(columns, episodes)
    of = None if contexts is None else np.array(context_of, np.int64)
    words = "text files" if path.is_dir() else "a text file"
    return Episodes(path, words, columns, tuple(episodes), named, contexts=contexts, context_of=of)


def _context(file: Path, count: int) -> int:
    """Number of the context that a file's name begins with."""
    index = file.stem.split("_")[0]
    if not (index.isascii() and index.isdigit()):
        raise UserError(f"{file} must begin with the number of its context, for instance 0_first.csv")
    if int(index) >= count:
        raise UserError(f"{file} names context {index}, but contexts.csv has {count}, counted from 0")
    return int(index)


def _with_times(columns: tuple[str, ...], episodes: list[Episode]) -> tuple[tuple[str, ...], list[Episode]]:
    """The column of time stamps, if one is named so, as the episodes' times."""
    at = next((i for i, name in enumerate(columns) if TIME.fullmatch(name)), None)
    if at is None:
        return columns, episodes
    match = TIME.fullmatch(columns[at])
    unit = UNITS[(match.group(1) or "s").lower()] if match else 1.0
    rest = [i for i in range(len(columns)) if i != at]
    timed = [
        Episode(item.name, item.values[:, rest], (item.values[:, at] - item.values[0, at]) * unit) for item in episodes
    ]
    return tuple(columns[i] for i in rest), timed


def read_npz(path: Path, reading: Reading) -> Episodes:
    """Recordings from an .npz file.

    contexts [m, C], context_of [n], and either trajectories [n, T, dimensions] or, for recordings of different lengths,
    samples [sum of lengths, dimensions] and lengths [n]; optionally times [n, T] or [sum of lengths], in seconds.
    """
    arrays = files.read_arrays(path)
    if not {"contexts", "context_of"} <= set(arrays) or not {"trajectories", "samples"} & set(arrays):
        raise UserError(f"{path} must hold contexts, context_of, and trajectories or samples with lengths")
    try:
        if "trajectories" in arrays:
            recordings = tuple(numbers(arrays["trajectories"], 3, "the trajectories"))
        else:
            recordings = cut(arrays["samples"], arrays.get("lengths"))
        times: list[np.ndarray | None] = [None] * len(recordings)
        if "times" in arrays:
            lengths = np.array([len(item) for item in recordings])
            times = [item[:, 0] for item in cut(arrays["times"].reshape(-1, 1), lengths)]
    except UserError as error:
        raise UserError(f"{path}: {error}") from None
    episodes = tuple(
        Episode(f"recording {number}", values, stamps)
        for number, (values, stamps) in enumerate(zip(recordings, times, strict=True))
    )
    columns = numbered(recordings[0].shape[1])
    contexts, context_of = arrays["contexts"], arrays["context_of"]
    return Episodes(path, "an .npz file", columns, episodes, False, contexts=contexts, context_of=context_of)
