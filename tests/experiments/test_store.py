"""Rows are there whole or not at all, once, and say everything."""

import csv
import json
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import standins
from vigor.basics.errors import UserError
from vigor.basics.settings import value_of
from vigor.experiments import workers
from vigor.experiments.cell import row
from vigor.experiments.store import Claims, Store, is_benchmark


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / "benchmark")
    store.begin()
    return store


def finished(cell):
    return row(cell, {"seconds": 1.0, "together": 1} | standins.found(cell))


def test_a_row_says_everything_and_is_kept_once(store):
    cells = standins.cells(3)
    for cell in reversed(cells):
        store.add(finished(cell))
    kept = store.rows()
    assert [one["setup"]["seed"] for one in kept] == [0, 1, 2]
    assert all(store.has(cell.id) for cell in cells)
    assert value_of(kept[0]["setup"], "width") == 32
    assert {"version", "machine", "python", "date", "device", "demonstrations"} <= kept[0].keys()
    store.add(finished(cells[0]) | {"seconds": 2.0})
    assert store.rows() == kept


def test_a_failure_is_forgotten_when_the_cell_succeeds(store):
    [cell] = standins.cells(1)
    store.fail(row(cell, {"error": "once"}))
    store.fail(row(cell, {"error": "twice"}))
    assert [one["error"] for one in store.failures()] == ["twice"]
    store.add(finished(cell))
    assert store.failures() == []
    store.fail(row(cell, {"error": "of a process that was slower"}))
    assert store.failures() == []


def test_the_table_has_every_number_and_setting(store):
    for cell in standins.cells(2) + standins.cells(1, descriptors="angles"):
        store.add(finished(cell))
    store.write_table()
    with (store.folder / "results.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 3
    assert sorted(one["setup.descriptors"] for one in rows) == ["angles", "geometric", "geometric"]
    assert {one["setup.settings.density_ratio.training.architecture.network"] for one in rows} == {"cnn"}
    assert {float(one["test.success_best"]) for one in rows} == {1.0, 0.5}
    assert rows[0]["test.success_components"] == "1.0000 0.5000"
    assert not {"test.contexts", "train.contexts"} & rows[0].keys()


def test_a_setting_that_is_called_contexts_is_in_the_table(store):
    row = finished(standins.cells(1)[0])
    row["setup"]["contexts"] = "training"
    store.add(row)
    store.write_table()
    with (store.folder / "results.csv").open() as file:
        assert next(csv.DictReader(file))["setup.contexts"] == "training"


def test_no_cell_of_the_table_is_a_formula(store):
    row = finished(standins.cells(1)[0]) | {"=1+1": "@SUM(1)"}
    row["demonstrations"] = "=HYPERLINK(1)"
    store.add(row)
    store.write_table()
    with (store.folder / "results.csv").open() as file:
        (read,) = csv.DictReader(file)
    assert (read["demonstrations"], read["'=1+1"]) == ("'=HYPERLINK(1)", "'@SUM(1)")
    assert not any(cell.startswith(("=", "@")) for cell in (*read, *read.values()))


def test_a_claim_keeps_other_processes_out_until_it_is_dropped_or_its_process_is_killed(store):
    one, other, third = (cell.id for cell in standins.cells(3))
    program = (
        "import sys; from pathlib import Path; from vigor.experiments.store import Claims\n"
        "with Claims(Path(sys.argv[1])) as claims:\n"
        "    print(*(claims.take(cell_id) for cell_id in sys.argv[2:]), flush=True)\n"
        "    sys.stdin.read()"
    )
    with Claims(store.folder) as claims:
        assert claims.take(one)
        assert claims.take(one)
        assert claims.take(other)
        claims.drop(other)
        command = [sys.executable, "-c", program, store.folder, one, other, third]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout.readline().split() == ["False", "True", "True"]
            assert not claims.take(other)
            assert not claims.take(third)
            process.kill()
        assert claims.take(other)
        assert claims.take(third)
    assert list((store.folder / "claimed").iterdir()) == []


def test_other_folders_and_damaged_rows_are_one_sentence(tmp_path, store):
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="is a file; choose another --out"):
        Store(tmp_path / "file")
    with pytest.raises(UserError, match="something other than a benchmark"):
        Store(tmp_path)
    assert is_benchmark(store.folder)
    [cell] = standins.cells(1)
    path = store.folder / "cells" / f"{cell.id}.json"
    for text in ("{", "[]", json.dumps({"id": "other", "setup": {}, "varied": ""})):
        path.write_text(text)
        with pytest.raises(UserError, match=f"{cell.id}.json is not a"):
            store.rows()


def damaged(change):
    """A row after a change."""

    def write(folder):
        (path,) = (folder / "cells").glob("*.json")
        read = json.loads(path.read_text())
        change(read)
        path.write_text(json.dumps(read))

    return write


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda row: row.update(setup={}), "setup.task is missing"),
        (lambda row: row.update(setup=[]), "setup must be an object"),
        (lambda row: row.update(test=None), "test must be an object"),
        (lambda row: row.update(test={}), "it has no test contexts"),
        (lambda row: row.pop("seconds"), "seconds is missing"),
        (lambda row: row.pop("demonstrations"), "demonstrations is missing"),
        (lambda row: row["setup"].pop("raw"), "setup.raw is missing"),
        (lambda row: row.update(together=0), "it cannot have taken so long"),
        (lambda row: row.update(seconds=-1), "it cannot have taken so long"),
        (lambda row: row["test"].pop("versatility"), "versatility is missing"),
        (lambda row: row["test"].update(success_best=7), "success_best must be from 0 to 1"),
        (lambda row: row["test"].update(success_components=[1.0]), "of different numbers of components"),
        (lambda row: row["setup"].update(settings={}), "its settings are not those of this version"),
        (lambda row: row.update(varied="colour"), "it has no setting 'colour'"),
        (lambda row: row.update(machine="\x1b[2J"), "characters that cannot be shown"),
    ],
)
def test_a_row_that_is_wrong_is_one_sentence(tmp_path, change, said):
    store = Store(tmp_path)
    store.begin()
    (cell,) = standins.cells(1)
    store.add(row(cell, standins.found(cell) | {"seconds": 1.0, "together": 1}))
    assert len(store.rows()) == 1
    damaged(change)(tmp_path)
    with pytest.raises(UserError, match=re.escape(said)) as error:
        store.rows()
    assert "\n" not in str(error.value)
    assert str(error.value).endswith("; delete it and start the benchmark again")


def test_a_cell_that_a_worker_still_computes_is_waited_for_and_not_computed_again(tmp_path):
    """Its benchmark may be gone: the row is there all the same."""
    Store(tmp_path).begin()
    (cell,) = standins.cells(1)
    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(workers.work, standins.sleeping(0.3), tmp_path, "cpu", [cell])
        while not list(tmp_path.glob("ran-*")):
            time.sleep(0.01)
        second = workers.work(standins.sleeping(0), tmp_path, "cpu", [cell])
    assert standins.times_run(tmp_path) == {0: 1}
    assert second == Store(tmp_path).rows() == json.loads(json.dumps(first.result()))
    assert not list((tmp_path / "working").iterdir())
