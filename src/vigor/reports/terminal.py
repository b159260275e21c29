"""The terminal's side: a progress bar with the figures that matter, and tables."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from vigor.demonstrations.dataset import Demonstrations
from vigor.demonstrations.repertoire import repertoire
from vigor.demonstrations.summary import lacking, outliers, summarise
from vigor.evaluation.evaluation import in_words
from vigor.reports import ways
from vigor.runs.run import Progress as Step
from vigor.tasks import Task

ROWS = 20
"""Most contexts that a table lists."""
_SECONDS = 30.0
"""Seconds between two lines of a log that counts."""
console = Console(highlight=False, markup=False, emoji=False)
"""Shows names as files have them: no brackets are markup."""


@contextmanager
def progress_bar() -> Iterator[Callable[[Step], None]]:
    """A function that shows a run's progress: a bar on a terminal or in a notebook, plain lines in a log.

    Time is counted from the first second. While programs are compiled, what is left is not known; then it follows from
    the pace of the iterations since the first.
    """
    pace = _Pace()
    if not (console.is_terminal or console.is_jupyter):
        yield lambda step: _log(step, pace)
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=30),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}"),
    )
    with Progress(*columns, console=console) as bar:
        row = bar.add_task("preparing", total=None, left="")

        def show(step: Step) -> None:
            total = step.iterations or None  # Not known where movements are tried.
            bar.update(row, description=_doing(step), completed=step.iteration, total=total, left=pace.left(step))

        yield show


@dataclass
class _Pace:
    """Pace of the iterations since the first one that was seen, which has the compilation in it."""

    first: Step | None = None
    printed: float = -_SECONDS
    """Moment of the last line in a log of what has no iterations."""

    def left(self, step: Step) -> str:
        """Expected time in words; empty as long as it is not known."""
        if self.first is not None and self.first.doing != step.doing:
            self.first = None
        if self.first is None and step.iteration:
            self.first = step
        if self.first is None or step.iteration <= self.first.iteration or step.iteration == step.iterations:
            return ""
        each = (step.seconds - self.first.seconds) / (step.iteration - self.first.iteration)
        return f"about {timedelta(seconds=round(each * (step.iterations - step.iteration)))} left"


def _doing(step: Step) -> str:
    """Words for what is going on, with the figures of the last evaluation."""
    if not step.iterations:
        return step.doing
    words = _figures(step) if step.figures else "learning" if step.iteration else "compiling"
    return f"{step.doing}: {words}" if step.doing else words


@contextmanager
def count_bar(what: str) -> Iterator[Callable[[int, int], None]]:
    """A function of how many are done and how many there are: a bar on a terminal, now and then a line in a log."""
    if not console.is_terminal:
        printed = time.monotonic()

        def log(done: int, total: int) -> None:
            nonlocal printed
            if time.monotonic() - printed > _SECONDS:
                printed = time.monotonic()
                print(f"{what}: {done} of {total}", flush=True)

        yield log
        return
    columns = (TextColumn("{task.description}"), BarColumn(bar_width=30), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        row = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(row, completed=done, total=total)


def _log(step: Step, pace: _Pace) -> None:
    """Lines of a log: when compilation begins, when it is over, and every 50 iterations; else now and then."""
    left = pace.left(step)
    if not step.iterations:
        if step.seconds - pace.printed >= _SECONDS:
            pace.printed = step.seconds
            print(f"{step.doing}, {step.seconds:.0f} s", flush=True)
    elif step.iteration in (0, 2) or step.iteration % 50 == 0 or step.iteration == step.iterations:
        doing = "compiling" if step.iteration == 0 else f"iteration {step.iteration} of {step.iterations}"
        words = (step.doing, doing, f"{step.seconds:.0f} s", left, _figures(step))
        print(", ".join(word for word in words if word), flush=True)


def _figures(step: Step) -> str:
    if not step.figures:
        return ""
    return in_words(step.figures)


RATES = {
    "success_best": "success, best component",
    "success_chosen": "success, chosen by prediction",
    "success_mixture": "success, mixture",
    "predicted_best": "predicted, best component",
    "predicted_mixture": "predicted, mixture",
}
"""Rates of a result by name, as a table has them."""


def results_table(result: dict[str, Any]) -> None:
    """Success, distance and versatility on training and test contexts."""
    parts = {name: result[name] for name in ("train", "test") if result[name]}
    table = Table(title=f"{result['task']}, {result['method']}", title_justify="left")
    table.add_column("")
    for name, part in parts.items():
        table.add_column(f"{name} ({len(part['contexts'])} contexts)", justify="right")

    def row(label: str, value: Callable[[dict[str, Any]], str]) -> None:
        table.add_row(label, *(value(part) for part in parts.values()))

    for key, label in RATES.items():
        if all(key in part for part in parts.values()):
            table.add_row(label, *(f"{part[key]:.3f}" for part in parts.values()))
    if all("success_components" in part for part in parts.values()):
        row("success, components ranked", lambda part: " ".join(f"{value:.2f}" for value in part["success_components"]))
        row("distance, best component", lambda part: f"{part['distance_best']:.4f}")
    row("working components", lambda part: f"{part['versatility']['working_components']:.2f}")
    row("distinct solutions", lambda part: f"{part['versatility']['distinct_solutions']:.2f}")
    row("entropy of solutions", lambda part: f"{part['versatility']['entropy']:.2f}")
    if any(part.get("resemblance") for part in parts.values()):
        for key, label in ways.WORDS.items():
            table.add_row(label, *(_number(part.get("resemblance", {}).get(key)) for part in parts.values()))
    console.print(table)
    for name, part in parts.items():
        if part.get("resemblance"):
            console.print(f"{ways.in_words(part['resemblance'])} ({name}).")
    if result.get("stopped"):
        console.print(f"Ended after {result['iterations']} iterations: {result['stopped']}.")


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def demonstrations_table(task: Task, shown: Demonstrations) -> None:
    """Numbers, success and variety of demonstrations by context."""
    summary = summarise(task, shown)
    table = Table(title=f"{task.name}: {len(shown.context_of)} demonstrations, {shown.source}", title_justify="left")
    judged = ("success", "distance") if task.judged else ()
    for name in ("context", "values", "demonstrations", *judged, "distinct", "spread"):
        table.add_column(name, justify="left" if name == "values" else "right")
    for i, context in enumerate(summary.contexts):
        table.add_row(
            str(context + 1),
            " ".join(f"{value:.2f}" for value in shown.contexts[context]),
            str(summary.counts[i]),
            *((f"{summary.success[i]:.2f}", f"{summary.distance[i]:.3f}") if judged else ()),
            str(summary.solutions[i]),
            f"{summary.spread[i]:.2f}",
        )
    console.print(table)
    rest = len(shown.contexts) - len(summary.contexts)
    console.print(f"{rest} further contexts without demonstrations, to draw test contexts from")


def demonstrations_remarks(task: Task, shown: Demonstrations) -> None:
    """Remarks about a set: the ways that it has, what stands out, and what it lacks."""
    console.print(f"{ways.of_repertoire(repertoire(task, shown))}.")
    found = outliers(task, shown)
    for remark in (*lacking(task, summarise(task, shown)), *map(str, found[:ROWS])):
        console.print(f"{remark[0].upper()}{remark[1:]}.")
    if len(found) > ROWS:
        console.print(f"{len(found) - ROWS} more stand out.")
