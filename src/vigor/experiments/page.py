"""The report of a benchmark: figures, `results.csv`, `table.md`, and `report.html` with everything in it."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from vigor.basics import files
from vigor.basics.errors import UserError
from vigor.experiments import charts, overview, paper, tables
from vigor.experiments.statistics import Summary, interval_words
from vigor.experiments.store import Row, Store
from vigor.experiments.suites import ABLATIONS, ADDITIONS
from vigor.experiments.tables import Group
from vigor.reports import figures, html
from vigor.reports.html import Picture

MERITS: dict[tuple[tables.Figure, str], str] = {
    ("success", "test"): "Success of the best component, test contexts",
    ("distance", "test"): "Distance of the best component, test contexts",
    ("distance", "train"): "Distance of the best component, training contexts",
}
"""Figures of merit with their titles; that of training contexts for tasks of which the paper has it."""


@dataclass(frozen=True)
class Merit:
    """A figure of merit of a task's methods."""

    title: str
    digits: int
    rows: Sequence[tuple[str, Summary, paper.Box | None]]
    """Method, ours and the paper's."""


@dataclass(frozen=True)
class Comparison:
    """A task's methods side by side."""

    title: str
    demonstrations: Sequence[str]
    """Sources of the demonstrations that they learned from."""
    picture: Picture
    merits: Sequence[Merit]


@dataclass(frozen=True)
class Curve:
    """A task's methods over the number of training contexts."""

    title: str
    picture: Picture


@dataclass(frozen=True)
class Ablation:
    """A method with one setting after the other changed."""

    title: str
    picture: Picture
    rows: Sequence[tuple[str, str, Group]]
    """Setting, its value, and the group that has it."""


def write_report(folder: Path) -> Path:
    """Draw the figures of a benchmark and write its tables and its report; returns the report's path."""
    store = Store(folder)
    rows, failures = store.rows(), store.failures()
    if not rows and not failures:
        raise UserError(f"the benchmark in {folder} has no results yet; start it again with the same command")
    groups = tables.groups(rows)
    store.write_table()
    files.write_text(folder / "table.md", tables.markdown(groups))
    page = html.render(
        __package__,
        "benchmark.html",
        title="Benchmark",
        dates=sorted(row["date"] for row in rows),
        places={name: _listed(rows, name) for name in ("device", "machine", "version")},
        usual=tables.titled(groups),
        differences={task: words for task, words in paper.DIFFERENCES.items() if task in {g.task for g in groups}},
        comparisons=_comparisons(folder / "figures", groups),
        curves=_curves(folder / "figures", groups),
        ablations=_ablations(folder / "figures", groups),
        findings=_findings(groups),
        failures=[(_labels(row), row) for row in failures],
        cells=[(_labels(row), row) for row in rows],
        interval=interval_words,
        by_task=overview.by_task(groups),
        over_tasks=overview.over_tasks(groups),
    )
    files.write_text(folder / "report.html", page)
    return folder / "report.html"


def _listed(rows: Sequence[Row], name: str) -> str:
    """Different values of a fact, the most common first."""
    return "; ".join(value for value, _ in Counter(row[name] for row in rows).most_common())


def _comparisons(folder: Path, groups: Sequence[Group]) -> list[Comparison]:
    """Box plots and statistics of each task."""
    comparisons = []
    for title, compared in tables.usual(groups).items():
        path = folder / f"{_file(title)}.png"
        figures.save(charts.compared(compared), path)
        merits = [
            _merit(name, compared, figure, split)
            for (figure, split), name in MERITS.items()
            if split == "test" or any(group.paper(figure, split) for group in compared)
        ]
        sources = sorted({group.demonstrations for group in compared})
        caption = "Methods over seeds, as in the paper's figures of mean target distance and mean success rates."
        comparisons.append(Comparison(title, sources, Picture(path, caption), merits))
    return comparisons


def _merit(title: str, groups: Sequence[Group], figure: tables.Figure, split: str) -> Merit:
    rows = [(group.name, group.summary(figure, split), group.paper(figure, split)) for group in groups]
    return Merit(title, 3 if figure == "success" else 4, rows)


def _curves(folder: Path, groups: Sequence[Group]) -> list[Curve]:
    """Distance over the number of training contexts, for tasks of which the paper has such curves."""
    curves = []
    for title, compared in tables.usual(groups).items():
        several = [group for group in compared if len(tables.ablation(groups, group, "train_contexts")) > 1]
        if several and compared[0].task in paper.CONTEXTS:
            path = folder / f"{_file(title)}_contexts.png"
            figures.save(charts.over_contexts(groups, several), path)
            caption = "As in the paper's figure of mean target distance on the Box Pushing task, right."
            curves.append(Curve(f"Training contexts, {title}", Picture(path, caption)))
    return curves


def _ablations(folder: Path, groups: Sequence[Group]) -> list[Ablation]:
    """Bars of every method with ablations, but for those that are curves."""
    ablations = []
    for title, reference in tables.titled(groups):
        settings = [name for name in _varied(groups) if len(tables.ablation(groups, reference, name)) > 1]
        if reference.task in paper.CONTEXTS:
            settings = [name for name in settings if name != "train_contexts"]
        if settings:
            path = folder / f"{_file(title)}_{_file(reference.name)}_ablations.png"
            figures.save(charts.bars(groups, reference, settings), path)
            rows = [
                (tables.plain(name), tables.word(group.setting(name)), group)
                for name in settings
                for group in tables.ablation(groups, reference, name)
            ]
            picture = Picture(path, "As in the paper's ablation studies, appendix D.")
            ablations.append(Ablation(f"Ablations of {reference.name}, {title}", picture, rows))
    return ablations


def _varied(groups: Sequence[Group]) -> list[str]:
    """Settings that were changed, in the order of the suite."""
    order = [*(name for settings in ABLATIONS.values() for name in settings), *ADDITIONS, "ratio"]
    return sorted({group.varied for group in groups if group.varied}, key=order.index)


def _findings(groups: Sequence[Group]) -> list[tuple[str, tables.Checked, str]]:
    """Findings of the paper, each with its task's title and the interval of the difference."""
    return [(tables.title(groups, one.reference), one, _difference(one.interval)) for one in tables.findings(groups)]


def _difference(ends: tuple[float, float] | None) -> str:
    """Interval of a difference in percent."""
    return "-" if ends is None else "{:+.1f} to {:+.1f}%".format(*(100 * end for end in ends))


def _labels(row: Row) -> tuple[str, str, str, int]:
    """Task, method, setting and seed of a cell."""
    group = Group((row,))
    value = f"{tables.plain(group.varied)} {tables.word(group.setting(group.varied))}" if group.varied else "usual"
    return group.task, group.name, value + (", quick" if group.quick else ""), group.setup["seed"]


def _file(title: str) -> str:
    return "".join(letter if letter.isalnum() else "_" for letter in title)
