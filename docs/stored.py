"""Rows of the benchmark that docs/results keeps, and the tables that they make."""

import csv
import json
from ast import literal_eval
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from vigor.experiments import paper, tables
from vigor.experiments.statistics import interval_words
from vigor.experiments.store import Row
from vigor.experiments.tables import Group

RESULTS = Path(__file__).parent / "results"
FRESH = 400
"""First of the seeds on which nothing was chosen."""
WORDS = {
    "": "usual",
    "begin": "start at demonstrations",
    "misplaced": "misplaced demonstrations",
    "near": "distances magnified, and the outcome",
    "outcome": "the outcome in the reward",
    "ratio": "the networks in the reward",
    "sharpness": "sharpness",
    "weights": "weights by reward",
    "decay": "falling learning rate",
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
    """What earlier rows lack or had."""


CHANGES = (
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
    """Name of a method, with the mark of old rows."""
    return f"{group.name} ({old(group)})" if old(group) else group.name


def seeds(group: Group) -> str:
    """Seeds as ranges, for instance 0 to 9."""
    numbers = [row["setup"]["seed"] for row in group.rows]
    starts = [seed for seed in numbers if seed - 1 not in numbers]
    ends = [seed for seed in numbers if seed + 1 not in numbers]
    return ", ".join(f"{a} to {b}" if a < b else f"{a}" for a, b in zip(starts, ends, strict=True))


def table(lines: Sequence[dict[str, str]]) -> str:
    """Markdown of a table; every line has the same columns."""
    head = list(lines[0])
    return "".join(
        f"| {' | '.join(line)} |\n" for line in (head, ["---"] * len(head), *(one.values() for one in lines))
    )


def success(group: Group) -> dict[str, str]:
    """Seeds and success on test contexts, beside the paper's."""
    best = group.summary("success")
    return {
        "seeds": seeds(group),
        "paper: best": _theirs(group, "success"),
        "best": f"{best.mean:.3f}",
        "95%": interval_words(best.interval, 3),
        "mixture": f"{group.summary('mixture').mean:.3f}",
    }


def ranked(group: Group) -> dict[str, str]:
    return {"components ranked": " ".join(f"{share:.2f}" for share in group.ranked)}


def distance(group: Group, split: str = "test") -> dict[str, str]:
    ours, words = group.summary("distance", split), "distance" if split == "test" else "distance, training contexts"
    return {f"paper: {words}": _theirs(group, "distance", split, 4), words: f"{ours.mean:.4f}"}


def _theirs(group: Group, figure: tables.Figure, split: str = "test", digits: int = 3) -> str:
    box = group.paper(figure, split)
    return f"{box.mean:.{digits}f}" if box else ""


def floor() -> list[dict[str, str]]:
    """Success of copied demonstrations."""
    found = json.loads((RESULTS / "floor.json").read_text(encoding="utf-8"))
    return [
        {"task": task, "method": "demonstrations copied", "seeds": which, "paper: best": ""}
        | {"best": f"{one['best']:.3f}", "95%": "", "mixture": f"{one['mixture']:.3f}"}
        for task, by_seeds in found.items()
        for which, one in by_seeds.items()
    ]


def headline() -> str:
    """VIGOR, the next best method and a floor, for the README; seeds on which nothing was chosen, if there are any."""
    usual = [group for group in groups(stored()) if not group.varied and group.method in OURS]
    mended = {(group.task, group.name) for group in usual if not old(group)}
    lines = []
    for group in usual:
        if not old(group) or (group.task, group.name) not in mended:
            fresh = tuple(row for row in group.rows if row["setup"]["seed"] >= FRESH)
            lines.append({"task": group.task, "method": name(group)} | success(Group(fresh or group.rows)))
    lines += [line for line in floor() if int(line["seeds"].split()[0]) >= FRESH]
    return table(sorted(lines, key=lambda line: TASKS.index(line["task"])))


def presets() -> str:
    """The paper's settings, ours, and each addition alone and removed."""
    lines = floor()
    for group in groups(row for row in stored() if row["varied"] in WORDS and row["setup"]["method"] in OURS):
        sign = "+" if group.preset == "paper" else "-"
        label = f"{sign} {WORDS[group.varied]}" if group.varied else f"**{name(group)}**"
        lines.append({"task": group.task, "method": label} | success(group))
    return table(lines)


def methods() -> str:
    """All methods on all tasks with their usual settings: figures of test contexts."""
    return table(
        [
            {"task": group.task, "method": name(group)}
            | success(group)
            | ranked(group)
            | {
                "distinct": f"{group.versatility('distinct_solutions'):.2f}",
                "entropy": f"{group.versatility('entropy'):.2f}",
            }
            | distance(group)
            | distance(group, "train")
            for group in groups(stored())
            if not group.varied
        ]
    )


def contexts() -> str:
    """The box pusher over the number of training contexts."""
    theirs = paper.CONTEXTS["box-pusher"]
    shown = [
        group
        for group in groups(row for row in stored() if row["setup"]["task"] == "box-pusher")
        if group.varied == "train_contexts" or (not group.varied and group.method in theirs)
    ]
    shown.sort(key=lambda group: (METHODS.index(group.method), name(group), group.setting("train_contexts")))
    lines = []
    for group in shown:
        count, far = group.setting("train_contexts"), group.summary("distance")
        lines.append(
            {"method": name(group), "training contexts": str(count), "seeds": seeds(group)}
            | {"paper: distance": f"{theirs[group.method][count]:.4f}", "distance": f"{far.mean:.4f}"}
            | {"95%": interval_words(far.interval, 4), "success": f"{group.summary('success').mean:.3f}"}
            | {"mixture": f"{group.summary('mixture').mean:.3f}"}
            | ranked(group)
        )
    return table(lines)


def findings() -> str:
    """The paper's statements on ablations, and what became of them."""
    return table(
        [
            {"task": one.reference.task, "method": one.reference.name, "the paper finds": one.finding.words}
            | {"success of": one.components, "better": f"{one.better:.3f}", "worse": f"{one.worse:.3f}"}
            | {"95%": "{:+.3f} to {:+.3f}".format(*one.interval) if one.interval else "", "here": one.verdict}
            for one in tables.findings(groups(row for row in stored() if not row["old"]))
        ]
    )


def ablations() -> str:
    """Every setting of appendix D changed, one after the other."""
    kept = [group for group in groups(stored()) if group.task != "box-pusher" and group.method in OURS]
    lines = []
    for usual in (group for group in kept if not group.varied and not old(group)):
        changed = [one for one in kept if (one.task, one.name) == (usual.task, usual.name) and one.varied not in WORDS]
        for group in [usual, *changed] if changed else []:
            value = (
                f"{tables.plain(group.varied)} {tables.word(group.setting(group.varied))}" if group.varied else "usual"
            )
            label = f"{value} ({old(group)})" if old(group) else value
            lines.append({"task": group.task, "method": group.name, "setting": label} | success(group) | ranked(group))
    return table(lines)
