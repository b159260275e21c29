"""First part of the report of a benchmark: methods as dots with intervals, by task and over all tasks."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from vigor.basics.colours import QUIET
from vigor.experiments import tables
from vigor.experiments.charts import SMALLEST, colour
from vigor.experiments.statistics import (
    interquartile_mean,
    performance_profile,
    probability_of_improvement,
    stratified_interval,
)
from vigor.experiments.tables import Group
from vigor.reports.charts import Chart, Dot, Line
from vigor.reports.overview import Charts
from vigor.tasks import TASKS, load_task

NOTE = "Test contexts, means over seeds with their 95% intervals. Distances have a logarithmic scale from 0.0001 on."
GREY, SPAN = "#9aa0a6", (-0.03, 1.03)
WIDTH, ROW = 410.0, 24.0
"""Width of a chart, of which three fit beside each other, and height of a method's row in it."""
FIGURES: dict[tables.Figure, str] = {
    "success": "success, best component",
    "mixture": "success, mixture",
    "distance": "distance, best component",
}
KEYS = {
    "default": ("our settings", QUIET),
    "paper": ("the paper's settings", QUIET),
    "reported": ("the paper's mean", GREY),
}


def by_task(groups: Sequence[Group]) -> dict[str, Charts]:
    """Success and distance of every task's methods, with the paper's beside them, by the task's title."""
    made = {title: _compared(compared) for title, compared in tables.usual(groups).items()}
    return made | {title: replace(made[title], note=NOTE) for title in list(made)[-1:]}


def _compared(groups: Sequence[Group]) -> Charts:
    rows, unit = tuple(group.name for group in groups), _unit(groups[0].task)
    made = []
    for figure, title in FIGURES.items():
        dots = [dot for place, group in enumerate(groups) for dot in _dots(group, place, figure)]
        log = figure == "distance"
        made.append(_rows(title, f"distance{unit}" if log else "success", dots, rows, log))
    used = {dot.key for one in made for dot in one.dots}
    return Charts(made, [(key, *words) for key, words in KEYS.items() if key in used], "")


def _unit(task: str) -> str:
    """Unit of a task's distances, of those that come with the package."""
    unit = load_task(task).display.unit if task in TASKS else ""
    return f" [{unit}]" if unit else ""


def _dots(group: Group, place: int, figure: tables.Figure) -> list[Dot]:
    """Dot of a method's figure, and of the paper's."""
    found, theirs = group.summary(figure), group.paper(figure)
    low = SMALLEST if figure == "distance" else 0.0
    ends = None if found.interval is None else (max(low, found.interval[0]), max(low, found.interval[1]))
    name = f"{group.name}, {FIGURES[figure]}: {found.mean:.3g}, {found.seeds} seeds"
    at = (max(low, found.mean), float(place))
    made = [Dot(name, colour(group.method), at, ends, group.preset, _mark(group))]
    if theirs is not None:
        at = (max(low, theirs.mean), place - 0.3)
        made.append(Dot(f"the paper's {group.name}: {theirs.mean:.3g}", GREY, at, key="reported", mark="diamond"))
    return made


def _mark(group: Group) -> Literal["full", "hollow"]:
    """Mark of a group's dots; those of a method with the paper's settings have its colour."""
    return "hollow" if group.preset == "paper" else "full"


def over_tasks(groups: Sequence[Group]) -> Charts | None:
    """Methods that all tasks with several methods have, over these tasks: None where there are fewer than two."""
    compared = {title: own for title, own in tables.usual(groups).items() if len(own) > 1}
    names = [{group.name: group for group in own} for own in compared.values()]
    common = [name for name in (names[0] if names else ()) if all(name in own for own in names)]
    if len(common) < 2:
        return None
    shown = {name: names[0][name] for name in common}
    runs = {name: [own[name].values("mixture") for own in names] for name in common}
    note = (
        f"Over {' and '.join(compared)}, as rliable defines these figures. Intervals are of 95%, with the seeds of "
        "every task drawn anew. Hollow dots and dashed lines: the paper's settings."
    )
    made = [_means(runs, shown), _better(runs, shown), _profiles(runs, shown)]
    return Charts(made, [(name, name, colour(group.method)) for name, group in shown.items()], note)


Runs = Mapping[str, Sequence[np.ndarray]]
"""Success of the mixture [seed] of each task, by method."""


def _means(runs: Runs, shown: Mapping[str, Group]) -> Chart:
    dots = []
    for place, (name, own) in enumerate(runs.items()):
        mean, ends = interquartile_mean(own), stratified_interval(interquartile_mean, own)
        dots.append(_dot(f"{name}: {mean:.3f}", shown[name], mean, place, ends))
    return _rows("interquartile mean", "success of the mixture", dots, tuple(runs))


def _better(runs: Runs, shown: Mapping[str, Group]) -> Chart:
    first, *others = runs
    dots = []
    for place, name in enumerate(others):
        found = probability_of_improvement(runs[first], runs[name])
        ends = stratified_interval(probability_of_improvement, runs[first], runs[name])
        said = f"better than {name} with probability {found:.3f}"
        dots.append(_dot(said, shown[name], found, place, ends))
    half = Line("no difference", GREY, np.array([(0.5, -0.6), (0.5, len(others) - 0.4)]), "dashed")
    return replace(_rows(f"{first} is better than", "probability", dots, tuple(others)), lines=[half])


def _dot(words: str, group: Group, value: float, place: int, ends: tuple[float, float] | None) -> Dot:
    """Dot of a method over several tasks."""
    return Dot(words, colour(group.method), (value, place), ends, group.name, _mark(group))


def _profiles(runs: Runs, shown: Mapping[str, Group]) -> Chart:
    at = np.linspace(0.0, 1.0, 101)
    lines = [
        Line(
            name,
            colour(shown[name].method),
            np.stack([at, performance_profile(own, at)], axis=1),
            "dashed" if shown[name].preset == "paper" else "main",
            name,
        )
        for name, own in runs.items()
    ]
    words = "performance profile", "success of the mixture above", "share of runs"
    return Chart(*words, lines, x_range=SPAN, y_range=SPAN, width=WIDTH)


def _rows(title: str, x: str, dots: Sequence[Dot], rows: tuple[str, ...], log: bool = False) -> Chart:
    """A chart with a row for every method."""
    span = None if log else SPAN
    height = 90 + ROW * len(rows)
    return Chart(title, x, "", dots=dots, rows=rows, log=log, x_range=span, width=WIDTH, height=height)
