"""LeRobot data sets, v3.0 and v2: episodes from their parquet files, without LeRobot itself."""

from pathlib import Path
from typing import Any

import numpy as np

from vigor.basics import files
from vigor.basics.errors import UserError
from vigor.basics.install import missing
from vigor.demonstrations.formats.episodes import Episode, Episodes, Reading, check_count, damaged, numbered

KEYS = ("observation.state", "action")
"""Features that may hold the joints; the first that is there does."""
ENVIRONMENT = "observation.environment_state"
PARTS = 10**4
"""Most parquet files of a data set."""
INFO = 2**24
"""Most bytes of its description."""


def read(path: Path, reading: Reading) -> Episodes:
    """Episodes of a data set's folder.

    All parquet files are read, and their rows put in order: what the files are called and how episodes are spread over
    them, in which versions differ, says nothing more.
    """
    files.check_plain(path / "meta" / "info.json", INFO)
    info = files.read_json(path / "meta" / "info.json")
    version, features = _checked(path, info)
    key = reading.key or next((key for key in KEYS if key in features), KEYS[0])
    if key not in features:
        raise UserError(f"{path} has no {key!r}; choose with --key from {', '.join(_vectors(features))}")
    known = [ENVIRONMENT, *(name for name in reading.context_keys if name in features)]
    around = [name for name in dict.fromkeys(known) if name in features and name != key]
    table = _table(path, [key, *around])
    columns = _names(features[key], table[key].shape[1])
    order = np.lexsort((table["frame_index"], table["episode_index"]))
    table = {name: values[order] for name, values in table.items()}
    numbers, begins = np.unique(table["episode_index"], return_index=True)
    ends = [*begins[1:].tolist(), len(order)]
    episodes = []
    for number, begin, end in zip(numbers.tolist(), begins.tolist(), ends, strict=True):
        part = slice(begin, end)
        if np.any(np.diff(table["frame_index"][part]) == 0):
            raise UserError(f"{path} has frames of episode {number} twice; its parquet files belong to two data sets")
        around_it = {name: table[name][begin] for name in around}
        times = table["timestamp"][part]
        episodes.append(Episode(f"episode {number}", table[key][part], times - times[0], around_it))
    named = columns != numbered(len(columns))
    notes = (f"joints are read from {key}", *_lacking(info, len(numbers), len(order)))
    return Episodes(path, f"a LeRobot data set, {version}", columns, tuple(episodes), named, notes=notes)


def _checked(path: Path, info: Any) -> tuple[str, dict[str, Any]]:
    """Version and features of a data set's info.json."""
    info = info if isinstance(info, dict) else {}
    version, features = info.get("codebase_version"), info.get("features")
    if not isinstance(version, str) or not version.startswith(("v2.", "v3.")):
        raise UserError(f"{path} has version {version!s:.20} of LeRobot's format; v2.0, v2.1 and v3.0 can be read")
    if not isinstance(features, dict) or not all(isinstance(feature, dict) for feature in features.values()):
        raise UserError(f"{path / 'meta' / 'info.json'} does not describe the data set's features")
    return version, features


def _vectors(features: dict[str, Any]) -> list[str]:
    """Names of the features that are vectors of numbers."""
    return [
        name
        for name, feature in features.items()
        if "." in name or name == "action"
        if str(feature.get("dtype")).startswith("float") and isinstance(feature.get("shape"), list)
    ]


def _names(feature: dict[str, Any], count: int) -> tuple[str, ...]:
    """Names of a feature's numbers: a list, a list under some heading, or none."""
    given = feature.get("names")
    if isinstance(given, dict):
        lists = [part for part in given.values() if isinstance(part, list)]
        given = lists[0] if len(lists) == 1 else list(given)
    if isinstance(given, list) and len(given) == count and len(set(map(str, given))) == count:
        return tuple(map(str, given))
    return numbered(count)


def _lacking(info: dict[str, Any], episodes: int, frames: int) -> list[str]:
    """Sentences about what info.json counts and the files do not have."""
    found = {"episodes": episodes, "frames": frames}
    return [
        f"meta/info.json counts {info[f'total_{what}']} {what}, and {count} are there"
        for what, count in found.items()
        if info.get(f"total_{what}") not in (None, count)
    ]


def _table(path: Path, keys: list[str]) -> dict[str, np.ndarray]:
    """Columns of all parquet files, one after the other; vectors are [row, number]."""
    try:
        import pyarrow.parquet as parquet
    except ImportError:
        raise missing("LeRobot data sets are read by the package pyarrow", "lerobot") from None
    found = sorted((path / "data").glob("*/*.parquet"))
    if not found or len(found) > PARTS:
        raise UserError(f"{path / 'data'} holds {len(found)} parquet files; a data set has from 1 to {PARTS:,}")
    names, parts, total = ["episode_index", "frame_index", "timestamp", *keys], [], 0
    for file in found:
        files.check_plain(file)
        try:
            with parquet.ParquetFile(file, thrift_string_size_limit=10**8, thrift_container_size_limit=10**7) as opened:
                lacking = [name for name in names if name not in opened.schema_arrow.names]
                if lacking:
                    raise UserError(f"{file} lacks {lacking[0]}, which the format or meta/info.json promises")
                columns = _columns(opened.metadata, set(names))
                total += sum(column.num_values for column in columns)
                check_count(path, total)
                # A single word can be as long as all numbers together.
                files.check_size(file, sum(column.total_uncompressed_size for column in columns), files.UNPACKED)
                table = opened.read(columns=names)
            parts.append({name: _numbers(table.column(name), name in keys) for name in names})
            if any(parts[-1][name].dtype.kind not in "iu" for name in ("episode_index", "frame_index")):
                raise ValueError("episodes and frames must be counted by whole numbers")
        except UserError:
            raise
        except Exception as error:
            raise damaged(file, "a parquet file", error) from None
    if len({part[key].shape[1] for part in parts for key in keys[:1]}) > 1:
        raise UserError(f"{path} has {keys[0]} of different lengths in different files")
    return {name: np.concatenate([part[name] for part in parts]) for name in names}


def _columns(metadata: Any, names: set[str]) -> list[Any]:
    """Parts of a file that are of columns with these names, by its own account."""
    return [
        column
        for group in range(metadata.num_row_groups)
        for column in map(metadata.row_group(group).column, range(metadata.num_columns))
        if any(column.path_in_schema == name or column.path_in_schema.startswith(f"{name}.") for name in names)
    ]


def _numbers(column: Any, vector: bool) -> np.ndarray:
    """Numbers [row], or [row, number] of lists of equal lengths."""
    if column.null_count:
        raise ValueError("it lacks some values")
    rows, column = len(column), column.combine_chunks()
    column = column.chunk(0) if hasattr(column, "num_chunks") else column
    flat = column.flatten() if hasattr(column, "flatten") and column.type.num_fields else column
    if flat.null_count:
        raise ValueError("it lacks some values")
    values = flat.to_numpy(zero_copy_only=False)
    if values.dtype.kind not in "iuf":
        raise ValueError(f"it holds {values.dtype} instead of numbers")
    if not vector:
        if values.shape != (rows,):
            raise ValueError("a list stands where a number belongs")
        return values
    if rows and (
        len(values) % rows or (flat is not column and np.any(np.diff(_offsets(column)) != len(values) // rows))
    ):
        raise ValueError("it has lists of different lengths")
    return values.reshape(rows, -1).astype(np.float64)


def _offsets(column: Any) -> np.ndarray:
    """Begin of every list of a column, and the end of the last."""
    width = getattr(column.type, "list_size", None)
    if width is not None:
        return np.arange(len(column) + 1) * width
    return column.offsets.to_numpy(zero_copy_only=False)
