"""Workers of the benchmark: this process, processes of this machine, or those of a Dask cluster."""

import logging
import os
import signal
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from vigor.basics.device import Device, use_device
from vigor.basics.errors import UserError
from vigor.basics.install import missing
from vigor.experiments.store import WORKING, Claims, Row, Store

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


Work = Callable[[Job], list[Row]]


class Workers(Protocol):
    count: int
    """Jobs that run at the same time."""
    together: bool
    """Whether seeds train as one program."""

    def run(self, work: Work, jobs: Iterator[Job]) -> Iterator[tuple[Job, list[Row] | Exception]]:
        """Jobs with their rows, in whatever order they end, or with the error that their worker died of."""


class Here:
    """This process, which does one job after the other."""

    count, together = 1, True

    def run(self, work: Work, jobs: Iterator[Job]) -> Iterator[tuple[Job, list[Row] | Exception]]:
        return ((job, work(job)) for job in jobs)


@dataclass
class Elsewhere:
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
def workers_of(place: Place, cells: int) -> Iterator[Workers]:
    if place.scheduler is not None:
        with cluster(place.scheduler, place.device) as workers:
            yield workers
    elif computes_on(place.device) != "cpu":
        yield Here()
    else:
        with processes(place.workers, cells) as workers:
            yield workers


@contextmanager
def processes(workers: int | None, cells: int) -> Iterator[Elsewhere]:
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
            count, timeout=IDLE, initializer=begin, initargs=(os.getpid(),), env=environment
        )

    with warnings.catch_warnings():
        # Workers that have grown, as compiled programs make them, are replaced between two jobs: nothing to warn of.
        warnings.filterwarnings("ignore", "A worker (stopped|was restarted) while some jobs", UserWarning)
        try:
            yield Elsewhere(executor, lambda: count, TerminatedWorkerError, together=False)
        except BaseException:
            executor().shutdown(kill_workers=True)
            raise


@contextmanager
def cluster(address: str, device: Device) -> Iterator[Elsewhere]:
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
        together = client.submit(computes_on, device, pure=False).result() != "cpu"
        executor = client.get_executor(pure=False)
        try:
            yield Elsewhere(lambda: executor, lambda: sum(client.nthreads().values()), KilledWorker, together)
        except (CancelledError, CommClosedError):
            raise UserError(
                f"the Dask scheduler at {address} has ended; start it and the benchmark again, which keeps what is done"
            ) from None
        finally:
            executor.shutdown(wait=False)


def computes_on(device: Device) -> str:
    """Get ready to compute; returns "cpu" or what else does.

    A process of its own keeps to its share of the cores, which OMP_NUM_THREADS says.
    """
    if "OMP_NUM_THREADS" in os.environ:
        os.environ.setdefault("PJRT_NPROC", os.environ["OMP_NUM_THREADS"])
    use_device(device)
    import jax

    return jax.default_backend()


def begin(parent: int) -> None:
    """Make this worker process end when the one that started it has ended, however that was, and not before."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    # Ctrl-C reaches all processes of a terminal; the one that started the workers ends them.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=watch, daemon=True).start()


def work(measure: Measure, folder: Path, device: Device, cells: Job) -> list[Row]:
    """Run a job in a worker, which keeps the rows itself: its benchmark may have ended, and another have begun.

    Cells that a worker of an earlier benchmark is still computing are waited for, not computed a second time.
    """
    store = Store(folder)
    with Claims(folder, WORKING) as claims:
        for cell in sorted(cells, key=lambda cell: cell.id):  # In one order, so that no two wait for each other.
            while not claims.take(cell.id):
                time.sleep(POLL)
        found = [store.row(cell.id) for cell in cells if store.has(cell.id)]
        rows = _measured(measure, folder, device, [cell for cell in cells if not store.has(cell.id)])
        for row in rows:
            if "error" not in row:
                store.add(row)
    return [*rows, *found]


def _measured(measure: Measure, folder: Path, device: Device, cells: Job) -> list[Row]:
    """Rows of cells that are computed now."""
    if not cells:
        return []
    begun = time.perf_counter()
    try:
        computes_on(device)
        results = measure(cells, folder)
    except Exception as error:
        results = [{"error": f"{type(error).__name__}: {error}", "traceback": traceback.format_exc()}] * len(cells)
    facts = {"seconds": time.perf_counter() - begun, "together": len(cells)}
    return [row_of(cell, facts | result) for cell, result in zip(cells, results, strict=True)]


def row_of(cell: "Cell", result: Row) -> Row:
    from vigor.experiments.cell import row

    return row(cell, result)
