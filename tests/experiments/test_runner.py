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
from vigor.experiments import runner
from vigor.experiments.runner import Place
from vigor.experiments.store import Store

pytest.importorskip("joblib")
STANDINS = ("-c", "import standins; standins.main()")
TWO = Place(workers=2, device="cpu")


@pytest.fixture
def store(tmp_path):
    made = Store(tmp_path)
    made.begin()
    return made


def seeds(rows):
    return [row["setup"]["seed"] for row in rows]


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


def gone(group):
    """Whether a group of processes has ended."""
    try:
        os.killpg(group, 0)
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
    assert [(one.total, one.done, one.failed) for one in shown] == [(6, done, 0) for done in range(7)]
    assert shown[0].seconds_left is None
    assert shown[-1].seconds_left == 0
    assert shown[-1].running == 0
    assert "point vigor seed" in shown[-1].last


def test_a_failing_cell_says_why_stops_no_other_and_is_run_again(store):
    (store.folder / "stumble").touch()
    cells, shown = standins.cells(4), []
    runner.run(cells, store, TWO, standins.stumble, shown.append)
    assert seeds(store.rows()) == [0, 2, 3]
    [failure] = store.failures()
    assert failure["error"] == "ValueError: a stone"
    assert "stumble" in failure["traceback"]
    assert shown[-1].failed == 1
    assert any("failed: ValueError: a stone" in one.last for one in shown)
    (store.folder / "stumble").unlink()
    runner.run(cells, store, TWO, standins.stumble)
    assert seeds(store.rows()) == [0, 1, 2, 3]
    assert store.failures() == []


@pytest.mark.filterwarnings("ignore:A worker stopped")
def test_a_dead_worker_loses_nothing_and_a_cell_that_kills_its_worker_fails_alone(store):
    runner.run(standins.cells(5), store, TWO, standins.die)
    assert seeds(store.rows()) == [0, 2, 3, 4]
    [failure] = store.failures()
    assert failure["setup"]["seed"] == 1
    assert "its worker dies" in failure["error"]


def test_a_killed_benchmark_goes_on_and_ends_like_one_left_alone(tmp_path, start):
    alone, killed = tmp_path / "alone", tmp_path / "killed"
    process = start(*STANDINS, killed, 12, 0.3, 2, start_new_session=True)
    until(lambda: len(list((killed / "cells").glob("[0-9a-f]*.json"))) >= 3)
    process.kill()
    process.wait()
    until(lambda: gone(process.pid))  # Its workers end with it.
    kept = {path: path.stat().st_mtime_ns for path in (killed / "cells").glob("[0-9a-f]*.json")}
    assert 3 <= len(kept) < 12
    for folder in (killed, alone):
        store = Store(folder)
        store.begin()
        runner.run(standins.cells(12), store, TWO, standins.sleeping(0))
    assert standins.lines(killed) == standins.lines(alone)
    assert all(path.stat().st_mtime_ns == moment for path, moment in kept.items())


def test_two_benchmarks_share_a_folder_and_its_work(tmp_path, start):
    both = [start(*STANDINS, tmp_path, 24, 0.15, 2) for _ in range(2)]
    assert [process.wait(60) for process in both] == [0, 0]
    assert seeds(Store(tmp_path).rows()) == list(range(24))
    assert standins.times_run(tmp_path) == dict.fromkeys(range(24), 1)


def test_a_benchmark_takes_over_from_another_that_is_killed(store, start):
    other = start(*STANDINS, store.folder, 2, 1000, 2)
    until(lambda: len(standins.times_run(store.folder)) == 2)
    shown = []

    def kill(progress):
        shown.append(progress)
        if len(shown) == 2:  # It has found all cells taken, and waited.
            other.kill()

    runner.run(standins.cells(2), store, TWO, standins.sleeping(0), kill)
    assert seeds(store.rows()) == [0, 1]
    assert standins.times_run(store.folder) == {0: 2, 1: 2}


def test_two_hundred_small_cells_cost_little_more_than_their_own_times(tmp_path):
    """A tenth at most, with workers that have been started before; a busy machine has a second try."""
    for number, count in enumerate((2, 200, 200)):
        store = Store(tmp_path / str(number))
        store.begin()
        begun = time.monotonic()
        runner.run(standins.cells(count), store, TWO, standins.sleeping(0.1))
        taken = time.monotonic() - begun
        rows = store.rows()
        assert len(rows) == count
        own = sum(row["seconds"] for row in rows) / TWO.workers
        if count == 200 and taken <= 1.1 * own:
            return
    pytest.fail(f"{taken:.2f} s for {own:.2f} s of work")


def test_seeds_of_a_configuration_are_one_job_where_they_train_together():
    cells = standins.cells(3) + standins.cells(2, descriptors="angles")
    assert [len(job) for job in runner._jobs(cells, together=True)] == [3, 2]
    alone = runner._jobs(cells, together=False)
    assert [[cell.setup.seed for cell in job] for job in alone] == [[0], [0], [1], [1], [2]]


def test_seeds_that_train_together_are_run_together(store, monkeypatch):
    monkeypatch.setattr(runner, "_computes_on", lambda device: "gpu")
    runner.run(standins.cells(3), store, Place(), standins.sleeping(0))
    assert [row["together"] for row in store.rows()] == [3, 3, 3]
    assert len({path.name.split("-")[2] for path in store.folder.glob("ran-*")}) == 3
    shown = []
    runner.run(standins.cells(5), store, Place(), standins.sleeping(0), shown.append)
    assert [row["together"] for row in store.rows()] == [3, 3, 3, 2, 2]
    assert shown[-1].last.endswith("for 2 seeds")


# Dask -----------------------------------------------------------------------------------------------------------------


@pytest.fixture
def cluster(tmp_path, start):
    """A scheduler and two workers on loopback: its address and the workers' processes."""
    pytest.importorskip("distributed")
    file = tmp_path / "scheduler.json"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    start(
        "-m",
        "dask",
        "scheduler",
        "--host",
        "127.0.0.1",
        "--port",
        0,
        "--no-dashboard",
        "--scheduler-file",
        file,
        **quiet,
    )
    until(lambda: file.exists() and file.stat().st_size)
    alone = ("--nworkers", 1, "--nthreads", 1, "--no-nanny", "--no-dashboard", "--local-directory", tmp_path / "spill")
    workers = [start("-m", "dask", "worker", "--scheduler-file", file, *alone, **quiet) for _ in range(2)]
    return json.loads(file.read_text())["address"], workers


def test_a_dask_worker_killed_in_the_middle_loses_and_repeats_nothing(tmp_path, cluster):
    from distributed import Client

    address, workers = cluster
    with Client(address) as client:
        client.wait_for_workers(2, timeout=60)
    store = Store(tmp_path / "benchmark")
    store.begin()
    shown = []

    def kill(progress):
        shown.append(progress)
        if progress.done == 4:
            workers[0].send_signal(signal.SIGKILL)

    runner.run(standins.cells(16), store, Place(address, device="cpu"), standins.sleeping(0.2), kill)
    assert workers[0].wait(10) == -signal.SIGKILL
    assert workers[1].poll() is None
    assert seeds(store.rows()) == list(range(16))
    assert [one.done for one in shown] == list(range(17))
    assert store.failures() == []


def test_a_cluster_of_one_worker_computes_there_and_not_here(tmp_path, cluster):
    address, (one, other) = cluster
    other.kill()
    store = Store(tmp_path / "benchmark")
    store.begin()
    runner.run(standins.cells(2), store, Place(address, device="cpu"), standins.telling)
    assert {row["device"] for row in store.rows()} == {str(one.pid)}


def test_a_scheduler_that_is_not_there_is_one_sentence(store, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr(runner, "CONNECT", 1)
    with pytest.raises(UserError, match="no Dask scheduler at tcp://"):
        runner.run(standins.cells(1), store, Place("tcp://127.0.0.1:1"), standins.sleeping(0))
