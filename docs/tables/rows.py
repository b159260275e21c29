"""Rows of benchmarks that docs/results keeps: python -m docs.tables.rows FOLDER adds those of a benchmark.

`rows.csv` has rows of the present program alone: whoever changes what a method does takes its rows out, and adds new
ones. `em_drex_earlier.csv` has those of EM+D-REX before it was mended, with what they lacked.
"""

import argparse
import csv
import io
from ast import literal_eval
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from docs.tables.markdown import RESULTS
from vigor.basics import files
from vigor.experiments import paper
from vigor.experiments.store import TABLE, Row, Store
from vigor.experiments.tables import Group

ROWS, EARLIER = RESULTS / "rows.csv", RESULTS / "em_drex_earlier.csv"
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


@cache
def stored(path: Path = ROWS) -> list[Row]:
    """Rows of a table, as a benchmark's store has them."""
    return [_nested(flat) for flat in _lines(path)]


def add(folder: Path) -> int:
    """Add the rows of a benchmark; one of the same cell is replaced. Returns how many there are."""
    Store(folder).write_table()
    lines = {_place(line): line for path in (ROWS, folder / TABLE) for line in _lines(path)}
    kept = [lines[place] for place in sorted(lines)]
    names = dict.fromkeys(name for line in kept for name, text in line.items() if text)
    text = io.StringIO()
    writer = csv.DictWriter(text, list(names), lineterminator="\n", extrasaction="ignore")
    writer.writeheader()
    writer.writerows(kept)
    files.write_text(ROWS, text.getvalue())
    return len(kept)


def _lines(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _place(line: dict[str, str]) -> tuple[Any, ...]:
    """The cell of a line: its configuration and its seed."""
    row = _nested(line)
    return *_kind(row), row["setup"]["seed"]


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


def _kind(row: Row) -> tuple[Any, ...]:
    """Configuration of a row, but for its seed."""
    setup, varied = row["setup"], row["varied"]
    value = repr(Group((row,)).setting(varied)) if varied else ""
    return setup["task"], setup["method"], row["preset"], varied, value, row.get("lacked", "")


def groups(rows: Iterable[Row]) -> list[Group]:
    """Rows by configuration, in the order of the paper, usual settings first."""
    together: dict[tuple[Any, ...], list[Row]] = {}
    for row in sorted(rows, key=lambda row: row["setup"]["seed"]):
        together.setdefault(_kind(row), []).append(row)
    words = list(WORDS)

    def place(kind: tuple[Any, ...]) -> tuple[Any, ...]:
        task, method, preset, varied, value, lacked = kind
        known = words.index(varied) if varied in words else len(words)
        number = float(value) if value.replace(".", "").isdigit() else 0.0
        return TASKS.index(task), METHODS.index(method), preset, known, varied, number, value, lacked

    return [Group(tuple(together[kind])) for kind in sorted(together, key=place)]


def name(group: Group) -> str:
    """Name of a method and whose settings it has; of earlier rows also what they lacked."""
    ours = ", ours" if group.method in OURS and group.preset == "default" else ""
    lacked = group.rows[0].get("lacked")
    return f"{group.name}{ours} ({lacked})" if lacked else f"{group.name}{ours}"


def seeds(group: Group) -> str:
    """Seeds as ranges, for instance 0 to 9."""
    return ranges([row["setup"]["seed"] for row in group.rows])


def ranges(numbers: list[int]) -> str:
    """Numbers as ranges, for instance 0 to 9, 400 to 409."""
    numbers = sorted(set(numbers))
    starts = [seed for seed in numbers if seed - 1 not in numbers]
    ends = [seed for seed in numbers if seed + 1 not in numbers]
    return ", ".join(f"{a} to {b}" if a < b else f"{a}" for a, b in zip(starts, ends, strict=True))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="of a benchmark")
    print(f"{add(parser.parse_args().folder)} rows in {ROWS.name}")
