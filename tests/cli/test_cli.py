"""The command line: what users type, and bad input: one sentence, exit code 2, nothing written."""

import socket
from pathlib import Path

import numpy as np
import pytest

from helpers import EXAMPLE, refused, small
from vigor.cli import main as cli
from vigor.demonstrations import dataset as demonstrations
from vigor.demonstrations import preprocessing as recordings
from vigor.reports import terminal
from vigor.tasks import load_task

TASK = f"{EXAMPLE}:TASK"


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """A folder with generated demonstrations of the example."""
    folder = tmp_path_factory.mktemp("demos") / "gate"
    made = recordings.generate(load_task(TASK), seed=0, contexts=4, per_context=3, spare=4)
    demonstrations.save(made, folder)
    return folder


def test_train_evaluate_and_report(shown, tmp_path, capsys):
    np.save("targets.npy", np.array([[0.4, 0.1, 1.0, 0.05], [0.45, -0.1, 1.05, 0.0], [0.5, 0.0, 1.1, -0.1]]))
    options = small(test_contexts=None, iterations="3", demos=str(shown), out="run")
    cli.main(["train", TASK, *options, "--test-contexts-file", "targets.npy"])
    assert "test (3 contexts)" in capsys.readouterr().out
    cli.main(["evaluate", "run", "--samples", "5"])
    assert "success, mixture" in capsys.readouterr().out
    (tmp_path / "run" / "report.html").unlink()
    cli.main(["report", "run"])
    assert (tmp_path / "run" / "report.html").exists()
    before = sorted(tmp_path.rglob("*"))
    said = refused(capsys, "train", TASK, *options)
    assert "already holds a run" in said
    assert "--resume" in said
    assert sorted(tmp_path.rglob("*")) == before


def test_demos_generate_check_and_show(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(terminal, "_SECONDS", -1.0)
    cli.main(["demos", "generate", TASK, "--contexts", "2", "--per-context", "2", "--out", "made"])
    assert "contexts: 1 of 2\ncontexts: 2 of 2" in capsys.readouterr().out
    cli.main(["demos", "check", "made", "--task", TASK])
    assert "generated with seed 0" in capsys.readouterr().out
    cli.main(["demos", "show", "made", "--task", TASK, "--out", "picture.png"])
    assert (tmp_path / "picture.png").stat().st_size > 10_000


def test_demos_import(published, capsys):
    cli.main(["demos", "import", "planar-reacher", str(published), "--format", "published", "--out", "human"])
    cli.main(["demos", "check", "human"])
    assert "human" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["train"], "name a task"),
        (["train", "no-such-task"], "there is no task 'no-such-task'"),
        (["train", "planar-reacher", "--demos", "nowhere"], "nowhere"),
        (["train", "planar-reacher", "--iterations", "0"], "must be positive"),
        (["train", "planar-reacher", "--samples", "7"], "multiple of the number of networks"),
        (["train", "planar-reacher", "--kernel", "4"], "kernel must be odd"),
        (["train", "planar-reacher", "--dropout", "1.5"], "dropout"),
        (["train", "planar-reacher", "--train-contexts", "99"], "--train-contexts"),
        (["train", "planar-reacher", "--demos-per-context", "99"], "--demos-per-context"),
        (["train", "planar-reacher", "--seed", "-1"], "seed"),
        (["train", "planar-reacher", "--seed", "99999999999999999999"], "seed"),
        (["train", "planar-reacher", "--epochs", "5"], "warmup (11)"),
        (["train", "planar-reacher", "--components", "1000000000"], "million"),
        (["train", "planar-reacher", "--surrogate", "values"], "--samples"),
        (["train", "planar-reacher", "--descriptors", "colour"], "no descriptors named 'colour'"),
        (["train", "planar-reacher", "--test-contexts-file", "missing.npy"], "missing.npy does not exist"),
        (["train", "--resume", "nowhere"], "holds no run"),
        (["evaluate", "nowhere"], "holds no run"),
        (["report", "nowhere"], "holds no run"),
        (["demos", "check", "nowhere"], "nowhere"),
        (["demos", "import", "planar-reacher", "nowhere", "--format", "published", "--out", "x"], "nowhere"),
        (["demos", "generate", "planar-reacher", "--contexts", "0", "--out", "x"], "context"),
    ],
)
def test_bad_input_is_one_sentence_and_writes_nothing(tmp_path, capsys, arguments, said):
    assert said in refused(capsys, *arguments)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("contexts", "said"),
    [
        (np.zeros((2, 3)), "4"),
        (np.zeros(4), "bad.npy"),
        (np.zeros((0, 4)), "bad.npy"),
        (np.full((2, 4), np.nan), "finite numbers"),
        (np.array([["a"] * 4]), "bad.npy"),
        (np.zeros((2, 4), complex), "real numbers"),
    ],
)
def test_bad_test_contexts_are_one_sentence(tmp_path, capsys, contexts, said):
    np.save("bad.npy", contexts)
    assert said in refused(capsys, "train", "planar-reacher", "--test-contexts-file", "bad.npy")
    assert [path.name for path in tmp_path.iterdir()] == ["bad.npy"]


def test_pickled_test_contexts_are_refused(tmp_path, capsys):
    np.save("bad.npy", np.array([{"a": 1}], dtype=object))
    assert "bad.npy" in refused(capsys, "train", "planar-reacher", "--test-contexts-file", "bad.npy")


def test_resume_takes_no_other_settings(tmp_path, capsys):
    assert "give no others" in refused(capsys, "train", "--resume", "somewhere", "--seed", "3")


def test_an_output_folder_with_other_things_is_left_alone(tmp_path, capsys):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("precious")
    assert "not empty" in refused(capsys, "train", "planar-reacher", "--out", "mine")
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["thesis.txt"]


def test_a_place_that_cannot_be_written_is_one_sentence(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    said = refused(capsys, "train", TASK, *small(iterations="1"), "--out", tmp_path / "file" / "run")
    assert str(tmp_path / "file") in said


def test_presets_follow_the_task(monkeypatch):
    setups = []
    monkeypatch.setattr("vigor.runs.run.train", lambda setup, folder, show: setups.append(setup) or {})
    monkeypatch.setattr("vigor.runs.run.draw", lambda folder: folder)
    monkeypatch.setattr("vigor.reports.terminal.results_table", lambda result: None)
    cli.main(["train", "--out", "panda-reacher", "planar-reacher"])
    cli.main(["train", "panda-reacher"])
    cli.main(["train", "panda-reacher", "--preset", "paper", "--components", "3"])
    configs = [setup.config for setup in setups]
    assert [config.density_ratio.width for config in configs] == [32, 64, 64]
    assert [config.samples for config in configs] == [50, 70, 1536]
    assert [config.iterations for config in configs] == [100, 100, 301]
    assert [config.kl_bound for config in configs] == [0.2, 0.2, 0.2]
    assert [config.density_ratio.epochs for config in configs] == [16, 13, 50]
    assert [config.density_ratio.learning_rate for config in configs] == [2e-3, 2.3e-4, 3e-4]
    assert [config.density_ratio.decay for config in configs] == [0.1, 0.1, 1.0]
    assert [config.components for config in configs] == [5, 5, 3]


def test_help_is_that_of_the_task(capsys):
    with pytest.raises(SystemExit):
        cli.main(["train", "panda-reacher", "--help"])
    assert "(default: 0.05 0.05)" in capsys.readouterr().out


def test_help_explains_every_option(capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main(["train", "--help"])
    assert stop.value.code == 0
    text = capsys.readouterr().out
    for option in ("--demos", "--test-contexts-file", "--components", "--iterations", "--resume", "--learning-rate"):
        assert option in text


def test_a_second_studio_on_the_same_port_is_refused(tmp_path, capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = refused(capsys, "studio", "planar-reacher", "--port", port)
    assert f"port {port} is taken" in said
    assert "--port" in said
    assert "the studio shows" in refused(capsys, "studio", TASK, "--port", 0)
    assert not Path(TASK).exists()
    assert "there is no task" in refused(capsys, "studio", "planar", "--port", 0)
    assert "does not exist" in refused(capsys, "studio", "planar-reacher", "--port", 0, "--demos", "none")
    assert not list(tmp_path.iterdir())
