"""The Python API: what `import vigor` offers, used as a notebook would."""

import gc
import inspect
import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

import vigor
from helpers import EXAMPLE_TASK, POINT, SMALL, SPLIT, movement

QUICK = SPLIT | SMALL | {"progress": False}
"""Settings of the run that other tests share, so that programs of its task are compiled already."""
CONTEXT = [0.5, 2.2, 0.3, -2.8]
GATES = vigor.load_task(EXAMPLE_TASK)
TASK = vigor.Task(
    name="mine",
    promp=vigor.ProMP(bases=6, dimensions=2, steps=30, scale=0.2),
    context_names=("gate x", "gate y", "obstacle x", "obstacle y"),
    sample_contexts=GATES.sample_contexts,
    kinematics=vigor.kinematics.path,
    descriptors=GATES.descriptors,
    judge=vigor.Judge(distance=GATES.judge.distance, distinct=0.2),
    display=vigor.Display(regions=lambda context: (vigor.Region((1.5, 0.0), 0.1, "goal"),)),
    source=vigor.Source(generate=GATES.source.generate),
)
"""A task of a notebook, in no file."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("api")


@pytest.fixture(scope="module")
def run(folder) -> vigor.Run:
    task = vigor.load_task("planar-reacher")
    vigor.Demonstrations.generate(task, contexts=3, per_context=3).save(folder / "demos" / "mine")
    demos = vigor.Demonstrations.load(folder / "demos" / "mine", task)
    return vigor.train(task, demos, seed=0, out=folder / "runs" / "x", **QUICK | {"iterations": 4})


@pytest.fixture(scope="module")
def plans(run) -> vigor.Plans:
    return run.plan(CONTEXT, avoid=[vigor.Sphere((3, -2, 0), 0.25)])


@pytest.fixture(scope="module")
def mine() -> vigor.Run:
    """A run in memory."""
    return vigor.train(TASK, vigor.Demonstrations.generate(TASK), **QUICK)


@pytest.mark.usefixtures("undrawn")
def test_a_task_needs_no_success_criterion():
    task = replace(TASK, name="unjudged", judge=vigor.Judge())
    run = vigor.train(task, vigor.Demonstrations.generate(task, contexts=3, per_context=3), **QUICK | {"iterations": 4})
    assert "success_best" not in run.result["test"]
    assert 0 <= run.result["test"]["predicted_mixture"] <= 1
    assert "predicted success" in repr(run)
    assert run.result["common"]
    assert run.report().exists()
    best = run.plan(run.policies.contexts[0])[0].best
    assert best.success is None
    assert best.solves in (True, False)


def test_units_change_nothing():
    """Movements in metres and in millimetres, up to rounding: what is learned and what is planned."""
    found = []
    for unit in (1.0, 1000.0):
        task = replace(
            POINT,
            name="unit",
            promp=replace(POINT.promp, scale=unit),
            sample_contexts=lambda rng, n, unit=unit: unit * rng.normal(size=(n, 2)),
            judge=vigor.Judge(),
            source=vigor.Source(),
        )
        goals = unit * np.array([[1.0, 0.3], [-0.4, 0.9], [0.2, -1.1]])
        shown = [movement(tuple(goals[i // 3])) * (1 + 0.01 * i) for i in range(9)]
        demos = vigor.Demonstrations.from_recordings(task, goals, shown, np.arange(9) // 3)
        run = vigor.train(task, demos, **QUICK | {"iterations": 1, "test_contexts": goals[:1] + 0.2 * unit})
        plan = run.plan(unit * np.array([0.7, 0.5]))[0]
        movements = sorted(solution.movement for solution in plan.solutions)
        found.append((run.policies.mixtures.means, run.result["test"]["predicted_mixture"], movements))
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-2, atol=1e-2)


def test_from_a_run_to_a_robot(run, plans, folder):
    assert run.result["task"] == "planar-reacher"
    assert run.policies.contexts.shape == (4, 4)
    assert run.report() == folder / "runs" / "x" / "report.html"
    assert run.report().stat().st_size > 10_000

    best = plans[0].best
    assert plans.constraints.keep_out == (vigor.Sphere((3.0, -2.0), 0.25),)
    assert best is plans[0].solutions[0]
    moved = best.trajectory(rate=100)
    moved.save(folder / "out.csv")
    table = np.genfromtxt(folder / "out.csv", delimiter=",", names=True)
    assert table.dtype.names[:3] == ("time", "joint1", "joint2")
    np.testing.assert_allclose(table["joint5_velocity"], moved.velocities[:, 4])
    assert moved.points.shape == (len(moved.times), 6, 2)
    assert isinstance(best.plot(), Figure)
    assert isinstance(plans.plot(), Figure)

    again = vigor.load(folder / "runs" / "x")
    assert again.task is run.task
    assert again.result == run.result
    np.testing.assert_array_equal(again.policies.mixtures.means, run.policies.mixtures.means)


def test_a_run_knows_what_it_was_made_of(run):
    assert run.setup.seed == 0
    assert run.setup.settings.update.iterations == 4
    assert len(run.demonstrations) == 9
    assert run.metrics[-1]["iteration"] == 4
    assert len(run.own_plans()) == 4
    judged = run.evaluate(samples=100)
    assert judged.train["success_best"] == run.result["train"]["success_best"]


def test_plans_come_back_with_their_task(plans, folder):
    plans.save(folder / "plans.json")
    back = vigor.Plans.load(folder / "plans.json")
    assert back[0].best.movement == plans[0].best.movement
    assert back[0].best.joints().shape == (30, 5)


# A task of one's own


def test_a_task_in_no_file_is_trained_and_planned_with(mine, tmp_path):
    (plan,) = mine.plan(np.array([0.42, 0.05, 1.02, 0.03]))
    assert plan.best.targets.keys() == {"goal"}
    assert plan.best.trajectory(seconds=2.0).points.shape[1:] == (1, 2)
    kept = mine.save(tmp_path / "kept")
    assert kept.folder == tmp_path / "kept"
    assert vigor.load(tmp_path / "kept", TASK).result == mine.result
    assert vigor.resume(tmp_path / "kept", TASK, progress=False).result == mine.result
    with pytest.raises(vigor.UserError, match="is of the task mine, which is in no file; give the task itself"):
        vigor.load(tmp_path / "kept")
    with pytest.raises(vigor.UserError, match="exists already"):
        mine.save(tmp_path / "kept")


def test_a_run_in_memory_lives_as_long_as_its_object():
    run = vigor.train(TASK, **QUICK)  # From demonstrations that the task generates.
    folder = run.folder
    assert (folder / "result.json").exists()
    del run
    gc.collect()
    assert not folder.exists()


def test_demonstrations_come_from_many_places(tmp_path):
    contexts, of = np.array([[1.0, 0.0], [0.0, 1.0]]), [0, 1]
    recordings = [movement((1.0, 0.0)), movement((0.0, 1.0), rest=4)]
    made = vigor.Demonstrations.from_recordings(POINT, contexts, recordings, of)
    assert made.source == "recorded"
    (tmp_path / "demonstrations").mkdir()
    np.savetxt(tmp_path / "contexts.csv", contexts, delimiter=",")
    for number, recording in enumerate(recordings):
        np.savetxt(tmp_path / "demonstrations" / f"{number}_a.csv", recording, delimiter=",")
    read = vigor.Demonstrations.from_files(POINT, tmp_path)
    np.testing.assert_allclose(read.weights, made.weights, atol=1e-9)
    samples, lengths = np.concatenate(recordings), [len(recording) for recording in recordings]
    np.savez(tmp_path / "some.npz", contexts=contexts, context_of=of, samples=samples, lengths=lengths)
    np.testing.assert_allclose(vigor.Demonstrations.from_files(POINT, tmp_path / "some.npz").weights, made.weights)
    made.save(tmp_path / "set")
    assert len(vigor.Demonstrations.load(tmp_path / "set", POINT)) == 2


def test_a_changed_task_is_not_the_one_of_its_file(tmp_path):
    loaded = vigor.load_task(EXAMPLE_TASK)
    assert loaded.origin == EXAMPLE_TASK
    assert replace(loaded, judge=vigor.Judge(distance=loaded.judge.distance, distinct=0.3)).origin == ""


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: vigor.train("planar-reecher"), "did you mean planar-reacher"),
        (lambda: vigor.train(TASK, method="magic"), "there is no method 'magic'"),
        (lambda: vigor.train(TASK, preset="best"), "there is no preset 'best'"),
        (lambda: vigor.train(TASK, colour=3), "VigorSettings has no setting 'colour'"),
        (lambda: vigor.train(TASK, iterations=0), "positive"),
        (lambda: vigor.train(TASK, "nowhere"), "nowhere"),
        (lambda: vigor.train(TASK, test_contexts=[[1.0]]), "1 numbers each where mine has 4"),
        (lambda: vigor.train(TASK, test_contexts="six"), "test contexts must be real numbers"),
        (lambda: vigor.train(TASK, train_contexts=99), "only 12 have that many"),
        (lambda: vigor.train(replace(TASK, name="planar-reacher")), "give your task a name of its own"),
        (lambda: vigor.train(replace(TASK, descriptors=())), "descriptors is empty"),
        (lambda: vigor.load("nowhere"), "nowhere holds no run"),
        (lambda: vigor.resume("nowhere"), "nowhere holds no run"),
        (lambda: vigor.Plans.load("nowhere.json"), r"nowhere\.json does not exist"),
        (lambda: vigor.Demonstrations.load("nowhere"), "does not exist"),
    ],
)
def test_mistakes_are_one_sentence_and_leave_nothing(tmp_path, monkeypatch, call, said):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    with pytest.raises(vigor.UserError, match=said) as error:
        call()
    assert "\n" not in str(error.value)
    assert not list(tmp_path.iterdir())


# Words


def test_words_are_short(run, mine, plans):
    best = plans[0].best
    things = (run, mine, run.task, run.demonstrations, run.policies, run.planner(), run.evaluate(samples=100), plans)
    for thing in (*things, plans[0], best, best.trajectory(), vigor.load_task("panda-reacher").arm.robot):
        assert repr(thing).startswith(f"{type(thing).__name__}(")
        assert len(repr(thing)) < 200
    assert "not finished" not in repr(run)


def test_html_is_escaped(run, plans):
    page = run._repr_html_()
    assert "<table>" in page
    assert "test (2 contexts)" in page
    renamed = replace(run, task=replace(run.task, name="<b>x</b>"))
    assert "<b>" not in renamed._repr_html_()
    assert "&lt;b&gt;x&lt;/b&gt;" in renamed._repr_html_()
    assert "<b>" not in replace(plans, task="<b>x</b>")._repr_html_()


def test_a_run_that_has_not_finished_says_so(run, tmp_path):
    shutil.copytree(run.folder, tmp_path / "run")
    (tmp_path / "run" / "result.json").unlink()
    stopped = vigor.load(tmp_path / "run")
    assert repr(stopped) == "Run(planar-reacher, vigor, seed 0: not finished)"
    assert "not finished" in stopped._repr_html_()
    with pytest.raises(vigor.UserError, match="has not finished; continue it with"):
        _ = stopped.result


# Names


def test_about_twenty_names_with_docstrings():
    assert len(vigor.__all__) == len(set(vigor.__all__)) <= 29
    assert sorted(vigor.__all__, key=str.lower) == sorted(dir(vigor), key=str.lower)
    for name in vigor.__all__:
        thing = getattr(vigor, name)
        assert name == "__version__" or len(inspect.getdoc(thing) or "") > 10
    with pytest.raises(AttributeError, match="no attribute 'magic'"):
        _ = vigor.magic


def test_importing_the_package_alone_imports_nothing_slow():
    code = "import sys, vigor, json; vigor.__version__; dir(vigor); print(json.dumps(sorted(sys.modules)))"
    listed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert not {"jax", "numpy", "matplotlib", "rich"} & set(json.loads(listed))
