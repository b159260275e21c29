"""The engine: cells on processes of this machine, on a Dask cluster, or on a GPU.

A CPU runs one cell a process, each with its share of the cores. A GPU trains all seeds of a configuration as one
program. Rows are written by the process that started the benchmark, as they come.
"""

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from vigor.experiments.store import Claims, Row, Store
from vigor.experiments.workers import POLL, Job, Measure, Place, Workers, row_of, work, workers_of

if TYPE_CHECKING:
    from vigor.experiments.cell import Cell


@dataclass(frozen=True)
class Finished:
    """A job that has just ended."""

    cells: Sequence["Cell"]
    seconds: float
    """Time that it took; 0 where its worker died."""
    error: str | None
    """Reason why it failed; None if it did not."""


@dataclass(frozen=True)
class Progress:
    """State of a benchmark, for a progress display."""

    total: int
    done: int
    """Cells finished, now or earlier."""
    failed: int
    running: int
    seconds_left: float | None
    """Expected time; unknown before the first cell has finished."""
    last: Finished | None = None
    """Job that has just ended; None when some have just begun."""


def run(
    cells: Sequence["Cell"],
    store: Store,
    place: Place,
    measure: Measure,
    report: Callable[[Progress], None] = lambda progress: None,
) -> None:
    """Run all cells that the store does not have yet, and keep their rows.

    A failed cell is kept with its error and not run again before the next start. When a worker dies, what was running
    is run again; a cell whose worker dies a second time, when it is run alone, has failed. Cells that another benchmark
    in the same folder is working on are left to it, and taken over should it end without having finished them.
    """
    with Claims(store.folder) as claims, workers_of(place, len(cells)) as workers:
        board = _Board({cell.id: cell for cell in cells}, store, workers)
        job_work = partial(work, measure, store.folder.resolve(), place.device)
        suspects: set[str] = set()
        while unfinished := board.unfinished():
            report(board.progress())
            fresh = [cell for cell in unfinished if cell.id not in suspects]
            jobs = _jobs(fresh, workers.together) if fresh else [unfinished[:1]]
            idle = True
            for job, outcome in workers.run(job_work, _claimed(jobs, claims, board, report)):
                idle = False
                board.running.remove(job)
                if isinstance(outcome, Exception):
                    # Any job that was running may be to blame. Their cells are run again, each alone.
                    error = {"error": f"its worker dies: {type(outcome).__name__}"}
                    rows = [row_of(cell, error) for cell in job if cell.id in suspects]
                    suspects.update(cell.id for cell in job)
                else:
                    rows = outcome
                if rows:
                    board.keep(rows)
                    report(board.progress(Finished(job, rows[0].get("seconds", 0.0), rows[0].get("error"))))
                for cell in job:
                    claims.drop(cell.id)
            if idle:  # All are with another benchmark.
                time.sleep(POLL)


def _jobs(cells: Sequence["Cell"], together: bool) -> list[Job]:
    """Jobs of single cells, or of all that differ in their seed alone.

    First seeds come first: a benchmark that is stopped has some of everything, and workers seldom compile the same.
    """
    jobs = defaultdict(list)
    for cell in sorted(cells, key=lambda cell: cell.setup.seed):
        jobs[cell.batch if together else cell.id].append(cell)
    return list(jobs.values())


def _claimed(jobs: Sequence[Job], claims: Claims, board: "_Board", report: Callable[[Progress], None]) -> Iterator[Job]:
    """Jobs as they are handed out, without cells that another benchmark works on."""
    for job in jobs:
        claimed = [cell for cell in job if claims.take(cell.id)]
        # Another benchmark may have finished some meanwhile.
        for cell in (cell for cell in claimed if board.store.has(cell.id)):
            claims.drop(cell.id)
        if ours := [cell for cell in claimed if not board.store.has(cell.id)]:
            board.running.append(ours)
            report(board.progress())
            yield ours


@dataclass
class _Board:
    """Cells that are done, have failed or are running, and the time that the rest will take."""

    cells: dict[str, "Cell"]
    store: Store
    workers: "Workers"
    done: set[str] = field(default_factory=set)
    failed: set[str] = field(default_factory=set)
    running: list[Job] = field(default_factory=list)
    """Jobs that have been handed out; some of them wait until a worker is free."""
    seconds: dict[tuple[str, str], list[float]] = field(default_factory=lambda: defaultdict(list))
    """Times of finished cells, by task and method."""

    def __post_init__(self) -> None:
        for row in self.store.rows():
            self._learn(row)

    def unfinished(self) -> list["Cell"]:
        """Cells that are still to be run."""
        self.done = {cell_id for cell_id in self.cells if self.store.has(cell_id)}
        return [cell for cell_id, cell in self.cells.items() if cell_id not in self.done | self.failed]

    def keep(self, rows: Sequence[Row]) -> None:
        """Keep the rows of a job."""
        for row in rows:
            if "error" in row:
                self.store.fail(row)
                self.failed.add(row["id"])
            else:
                self.store.add(row)
                self.done.add(row["id"])
                self._learn(row)

    def _learn(self, row: Row) -> None:
        self.seconds[row["setup"]["task"], row["setup"]["method"]].append(row["seconds"] / row["together"])

    def progress(self, last: Finished | None = None) -> Progress:
        busy = [len(job) for job in self.running][: self.workers.count]
        return Progress(len(self.cells), len(self.done), len(self.failed), sum(busy), self._left(), last)

    def _left(self) -> float | None:
        known = [value for values in self.seconds.values() for value in values]
        if not known:
            return None
        usual = sum(known) / len(known)
        means = {kind: sum(values) / len(values) for kind, values in self.seconds.items()}
        kinds = Counter(
            (cell.setup.task, cell.setup.method)
            for cell_id, cell in self.cells.items()
            if cell_id not in self.done and cell_id not in self.failed
        )
        return sum(count * means.get(kind, usual) for kind, count in kinds.items()) / self.workers.count
