"""The engine: cells through joblib, on processes of this machine or on a Dask cluster.

A CPU runs one cell a process, each with its share of the cores. A GPU trains all seeds of a configuration as one
program. Rows are written by the process that started the benchmark, as they come.
"""

import os
import threading
import time
import traceback
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from vigor.basics.device import Device, use_device
from vigor.basics.errors import UserError
from vigor.basics.install import missing
from vigor.experiments.store import Claims, Row, Store

if TYPE_CHECKING:
    from vigor.experiments.cell import Cell

Measure = Callable[[Sequence["Cell"], Path], list[Row]]
"""What a batch of cells finds, given the benchmark's folder."""
CONNECT = 10
"""Seconds that a Dask scheduler has to answer."""
POLL = 0.5
"""Seconds from one look to the next at cells that another benchmark is working on."""


@dataclass(frozen=True)
class Place:
    """Where cells run."""

    scheduler: str | None = None
    """Address of a Dask scheduler; without one, processes of this machine."""
    workers: int | None = None
    """Processes of this machine; one a core by default."""
    device: Device = "auto"


@dataclass(frozen=True)
class Progress:
    """What a progress display shows."""

    total: int
    done: int
    """Finished, now or earlier."""
    failed: int
    running: int
    seconds_left: float | None
    """Unknown before the first cell has finished."""
    last: str
    """What has just happened, in words."""


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
    with Claims(store.folder) as claims, _pool(place, len(cells)) as pool:
        board = _Board({cell.id: cell for cell in cells}, store, pool.workers)
        suspects: set[str] = set()
        while todo := board.open():
            fresh = [cell for cell in todo if cell.id not in suspects]
            jobs = _jobs(fresh, pool.together) if fresh else [todo[:1]]
            running: dict[int, list[Cell]] = {}

            def offered(jobs: list[list["Cell"]] = jobs, running: dict[int, list["Cell"]] = running) -> Iterator[Any]:
                for number, job in enumerate(jobs):
                    claimed = [cell for cell in job if claims.take(cell.id)]
                    # Another benchmark may have finished some meanwhile.
                    if missing := [cell for cell in claimed if not store.has(cell.id)]:
                        running[number] = missing
                        parent = None if place.scheduler else os.getpid()
                        yield number, parent, measure, missing, store.folder.resolve(), place.device

            report(board.progress("", running))
            try:
                for number, rows in pool.work(offered()):
                    report(board.progress(f"{running.pop(number)[0]}: {board.keep(rows)}", running))
            except _deaths() as death:
                # Any of those that were running may be to blame. They are run again, each alone.
                for cell in (cell for job in running.values() for cell in job):
                    if cell.id in suspects:
                        words = board.keep([_row(cell, {"error": f"its worker dies: {type(death).__name__}"})])
                        report(board.progress(f"{cell}: {words}", {}))
                    suspects.add(cell.id)
            finally:
                claims.drop()
            if len(todo) == len(board.open()) and not running:  # All are with another benchmark.
                time.sleep(POLL)


def _jobs(cells: Sequence["Cell"], together: bool) -> list[list["Cell"]]:
    """What is run at once: single cells, or all that differ in their seed alone.

    First seeds come first: a benchmark that is stopped has some of everything, and workers seldom compile the same.
    """
    jobs = defaultdict(list)
    for cell in sorted(cells, key=lambda cell: cell.setup.seed):
        jobs[cell.batch if together else cell.id].append(cell)
    return list(jobs.values())


@dataclass
class _Board:
    """Who is done, who has failed, and how long the rest will take."""

    cells: dict[str, "Cell"]
    store: Store
    workers: int
    done: set[str] = field(default_factory=set)
    failed: set[str] = field(default_factory=set)
    seconds: dict[tuple[str, str], list[float]] = field(default_factory=lambda: defaultdict(list))
    """Of finished cells, by task and method."""

    def __post_init__(self) -> None:
        for row in self.store.rows():
            self._learn(row)

    def open(self) -> list["Cell"]:
        """Cells that are still to be run."""
        self.done = {id for id in self.cells if self.store.has(id)}
        return [cell for id, cell in self.cells.items() if id not in self.done | self.failed]

    def keep(self, rows: Sequence[Row]) -> str:
        """Keep the rows of a job, and say how it went."""
        for row in rows:
            if "error" in row:
                self.store.fail(row)
                self.failed.add(row["id"])
            else:
                self.store.add(row)
                self.done.add(row["id"])
                self._learn(row)
        first, others = rows[0], f" for {len(rows)} seeds" if len(rows) > 1 else ""
        return f"failed: {first['error']}" if "error" in first else f"{first['seconds']:.1f} s{others}"

    def _learn(self, row: Row) -> None:
        self.seconds[row["setup"]["task"], row["setup"]["method"]].append(row["seconds"] / row["together"])

    def progress(self, last: str, running: dict[int, list["Cell"]]) -> Progress:
        """running: jobs that have been handed out; some of them wait until a worker is free."""
        busy = [len(job) for job in running.values()][: self.workers]
        return Progress(len(self.cells), len(self.done), len(self.failed), sum(busy), self._left(), last)

    def _left(self) -> float | None:
        known = [value for values in self.seconds.values() for value in values]
        if not known:
            return None
        usual = sum(known) / len(known)
        means = {kind: sum(values) / len(values) for kind, values in self.seconds.items()}
        kinds = Counter(
            (cell.setup.task, cell.setup.method)
            for id, cell in self.cells.items()
            if id not in self.done and id not in self.failed
        )
        return sum(count * means.get(kind, usual) for kind, count in kinds.items()) / self.workers


# Workers


class _Pool(NamedTuple):
    work: Callable[[Iterable[Any]], Iterable[tuple[int, list[Row]]]]
    """Calls `_work` with many arguments and gives what it returns, in whatever order that comes."""
    workers: int
    """How many jobs run at the same time."""
    together: bool
    """Whether seeds train as one program."""


@contextmanager
def _pool(place: Place, cells: int) -> Iterator[_Pool]:
    try:
        import joblib
    except ImportError:
        raise missing("the benchmark needs joblib", "benchmark") from None

    def parallel(workers: int, ahead: int | str) -> Callable[[Iterable[Any]], Any]:
        settings: dict[str, Any] = {"return_as": "generator_unordered", "pre_dispatch": ahead, "batch_size": 1}
        return lambda jobs: joblib.Parallel(workers, **settings)(joblib.delayed(_work)(*job) for job in jobs)

    if place.scheduler is not None:
        with _client(place.scheduler) as client, joblib.parallel_config(_dask_backend()):
            together = client.submit(_computes_on, place.device, pure=False).result() != "cpu"
            # All jobs are handed over at once, so that workers that come later find some.
            yield _Pool(parallel(-1, "all"), sum(client.ncores().values()), together)
    elif _computes_on(place.device) != "cpu":
        yield _Pool(parallel(1, 1), 1, True)
    else:
        workers = max(1, min(place.workers or joblib.cpu_count(), cells))
        with joblib.parallel_config("loky"):
            # Each worker has its next job waiting, so that none waits for a job.
            yield _Pool(parallel(workers, 2 * workers), workers, False)


@contextmanager
def _client(address: str) -> Iterator[Any]:
    """A connection to a Dask scheduler that has workers."""
    try:
        from distributed import Client
    except ImportError:
        raise missing("--backend dask needs Dask", "benchmark") from None
    try:
        client = Client(address, timeout=CONNECT)
    except (OSError, ValueError) as error:
        raise UserError(f"there is no Dask scheduler at {address}: {error}; start one or mend --scheduler") from None
    with client:
        try:
            client.wait_for_workers(1, timeout=60)
        except TimeoutError:
            raise UserError(f"the Dask scheduler at {address} has no workers; start some with `dask worker`") from None
        yield client


def _dask_backend() -> Any:
    """Joblib's, without its habit of computing in this process where the cluster has one worker so far."""
    from joblib._dask import DaskDistributedBackend

    class Backend(DaskDistributedBackend):
        def effective_n_jobs(self, n_jobs: int) -> int:
            return max(2, super().effective_n_jobs(n_jobs))

    return Backend()


def _deaths() -> tuple[type[Exception], ...]:
    """What is raised when a worker process has been killed."""
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    try:
        from distributed import KilledWorker
    except ImportError:
        return (TerminatedWorkerError,)
    return TerminatedWorkerError, KilledWorker


def _computes_on(device: Device) -> str:
    """Get ready to compute; returns "cpu" or what else does.

    A process of its own keeps to its share of the cores, which joblib and Dask say in OMP_NUM_THREADS.
    """
    if "OMP_NUM_THREADS" in os.environ:
        os.environ.setdefault("PJRT_NPROC", os.environ["OMP_NUM_THREADS"])
    use_device(device)
    import jax

    return jax.default_backend()


@cache
def _end_with(parent: int) -> None:
    """End this process when the one that started it has ended, however that was."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    if os.getpid() != parent:
        threading.Thread(target=watch, daemon=True).start()


def _work(
    number: int, parent: int | None, measure: Measure, cells: Sequence["Cell"], folder: Path, device: Device
) -> tuple[int, list[Row]]:
    """Run a job in a worker. parent: the process that the worker belongs to; a Dask worker belongs to none."""
    begun = time.perf_counter()
    if parent is not None:
        _end_with(parent)
    try:
        _computes_on(device)
        found = measure(cells, folder)
    except Exception as error:
        found = [{"error": f"{type(error).__name__}: {error}", "traceback": traceback.format_exc()}] * len(cells)
    facts = {"seconds": time.perf_counter() - begun, "together": len(cells)}
    return number, [_row(cell, facts | one) for cell, one in zip(cells, found, strict=True)]


def _row(cell: "Cell", found: Row) -> Row:
    from vigor.experiments.cell import row

    return row(cell, found)
