"""Rows are there whole or not at all, once, and say everything."""

import csv
import json
import subprocess
import sys

import pytest

import standins
from vigor.basics.errors import UserError
from vigor.basics.settings import value_of
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
    row["setup"]["settings"]["contexts"] = "training"
    store.add(row)
    store.write_table()
    with (store.folder / "results.csv").open() as file:
        assert next(csv.DictReader(file))["setup.settings.contexts"] == "training"


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
