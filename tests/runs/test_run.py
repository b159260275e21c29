"""Runs: what they leave, and that a run killed at any moment ends with the result of one left alone."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from helpers import EXAMPLE, small
from vigor.basics.errors import UserError
from vigor.evaluation import evaluation, policies
from vigor.runs import checkpoints, run

TASK = f"{EXAMPLE}:TASK"
ITERATIONS = 120
"""Enough that a run can be stopped in the middle."""


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-c", "from vigor.cli import main; main()", "train", *map(str, arguments)]


def start(*arguments: str, **options) -> subprocess.Popen:
    return subprocess.Popen(command(*arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


def comparable(folder: Path) -> dict:
    result = json.loads((folder / "result.json").read_text())
    return {name: value for name, value in result.items() if name not in ("seconds", "date")}


def wait_for_iteration(folder: Path, iteration: int) -> None:
    deadline = time.monotonic() + 240
    while time.monotonic() < deadline:
        state = folder / "state.json"
        if state.exists() and json.loads(state.read_text())["iteration"] >= iteration:
            return
        time.sleep(0.02)
    raise AssertionError(f"{folder} never reached iteration {iteration}")


@pytest.fixture(scope="module")
def alone(tmp_path_factory) -> Path:
    """A small run that was left alone."""
    folder = tmp_path_factory.mktemp("runs") / "alone"
    process = start(TASK, *small(iterations=str(ITERATIONS)), "--out", folder)
    output, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    assert "success, best component" in output
    return folder


def test_a_run_leaves_everything(alone):
    left = {path.name for path in alone.iterdir()}
    assert left == {
        "config.json",
        "metrics.jsonl",
        "checkpoint.safetensors",
        "state.json",
        "policies.npz",
        "ensembles.safetensors",
        "figures",
        "report.html",
        "result.json",
    }
    result = json.loads((alone / "result.json").read_text())
    for part in ("train", "test"):
        assert len(result[part]["contexts"]) == 2
        assert len(result[part]["success_components"]) == 2
    lines = (alone / "metrics.jsonl").read_text().splitlines()
    assert [json.loads(line)["iteration"] for line in lines] == list(range(10, ITERATIONS + 1, 10))
    assert policies.load(alone / "policies.npz").training == 2
    networks = load_file(alone / "ensembles.safetensors")
    assert {array.shape[:2] for array in networks.values()} == {(ITERATIONS, 2)}
    assert all(np.isfinite(array).all() for array in networks.values())


def test_a_killed_run_ends_with_the_same_result(alone, tmp_path):
    folder = tmp_path / "killed"
    for iteration in (10, 20):
        arguments = (
            ("--resume", folder) if folder.exists() else (TASK, *small(iterations=str(ITERATIONS)), "--out", folder)
        )
        process = start(*arguments)
        wait_for_iteration(folder, iteration)
        process.send_signal(signal.SIGKILL)
        process.communicate()
    process = start("--resume", folder)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    assert comparable(folder) == comparable(alone)
    for name in ("policies.npz",):
        first, second = (np.load(place / name) for place in (folder, alone))
        assert all(np.array_equal(first[key], second[key]) for key in first.files)
    first, second = (load_file(place / "ensembles.safetensors") for place in (folder, alone))
    assert all(np.array_equal(first[key], second[key]) for key in second)
    assert not list(folder.glob(".*"))


def test_an_interrupt_leaves_a_checkpoint_and_says_how_to_go_on(alone, tmp_path):
    folder = tmp_path / "interrupted"
    process = start(TASK, *small(iterations=str(ITERATIONS)), "--out", folder)
    wait_for_iteration(folder, 10)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 130
    assert f"vigor train --resume {folder}" in errors
    assert "Traceback" not in errors
    process = start("--resume", folder)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    assert comparable(folder) == comparable(alone)


def test_a_finished_run_is_left_as_it_is(alone):
    before = (alone / "result.json").stat().st_mtime_ns
    assert run.resume(alone) == json.loads((alone / "result.json").read_text())
    assert (alone / "result.json").stat().st_mtime_ns == before


def test_an_unfinished_run_is_not_drawn(alone, tmp_path):
    for name in ("config.json", "policies.npz", "metrics.jsonl"):
        os.link(alone / name, tmp_path / name)
    with pytest.raises(UserError, match="has not finished"):
        run.draw(tmp_path)
    assert not (tmp_path / "figures").exists()


def test_two_processes_do_not_train_in_one_folder(alone, tmp_path):
    with run._alone(alone), pytest.raises(UserError, match="another process is training"), run._alone(alone):
        pass
    processes = [start(TASK, *small(iterations="2", seed=seed), "--out", tmp_path / "both") for seed in "12"]
    codes = []
    for process in processes:
        _, errors = process.communicate(timeout=300)
        codes.append(process.returncode)
        assert "Traceback" not in errors
    assert sorted(codes) == [0, 2]
    seeds = [json.loads((tmp_path / "both" / name).read_text())["seed"] for name in ("config.json", "result.json")]
    assert seeds[0] == seeds[1]


def test_a_run_is_not_continued_with_other_demonstrations(alone, tmp_path):
    config = json.loads((alone / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(config | {"fingerprint": "0" * 64}))
    with pytest.raises(UserError, match="have changed since it began"):
        run.resume(tmp_path)


def test_parts_of_a_killed_process_do_no_harm(alone, tmp_path):
    parts = tmp_path / "ensembles"
    parts.mkdir()
    (parts / ".000010.safetensors.abc.safetensors").write_bytes(b"half")
    (parts / "000020.safetensors").write_bytes((alone / "ensembles.safetensors").read_bytes())
    assert [part.name for part in checkpoints.network_parts(tmp_path)] == ["000020.safetensors"]
    # Killed while the parts were being removed: what is in one file already stays.
    (tmp_path / "ensembles.safetensors").write_bytes(b"everything")
    checkpoints.merge_networks(tmp_path)
    assert (tmp_path / "ensembles.safetensors").read_bytes() == b"everything"
    assert not parts.exists()


def test_a_damaged_checkpoint_is_one_sentence(alone, tmp_path):
    folder = tmp_path / "damaged"
    folder.mkdir()
    (folder / "config.json").write_text((alone / "config.json").read_text())
    (folder / "checkpoint.safetensors").write_bytes((alone / "checkpoint.safetensors").read_bytes()[:-100])
    with pytest.raises(UserError, match=r"checkpoint\.safetensors is damaged"):
        run.resume(folder)


def test_settings_of_another_version_are_one_sentence(tmp_path):
    (tmp_path / "config.json").write_text('{"task": "planar-reacher", "config": {"unknown": 1, "density_ratio": {}}}')
    with pytest.raises(UserError, match="another version"):
        run.load_setup(tmp_path)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda read: read.update(config=[1]), "damaged"),
        (lambda read: read["config"].update(iterations=10.5), "iterations is 10.5"),
        (lambda read: read["config"]["density_ratio"].update(width=8.5), "width is 8.5"),
        (lambda read: read["config"]["density_ratio"].update(outcome="no"), "outcome is 'no'"),
        (lambda read: read.update(task="beside.py:TASK"), "only files by their whole path are run"),
    ],
)
def test_settings_of_the_wrong_kind_are_one_sentence(alone, tmp_path, change, said):
    read = json.loads((alone / "config.json").read_text())
    change(read)
    (tmp_path / "config.json").write_text(json.dumps(read))
    with pytest.raises(UserError, match=said):
        run.load_setup(tmp_path)


def test_files_of_the_user_in_a_run_stay(alone, tmp_path):
    (tmp_path / "config.json").write_text((alone / "config.json").read_text())
    (tmp_path / ".gitignore").write_text("*")
    (tmp_path / ".ipynb_checkpoints").mkdir()
    half = tmp_path / ".metrics.jsonl.ab_cd1e2.jsonl"
    half.write_text("half")
    with run._alone(tmp_path):
        assert (tmp_path / ".gitignore").exists()
        assert (tmp_path / ".ipynb_checkpoints").exists()
        assert not half.exists()


def test_a_run_that_diverges_says_so_and_leaves_no_half_numbers(alone, tmp_path, monkeypatch):
    setup = run.load_setup(alone)
    judge = evaluation.evaluate

    def diverged(task, learned):
        judged = judge(task, learned)
        return replace(judged, weights=judged.weights * np.nan)

    monkeypatch.setattr(evaluation, "evaluate", diverged)
    with pytest.raises(UserError, match=r"diverged by iteration \d+; lower --learning-rate"):
        run.train(setup, tmp_path / "run")
    assert not (tmp_path / "run" / "metrics.jsonl").exists()
