"""Training in a process of its own: started, stopped, resumed, found again, watched."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import jax
import numpy as np
import pytest

from helpers import solving
from studio_runs import FAST, PUSHER_CONTEXT, pusher_runs, row, wait_for, write_run
from vigor.basics.errors import UserError
from vigor.evaluation import policies
from vigor.planning import planner
from vigor.studio.library import Library
from vigor.studio.trainer import Progress, Trainer
from vigor.tasks import load_task

PLANAR = load_task("planar-reacher")
CONTEXTS = np.array([[0.5, 2.5, 0.5, -2.5]])


@pytest.mark.slow
def test_a_run_is_started_stopped_and_resumed(tmp_path):
    task = load_task(f"{FAST}:PLANAR")
    trainer = Trainer(task, tmp_path)
    assert trainer.progress() is None
    with pytest.raises(UserError, match="no run to resume"):
        trainer.resume()
    library = Library(task, tmp_path / "demos")
    context, first, second, third = solving()
    library.add(context, first)
    library.add(context, second)
    trainer.start(library.current, context[None] + 0.1, 1000)
    with pytest.raises(UserError, match="under way"):
        trainer.start(library.current, context[None], 1000)
    wait_for(lambda: trainer.progress().iteration >= 10)
    trainer.stop()
    wait_for(lambda: not trainer.running)
    stopped = trainer.progress()
    assert (stopped.finished, stopped.problem, stopped.iterations) == (False, None, 1000)
    with pytest.raises(UserError, match="has not finished"):
        planner.load(stopped.folder, task=task)
    # What it has learned so far is enough to plan with.
    learned = planner.load(stopped.folder, task=task, stopped=True).ensembles
    assert jax.tree.leaves(learned)[0].shape[0] >= stopped.iteration
    again = Trainer(task, tmp_path)
    library.add(context, third)  # The run has its own copy.
    again.resume()
    wait_for(lambda: again.progress().iteration > stopped.iteration)
    assert again.progress().problem is None
    again.close()
    assert again._process.returncode in (130, -signal.SIGINT)


@pytest.mark.slow
def test_a_box_pusher_is_learned_from_its_own_demonstrations(tmp_path_factory):
    progress = Trainer(load_task(f"{FAST}:PUSHER"), pusher_runs(tmp_path_factory)).progress()
    assert (progress.problem, progress.finished, progress.iteration) == (None, True, 10)
    # The further context is learned for, after the training contexts.
    np.testing.assert_allclose(policies.load(progress.policies).contexts[-1], PUSHER_CONTEXT)


def pretend(folder, program):
    """A program that holds the lock it is given and does this line instead of training."""
    script = folder / "program.py"
    script.write_text(f"import sys, time\nfrom filelock import FileLock\nwith FileLock(sys.argv[1]):\n    {program}\n")
    return sys.executable, str(script)


def test_pipes_in_a_folder_are_not_read_and_links_not_written_to(tmp_path):
    runs, mine = tmp_path / "runs", tmp_path / "mine"
    mine.write_text("mine")
    (runs / "1").mkdir(parents=True)
    os.mkfifo(runs / "1" / "metrics.jsonl")
    trainer = Trainer(PLANAR, runs, pretend(tmp_path, "print('trained')"))
    assert trainer.progress().metrics == ()
    (runs / "2.log").symlink_to(mine)
    trainer.start(None, CONTEXTS, 10)
    trainer._process.wait(60.0)
    assert (runs / "2.log").read_text() == "trained\n"
    assert mine.read_text() == "mine"


def test_a_run_outlives_its_studio_and_is_found(tmp_path):
    runs, program = tmp_path / "runs", pretend(tmp_path, "time.sleep(60)")
    killed = Trainer(PLANAR, runs, program)
    killed.start(None, CONTEXTS, 10)
    wait_for(lambda: Trainer(PLANAR, runs).progress() is not None, 60.0)
    wait_for(lambda: Trainer(PLANAR, runs).progress().seconds >= 1, 10.0)
    again = Trainer(PLANAR, runs)
    assert (again.progress().running, again.progress().stopping) == (True, False)
    for action in (again.resume, lambda: again.start(None, CONTEXTS, 10)):
        with pytest.raises(UserError, match="under way"):
            action()
    again.stop()
    again.stop()
    assert again.progress().stopping or not again.running
    killed._process.wait(60.0)
    wait_for(lambda: not again.running, 10.0)
    assert not again.progress().stopping


def test_a_stranger_with_the_number_of_an_ended_run_is_left_alone(tmp_path):
    write_run(tmp_path / "1", json.dumps(row(10)))
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as stranger:
        (tmp_path / "1.pid").write_text(str(stranger.pid))
        trainer = Trainer(PLANAR, tmp_path)
        trainer.stop()
        trainer.close()
        assert stranger.poll() is None
        stranger.communicate(b"\n")
    assert stranger.returncode == 0


def test_a_resumed_run_adds_to_its_log(tmp_path):
    write_run(tmp_path / "1", json.dumps(row(10)))
    (tmp_path / "1.log").write_text("vigor: before\n")
    trainer = Trainer(PLANAR, tmp_path, pretend(tmp_path, "sys.exit(3)"))
    for program, problem in (("sys.exit(3)", "it ended with code 3"), ("print('vigor: now'); sys.exit(3)", "now")):
        pretend(tmp_path, program)
        trainer.resume()
        trainer._process.wait()
        assert trainer.progress().problem == problem
    assert (tmp_path / "1.log").read_text() == "vigor: before\nvigor: now\n"


@pytest.mark.parametrize(
    "damaged",
    ["{", "[]", "7", "{}", json.dumps(row("x")), json.dumps(row(20, train={})), json.dumps(row(20, test={"a": 1}))],
)
def test_a_damaged_evaluation_is_skipped(tmp_path, damaged):
    write_run(tmp_path / "1", json.dumps(row(10)), damaged)
    progress = Trainer(PLANAR, tmp_path).progress()
    assert (progress.iteration, progress.iterations, progress.metrics) == (10, 100, (row(10),))


def test_runs_of_another_task_are_refused(tmp_path):
    write_run(tmp_path / "9")
    write_run(tmp_path / "10", task="box-pusher")
    with pytest.raises(UserError, match="holds runs of box-pusher, not of planar-reacher"):
        Trainer(PLANAR, tmp_path)


@pytest.mark.parametrize(
    ("state", "iterations", "words"),
    [
        ({"running": True, "prepared": False}, (), "preparing demonstrations: 0 s so far, usually a minute or two"),
        (
            {"running": True, "seconds": 12, "usual": 200}, (),
            "compiling, and the first 10 iterations: 12 s so far, 3 min the last time",
        ),
        ({"running": True}, (10,), "learning, iteration 10 of 30, 40 s"),
        ({"running": True}, (10, 20), "learning, iteration 20 of 30, 50 s, about 10 s to go"),
        ({"running": True, "stopping": True}, (), "stopping"),
        ({"running": True, "stopping": True}, (10,), "stopping, iteration 10 of 30, 40 s"),
        ({}, (), "stopped"),
        ({}, (20,), "stopped, iteration 20 of 30, 50 s"),
        ({"problem": "no memory"}, (), "no memory"),
        ({"finished": True}, (30,), "finished, iteration 30 of 30, 60 s"),
    ],
)  # fmt: skip
def test_the_state_of_a_run_in_words(state, iterations, words):
    metrics = tuple({"iteration": number, "seconds": 30.0 + number} for number in iterations)
    given = {"running": False, "stopping": False, "finished": False, "problem": None} | state
    progress = Progress(Path(), iterations=30, metrics=metrics, **given)
    assert progress.words == words
    assert progress.can_plan == (bool(iterations) and not progress.running)


def test_the_time_of_the_last_run_is_what_is_expected(tmp_path):
    write_run(tmp_path / "1", json.dumps(row(10, seconds=41.6)), json.dumps(row(20, seconds=50.0)))
    write_run(tmp_path / "2")
    write_run(tmp_path / "3")
    assert Trainer(PLANAR, tmp_path).progress().usual == 42
