"""Rows of the benchmark that docs/results keeps, by configuration; those from before a change are marked as old."""

import csv
from ast import literal_eval
from collections.abc import Callable, Iterable
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from vigor.experiments import paper
from vigor.experiments.store import Row
from vigor.experiments.tables import Group

RESULTS = Path(__file__).parent / "results"
WORDS = {
    "": "usual",
    "begin": "start at demonstrations",
    "misplaced": "misplaced demonstrations",
    "scaled": "scales of what demonstrations have in common",
    "invariants": "invariants in the reward",
    "ratio": "the networks in the reward",
    "sharpness": "sharpness",
    "weights": "weights of components",
    "decay": "falling learning rate",
    "stall": "early stop",
}
"""Additions of the project's defaults, in words; a setting that is not among them is its own word."""


TASKS, METHODS = list(dict.fromkeys(task for task, _, _ in paper.BOXES)), list(paper.NAMES)
"""Tasks and methods in the order of the paper."""


OURS = ("vigor", "em-drex")
"""Methods that have settings of ours beside the paper's."""


class Change(NamedTuple):
    """A change of the program after which a method's rows are others; earlier ones are marked as old."""

    date: str
    concerns: Callable[[Row], bool]
    mark: str
    """Words for what earlier rows lack or had."""


CHANGES = (
    Change(
        "2026-11-18T14:50:46+00:00",
        lambda row: row["setup"]["task"] == "box-pusher",
        "old: earlier demonstrations",
    ),
    Change(
        "2026-11-18T21:10:00+00:00",
        lambda row: row["setup"]["method"] == "em-drex" and row["date"] > "2026-11-18T14:00:00",
        "old: a reward without bounds, slower settings",
    ),
    Change(
        "2026-11-18T14:00:00+00:00",
        lambda row: row["setup"]["method"] == "em-drex" and row["date"] > "2026-11-17T01:22:41",
        "old: no prior in its objective",
    ),
    Change(
        "2026-11-17T01:22:41+00:00",
        lambda row: row["setup"]["method"] == "em-drex",
        "old: no entropy in its objective",
    ),
    Change(
        "2026-11-17T01:31:37+00:00",
        lambda row: row["setup"]["descriptors"] == "jointwise",
        "old: distances of the end effector alone",
    ),
    Change(
        "2026-11-18T21:35:00+00:00",
        lambda row: (
            (row["setup"]["method"], row["preset"]) == ("vigor", "default") and row["date"] > "2026-11-18T06:00"
        ),
        "old: weights by predicted success alone",
    ),
    Change(
        "2026-11-18T06:00:00+00:00",
        lambda row: (row["setup"]["method"], row["preset"]) == ("vigor", "default"),
        "old: earlier defaults",
    ),
)
"""The latest first for each that is concerned: the first that holds names the row's mark."""


def stored() -> list[Row]:
    """Rows of all benchmarks that are kept, as their store has them; of the same cell the latest."""
    found: dict[tuple[Any, ...], Row] = {}
    for path in sorted(RESULTS.glob("*/results.csv")):
        with path.open(newline="", encoding="utf-8") as file:
            for flat in csv.DictReader(file):
                row = _nested(flat)
                row.setdefault("preset", "default")
                row["old"] = _mark(row)
                key = *_kind(row), row["setup"]["seed"]
                if key not in found or row["date"] > found[key]["date"]:
                    found[key] = row
    return list(found.values())


def latest() -> list[Row]:
    """Stored rows of the present program; of what was not run again, those that are least old."""
    rows = sorted(stored(), key=lambda row: row["date"])
    marks = {_kind(row)[:-1]: row["old"] for row in rows}
    return [row for row in rows if row["old"] == marks[_kind(row)[:-1]]]


def _nested(flat: dict[str, str]) -> Row:
    """A row of a table: `a.b` is b in a; numbers, truth values and lists as such; what is empty is not there."""
    row: Row = {}
    for name, text in flat.items():
        if text or name == "varied":
            *parts, last = name.split(".")
            inner = row
            for part in parts:
                inner = inner.setdefault(part, {})
            inner[last] = _value(last, text)
    return row


def _value(name: str, text: str) -> Any:
    if name == "success_components":
        return [float(share) for share in text.split()]
    try:
        return literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def _mark(row: Row) -> str:
    """Mark of a row that was made before a change that concerns it."""
    made = datetime.fromisoformat(row["date"])
    marks = (item.mark for item in CHANGES if item.concerns(row) and made < datetime.fromisoformat(item.date))
    return next(marks, "")


def _kind(row: Row) -> tuple[Any, ...]:
    """Configuration of a row, but for its seed."""
    setup, varied = row["setup"], row["varied"].rpartition(".")[2]
    value = repr(Group((row,)).setting(varied)) if varied else ""
    return setup["task"], setup["method"], row["preset"], varied, value, row["old"]


def groups(rows: Iterable[Row]) -> list[Group]:
    """Rows by configuration, in the order of the paper, usual settings first."""
    together: dict[tuple[Any, ...], list[Row]] = {}
    for row in sorted(rows, key=lambda row: row["setup"]["seed"]):
        together.setdefault(_kind(row), []).append(row)
    words = list(WORDS)

    def place(kind: tuple[Any, ...]) -> tuple[Any, ...]:
        task, method, preset, varied, value, old = kind
        known = words.index(varied) if varied in words else len(words)
        number = float(value) if value.replace(".", "").isdigit() else 0.0
        return TASKS.index(task), METHODS.index(method), preset, known, varied, number, value, old

    return [Group(tuple(together[kind])) for kind in sorted(together, key=place)]


def old(group: Group) -> str:
    return group.rows[0]["old"]


def name(group: Group) -> str:
    """Name of a method and whose settings it has, with the mark of old rows."""
    ours = ", ours" if group.method in OURS and group.preset == "default" else ""
    return f"{group.name}{ours} ({old(group)})" if old(group) else f"{group.name}{ours}"


def seeds(group: Group) -> str:
    """Seeds as ranges, for instance 0 to 9."""
    return ranges([row["setup"]["seed"] for row in group.rows])


def ranges(numbers: list[int]) -> str:
    """Numbers as ranges, for instance 0 to 9, 400 to 409."""
    numbers = sorted(set(numbers))
    starts = [seed for seed in numbers if seed - 1 not in numbers]
    ends = [seed for seed in numbers if seed + 1 not in numbers]
    return ", ".join(f"{a} to {b}" if a < b else f"{a}" for a, b in zip(starts, ends, strict=True))
