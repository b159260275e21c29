"""Every method through the same run: trains, checkpoints, resumes, evaluates and reports; its settings and presets."""

import json
import os
import signal
from dataclasses import replace
from typing import get_args, get_type_hints

import jax
import numpy as np
import pytest

from helpers import POINT
from vigor.baselines import bc_state_action, bc_trajectory, cloning, em_drex, gail
from vigor.basics.errors import UserError
from vigor.cli import main as cli
from vigor.evaluation import evaluation
from vigor.learning import algorithm
from vigor.learning.density_ratio import DensityRatio
from vigor.runs import run
from vigor.runs.methods import METHODS, method
from vigor.runs.presets import NAMES, preset
from vigor.tasks import TASKS

STEPS = 14
"""Enough for a checkpoint at ten, and to be stopped before and after it."""
NETWORKS = {"networks": 2, "network": "mlp", "layers": 1, "width": 4}
POLICIES = {"components": 2, "samples": 4}
CLONING = {"layers": 1, "width": 4, "epochs": STEPS * cloning.EPOCHS}
TINY = {
    "vigor": algorithm.Config(
        **POLICIES, iterations=STEPS, density_ratio=DensityRatio(**NETWORKS, epochs=3, warmup=1, patience=1)
    ),
    "em-drex": em_drex.Config(
        **POLICIES, **NETWORKS, iterations=6, epochs=8 * em_drex.EPOCHS, em_components=1, em_samples=60, batch=32
    ),
    "bc-t": bc_trajectory.Config(**CLONING, components=1),
    "bc-gmm-t": bc_trajectory.Config(**CLONING, components=2, validation=0.2, patience=3),
    "bc-s": bc_state_action.Config(**CLONING, components=1, frames=2),
    "bc-gmm-s": bc_state_action.Config(**CLONING, components=2, train_weights=True),
    "gail": gail.Config(
        timesteps=STEPS * 50, policy_steps=50, layers=1, width=4, policy_layers=1, policy_width=4, policy_batch=25
    ),
}


# Runs ----------------------------------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def _point(monkeypatch):
    """The point is a task that runs know."""
    monkeypatch.setattr(run, "load_task", lambda name: POINT)


@pytest.fixture(autouse=True, scope="module")
def _quick():
    """Compilation takes longer than what small runs do: ask for little of it."""
    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", False)


def setup_of(name):
    return run.Setup("point", method=name, train_contexts=2, test_contexts=2, demos_per_context=3, config=TINY[name])


def comparable(folder):
    """What a run leaves, but for when and how long it was."""
    result = json.loads((folder / "result.json").read_text())
    metrics = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    times = ("seconds", "date")
    return [{key: value for key, value in row.items() if key not in times} for row in (result, *metrics)]


def interrupt_at(step):
    """A progress display that presses Ctrl-C."""

    def show(progress):
        if progress.iteration == step:
            os.kill(os.getpid(), signal.SIGINT)

    return show


@pytest.mark.parametrize("name", METHODS)
def test_a_method_trains_stops_resumes_evaluates_and_reports(tmp_path, capsys, name):
    alone, stopped = tmp_path / "alone", tmp_path / "stopped"
    seen = []
    result = run.train(setup_of(name), alone, seen.append)
    assert method(name).steps(TINY[name]) == result["iterations"] == STEPS
    assert [progress.iteration for progress in seen][-1] == STEPS
    assert result["method"] == name

    with pytest.raises(run.Interrupted, match="stopped after 1 of 14"):
        run.train(setup_of(name), stopped, interrupt_at(1))
    for step in (9, 12):
        with pytest.raises(run.Interrupted, match=f"stopped after {step} of 14"):
            run.resume(stopped, interrupt_at(step))
    assert (stopped / "checkpoint.safetensors").exists()
    assert not (stopped / "result.json").exists()
    cli.main(["train", "--resume", str(stopped)])
    assert f"Report: {stopped / 'report.html'}" in capsys.readouterr().out
    assert name in (stopped / "report.html").read_text()
    assert comparable(stopped) == comparable(alone)
    assert [row["iteration"] for row in comparable(alone)[1:]] == [10, 14]

    movements = []
    for folder in (alone, stopped):
        setup, task, learned = run.load_policies(folder)
        assert replace(setup, fingerprint="") == setup_of(name)
        movements.append(learned.movements(task, slice(None), samples=3, seed=1))
    for one, other in zip(*movements, strict=True):
        np.testing.assert_array_equal(one, other)
    components = TINY[name].components
    assert learned.components == components
    assert movements[0].samples.shape == (4, components, 3, POINT.promp.steps, POINT.promp.dimensions)
    np.testing.assert_allclose(movements[0].weights.sum(axis=1), 1, rtol=1e-5)
    judged = evaluation.evaluate(task, learned, samples=5)
    assert len(judged.train["success_components"]) == len(judged.test["success_components"]) == components


def test_settings_that_do_not_fit_leave_no_folder(tmp_path):
    setup = setup_of("em-drex")
    wrong = replace(setup, config=replace(setup.config, surrogate="values", samples=10))
    with pytest.raises(UserError, match="needs at least 46 samples"):
        run.train(wrong, tmp_path / "run")
    assert not list(tmp_path.iterdir())


def test_a_run_is_not_continued_by_another_method(tmp_path):
    setup = setup_of("bc-t")
    (tmp_path / "config.json").write_text(
        json.dumps({"task": "point", "method": "vigor", "config": {"layers": 1, "entropy": setup.config.entropy}})
    )
    with pytest.raises(UserError, match="another version"):
        run.load_setup(tmp_path)


# The command line ----------------------------------------------------------------------------------------------------


def ended(capsys, *arguments):
    """Exit code and output of a command that ends by itself."""
    with pytest.raises(SystemExit) as stop:
        cli.main(list(arguments))
    return stop.value.code, capsys.readouterr()


def test_the_command_line_knows_every_method():
    assert get_args(get_type_hints(cli.Train)["method"]) == tuple(METHODS)


def test_a_method_that_does_not_exist_is_refused(capsys):
    with pytest.raises(UserError, match="there is no method 'nonsense'; choose from vigor, em-drex"):
        method("nonsense")
    code, said = ended(capsys, "train", "planar-reacher", "--method", "nonsense")
    assert code == 2
    assert "nonsense" in said.err
    assert all(name in said.err for name in METHODS)
    assert "Traceback" not in said.err


@pytest.mark.parametrize(
    ("name", "shown", "hidden"),
    [
        ("vigor", ("--memory", "--decay", "--kl-bound"), ("--em-components", "--entropy")),
        ("em-drex", ("--em-components", "--reward-scale", "--kl-bound"), ("--memory", "--decay", "--entropy")),
        ("bc-t", ("--entropy", "--train-weights"), ("--em-components", "--kl-bound", "--memory")),
        ("bc-gmm-t", ("--entropy", "--train-weights"), ("--em-components", "--kl-bound", "--frames")),
        ("bc-s", ("--entropy", "--frames", "--target-encoding"), ("--em-components", "--kl-bound", "--memory")),
        ("bc-gmm-s", ("--train-weights", "--hold-component"), ("--em-components", "--kl-bound", "--memory")),
        ("gail", ("--policy-steps", "--frames"), ("--em-components", "--kl-bound", "--components")),
    ],
)
def test_help_shows_the_settings_of_the_method(capsys, name, shown, hidden):
    code, said = ended(capsys, "train", "--method", name, "--help")
    assert code == 0
    assert all(option in said.out for option in (*shown, "--seed", "--out"))
    assert not any(option in said.out for option in hidden)


def test_settings_of_a_method_are_checked(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for arguments in (
        ("--method", "em-drex", "--em-components", "0"),
        ("--method=bc-t", "--entropy", "-1"),
        ("--method", "bc-gmm-t", "--width", "0"),
    ):
        code, said = ended(capsys, "train", "planar-reacher", *arguments)
        assert code == 2
        assert said.err.startswith("vigor: ")
        assert said.err.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_the_command_line_hands_on_method_and_settings(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    begun = []
    monkeypatch.setattr(run, "train", lambda setup, folder, show: begun.append((setup, folder)) or {})
    monkeypatch.setattr(run, "draw", lambda folder: folder)
    monkeypatch.setattr("vigor.reports.terminal.results_table", lambda result: None)
    cli.main(["train", "planar-reacher", "--method", "bc-t", "--width", "7"])
    cli.main(["train", "--method=em-drex", "panda-reacher", "--preset", "paper", "--em-components", "4"])
    cli.main(["train", "box-pusher"])
    cli.main(["train", "box-pusher", "--demos-per-context", "4"])
    (bc_t, one), (ranking, other), (pushes, _), (more, _) = begun
    assert (bc_t.method, bc_t.config) == ("bc-t", replace(preset("planar-reacher", "default", "bc-t"), width=7))
    expected = replace(preset("panda-reacher", "paper", "em-drex"), em_components=4)
    assert (ranking.method, ranking.config) == ("em-drex", expected)
    assert [setup.demos_per_context for setup in (bc_t, pushes, more)] == [5, 3, 4]
    cli.main(["train", "planar-reacher", "--descriptors", "angles"])
    assert begun[-1][0].config.density_ratio.near == ()  # No distances are among joint angles.
    assert [str(folder) for folder in (one, other)] == ["runs/planar-reacher-bc-t-1", "runs/panda-reacher-em-drex-1"]


# Presets -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("kind", NAMES)
def test_every_method_has_presets_for_every_task(name, task, kind):
    settings = preset(task, kind, name)
    assert type(settings) is METHODS[name].settings
    assert METHODS[name].steps(settings) >= 1
    assert settings.components == (1 if name in ("bc-t", "bc-s", "gail") else 5)


def test_presets_that_do_not_exist_are_refused():
    with pytest.raises(UserError, match="no preset 'fast'"):
        preset("planar-reacher", "fast")
    with pytest.raises(UserError, match="no method 'nonsense'"):
        preset("planar-reacher", "default", "nonsense")


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("kind", NAMES)
def test_a_task_of_a_users_own_has_the_presets_of_the_planar_reacher(name, kind):
    assert type(preset("own.py:TASK", kind, name)) is METHODS[name].settings


def column(rows, task):
    """The numbers of a task in rows (setting, planar reacher, Panda reacher, box pusher)."""
    number = 1 + ("planar-reacher", "panda-reacher", "box-pusher").index(task)
    return {row[0]: row[number] for row in rows}


VIGOR = (("layers", 2, 3, 4), ("width", 32, 64, 128), ("kernel", 5, 7, 7), ("batch", 64, 64, 64))
"""Table 5."""
EM_DREX = (
    ("layers", 2, 2, 4),
    ("width", 64, 64, 64),
    ("kernel", 5, 7, 7),
    ("batch", 128, 128, 128),
    ("em_components", 3, 1, 1),
    ("em_samples", 8192, 16384, 16384),
    ("base_noise", 0.3, 0.3, 0.3),
    ("noise_levels", 5, 10, 5),
    ("noise_multiplier", 5, 10, 2),
    ("reward_scale", 100, 1000, 1000),
)
"""Table 6."""
BC_S = (
    ("layers", 2, 2, 3),
    ("width", 64, 32, 64),
    ("batch", 128, 64, 64),
    ("target_encoding", False, True, False),
    ("frames", 1, 1, 1),
)
"""Table 7."""
BC_GMM_S = (
    ("layers", 2, 2, 3),
    ("width", 64, 64, 64),
    ("batch", 64, 64, 64),
    ("target_encoding", False, True, False),
    ("frames", 5, 1, 1),
    ("train_weights", True, True, False),
)
"""Table 8."""
BC_T = (("layers", 4, 4, 3), ("width", 256, 64, 128), ("batch", 4, 4, 4))
"""Table 9."""
BC_GMM_T = (("layers", 4, 3, 3), ("width", 64, 64, 128), ("batch", 4, 4, 4), ("train_weights", False, False, False))
"""Table 10."""

GAIL = (
    ("layers", 2, 2, 3),
    ("width", 32, 64, 64),
    ("policy_layers", 2, 2, 2),
    ("policy_width", 32, 32, 32),
    ("batch", 128, 64, 64),
    ("policy_batch", 128, 64, 256),
    ("timesteps", 1_000_000, 3_000_000, 1_000_000),
    ("target_encoding", True, False, False),
    ("frames", 5, 5, 1),
    ("policy_steps", 2048, 2048, 2048),
    ("learning_rate", 3e-4, 3e-4, 3e-4),
)
"""Table 11, and the learning rate of the text."""


def numbers(settings, names):
    return {name: getattr(settings, name) for name in names}


@pytest.mark.parametrize("task", ["planar-reacher", "panda-reacher", "box-pusher"])
def test_the_presets_of_the_paper_are_its_tables(task):
    """And the text beside them (appendix E.2)."""
    ensemble = {"networks": 5, "dropout": 0.2, "validation": 0.1}
    update = {"kl_bound": 0.2, "surrogate": "values", "weights": "fixed"}

    vigor = preset(task, "paper", "vigor")
    expected = column(VIGOR, task) | ensemble | {"learning_rate": 3e-4, "batch_norm": False}
    assert numbers(vigor.density_ratio, expected) == expected
    assert numbers(vigor, update) == update

    ranking = preset(task, "paper", "em-drex")
    expected = column(EM_DREX, task) | ensemble | update | {"learning_rate": 3e-5, "batch_norm": True}
    assert numbers(ranking, expected) == expected

    for name, table, epochs in (
        ("bc-s", BC_S, 3000),
        ("bc-gmm-s", BC_GMM_S, 3000),
        ("bc-t", BC_T, 30_000),
        ("bc-gmm-t", BC_GMM_T, 30_000),
    ):
        expected = column(table, task) | {"learning_rate": 3e-4, "epochs": epochs, "entropy": 1e-3}
        assert numbers(preset(task, "paper", name), expected) == expected
    assert numbers(preset(task, "paper", "gail"), column(GAIL, task)) == column(GAIL, task)


@pytest.mark.parametrize("task", ["planar-reacher", "panda-reacher", "box-pusher"])
@pytest.mark.parametrize("name", ["vigor", "em-drex"])
def test_the_presets_of_the_paper_draw_enough_samples_for_a_quadratic_model(task, name):
    bases, dimensions = {"planar-reacher": (5, 5), "panda-reacher": (8, 6), "box-pusher": (7, 2)}[task]
    weights = bases * dimensions
    assert preset(task, "paper", name).samples > 1 + weights + weights * (weights + 1) / 2
