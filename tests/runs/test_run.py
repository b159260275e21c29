"""Runs: what they leave, and that one stopped at any moment ends with the result of one left alone."""

import json
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from helpers import EXAMPLE, EXAMPLE_TASK, ITERATIONS, POINT, SPLIT
from pretended import NAME, Calls, PretendedSettings, pretended
from vigor.basics.errors import UserError
from vigor.basics.settings import with_values
from vigor.demonstrations.dataset import Demonstrations
from vigor.evaluation import policies
from vigor.learning.algorithm import VigorSettings
from vigor.runs import run
from vigor.runs.setup import Setup
from vigor.tasks import load_task

SETUP = Setup("point", method=NAME, settings=PretendedSettings(ITERATIONS), **SPLIT)
LATE = ITERATIONS - 1
"""An iteration after the last checkpoint but one, before the end."""
BEGUN = (run.CONFIG, run.DEMONSTRATIONS)
"""Files that a run has in its folder before its first checkpoint."""
LEFT = {
    *BEGUN,
    "task.py",
    "metrics.jsonl",
    "checkpoint.safetensors",
    "state.json",
    "policies.npz",
    "ensembles.safetensors",
    "invariants.safetensors",
    "starts.safetensors",
    "figures",
    "report.html",
    "result.json",
}
"""Everything that a finished run of a task in a file has in its folder."""


@pytest.fixture(autouse=True, scope="module")
def calls():
    with pretended() as calls:
        yield calls


@cache
def demonstrations() -> Demonstrations:
    return Demonstrations.generate(POINT, contexts=3, per_context=3)


def silent(progress: run.Progress) -> None:
    """No display."""


def train(folder: Path, report=silent, task=POINT, **changes):
    """Start a run of the point that only pretends to learn."""
    return run.train(replace(SETUP, **changes), folder, report, task, demonstrations())


@pytest.fixture(scope="module")
def alone(tmp_path_factory, calls) -> Path:
    """A run of the point that was left alone."""
    folder = tmp_path_factory.mktemp("runs") / "alone"
    train(folder)
    return folder


def copy_of(folder: Path, to: Path, *names: str) -> Path:
    """A folder with some of what a run left."""
    to.mkdir()
    for name in names:
        (shutil.copytree if (folder / name).is_dir() else shutil.copy)(folder / name, to / name)
    return to


def comparable(folder: Path) -> list[dict]:
    """Result and metrics of a run, but for when and how long it was."""
    rows = [run.read_result(folder), *run.read_metrics(folder)]
    return [{name: value for name, value in row.items() if name not in ("seconds", "date")} for row in rows]


def assert_same_run(one: Path, other: Path) -> None:
    """Two runs have found the same, to the last bit."""
    assert comparable(one) == comparable(other)
    for read, name in ((np.load, "policies.npz"), (load_file, "ensembles.safetensors")):
        first, second = read(one / name), read(other / name)
        assert sorted(first) == sorted(second)
        assert all(np.array_equal(first[key], second[key]) for key in first)


def press_ctrl_c(iteration: int):
    """A display of progress that stops the run."""

    def show(progress: run.Progress) -> None:
        if progress.iteration == iteration:
            signal.raise_signal(signal.SIGINT)

    return show


class Enough(Exception):
    """Nothing more is to be done."""


def stop_at_once(progress: run.Progress) -> None:
    """A display that ends a run as soon as it has begun."""
    raise Enough


# The folder ----------------------------------------------------------------------------------------------------------


def test_a_run_leaves_everything(trained):
    assert {path.name for path in trained.iterdir()} == LEFT
    result = run.read_result(trained)
    for part in ("train", "test"):
        assert len(result[part]["contexts"]) == 2
        assert len(result[part]["success_components"]) == 2
    assert [row["iteration"] for row in run.read_metrics(trained)] == [10, ITERATIONS]
    assert policies.load(trained / "policies.npz").training == 2
    networks = load_file(trained / "ensembles.safetensors")
    assert {array.shape[:2] for array in networks.values()} == {(ITERATIONS, 2)}
    assert all(np.isfinite(array).all() for array in networks.values())


def test_a_run_carries_its_task_and_its_demonstrations(trained, alone):
    setup = run.load_setup(trained)
    assert (trained / "task.py").read_bytes() == EXAMPLE.read_bytes()
    assert setup.task == EXAMPLE_TASK
    assert setup.task_digest == load_task(EXAMPLE_TASK).digest
    assert not (alone / "task.py").exists(), "a task that is in no file"
    carried = Demonstrations.load(alone / "demonstrations", POINT)
    np.testing.assert_array_equal(carried.weights, demonstrations().weights)


def test_a_task_file_is_copied_to_the_byte(tmp_path):
    file = tmp_path / "own.py"
    file.write_bytes(EXAMPLE.read_bytes().replace(b"\n", b"\r\n") + "# Gr\u00f6\u00dfe\r\n".encode())
    folder = tmp_path / "run"
    with pytest.raises(Enough):
        run.train(replace(SETUP, task=f"{file}:TASK"), folder, stop_at_once)
    assert (folder / "task.py").read_bytes() == file.read_bytes()
    file.unlink()
    assert run.task_of(folder, run.load_setup(folder)).name == "gate-and-obstacle"


def test_a_task_whose_file_has_changed_since_it_was_loaded_is_not_trained(tmp_path):
    file = tmp_path / "own.py"
    file.write_bytes(EXAMPLE.read_bytes())
    task = load_task(f"{file}:TASK")
    file.write_bytes(EXAMPLE.read_bytes() + b"\n")
    with pytest.raises(UserError, match="has changed since the task was loaded; load it again"):
        run.train(SETUP, tmp_path / "run", task=task)
    assert not (tmp_path / "run").exists()


def test_a_finished_run_is_left_as_it_is(alone):
    before = (alone / "result.json").stat().st_mtime_ns
    assert run.resume(alone) == json.loads((alone / "result.json").read_text())
    assert (alone / "result.json").stat().st_mtime_ns == before


def test_other_demonstrations_elsewhere_do_not_matter_to_a_run(alone, tmp_path):
    """Nor that they are gone: the run has a copy."""
    data, folder = tmp_path / "data", tmp_path / "run"
    demonstrations().save(data)
    with pytest.raises(Enough):
        run.train(replace(SETUP, demos=str(data)), folder, stop_at_once, POINT)
    shutil.rmtree(data)
    Demonstrations.generate(POINT, seed=1, contexts=3, per_context=3).save(data)
    run.resume(folder, task=POINT)
    assert comparable(folder) == comparable(alone)


# Stopped and continued -----------------------------------------------------------------------------------------------

KILLED = f"""
import os, signal, sys
from pathlib import Path
from vigor.basics.device import use_device
from vigor.runs import run

def die(progress):
    if progress.iteration == {LATE}:
        os.kill(os.getpid(), signal.SIGKILL)

use_device("cpu")
run.resume(Path(sys.argv[1]), die)
"""


def test_a_killed_run_ends_with_the_same_result(trained, tmp_path):
    folder = copy_of(trained, tmp_path / "killed", *BEGUN, "task.py")
    killed = subprocess.run([sys.executable, "-c", KILLED, folder], capture_output=True, text=True, check=False)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert json.loads((folder / "state.json").read_text())["iteration"] == 10
    run.resume(folder, task=load_task(EXAMPLE_TASK))
    assert_same_run(folder, trained)
    assert not list(folder.glob(".*"))


def test_an_interrupt_leaves_a_checkpoint_to_go_on_from(trained, tmp_path):
    folder, task = copy_of(trained, tmp_path / "interrupted", *BEGUN), load_task(EXAMPLE_TASK)
    for iteration in (1, LATE):
        with pytest.raises(run.Interrupted, match=f"stopped after {iteration} of {ITERATIONS} iterations"):
            run.resume(folder, press_ctrl_c(iteration), task)
        assert json.loads((folder / "state.json").read_text())["iteration"] == iteration
    run.resume(folder, task=task)
    assert_same_run(folder, trained)


def test_a_run_killed_after_its_last_step_ends_with_the_same_result(trained, tmp_path):
    left = (*BEGUN, "checkpoint.safetensors", "metrics.jsonl", "policies.npz", "ensembles.safetensors")
    folder = copy_of(trained, tmp_path / "run", *left)
    run.resume(folder, task=load_task(EXAMPLE_TASK))
    assert_same_run(folder, trained)


def test_a_run_killed_before_it_began_is_started_again_by_the_same_command(alone, tmp_path):
    folder = copy_of(alone, tmp_path / "run", run.DEMONSTRATIONS)
    (folder / "task.py").write_text("")
    (folder / ".config.json.ab12cd34.vigor-part.json").write_text("half")
    (folder / "demonstrations" / ".demonstrations.npz.ab12cd34.vigor-part.npz").write_text("half")
    (folder / run.LOCK).touch()
    with pytest.raises(Enough):
        train(folder, stop_at_once)
    assert not list(folder.rglob(".*"))
    assert run.load_setup(folder) == run.load_setup(alone)


def test_a_folder_with_other_demonstrations_is_left_alone(tmp_path):
    Demonstrations.generate(POINT, seed=1, contexts=3, per_context=3).save(tmp_path / "run" / "demonstrations")
    with pytest.raises(UserError, match="already holds other demonstrations; choose another --out"):
        train(tmp_path / "run")
    assert not (tmp_path / "run" / "config.json").exists()


def test_two_processes_do_not_train_in_one_folder(alone, tmp_path):
    folder = copy_of(alone, tmp_path / "run", *BEGUN)

    def start_another(progress: run.Progress) -> None:
        with pytest.raises(UserError, match="another process is training in"):
            run.resume(folder, task=POINT)
        with pytest.raises(UserError, match="already holds a run"):
            train(folder)
        raise Enough

    with pytest.raises(Enough):
        run.resume(folder, start_another, POINT)
    beginning = tmp_path / "beginning"
    beginning.mkdir()
    with run._alone(beginning), pytest.raises(UserError, match="another process is training in"):
        train(beginning)
    assert not list(beginning.iterdir())


def test_files_of_the_user_in_a_run_stay(alone, tmp_path):
    folder = copy_of(alone, tmp_path / "run", run.CONFIG)
    own = (".gitignore", ".env.backup01", ".ssh.identity", ".notes.markdown")
    for name in own:
        (folder / name).write_text("*")
    (folder / ".ipynb_checkpoints").mkdir()
    half = folder / ".metrics.jsonl.ab12cd34.vigor-part.jsonl"
    half.write_text("half")
    with run._alone(folder):
        assert all((folder / name).exists() for name in own)
        assert (folder / ".ipynb_checkpoints").exists()
        assert not half.exists()


# The one loop --------------------------------------------------------------------------------------------------------


def judged_by(judge):
    """The point, judged by a program."""
    return replace(POINT, judge=replace(POINT.judge, distance=None, simulate=judge))


def test_data_is_prepared_and_every_evaluation_made_once(calls: Calls, tmp_path):
    folder, seen, before = tmp_path / "run", [], calls.prepared

    def judge(joints: np.ndarray, contexts: np.ndarray) -> np.ndarray:
        seen.append(len(joints))
        return np.linalg.norm(joints[:, -1] - contexts, axis=-1)

    train(folder, task=judged_by(judge))
    movements = 4 * 2 * POINT.judge.samples
    assert seen == [movements] * len(run.read_metrics(folder)) == [movements] * 2
    assert calls.prepared == before + 1
    (folder / "result.json").unlink()
    run.resume(folder, task=judged_by(judge))
    assert seen == [movements] * 3
    assert calls.prepared == before + 2


def test_a_run_without_simulation_on_the_way_is_judged_when_asked(tmp_path):
    folder, seen = tmp_path / "run", []

    def judge(joints: np.ndarray, contexts: np.ndarray) -> np.ndarray:
        seen.append(len(joints))
        return np.linalg.norm(joints[:, -1] - contexts, axis=-1)

    run.train(SETUP, folder, silent, judged_by(judge), demonstrations(), simulated=False)
    assert not seen
    assert "success_mixture" not in run.read_result(folder)["test"]
    before = (folder / "policies.npz").read_bytes()
    judged = run.judge(folder, judged_by(judge))
    assert seen == [4 * 2 * POINT.judge.samples]
    assert 0 <= judged["test"]["success_mixture"] <= 1
    assert (folder / "policies.npz").read_bytes() == before


def test_progress_is_reported_from_the_first_moment_with_the_last_figures(tmp_path):
    seen = []
    train(tmp_path / "run", seen.append)
    assert [progress.iteration for progress in seen] == [*range(ITERATIONS + 1)]
    assert {progress.iterations for progress in seen} == {ITERATIONS}
    assert [bool(progress.figures) for progress in seen] == [False] * 10 + [True] * (ITERATIONS - 9)
    assert all(one.seconds <= other.seconds for one, other in pairwise(seen))


def test_a_run_that_diverges_says_so_and_leaves_no_half_numbers(alone, tmp_path):
    nowhere = judged_by(lambda joints, contexts: np.full(len(joints), np.nan))
    with pytest.raises(UserError, match=r"diverged by iteration 10: the distances of context 1 are not finite; lower"):
        train(tmp_path / "run", task=nowhere)
    assert not (tmp_path / "run" / "metrics.jsonl").exists()
    ended = copy_of(alone, tmp_path / "ended", *BEGUN, "checkpoint.safetensors")
    with pytest.raises(UserError, match=f"diverged by iteration {ITERATIONS}: the distances of context 1"):
        run.resume(ended, task=nowhere)


# What is wrong with a folder -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda folder: (folder / run.CONFIG).unlink(), "holds no run; name a folder that `vigor train` wrote"),
        (lambda folder: (folder / run.CONFIG).write_text('{"task": "point"}'), "damaged or of another version"),
        (lambda folder: (folder / run.CONFIG).write_text("{"), "is not a readable JSON file"),
        (lambda folder: (folder / run.METRICS).write_text("[1]\n"), r"metrics\.jsonl is damaged"),
        (lambda folder: (folder / run.METRICS).write_text("half"), r"metrics\.jsonl is damaged"),
        (lambda folder: shutil.rmtree(folder / run.DEMONSTRATIONS), "needs what it was begun with: .*does not exist"),
        (
            lambda folder: (folder / "checkpoint.safetensors").write_bytes(b"half"),
            r"checkpoint\.safetensors is damaged",
        ),
    ],
    ids=["no config", "config", "no JSON", "metrics", "half metrics", "no demonstrations", "checkpoint"],
)
def test_a_damaged_folder_is_one_sentence(alone, tmp_path, damage, said):
    folder = copy_of(alone, tmp_path / "run", *BEGUN, "metrics.jsonl", "checkpoint.safetensors")
    damage(folder)
    with pytest.raises(UserError, match=said):
        run.resume(folder, task=POINT)
    assert not (folder / "result.json").exists()


def _without_success(result):
    del result["train"]["contexts"][0]["success"]


@pytest.mark.parametrize(
    "change",
    [
        dict.clear,
        lambda result: result.pop("seed"),
        lambda result: result.update(common=5),
        lambda result: result.update(stopped=None),
        _without_success,
    ],
)
def test_a_damaged_result_is_one_sentence(alone, tmp_path, change):
    folder = copy_of(alone, tmp_path / "run", *BEGUN, "result.json")
    result = json.loads((folder / "result.json").read_text())
    change(result)
    (folder / "result.json").write_text(json.dumps(result))
    with pytest.raises(UserError, match=r"result\.json is damaged: .*; delete it and finish the run with --resume"):
        run.resume(folder, task=POINT)


def test_policies_that_are_missing_or_of_another_task_are_one_sentence(alone, trained, tmp_path):
    folder = copy_of(alone, tmp_path / "run", *BEGUN)
    with pytest.raises(UserError, match="has no policies yet"):
        run.load_policies(folder, POINT)
    shutil.copy(alone / "result.json", folder)
    with pytest.raises(UserError, match=r"has lost its policies\.npz; train it again"):
        run.load_policies(folder, POINT)
    shutil.copy(trained / "policies.npz", folder)
    with pytest.raises(UserError, match=r"policies\.npz does not fit point"):
        run.load_policies(folder, POINT)


def test_a_folder_that_holds_other_things_is_refused(alone, tmp_path):
    (tmp_path / "file").write_text("")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("precious")
    for folder, said in (
        (tmp_path / "file", "is a file"),
        (tmp_path / "mine", "is not empty"),
        (alone, "already holds a run; continue it with --resume"),
    ):
        with pytest.raises(UserError, match=said):
            train(folder)
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["thesis.txt"]


def test_settings_that_do_not_fit_the_task_leave_no_folder(tmp_path):
    wrong = with_values(VigorSettings(), surrogate="values", samples=20)
    with pytest.raises(UserError, match="needs at least 46 samples"):
        train(tmp_path / "run", method="vigor", settings=wrong)
    assert not list(tmp_path.iterdir())
