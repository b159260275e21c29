"""First part of the report of a benchmark: methods as dots with intervals, by task and over all tasks."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

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

NOTE = "Means over seeds with their 95% intervals. Distances have a logarithmic scale, which begins at 0.0001."
GREY, SPAN = "#9aa0a6", (-0.03, 1.03)
WIDTH, ROW = 520.0, 24.0
"""Width of a chart, and height of a method's row in it."""


def by_task(groups: Sequence[Group]) -> list[Charts]:
    """Success and distance of every task's methods, with the paper's beside them."""
    made = [_compared(title, compared) for title, compared in tables.usual(groups).items()]
    return [*made[:-1], replace(made[-1], note=NOTE)] if made else []


def _compared(title: str, groups: Sequence[Group]) -> Charts:
    rows = tuple(group.name for group in groups)
    success = [dot for place, group in enumerate(groups) for dot in _dots(group, place, "success", "mixture")]
    distances = [dot for place, group in enumerate(groups) for dot in _dots(group, place, "distance")]
    made = [
        _rows(f"{title}: success", "success, test contexts", success, rows),
        _rows(f"{title}: distance", f"distance{_unit(groups[0].task)}, test contexts", distances, rows, log=True),
    ]
    keys = [("best", "best component", QUIET), ("mixture", "mixture", QUIET), ("paper", "the paper's mean", GREY)]
    return Charts(made, keys, "")


def _unit(task: str) -> str:
    """Unit of a task's distances, of those that come with the package."""
    unit = load_task(task).display.unit if task in TASKS else ""
    return f" [{unit}]" if unit else ""


def _dots(group: Group, place: int, *figures: tables.Figure) -> list[Dot]:
    """Dots of a method's figures, and of the paper's."""
    made = []
    for figure in figures:
        found, theirs = group.summary(figure), group.paper(figure)
        low = SMALLEST if figure == "distance" else 0.0
        ends = None if found.interval is None else (max(low, found.interval[0]), max(low, found.interval[1]))
        name = f"{group.name}, {figure}: {found.mean:.3g}, {found.seeds} seeds"
        key = "mixture" if figure == "mixture" else "best"
        at = (max(low, found.mean), place + (0.18 if figure == "mixture" else -0.08))
        made.append(Dot(name, colour(group.method), at, ends, key, "full" if figure == "mixture" else "hollow"))
        if theirs is not None:
            at = (max(low, theirs.mean), place - 0.28)
            made.append(Dot(f"the paper's {group.name}: {theirs.mean:.3g}", GREY, at, key="paper", mark="diamond"))
    return made


def over_tasks(groups: Sequence[Group]) -> Charts | None:
    """Methods over all tasks that every one of them has: None where there are fewer than two methods."""
    compared = tables.usual(groups)
    names = [{group.name: group for group in own} for own in compared.values()]
    common = [name for name in (names[0] if names else ()) if all(name in own for own in names)]
    if len(common) < 2:
        return None
    colours = {name: colour(names[0][name].method) for name in common}
    runs = {name: [own[name].values("mixture") for own in names] for name in common}
    note = (
        f"Over {', '.join(compared)}, as rliable defines them; 95% intervals, with the seeds of every task drawn anew."
    )
    made = [_means(runs, colours), _better(runs, colours), _profiles(runs, colours)]
    return Charts(made, [(name, name, colours[name]) for name in common], note)


Runs = Mapping[str, Sequence[np.ndarray]]
"""Success of the mixture [seed] of each task, by method."""


def _means(runs: Runs, colours: Mapping[str, str]) -> Chart:
    dots = []
    for place, (name, own) in enumerate(runs.items()):
        mean, ends = interquartile_mean(own), stratified_interval(interquartile_mean, own)
        dots.append(Dot(f"{name}: {mean:.3f}", colours[name], (mean, place), ends, name))
    return _rows("interquartile mean", "success of the mixture", dots, tuple(runs))


def _better(runs: Runs, colours: Mapping[str, str]) -> Chart:
    first, *others = runs
    dots = []
    for place, name in enumerate(others):
        found = probability_of_improvement(runs[first], runs[name])
        ends = stratified_interval(probability_of_improvement, runs[first], runs[name])
        said = f"better than {name} with probability {found:.3f}"
        dots.append(Dot(said, colours[name], (found, place), ends, name))
    half = Line("no difference", GREY, np.array([(0.5, -0.6), (0.5, len(others) - 0.4)]), "dashed")
    return replace(_rows(f"{first} is better than", "probability", dots, tuple(others)), lines=[half])


def _profiles(runs: Runs, colours: Mapping[str, str]) -> Chart:
    at = np.linspace(0.0, 1.0, 101)
    lines = [
        Line(name, colours[name], np.stack([at, performance_profile(own, at)], axis=1), key=name)
        for name, own in runs.items()
    ]
    words = "performance profile", "success of the mixture above", "share of runs"
    return Chart(*words, lines, x_range=SPAN, y_range=SPAN, width=WIDTH)


def _rows(title: str, x: str, dots: Sequence[Dot], rows: tuple[str, ...], log: bool = False) -> Chart:
    """A chart with a row for every method."""
    span = None if log else SPAN
    height = 90 + ROW * len(rows)
    return Chart(title, x, "", dots=dots, rows=rows, log=log, x_range=span, width=WIDTH, height=height)
