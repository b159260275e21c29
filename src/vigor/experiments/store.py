"""What a benchmark has found, in its folder: a file a cell, which is there whole or not at all.

`cells/ID.json` is the row of a finished cell and never changes; `failed/ID.json` says why a cell failed, until it
succeeds. Whoever finishes a cell first writes its row; a second finds it there. While a process works on a cell it
holds a lock on one byte of the file `claims`, which the system lifts however the process ends.
"""

import csv
import fcntl
import io
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from vigor.basics import files
from vigor.basics.errors import UserError

Row = dict[str, Any]
"""What a cell leaves, see `cell.row`."""

CELLS, FAILED, CLAIMS, TABLE = "cells", "failed", "claims", "results.csv"


class Claims:
    """Cells that this process works on, and no other may."""

    def __init__(self, folder: Path) -> None:
        # One file for all locks, open as long as they are held: closing it lifts them.
        self._file = (folder / CLAIMS).open("ab")

    def __enter__(self) -> "Claims":
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def take(self, id: str) -> bool:
        """Whether this process may work on a cell."""
        try:
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, int(id[:15], 16))
        except OSError:
            return False
        return True

    def drop(self) -> None:
        """Give up all claims."""
        fcntl.lockf(self._file, fcntl.LOCK_UN)


class Store:
    """The rows in a benchmark's folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        if folder.exists() and not folder.is_dir():
            raise UserError(f"{folder} is a file; choose another --out")
        if folder.exists() and any(folder.iterdir()) and not is_benchmark(folder):
            raise UserError(f"{folder} holds something other than a benchmark; choose another --out")

    def begin(self) -> None:
        """Make the folder."""
        (self.folder / CELLS).mkdir(parents=True, exist_ok=True)

    def has(self, id: str) -> bool:
        return self._path(CELLS, id).exists()

    def add(self, row: Row) -> None:
        """Keep a finished cell's row, unless another process has kept one meanwhile."""
        with suppress(FileExistsError):
            files.write_json(self._path(CELLS, row["id"]), row, new=True)
        self._path(FAILED, row["id"]).unlink(missing_ok=True)

    def fail(self, row: Row) -> None:
        files.write_json(self._path(FAILED, row["id"]), row)

    def rows(self) -> list[Row]:
        """Of all finished cells, in an order that does not depend on when they were finished."""
        return sorted(self._read(CELLS), key=_order)

    def failures(self) -> list[Row]:
        """Of cells that failed and have not succeeded since."""
        return sorted((row for row in self._read(FAILED) if not self.has(row["id"])), key=_order)

    def write_table(self) -> None:
        """`results.csv`: the rows as a table, one column for every number and setting."""
        table = [dict(_flat(row)) for row in self.rows()]
        names = list(dict.fromkeys(name for row in table for name in row))
        text = io.StringIO()
        writer = csv.DictWriter(text, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(table)
        files.write_text(self.folder / TABLE, text.getvalue())

    def _path(self, kind: str, id: str) -> Path:
        return self.folder / kind / f"{id}.json"

    def _read(self, kind: str) -> Iterator[Row]:
        for path in (self.folder / kind).glob("[0-9a-f]*.json"):
            row = files.read_json(path)
            if not isinstance(row, dict) or not {"id", "setup", "varied"} <= row.keys() or row["id"] != path.stem:
                raise UserError(f"{path} is not a row of a benchmark; delete it and start the benchmark again")
            yield row


def is_benchmark(folder: Path) -> bool:
    return (folder / CELLS).is_dir()


def _order(row: Row) -> tuple[Any, ...]:
    setup = row["setup"]
    return setup["task"], setup["method"], row["varied"], row["id"] if row["varied"] else "", setup["seed"]


def _flat(row: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Numbers and words of a row under dotted names; figures by context are left to the cell's own file."""
    for name, value in row.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        elif name == "success_components":
            yield f"{prefix}{name}", " ".join(f"{rate:.4f}" for rate in value)
        elif not (name == "contexts" and isinstance(value, list)):
            yield f"{prefix}{name}", value
