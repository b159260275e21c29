"""Files that are written whole or not at all, and read with one clear sentence when they are wrong."""

import json
import math
import os
import re
import secrets
import shutil
import time
import zipfile
from array import array
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np

from vigor.basics import archives
from vigor.basics.errors import UserError


def write_whole(path: Path, write: Callable[[Path], None], new: bool = False) -> None:
    """Let `write` fill a temporary file beside `path`, then rename it: a reader never sees half a file.

    new: raise FileExistsError if there is such a file already, even one that was made at the same moment. File and
    folder are synced, so that not even a power cut loses what is there when this returns. An OSError names `path`.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}{MARK}{path.suffix}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        remove_leftovers(path.parent, FORGOTTEN)
        temporary.touch(exist_ok=False)  # With the permissions that the user's umask leaves.
        write(temporary)
        sync(temporary)
        if new:
            os.link(temporary, path)
        else:
            temporary.replace(path)
        sync(path.parent)
    except FileExistsError:
        raise
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error
    finally:
        with suppress(OSError):  # What came before matters more.
            temporary.unlink()


def sync(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


MARK = ".vigor-part"
"""Mark in the names of files that are being written."""
FORGOTTEN = 3600.0
"""Seconds after which nobody goes on with a file that is being written."""


def remove_leftovers(folder: Path, older: float = 0.0) -> None:
    """Remove what was being written to a folder when its process was killed, so many seconds ago; nothing else."""
    for path in folder.glob(f".*{MARK}*"):
        with suppress(FileNotFoundError, PermissionError):
            if is_leftover(path) and time.time() - path.lstat().st_mtime >= older:
                shutil.rmtree(path) if path.is_dir() else path.unlink()


def is_leftover(path: Path) -> bool:
    """Whether a file or a folder is what `write_whole` leaves when its process is killed."""
    return bool(_LEFTOVER.fullmatch(path.name)) and (path.is_file() or path.is_dir()) and not path.is_symlink()


_LEFTOVER = re.compile(rf"\..+\.[0-9a-f]{{8}}{re.escape(MARK)}(\.[^.]+)?", re.DOTALL)


def write_text(path: Path, text: str, new: bool = False) -> None:
    def write(temporary: Path) -> None:
        temporary.write_text(text, encoding="utf-8")

    write_whole(path, write, new)


def write_bytes(path: Path, content: bytes, new: bool = False) -> None:
    def write(temporary: Path) -> None:
        temporary.write_bytes(content)

    write_whole(path, write, new)


def write_json(path: Path, value: Any, new: bool = False) -> None:
    write_text(path, json.dumps(value, indent=2, allow_nan=False) + "\n", new)


LARGEST = 2**30
"""Most bytes of a file that is read into memory."""
UNPACKED = LARGEST // 2
"""Most bytes that a compressed file unpacks to."""
MOST = 5 * 10**7
"""Most numbers of a recording or a table that are read: 400 MB."""


def check_plain(path: Path, largest: int = LARGEST) -> None:
    """Refuse what is no file of a size that can be read: pipes and devices never end, and some archives hardly do."""
    if not path.is_file():
        raise UserError(f"{path} {'is not a file' if path.exists() else 'does not exist'}")
    check_size(path, path.stat().st_size, largest)


def check_size(path: Path, size: int, largest: int) -> None:
    """Refuse a file that holds more bytes than can be read."""
    if size > largest:
        raise UserError(f"{path} holds {size / 2**20:,.0f} MiB; at most {largest / 2**20:,.0f} MiB can be read")


def read_json(path: Path) -> Any:
    """Value of a JSON file whose numbers are all finite."""
    return _parsed(path, _text(path))


def read_json_lines(path: Path) -> list[Any]:
    """Values of a file with a line of JSON each."""
    return [_parsed(path, line) for line in _text(path).split("\n") if line.strip()]


def _text(path: Path) -> str:
    check_plain(path, LARGEST // 4)
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise UserError(f"{path} is not a readable JSON file: {error}") from None


def _parsed(path: Path, text: str) -> Any:
    try:
        return parse_json(text)
    except UserError as error:
        raise UserError(f"{path} is not a readable JSON file: {error}") from None


def parse_json(text: str) -> Any:
    """Value of a JSON text whose numbers are all finite."""
    try:
        return json.loads(text, parse_float=_finite, parse_constant=_finite, parse_int=_whole)
    except RecursionError:
        raise UserError("it is nested too deeply") from None
    except ValueError as error:
        raise UserError(str(error)) from None


def _finite(digits: str) -> float:
    """Number of a JSON file, which may also say NaN, Infinity or 1e999."""
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError(f"{digits[:20]} is no finite number")
    return value


def _whole(digits: str) -> int:
    """Whole number of a JSON file, of a size that other types of numbers can hold."""
    if len(digits) > 20:
        raise ValueError(f"{digits[:20]}... is no number of a sensible size")
    return int(digits)


def write_arrays(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Write an .npz without pickled objects."""

    def write(temporary: Path) -> None:
        with temporary.open("wb") as file:
            np.savez_compressed(file, allow_pickle=False, **arrays)

    write_whole(path, write)


def read_arrays(path: Path) -> dict[str, np.ndarray]:
    """All arrays of an .npz; never unpickles."""
    loaded = _load(path)
    if isinstance(loaded, np.ndarray):
        raise UserError(f"{path} holds a single array; an .npz file is expected")
    return loaded


def read_array(path: Path) -> np.ndarray:
    """The array of an .npy, or of an .npz that holds just one; never unpickles."""
    loaded = _load(path)
    if isinstance(loaded, np.ndarray):
        return loaded
    if len(loaded) != 1:
        raise UserError(f"{path} holds {len(loaded)} arrays; one is expected")
    return next(iter(loaded.values()))


NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
"""A number as files have it; Python's own `float` also takes 1_0, nan and digits of other scripts."""


def read_csv(path: Path) -> np.ndarray:
    """Numbers [rows, columns] of a text file: see `read_named`."""
    return read_named(path)[1]


def read_named(path: Path) -> tuple[tuple[str, ...] | None, np.ndarray]:
    """Names of the columns of a text file, if its first row has any, and its numbers [rows, columns].

    Between them are commas, semicolons, tabs or spaces. Where it is not commas, these may stand for the decimal point.
    """
    check_plain(path, LARGEST // 4)
    try:
        with path.open(encoding="utf-8-sig") as file:
            return _named(path, ((number, line) for number, line in enumerate(file, start=1) if line.strip()))
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path} is not a readable text file: {error}") from None


def _named(path: Path, lines: Iterator[tuple[int, str]]) -> tuple[tuple[str, ...] | None, np.ndarray]:
    """Names and numbers of lines that are not empty, with their numbers; a row at a time, to need no more memory."""
    begin = list(islice(lines, 2))
    if not begin:
        raise UserError(f"{path} is empty; it must hold rows of numbers")
    last = begin[-1][1].strip()
    mark = next((mark for mark in (";", "\t", ",") if mark in last), None if " " in last else ",")

    def cells_of(line: str) -> list[str]:
        cells = [cell.strip() for cell in line.strip(" \r\n").split(mark)]
        return cells if mark == "," else [cell.replace(",", ".") for cell in cells]

    names = None
    if not any(NUMBER.fullmatch(cell) for cell in cells_of(begin[0][1])):
        names = tuple(cell.strip("\"'# \r\n") for cell in begin.pop(0)[1].split(mark))
    if not begin:
        raise UserError(f"{path} has names and no numbers")
    values, width = array("d"), len(cells_of(begin[0][1]))
    for number, line in chain(begin, lines):
        cells = cells_of(line)
        if len(values) > MOST:
            raise UserError(f"{path} holds more than the {MOST:,} numbers that can be read")
        if len(cells) != width:
            raise UserError(f"{path}, row {number} has {len(cells)} columns where others have {width}")
        for column, cell in enumerate(cells, start=1):
            # Nanoseconds since 1970 have 19 digits.
            if not NUMBER.fullmatch(cell) or not abs(float(cell)) < 1e19:
                raise UserError(
                    f"{path}, row {number}, column {column}: {cell[:40]!r} is no finite number of a sensible size"
                )
            values.append(float(cell))
    if names is not None and len(names) != width:
        raise UserError(f"{path} has {len(names)} names for {width} columns")
    return names, np.array(values).reshape(-1, width)


def read_table(path: Path) -> np.ndarray:
    """The array of a .csv, .npy or .npz file."""
    return read_csv(path) if path.suffix.lower() in (".csv", ".tsv", ".txt") else read_array(path)


def _load(path: Path) -> np.ndarray | dict[str, np.ndarray]:
    check_plain(path)
    try:
        if zipfile.is_zipfile(path):
            archives.check_directory(path)
            with zipfile.ZipFile(path) as archive:
                check_size(path, sum(item.file_size for item in archive.infolist()), UNPACKED)
                return {item.filename.removesuffix(".npy"): _entry(archive, item) for item in archive.infolist()}
        with path.open("rb") as file:
            return _array(file, path.stat().st_size)
    except UserError:
        raise
    except Exception as error:  # A damaged file makes numpy and zipfile raise nearly anything.
        reason = str(error).split(".")[0]
        raise UserError(f"{path} is damaged or not a numpy file without pickled objects: {reason}") from None


def _entry(archive: zipfile.ZipFile, item: zipfile.ZipInfo) -> np.ndarray:
    """An array of an .npz."""
    with archive.open(item) as file:
        found = _array(file, item.file_size)
        file.read()  # To the end, where its checksum is compared.
        return found


def _array(file: Any, size: int) -> np.ndarray:
    """The array of an .npy of so many bytes, which must be as many as its header says: before they are read."""
    version = np.lib.format.read_magic(file)
    header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, by_column, kind = header(file)
    if kind.hasobject:
        raise TypeError("it holds objects")
    need = math.prod(shape) * kind.itemsize
    if not 0 <= need <= size or any(length < 0 for length in shape):
        raise ValueError(f"an array of the shape {shape} is not in it")
    # A bytearray, so that it can be written to.
    array = np.frombuffer(bytearray(file.read(need)), kind) if need else np.zeros(0, kind)
    return array.reshape(shape, order="F" if by_column else "C")
