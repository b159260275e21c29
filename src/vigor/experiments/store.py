"""Rows of a benchmark in its folder: a file a cell, which is there whole or not at all.

`cells/ID.json` is the row of a finished cell and never changes; `failed/ID.json` says why a cell failed, until it
succeeds. Whoever finishes a cell first writes its row; a second finds it there. While a benchmark has a cell it holds
the lock `claimed/ID`, and while a worker computes it the lock `working/ID`, which the system lifts however a process
ends: a worker may outlive its benchmark.
"""

import csv
import io
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NotRequired, TypedDict

from filelock import FileLock

from vigor.basics import files, locks
from vigor.basics.errors import UserError
from vigor.basics.serialisation import FORMULAS, from_json
from vigor.basics.settings import value_of
from vigor.evaluation import summaries
from vigor.evaluation.summaries import Summary
from vigor.runs.setup import settings_from_json

Row = dict[str, Any]
"""Result of a cell with its configuration, see `cell.row`."""


class _Setup(TypedDict):
    """The setup of a cell, as far as every version has it."""

    task: str
    method: str
    seed: int
    demos: str | None
    train_contexts: int
    demos_per_context: int
    descriptors: str
    raw: bool
    settings: dict[str, Any]


class Failed(TypedDict):
    """Row of a cell that failed, as far as the program reads it."""

    id: str
    varied: str
    preset: NotRequired[str]
    quick: bool
    setup: _Setup
    version: str
    machine: str
    date: str


class Finished(Failed):
    """Row of a cell that has been judged."""

    demonstrations: str
    device: str
    seconds: float
    together: int
    train: Summary
    test: Summary


CELLS, FAILED, CLAIMED, WORKING, TABLE = "cells", "failed", "claimed", "working", "results.csv"


class Claims:
    """Cells that this process works on, and no other may."""

    def __init__(self, folder: Path, place: str = CLAIMED) -> None:
        self._folder = folder / place
        self._locks: dict[str, FileLock] = {}

    def __enter__(self) -> "Claims":
        return self

    def __exit__(self, *error: object) -> None:
        for cell_id in list(self._locks):
            self.drop(cell_id)

    def take(self, cell_id: str) -> bool:
        """Whether this process may work on a cell."""
        if cell_id not in self._locks and (lock := locks.take(self._folder / cell_id)) is not None:
            self._locks[cell_id] = lock
        return cell_id in self._locks

    def drop(self, cell_id: str) -> None:
        """Let other processes work on a cell."""
        if cell_id in self._locks:
            locks.drop(self._locks.pop(cell_id))


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

    def has(self, cell_id: str) -> bool:
        return self._path(CELLS, cell_id).exists()

    def add(self, row: Row) -> None:
        """Keep a finished cell's row, unless another process has kept one meanwhile."""
        with suppress(FileExistsError):
            if not self.has(row["id"]):
                files.write_json(self._path(CELLS, row["id"]), row, new=True)
        self._path(FAILED, row["id"]).unlink(missing_ok=True)

    def fail(self, row: Row) -> None:
        files.write_json(self._path(FAILED, row["id"]), row)

    def row(self, cell_id: str) -> Row:
        """Row of a finished cell."""
        return self._checked(CELLS, self._path(CELLS, cell_id))

    def rows(self) -> list[Row]:
        """Rows of all finished cells, in an order that does not depend on when they were finished."""
        return sorted(self._read(CELLS), key=_order)

    def failures(self) -> list[Row]:
        """Rows of cells that failed and have not succeeded since."""
        return sorted((row for row in self._read(FAILED) if not self.has(row["id"])), key=_order)

    def write_table(self) -> None:
        """`results.csv`: the rows as a table, one column for every number and setting."""
        table = [{_as_text(name): _as_text(value) for name, value in _flat(row)} for row in self.rows()]
        names = list(dict.fromkeys(name for row in table for name in row))
        text = io.StringIO()
        writer = csv.DictWriter(text, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(table)
        files.write_text(self.folder / TABLE, text.getvalue())

    def _path(self, kind: str, cell_id: str) -> Path:
        return self.folder / kind / f"{cell_id}.json"

    def _read(self, kind: str) -> Iterator[Row]:
        return (self._checked(kind, path) for path in (self.folder / kind).glob("[0-9a-f]*.json"))

    def _checked(self, kind: str, path: Path) -> Row:
        try:
            row: Any = from_json(Finished if kind == CELLS else Failed, files.read_json(path))
            _check(row, path.stem)
        except UserError as error:
            said = f"{path} is not a row of a benchmark: {error}; delete it and start the benchmark again"
            raise UserError(said) from None
        return row


def _check(row: Row, name: str) -> None:
    """Refuse a row that does not belong into the file of this name, or whose figures cannot be."""
    if row["id"] != name:
        raise UserError("id is that of another cell")
    setup = row["setup"]
    try:
        settings_from_json(setup["method"], setup["settings"])
    except UserError as error:
        raise UserError(f"its settings are not those of this version: {error}") from None
    if "test" in row:
        summaries.check_alike((row["train"], row["test"]))
        if not row["test"]:
            raise UserError("it has no test contexts")
        if not 0 <= row["seconds"] < 1e9 or not 0 < row["together"] < 1e6:
            raise UserError("it cannot have taken so long")
    if row["varied"]:
        try:
            value_of(row["setup"], row["varied"])
        except KeyError:
            raise UserError(f"it has no setting {row['varied']!r}") from None


def is_benchmark(folder: Path) -> bool:
    return (folder / CELLS).is_dir()


def _order(row: Row) -> tuple[Any, ...]:
    setup = row["setup"]
    return setup["task"], setup["method"], row["varied"], row["id"] if row["varied"] else "", setup["seed"]


def _as_text(value: Any) -> Any:
    """A cell that no program for tables takes for a formula: rows may be somebody else's."""
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULAS) else value


def _flat(row: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Numbers and words of a row under dotted names; figures by context and by way are left to the cell's own file."""
    for name, value in row.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        elif name == "success_components":
            yield f"{prefix}{name}", " ".join(f"{rate:.4f}" for rate in value)
        elif not (name in ("contexts", "ways") and isinstance(value, list)):
            yield f"{prefix}{name}", value
