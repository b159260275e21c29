"""The benchmark on a terminal or in a log: its progress with elapsed and expected time, and its table."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta

from rich import progress as rich_progress
from rich.progress import BarColumn, ProgressColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from vigor.experiments import tables
from vigor.experiments.runner import Finished, Progress
from vigor.experiments.statistics import interval_words
from vigor.experiments.store import Row
from vigor.reports.terminal import console

QUIET = 30.0
"""Seconds after which a log without news says how long the benchmark has been running."""


@contextmanager
def cells_bar() -> Iterator[Callable[[Progress], None]]:
    """A function that shows a benchmark's progress: a bar on a terminal, plain lines in a log."""
    with _bar() if console.is_terminal else _log() as show:
        yield show


@contextmanager
def _bar() -> Iterator[Callable[[Progress], None]]:
    """A bar that leaves one line, and none where an error ends it."""
    begun, counts = time.monotonic(), "starting"
    columns = (BarColumn(bar_width=15), TextColumn("{task.description}"), TimeElapsedColumn(), _TimeLeft())
    with rich_progress.Progress(*columns, console=console, transient=True) as bar:
        row = bar.add_task(counts, total=None, end=None)

        def show(progress: Progress) -> None:
            nonlocal counts
            counts = _counts(progress)
            if progress.last and progress.last.error is not None:
                console.print(_news(progress.last))
            end = _end(progress)
            bar.update(row, description=counts, completed=progress.done, total=progress.total, end=end)

        yield show
    console.print(f"{counts}, {_clock(time.monotonic() - begun)} elapsed")


class _TimeLeft(ProgressColumn):
    """Time to the expected end, counting down."""

    def render(self, task: rich_progress.Task) -> Text:
        return Text(_left(task.fields["end"]))


@contextmanager
def _log() -> Iterator[Callable[[Progress], None]]:
    """A line for the beginning and for every job that ends, and for every long time in which none does."""
    begun, over = time.monotonic(), threading.Event()
    said, counts, end = 0.0, "starting", None

    def say(news: str = "") -> None:
        nonlocal said
        said = time.monotonic()
        times = ", ".join(filter(None, [f"{_clock(said - begun)} elapsed", _left(end)]))
        print(f"{counts}, {times}{news}", flush=True)

    def show(progress: Progress) -> None:
        nonlocal counts, end
        counts, end = _counts(progress), _end(progress)
        if progress.last is not None or not said:
            say(f"; {_news(progress.last)}" if progress.last else "")

    def watch() -> None:
        while not over.wait(QUIET / 10):
            if time.monotonic() - max(said, begun) >= QUIET:
                say()

    threading.Thread(target=watch, daemon=True).start()
    try:
        yield show
    finally:
        over.set()


def _counts(progress: Progress) -> str:
    running = f", {progress.running} running" if progress.running else ""
    failed = f", {progress.failed} failed" if progress.failed else ""
    return f"{progress.done} of {progress.total} cells done{running}{failed}"


def _end(progress: Progress) -> float | None:
    """Moment of the expected end."""
    return None if progress.seconds_left is None else time.monotonic() + progress.seconds_left


def _left(end: float | None) -> str:
    return "" if end is None else f"{_clock(max(0.0, end - time.monotonic()))} left"


def _news(job: Finished) -> str:
    """A job that has ended, in words."""
    if job.error is not None:
        return f"{job.cells[0]}: failed: {job.error}"
    return f"{job.cells[0]}: {job.seconds:.1f} s{f' for {len(job.cells)} seeds' if len(job.cells) > 1 else ''}"


def _clock(seconds: float) -> str:
    return str(timedelta(seconds=int(seconds)))


def benchmark_table(rows: Sequence[Row]) -> None:
    """Ours beside the paper's, for all methods with their usual settings."""
    table = Table(title="success of the best component, test contexts", title_justify="left")
    for name in ("task", "method", "seeds", "paper", "ours", "95%", "mixture"):
        table.add_column(name, justify="left" if name in ("task", "method") else "right", no_wrap=name != "task")
    for title, group in tables.titled(tables.groups(rows)):
        success, theirs = group.summary("success"), group.paper("success")
        table.add_row(
            title,
            group.name,
            str(success.seeds),
            f"{theirs.mean:.3f}" if theirs else "",
            f"{success.mean:.3f}",
            interval_words(success.interval, 2),
            f"{group.summary('mixture').mean:.3f}",
        )
    console.print(table)
