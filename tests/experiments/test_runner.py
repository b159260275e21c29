"""The engine loses nothing and repeats nothing: failing cells, killed workers, killed benchmarks, two at once, Dask."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import standins
from vigor.basics.errors import UserError
from vigor.experiments import runner, workers
from vigor.experiments.store import Store
from vigor.experiments.workers import Place

loky = pytest.importorskip("loky")
STANDINS = ("-c", "import standins; standins.main()")
TWO = Place(workers=2, device="cpu")


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / "benchmark")
    store.begin()
    return store


def seeds(rows):
    return [row["setup"]["seed"] for row in rows]


def ends(shown):
    """Progress after each job that ended."""
    return [progress for progress in shown if progress.last]


@pytest.fixture
def start():
    """Starts a Python program beside the test; whatever still runs at its end is killed."""
    started = []

    def begin(*arguments, **options):
        paths = [str(Path(__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
        started.append(subprocess.Popen([sys.executable, *map(str, arguments)], env=environment, **options))
        return started[-1]

    yield begin
    for process in started:
        process.kill()
        process.wait()


def until(true, seconds=60):
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)


def gone(number, signal=os.kill):
    """Whether a process has ended; with os.killpg, a group of them."""
    try:
        signal(number, 0)
    except ProcessLookupError:
        return True
    return False


# Local processes ------------------------------------------------------------------------------------------------------


def test_every_cell_is_run_once_and_never_again(store):
    cells = standins.cells(6)
    shown = []
    runner.run(cells + cells, store, TWO, standins.sleeping(0), shown.append)
    runner.run(cells, store, TWO, standins.sleeping(0))
    assert seeds(store.rows()) == list(range(6))
    assert standins.times_run(store.folder) == dict.fromkeys(range(6), 1)
    assert {(one.total, one.failed) for one in shown} == {(6, 0)}
    assert [one.done for one in ends(shown)] == [1, 2, 3, 4, 5, 6]
    assert sorted(one.last.cells[0].setup.seed for one in ends(shown)) == list(range(6))
    assert shown[0].seconds_left is None
    assert shown[-1].seconds_left == 0
    assert max(one.running for one in shown) == 2
    assert shown[-1].running == 0
    assert not list((store.folder / "claimed").iterdir())


def test_a_failing_cell_says_why_stops_no_other_and_is_run_again(store):
    (store.folder / "stumble").touch()
    cells, shown = standins.cells(4), []
    runner.run(cells, store, TWO, standins.stumble, shown.append)
    assert seeds(store.rows()) == [0, 2, 3]
    [failure] = store.failures()
    assert failure["error"] == "ValueError: a stone"
    assert "stumble" in failure["traceback"]
    assert shown[-1].failed == 1
    errors = {one.last.cells[0].setup.seed: one.last.error for one in ends(shown)}
    assert errors == {0: None, 1: "ValueError: a stone", 2: None, 3: None}
    (store.folder / "stumble").unlink()
    runner.run(cells, store, TWO, standins.stumble)
    assert seeds(store.rows()) == [0, 1, 2, 3]
    assert store.failures() == []


def test_a_dead_worker_loses_nothing_and_a_cell_that_kills_its_worker_fails_alone(store):
    """Without a warning, which would be an error here."""
    shown = []
    runner.run(standins.cells(3), store, TWO, standins.die, shown.append)
    assert seeds(store.rows()) == [0, 2]
    [failure] = store.failures()
    assert failure["setup"]["seed"] == 1
    assert "its worker dies" in failure["error"]
    assert [one.last.cells[0].setup.seed for one in ends(shown) if one.last.error] == [1]


def test_a_worker_keeps_to_its_share_of_the_cores():
    with workers.processes(2, 10) as pool:
        [(_, threads)] = pool.run(standins.environment, iter([["OMP_NUM_THREADS"]]))
    assert threads == [os.environ.get("OMP_NUM_THREADS", str(max(1, loky.cpu_count() // 2)))]


def test_two_benchmarks_share_a_folder_and_its_work(store, start):
    """One in a process beside this one; both claim cells at the same time."""
    other = start(*STANDINS, store.folder, 40, 0.05, 1)
    until(lambda: standins.times_run(store.folder))
    shown = []
    runner.run(standins.cells(40), store, TWO, standins.sleeping(0.05), shown.append)
    assert other.wait(60) == 0
    assert seeds(store.rows()) == list(range(40))
    assert standins.times_run(store.folder) == dict.fromkeys(range(40), 1)
    assert 0 < len(ends(shown)) < 40


def test_a_benchmark_takes_over_from_another_that_is_killed_and_ends_like_one_left_alone(tmp_path, start):
    alone, shared = tmp_path / "alone", tmp_path / "shared"
    cells = standins.cells(8)
    other = start(*STANDINS, shared, 8, 0, 1, 3, start_new_session=True)  # It never gets beyond seed 3.
    until(lambda: 3 in standins.times_run(shared) and len(list((shared / "cells").glob("[0-9a-f]*.json"))) == 3)
    kept = {path: path.stat().st_mtime_ns for path in (shared / "cells").glob("[0-9a-f]*.json")}

    def kill(progress):
        if progress.done >= 6 and not progress.running:  # The rest, seed 3 and the one after, is with the other.
            other.kill()
            other.wait()

    for folder in (shared, alone):
        store = Store(folder)
        store.begin()
        runner.run(cells, store, TWO, standins.sleeping(0), kill)
    assert standins.times_run(shared) == {seed: 2 if seed == 3 else 1 for seed in range(8)}
    assert standins.lines(shared) == standins.lines(alone)
    assert all(path.stat().st_mtime_ns == moment for path, moment in kept.items())
    until(lambda: gone(other.pid, os.killpg))  # Its workers end with it.


def test_small_cells_cost_little_more_than_their_own_times(tmp_path, monkeypatch):
    """A tenth at most, with workers that have been started before, and nothing waits until somebody looks again.

    Cells sleep, so that CPU time is the engine's alone; other than elapsed time, a busy machine does not change it.
    """
    psutil = pytest.importorskip("psutil")

    def cpu_seconds():
        processes = [psutil.Process(), *psutil.Process().children(recursive=True)]
        return sum(sum(process.cpu_times()[:2]) for process in processes)

    monkeypatch.setattr(workers, "POLL", 1000)
    begun = time.monotonic()
    for count in (8, 40):
        store = Store(tmp_path / str(count))
        store.begin()
        before = cpu_seconds()
        runner.run(standins.cells(count), store, TWO, standins.sleeping(0.1))
        taken = cpu_seconds() - before
    assert time.monotonic() - begun < workers.POLL
    assert len(rows := store.rows()) == 40
    assert taken <= 0.1 * sum(row["seconds"] for row in rows)


def test_an_interrupt_ends_the_workers_and_drops_all_claims(store):
    def interrupt(progress):
        if progress.done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        runner.run(standins.cells(40), store, TWO, standins.telling(0.05), interrupt)
    assert 1 <= len(store.rows()) < 40
    assert not list((store.folder / "claimed").iterdir())
    workers = [int(path.name.removeprefix("pid-")) for path in store.folder.glob("pid-*")]
    assert workers
    until(lambda: all(map(gone, workers)))


def test_seeds_of_a_configuration_are_one_job_where_they_train_together():
    cells = standins.cells(3) + standins.cells(2, descriptors="angles")
    assert [len(job) for job in runner._jobs(cells, together=True)] == [3, 2]
    alone = runner._jobs(cells, together=False)
    assert [[cell.setup.seed for cell in job] for job in alone] == [[0], [0], [1], [1], [2]]


def test_seeds_that_train_together_are_run_together(store, monkeypatch):
    monkeypatch.setattr(workers, "computes_on", lambda device: "gpu")
    runner.run(standins.cells(3), store, Place(), standins.sleeping(0))
    assert [row["together"] for row in store.rows()] == [3, 3, 3]
    assert len({path.name.split("-")[2] for path in store.folder.glob("ran-*")}) == 3
    shown = []
    runner.run(standins.cells(5), store, Place(), standins.sleeping(0), shown.append)
    assert [row["together"] for row in store.rows()] == [3, 3, 3, 2, 2]
    assert len(shown[-1].last.cells) == 2
    assert max(one.running for one in shown) == 2


# Dask -----------------------------------------------------------------------------------------------------------------


@pytest.fixture
def cluster(tmp_path, start):
    """A scheduler on loopback: its address, its process, and a function that starts a worker."""
    pytest.importorskip("distributed")
    file = tmp_path / "scheduler.json"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    place = ("--host", "127.0.0.1", "--port", 0, "--no-dashboard", "--scheduler-file", file)
    scheduler = start("-m", "dask", "scheduler", *place, **quiet)
    until(lambda: file.exists() and file.stat().st_size)
    alone = ("--nworkers", 1, "--nthreads", 1, "--no-nanny", "--no-dashboard", "--local-directory", tmp_path / "spill")

    def worker():
        return start("-m", "dask", "worker", "--scheduler-file", file, *alone, **quiet)

    return json.loads(file.read_text())["address"], scheduler, worker


def test_on_dask_workers_come_and_die_and_nothing_is_lost_or_repeated_until_the_scheduler_ends(store, cluster, capfd):
    import distributed

    address, scheduler, worker = cluster
    first, second = worker(), None
    shown = []

    def change(progress):
        nonlocal second
        shown.append(progress)
        if progress.done and second is None:
            second = worker()
            with distributed.Client(address) as client:
                client.wait_for_workers(2, timeout=60)
        if second and first.poll() is None and (store.folder / f"pid-{second.pid}").exists():
            first.send_signal(signal.SIGKILL)

    place = Place(address, device="cpu")
    runner.run(standins.cells(12), store, place, standins.telling(0.1), change)
    assert first.wait(10) == -signal.SIGKILL
    assert second.poll() is None
    assert seeds(store.rows()) == list(range(12))
    assert {row["device"] for row in store.rows()} == {str(first.pid), str(second.pid)}  # Not this process.
    assert [one.done for one in ends(shown)] == list(range(1, 13))
    assert store.failures() == []

    def end(progress):
        if progress.done == 13:
            scheduler.kill()

    with pytest.raises(UserError, match=f"the Dask scheduler at {address} has ended"):
        runner.run(standins.cells(40), store, place, standins.sleeping(0.1), end)
    assert 13 <= len(store.rows()) < 40
    assert capfd.readouterr() == ("", "")


def test_a_scheduler_that_is_not_there_is_one_sentence(store, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr(workers, "CONNECT", 0.2)
    with pytest.raises(UserError, match="no Dask scheduler at tcp://"):
        runner.run(standins.cells(1), store, Place("tcp://127.0.0.1:1"), standins.sleeping(0))
