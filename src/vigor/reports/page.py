"""The report of a run: one HTML file that opens anywhere, without a network."""

import math
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vigor.basics import files
from vigor.basics.errors import UserError
from vigor.reports import html, ways
from vigor.reports.html import Picture
from vigor.reports.overview import Charts

CAPTIONS = {
    "ways": "Ways in test contexts: as they were demonstrated there, never learned from, and as they were learned.",
    "traces_test": "Movements in test contexts, which have no demonstrations.",
    "traces_train": "Movements in training contexts; their demonstrations are grey.",
    "distances_test": "Distance to the targets in test contexts; demonstrations of all training contexts are grey.",
    "learning_curves": "Success, distance and versatility over the iterations.",
}
"""Captions of the figures that every task has, in their order; those of a task's own come after them."""
CHARTED = ("traces_train", "learning_curves")
"""Figures that a page with charts does not repeat."""
SPLITS = {"test": "test contexts", "train": "training contexts"}
FACTS = ("date", "seed", "demos", "iterations", "stopped", "seconds", "device", "version")
LONGEST = 1000
"""Multiple that the longest bar stands for."""
VERSATILITY = ("distinct_solutions", "working_components", "entropy")


@dataclass(frozen=True)
class Context:
    """A context's row. Values are as the run left them: nothing here trusts their type."""

    values: Sequence[Any]
    success: Any
    """Rates by component."""
    distance: Any
    """Distances by component."""
    distinct_solutions: Any
    weights: Any
    """Weights by component."""


@dataclass(frozen=True)
class Split:
    """Test or training contexts: means over them, and a row for each."""

    name: str
    judged: bool
    """Whether success was measured; else it is predicted."""
    best: Any
    mixture: Any
    chosen: Any
    """Success of the component that is predicted to be the best."""
    components: Any
    predicted_mixture: Any
    distance_best: Any
    versatility: Mapping[str, Any]
    context_names: list[str]
    """Headings of the contexts' values."""
    contexts: Sequence[Context]

    @property
    def measure(self) -> str:
        return "success" if self.judged else "predicted success"

    @property
    def same(self) -> str:
        """A sentence instead of a table, where all components of all contexts are equally good; else empty."""
        rates = [rate for context in self.contexts for rate in _listed(context.success)]
        shares = {html.percent(rate) for rate in rates if isinstance(rate, int | float)}
        if len(rates) < 2 or len(shares) != 1 or any(not _listed(context.success) for context in self.contexts):
            return ""
        measure = "succeeds" if self.judged else "is predicted to succeed"
        return f"Every way {measure} in {shares.pop()} of its samples, in all {len(self.contexts)} {self.name}."


def _listed(values: Any) -> list[Any]:
    return values if isinstance(values, list) else []


def write_report(
    folder: Path,
    context_names: Sequence[str] = (),
    captions: Mapping[str, str] | None = None,
    moved: Mapping[str, Charts] | None = None,
    course: Charts | None = None,
    calibration: Charts | None = None,
    cannot: Sequence[str] = (),
    practice: Any = None,
    unit: str = "",
) -> Path:
    """Write `report.html` into a run's folder from the files that the run left there, and return its path.

    context_names: a name for every number of a context; captions: of the task's own figures, by the file's name without
    its ending; moved: movements in test and training contexts; course: of training; calibration: of predicted success;
    cannot: sentences about what the run cannot do; practice: account of the practice that it came of; unit: of lengths.
    """
    if not (folder / "result.json").is_file():
        raise UserError(
            f"{folder / 'result.json'} does not exist: the run has not finished; finish it with "
            f"`vigor train --resume {folder}`, or name the folder of a finished run"
        )
    result, config = _read(folder / "result.json"), _read(folder / "config.json")
    known = {**config, **result}
    page = html.render(
        __package__,
        "run.html",
        title=f"{html.short(result.get('task'))}: {html.short(result.get('method'))}",
        facts={name: known[name] for name in FACTS if known.get(name) is not None},
        compared=ways.compared(result, SPLITS),
        common=_essential(result.get("common")),
        splits=[_split(name, result[key], context_names) for key, name in SPLITS.items() if result.get(key)],
        pictures=[
            picture
            for picture in _pictures(folder / "figures", CAPTIONS | dict(captions or {}))
            if not moved or picture.path.stem not in CHARTED
        ],
        command=_command(config.get("command")),
        settings=dict(_flat(config)),
        practice=practice,
        moved={name: moved[key] for key, name in SPLITS.items() if key in (moved or {})} if moved else {},
        course=course,
        calibration=calibration,
        cannot=cannot,
        unit=unit,
    )
    files.write_text(folder / "report.html", page)
    return folder / "report.html"


def _essential(common: Any) -> list[dict[str, Any]]:
    """Rows of what demonstrations have in common: how many times as much it differs elsewhere, and a bar's length."""
    rows = [item for item in common or () if isinstance(item, dict)]
    times = [_number(row.get("elsewhere")) / max(_number(row.get("deviation")), 1e-30) for row in rows]
    lengths = [math.log(min(max(ratio, 1.0), LONGEST)) for ratio in times]
    longest = max([*lengths, 1.0])
    return [
        row | {"times": ratio, "share": round(100 * length / longest)}
        for row, ratio, length in zip(rows, times, lengths, strict=True)
    ]


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def _read(path: Path) -> dict[str, Any]:
    value = files.read_json(path)
    if not isinstance(value, dict):
        raise UserError(f"{path} is not the JSON object that a run leaves; train again")
    return value


def _get(value: Any, *keys: str) -> Any:
    """The value under nested keys, or None."""
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def _split(name: str, part: Any, context_names: Sequence[str]) -> Split:
    entries = _get(part, "contexts") or []
    judged = _get(part, "success_best") is not None
    measure = "success" if judged else "predicted"
    values = [_get(entry, "context") for entry in entries]
    named = context_names and all(isinstance(each, list) and len(each) == len(context_names) for each in values)
    contexts = [
        Context(
            each if named else [each],
            _get(entry, measure),
            _get(entry, "distance"),
            _get(entry, "versatility", "distinct_solutions"),
            _get(entry, "weights"),
        )
        for entry, each in zip(entries, values, strict=True)
    ]
    return Split(
        name,
        judged,
        _get(part, f"{measure}_best"),
        _get(part, f"{measure}_mixture"),
        _get(part, "success_chosen"),
        _get(part, "success_components"),
        _get(part, "predicted_mixture"),
        _get(part, "distance_best"),
        {key: _get(part, "versatility", key) for key in VERSATILITY},
        list(context_names) if named else ["context"],
        contexts,
    )


def _pictures(folder: Path, captions: Mapping[str, str]) -> list[Picture]:
    """Every picture of a folder: those with a caption in the captions' order, then the others by name.

    Links are left out: what they name is not the run's, and would be in the page.
    """
    there = [] if folder.is_symlink() else sorted(folder.glob("[!.]*.png"))
    found = {path.stem: path for path in there if path.is_file() and not path.is_symlink()}
    names = [name for name in captions if name in found]
    names += [name for name in found if name not in captions]
    made = {name: f"{name.replace('_', ' ').capitalize()}." for name in found}
    return [Picture(found[name], captions.get(name, made[name])) for name in names]


def _command(words: Any) -> Any:
    """The command that repeats the run, as a shell reads it."""
    return shlex.join(map(str, words)) if isinstance(words, list) else words


def _flat(settings: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Settings by their dotted names."""
    for key, value in settings.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value
