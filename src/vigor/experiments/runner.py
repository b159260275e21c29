"""The engine: cells on processes of this machine, on a Dask cluster, or on a GPU.

A CPU runs one cell a process, each with its share of the cores. A GPU trains all seeds of a configuration as one
program. Rows are written by the process that started the benchmark, as they come.
"""

import logging
import os
import signal
import threading
import time
import traceback
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from vigor.basics.device import Device, use_device
from vigor.basics.errors import UserError
from vigor.basics.install import missing
from vigor.experiments.store import Claims, Row, Store

if TYPE_CHECKING:
    from vigor.experiments.cell import Cell

Job = list["Cell"]
"""Cells that a worker runs at once."""
Measure = Callable[[Sequence["Cell"], Path], list[Row]]
"""Function that trains and evaluates a job's cells, given the benchmark's folder."""
CONNECT = 10
"""Seconds that a Dask scheduler has to answer."""
POLL = 0.5
"""Seconds from one look to the next at new Dask workers, and at cells that another benchmark is working on."""
IDLE = 300
"""Seconds that a worker process without a job is kept for the next benchmark of this process."""


@dataclass(frozen=True)
class Place:
    """Machine or cluster that cells run on."""

    scheduler: str | None = None
    """Address of a Dask scheduler; without one, processes of this machine."""
    workers: int | None = None
    """Processes of this machine; one a core by default."""
    device: Device = "auto"


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
    with Claims(store.folder) as claims, _workers(place, len(cells)) as workers:
        board = _Board({cell.id: cell for cell in cells}, store, workers)
        work = partial(_work, measure, store.folder.resolve(), place.device)
        suspects: set[str] = set()
        while unfinished := board.unfinished():
            report(board.progress())
            fresh = [cell for cell in unfinished if cell.id not in suspects]
            jobs = _jobs(fresh, workers.together) if fresh else [unfinished[:1]]
            idle = True
            for job, outcome in workers.run(work, _claimed(jobs, claims, board, report)):
                idle = False
                board.running.remove(job)
                if isinstance(outcome, Exception):
                    # Any job that was running may be to blame. Their cells are run again, each alone.
                    error = {"error": f"its worker dies: {type(outcome).__name__}"}
                    rows = [_row(cell, error) for cell in job if cell.id in suspects]
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
    workers: "_Workers"
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


# Workers

Work = Callable[[Job], list[Row]]


class _Workers(Protocol):
    count: int
    """Jobs that run at the same time."""
    together: bool
    """Whether seeds train as one program."""

    def run(self, work: Work, jobs: Iterator[Job]) -> Iterator[tuple[Job, list[Row] | Exception]]:
        """Jobs with their rows, in whatever order they end, or with the error that their worker died of."""


class _Here:
    """This process, which does one job after the other."""

    count, together = 1, True

    def run(self, work: Work, jobs: Iterator[Job]) -> Iterator[tuple[Job, list[Row] | Exception]]:
        return ((job, work(job)) for job in jobs)


@dataclass
class _Elsewhere:
    """Processes that an executor hands jobs to."""

    executor: Callable[[], Executor]
    """The executor; a new one when a death has broken it."""
    size: Callable[[], int]
    """Number of workers at the moment."""
    death: type[Exception]
    """Error of a job whose worker has died."""
    together: bool
    count: int = 1

    def run(self, work: Work, jobs: Iterator[Job]) -> Iterator[tuple[Job, list[Row] | Exception]]:
        running: dict[Future[list[Row]], Job] = {}
        while True:
            self.count = max(1, self.size())
            # Each worker has its next job waiting, so that none waits for a job, and those that come later find some.
            while len(running) < 2 * self.count and (job := next(jobs, None)) is not None:
                running[self._submit(work, job)] = job
            if not running:
                return
            for future in wait(running, POLL, FIRST_COMPLETED).done:
                error = future.exception()
                yield running.pop(future), error if isinstance(error, self.death) else future.result()

    def _submit(self, work: Work, job: Job) -> Future[list[Row]]:
        try:
            return self.executor().submit(work, job)
        except self.death as death:  # In this moment, of another job's worker.
            future: Future[list[Row]] = Future()
            future.set_exception(death)
            return future


@contextmanager
def _workers(place: Place, cells: int) -> Iterator[_Workers]:
    if place.scheduler is not None:
        with _cluster(place.scheduler, place.device) as workers:
            yield workers
    elif _computes_on(place.device) != "cpu":
        yield _Here()
    else:
        with _processes(place.workers, cells) as workers:
            yield workers


@contextmanager
def _processes(workers: int | None, cells: int) -> Iterator[_Elsewhere]:
    """Processes of this machine, each with its share of the cores."""
    try:
        import loky
        from loky.process_executor import TerminatedWorkerError
    except ImportError:
        raise missing("the benchmark needs loky", "benchmark") from None
    cores = loky.cpu_count()
    count = max(1, min(workers or cores, cells))
    share = os.environ.get("OMP_NUM_THREADS", str(max(1, cores // count)))

    def executor() -> Any:
        environment = {"OMP_NUM_THREADS": share}
        return loky.get_reusable_executor(
            count, timeout=IDLE, initializer=_begin, initargs=(os.getpid(),), env=environment
        )

    with warnings.catch_warnings():
        # Workers that have grown, as compiled programs make them, are replaced between two jobs: nothing to warn of.
        warnings.filterwarnings("ignore", "A worker (stopped|was restarted) while some jobs", UserWarning)
        try:
            yield _Elsewhere(executor, lambda: count, TerminatedWorkerError, together=False)
        except BaseException:
            executor().shutdown(kill_workers=True)
            raise


@contextmanager
def _cluster(address: str, device: Device) -> Iterator[_Elsewhere]:
    """Workers of a Dask scheduler."""
    try:
        from distributed import Client, KilledWorker
        from distributed.comm.core import CommClosedError
    except ImportError:
        raise missing("--backend dask needs Dask", "benchmark") from None
    for name in ("distributed", "distributed.client"):  # What they log of lost connections is said here.
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        client = Client(address, timeout=CONNECT)
    except (OSError, ValueError) as error:
        raise UserError(f"there is no Dask scheduler at {address}: {error}; start one or mend --scheduler") from None
    with client:
        try:
            client.wait_for_workers(1, timeout=60)
        except TimeoutError:
            raise UserError(f"the Dask scheduler at {address} has no workers; start some with `dask worker`") from None
        together = client.submit(_computes_on, device, pure=False).result() != "cpu"
        executor = client.get_executor(pure=False)
        try:
            yield _Elsewhere(lambda: executor, lambda: sum(client.nthreads().values()), KilledWorker, together)
        except (CancelledError, CommClosedError):
            raise UserError(
                f"the Dask scheduler at {address} has ended; start it and the benchmark again, which keeps what is done"
            ) from None
        finally:
            executor.shutdown(wait=False)


def _computes_on(device: Device) -> str:
    """Get ready to compute; returns "cpu" or what else does.

    A process of its own keeps to its share of the cores, which OMP_NUM_THREADS says.
    """
    if "OMP_NUM_THREADS" in os.environ:
        os.environ.setdefault("PJRT_NPROC", os.environ["OMP_NUM_THREADS"])
    use_device(device)
    import jax

    return jax.default_backend()


def _begin(parent: int) -> None:
    """Make this worker process end when the one that started it has ended, however that was, and not before."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    # Ctrl-C reaches all processes of a terminal; the one that started the workers ends them.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=watch, daemon=True).start()


def _work(measure: Measure, folder: Path, device: Device, cells: Job) -> list[Row]:
    """Run a job in a worker."""
    begun = time.perf_counter()
    try:
        _computes_on(device)
        results = measure(cells, folder)
    except Exception as error:
        results = [{"error": f"{type(error).__name__}: {error}", "traceback": traceback.format_exc()}] * len(cells)
    facts = {"seconds": time.perf_counter() - begun, "together": len(cells)}
    return [_row(cell, facts | result) for cell, result in zip(cells, results, strict=True)]


def _row(cell: "Cell", result: Row) -> Row:
    from vigor.experiments.cell import row

    return row(cell, result)
