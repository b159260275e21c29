"""Torture for a few seconds, and that it would find what is wrong. `python benchmarks/torture.py` has more patience."""

import os
import pickle
import random
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import torture_foreign
from mutations import mutate
from torture_foreign_data import _pickled
from torture_plans import _depth
from torture_processes import Said, fault_of, table
from vigor.basics import contents, files
from vigor.basics.contents import Numbers
from vigor.basics.errors import UserError
from vigor.basics.serialisation import from_json
from vigor.demonstrations import dataset

TORTURE = Path(__file__).parents[1] / "benchmarks" / "torture.py"


def test_nothing_is_found_within_seconds(trained, tmp_path):
    command = [sys.executable, TORTURE, "--minutes", "10", "--cases", "8", "--run", trained]
    command += ["--parts", "files", "words", "plans", "foreign", "--out", tmp_path / "figures.json"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (piece,) = files.read_json(tmp_path / "figures.json")
    assert [piece[name] for name in ("fuzzed files", "fuzzed words", "tampered plans", "foreign programs")] == [8] * 4
    assert "| changed files that a command read | 8 |" in done.stdout
    assert "| changed files that a command read | 16 |" in table([piece, piece])


STOPPED = """
import os, signal, sys, time
from pathlib import Path
from torture_processes import Findings, many

def case():
    Path("child").write_text(str(os.getpid()))
    time.sleep(60)

signal.signal(signal.SIGALRM, lambda *_: sys.exit(1))
signal.alarm(5)
try:
    many(iter([("tried", "a case", case)]), time.monotonic() + 60, Findings())
except SystemExit:
    try:
        os.kill(int(Path("child").read_text()), 0)
    except ProcessLookupError:
        print("gone")
"""


def test_a_piece_that_is_stopped_leaves_no_process_that_writes_on(tmp_path):
    paths = os.pathsep.join((str(TORTURE.parent), str(TORTURE.parents[1] / "tests"), *sys.path))
    command = [sys.executable, "-c", STOPPED]
    done = subprocess.run(command, cwd=tmp_path, env=os.environ | {"PYTHONPATH": paths}, capture_output=True, text=True)
    assert done.stdout == "gone\n", done.stderr


def test_a_traceback_and_a_wrong_acceptance_would_be_found():
    assert fault_of(Said(0, ""), wrong=False) is None
    assert fault_of(Said(0, ""), wrong=True) == fault_of(Said(3, ""), wrong=True) == "wrong acceptances"
    assert fault_of(Said(2, "vigor: no"), wrong=True) is None
    assert fault_of(Said(2, ""), wrong=True) == "tracebacks"
    assert fault_of(Said(2, "vigor: no\nTraceback"), wrong=True) == "tracebacks"
    assert fault_of(Said("traceback", "KeyError"), wrong=False) == "tracebacks"


DESCRIBED = {
    "places": Numbers(("point", "axis"), -5.0, 5.0),
    "owner": Numbers(("point",), 0, 9, whole=True),
    "one": Numbers((), 0.5, np.inf),
}


@pytest.mark.parametrize("ending", [".npz", ".safetensors"])
def test_arrays_that_are_called_wrong_do_not_fit_their_description(tmp_path, ending):
    path, wrong = tmp_path / f"some{ending}", 0
    arrays = {"places": np.ones((3, 2)), "owner": np.arange(3), "one": np.array(1.0)}
    for seed in range(150):
        shutil.rmtree(tmp_path)
        if ending == ".npz":
            files.write_arrays(path, arrays)
        else:
            contents.write_tensors(path, arrays, DESCRIBED)
        mutation = mutate(path, random.Random(seed), contents=DESCRIBED)
        try:
            found = files.read_arrays(path) if ending == ".npz" else contents.read_tensors(path)[0]
            contents.check(DESCRIBED, found)
        except UserError:
            wrong += mutation.wrong
        else:
            assert not mutation.wrong, mutation.words
    assert wrong > 50


def test_json_that_is_called_wrong_is_not_of_its_type(tmp_path):
    header = dataset.Header("vigor-demonstrations", 1, "point", "by hand", 1, 2, True)
    path, wrong = tmp_path / "some.json", 0
    for seed in range(150):
        shutil.rmtree(tmp_path)
        files.write_json(path, header.__dict__)
        mutation = mutate(path, random.Random(seed), dataset.Header)
        try:
            from_json(dataset.Header, files.read_json(path))
        except UserError:
            wrong += mutation.wrong
        else:
            assert not mutation.wrong, mutation.words
    assert wrong > 50


def test_a_movement_in_a_keep_out_would_be_found():
    straight = np.zeros((3, 5))  # Along x, from 0 to 5.
    assert _depth(straight, [{"centre": [2.5, 0.04], "radius": 0.1}]) == pytest.approx(0.06, abs=0.01)
    assert _depth(straight, [{"low": [3.0, -0.2], "high": [9.0, 0.1]}]) == pytest.approx(0.1)
    assert _depth(straight, [{"centre": [0.0, 3.0], "radius": 1.0}]) == pytest.approx(-2.0)


def test_there_are_fifty_ways_for_foreign_programs_and_one_that_is_run_would_be_found(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    (tmp_path / "pristine").mkdir()
    monkeypatch.setitem(torture_foreign.WAYS, "unpickled", lambda: [str(pickle.loads(_pickled())), "--version"])
    monkeypatch.setitem(torture_foreign.WAYS, "exec", lambda: [str(exec(torture_foreign.PROGRAM)), "--version"])
    assert len(torture_foreign.WAYS) > 50
    for way in ("unpickled", "exec"):
        assert torture_foreign.attempt(tmp_path / "pristine", way)[0] == "programs run"
