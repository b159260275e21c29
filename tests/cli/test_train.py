"""`vigor train`: what it leaves and says, its settings by task and method, and how it is stopped and continued."""

from pathlib import Path
from typing import get_args, get_type_hints

import numpy as np
import pytest

from helpers import EXAMPLE_TASK, refused, small
from vigor.basics.settings import with_values
from vigor.cli import main as cli
from vigor.cli.main import parse
from vigor.cli.train import Train
from vigor.demonstrations.dataset import Demonstrations
from vigor.evaluation import policies
from vigor.runs import run
from vigor.runs.methods import METHODS
from vigor.runs.presets import preset

pytestmark = pytest.mark.usefixtures("undrawn")


def found(folder) -> dict:
    """Figures of a run."""
    result = run.read_result(folder)
    return {name: result[name] for name in ("task", "method", "seed", "iterations", "train", "test")}


def ended(capsys, *arguments):
    """Exit code and output of a command that ends by itself."""
    with pytest.raises(SystemExit) as stop:
        cli.main(list(map(str, arguments)))
    return stop.value.code, capsys.readouterr()


def test_a_run_of_given_demonstrations_and_contexts(trained, tmp_path, capsys):
    """Demonstrations and contexts of the other run: everything is the same, but for where it comes from."""
    test = policies.load(trained / "policies.npz").contexts[2:]
    np.savetxt("targets.csv", test, delimiter=",", fmt="%.17g", header="gate x,gate y,obstacle x,obstacle y")
    words = small(test_contexts_file="targets.csv", test_contexts=None, demos=trained / "demonstrations")
    cli.main(["train", EXAMPLE_TASK, *words])
    folder = tmp_path / "runs" / "01_own_task-1"
    said = capsys.readouterr()
    assert "test (2 contexts)" in said.out
    assert f"{folder.relative_to(tmp_path) / 'report.html'}" in said.out
    assert said.out.splitlines()[-1] == f"Open it with: vigor open {folder.relative_to(tmp_path)}"
    assert said.err == ""
    assert found(folder) == found(trained)
    setup = run.load_setup(folder)
    assert setup.command.startswith(f"vigor train {EXAMPLE_TASK} --train-contexts 2 ")
    assert setup.demos == str(trained / "demonstrations")
    assert np.array_equal(setup.test_contexts, test)

    before = sorted(tmp_path.rglob("*"))
    said = refused(capsys, "train", EXAMPLE_TASK, *words, "--out", folder)
    assert f"{folder} already holds a run; continue it with --resume {folder}" in said
    assert sorted(tmp_path.rglob("*")) == before


STOPPING = f"""
import signal
from dataclasses import replace
from pathlib import Path
from vigor.tasks import load_task

known = load_task({EXAMPLE_TASK!r})

def judge(joints, contexts):
    if len(joints) == 800 and Path("stop").exists():
        signal.raise_signal(signal.SIGINT)
    return known.distances(joints, contexts)

def generate(*given):
    if Path("stop early").exists():
        signal.raise_signal(signal.SIGINT)
    return known.source.generate(*given)

judging = replace(known.judge, distance=None, simulate=judge)
TASK = replace(known, judge=judging, source=replace(known.source, generate=generate))
"""
"""The example, but that it presses Ctrl-C when a run of 4 contexts is evaluated, or when demonstrations are made."""


def test_a_run_that_is_stopped_says_how_to_go_on(trained, tmp_path, capsys):
    (tmp_path / "stopping.py").write_text(STOPPING)
    (tmp_path / "stop").touch()
    (tmp_path / "stop early").touch()
    code, said = ended(capsys, "train", "stopping.py:TASK", *small(out="run"))
    assert (code, said.err) == (130, "vigor: stopped before it began\n")
    assert not (tmp_path / "run").exists()

    (tmp_path / "stop early").unlink()
    code, said = ended(capsys, "train", "stopping.py:TASK", *small(out="run"))
    assert code == 130
    assert said.err == "vigor: stopped after 10 of 12 iterations; continue with: vigor train --resume run\n"

    (tmp_path / "stop").unlink()
    cli.main(["train", "--resume", "run"])
    assert "run/report.html" in capsys.readouterr().out
    assert found(tmp_path / "run") == found(trained)
    before = (tmp_path / "run" / "result.json").stat().st_mtime_ns
    cli.main(["train", "--resume", "run"])
    assert "success, best component" in capsys.readouterr().out
    assert (tmp_path / "run" / "result.json").stat().st_mtime_ns == before


# Bad input -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "name a task"),
        (["no-such-task"], "there is no task 'no-such-task'"),
        (["planar-reacher", "--demos", "nowhere"], "nowhere"),
        (["planar-reacher", "--iterations", "0"], "must be positive"),
        (["planar-reacher", "--samples", "7"], "multiple of the number of networks"),
        (["planar-reacher", "--kernel", "4"], "kernel must be odd"),
        (["planar-reacher", "--dropout", "1.5"], "dropout"),
        (["planar-reacher", "--train-contexts", "99"], "--train-contexts"),
        (["planar-reacher", "--demos-per-context", "99"], "--demos-per-context"),
        (["planar-reacher", "--seed", "-1"], "seed"),
        (["planar-reacher", "--seed", "99999999999999999999"], "seed"),
        (["planar-reacher", "--epochs", "5"], "warmup (11)"),
        (["planar-reacher", "--components", "1000000000"], "million"),
        (["planar-reacher", "--surrogate", "values"], "--samples"),
        (["planar-reacher", "--descriptors", "colour"], "no descriptors named 'colour'"),
        (["planar-reacher", "--test-contexts-file", "missing.npy"], "missing.npy does not exist"),
        (["planar-reacher", "--test-contexts-file", "missing.csv"], "missing.csv does not exist"),
        (["planar-reacher", "--method", "em-drex", "--em-components", "0"], "em_components"),
        (["planar-reacher", "--method=bc-t", "--entropy", "-1"], "entropy"),
        (["planar-reacher", "--method", "bc-gmm-t", "--width", "0"], "width"),
        (["planar-reacher", "--method", "bc-t", "--kl-bound", "1"], "unrecognized options: --kl-bound, 1"),
        (
            ["planar-reacher", "--method", "nonsense"],
            "'vigor', 'em-drex', 'bc-t', 'bc-gmm-t', 'bc-s', 'bc-gmm-s', 'gail'",
        ),
        (["planar-reacher", "--task", "own.py:TASK"], "--task belongs to --resume"),
        (["--resume", "nowhere"], "nowhere holds no run"),
        (["--resume", "nowhere", "--seed", "3"], "give no others"),
        (["--resume", "nowhere", "--iterations", "3"], "give no others"),
        (["--resume", "nowhere", "--out", "there"], "give no others"),
        (["--resume", "nowhere", "--method", "bc-t"], "give no others"),
        (["planar-reacher", "--resume", "nowhere"], "give no others"),
    ],
)
def test_bad_input_is_one_sentence_and_writes_nothing(still, tmp_path, capsys, arguments, said):
    words = arguments if "--demos" in arguments or "--resume" in arguments else [*arguments, "--demos", still]
    assert said in refused(capsys, "train", *words)
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def still(tmp_path_factory) -> Path:
    """Demonstrations of the planar reacher in which nothing moves, so that none have to be generated."""
    folder = tmp_path_factory.mktemp("demos") / "still"
    Demonstrations("planar-reacher", np.eye(6, 4), np.arange(30) % 6, np.zeros((30, 25)), None, "nobody").save(folder)
    return folder


@pytest.mark.parametrize(
    ("contexts", "said"),
    [
        (np.zeros((2, 3)), "must hold real numbers [contexts, 4]; its shape is (2, 3)"),
        (np.zeros(4), "bad.npy"),
        (np.zeros((0, 4)), "bad.npy"),
        (np.full((2, 4), np.nan), "finite numbers"),
        (np.array([["a"] * 4]), "bad.npy"),
        (np.zeros((2, 4), complex), "real numbers"),
        (np.array([{"a": 1}], dtype=object), "bad.npy"),
    ],
    ids=["three columns", "one axis", "none", "nan", "words", "complex", "pickled"],
)
def test_bad_test_contexts_are_one_sentence(tmp_path, capsys, contexts, said):
    np.save("bad.npy", contexts)
    assert said in refused(capsys, "train", "planar-reacher", "--test-contexts-file", "bad.npy")
    assert [path.name for path in tmp_path.iterdir()] == ["bad.npy"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1,2,3,4\n1,2,three,4\n", "bad.csv, row 2, column 3: 'three' is no finite number"),
        ("a;b;c;d\n1,5;2;3;nan\n", "bad.csv, row 2, column 4: 'nan' is no finite number"),
        ("1,2,3,4\n1,2,3\n", "bad.csv, row 2 has 3 columns where others have 4"),
        ("1,2\n", "bad.csv must hold real numbers [contexts, 4]; its shape is (1, 2)"),
        ("", "bad.csv is empty"),
    ],
)
def test_a_bad_table_is_one_sentence_with_row_and_column(tmp_path, capsys, text, said):
    (tmp_path / "bad.csv").write_text(text)
    assert said in refused(capsys, "train", "planar-reacher", "--test-contexts-file", "bad.csv")


def test_an_output_folder_with_other_things_is_left_alone(tmp_path, capsys):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("precious")
    assert "not empty" in refused(capsys, "train", "planar-reacher", "--out", "mine")
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["thesis.txt"]


def test_a_place_that_cannot_be_written_is_one_sentence(trained, tmp_path, capsys):
    (tmp_path / "file").write_text("")
    words = small(demos=trained / "demonstrations", out=tmp_path / "file" / "run")
    assert str(tmp_path / "file") in refused(capsys, "train", EXAMPLE_TASK, *words)


# Settings ------------------------------------------------------------------------------------------------------------


def test_settings_are_those_of_task_preset_and_method():
    for words, expected in (
        (["planar-reacher"], preset("planar-reacher")),
        (["panda-reacher"], preset("panda-reacher")),
        (["--out", "panda-reacher", "planar-reacher"], preset("planar-reacher")),
        (["panda-reacher", "--preset", "paper"], preset("panda-reacher", "paper")),
        (["planar-reacher", "--method", "bc-t"], preset("planar-reacher", "default", "bc-t")),
        (["--method=em-drex", "panda-reacher", "--preset", "paper"], preset("panda-reacher", "paper", "em-drex")),
        ([EXAMPLE_TASK], preset(EXAMPLE_TASK)),
    ):
        assert parse(["train", *words]).settings == expected


def test_options_change_single_settings():
    words = [
        "train",
        "panda-reacher",
        "--preset",
        "paper",
        "--components",
        "3",
        "--width",
        "7",
        "--invariants",
    ]
    expected = with_values(preset("panda-reacher", "paper"), components=3, width=7, invariants=True)
    assert parse(words).settings == expected
    cloning = parse(["train", "planar-reacher", "--method", "bc-t", "--width", "7"])
    assert cloning.method == "bc-t"
    assert cloning.settings == with_values(preset("planar-reacher", "default", "bc-t"), width=7)


def test_a_settings_default_is_the_tasks():
    assert [parse(["train", task]).demos_per_context for task in ("planar-reacher", "box-pusher")] == [5, 3]
    assert parse(["train", "box-pusher", "--demos-per-context", "4"]).demos_per_context == 4


def test_the_command_line_knows_every_method():
    assert get_args(get_type_hints(Train)["method"]) == tuple(METHODS)


def help_of(capsys, *words) -> str:
    code, said = ended(capsys, "train", *words, "--help")
    assert (code, said.err) == (0, "")
    return said.out


def test_help_is_that_of_the_task(capsys):
    assert "(default: 0.3)" in help_of(capsys, "panda-reacher")  # Misplaced demonstrations.


def test_help_explains_every_option(capsys):
    text = help_of(capsys)
    for option in ("--demos", "--test-contexts-file", "--components", "--iterations", "--resume", "--learning-rate"):
        assert option in text


@pytest.mark.parametrize(
    ("name", "shown", "hidden"),
    [
        ("vigor", ("--misplaced", "--decay", "--kl-bound"), ("--em-components", "--entropy")),
        ("em-drex", ("--em-components", "--reward-scale", "--kl-bound"), ("--misplaced", "--decay", "--entropy")),
        ("bc-t", ("--entropy", "--train-weights"), ("--em-components", "--kl-bound", "--misplaced")),
        ("bc-gmm-t", ("--entropy", "--train-weights"), ("--em-components", "--kl-bound", "--frames")),
        ("bc-s", ("--entropy", "--frames", "--target-encoding"), ("--em-components", "--kl-bound", "--misplaced")),
        ("bc-gmm-s", ("--train-weights", "--hold-component"), ("--em-components", "--kl-bound", "--misplaced")),
        ("gail", ("--policy-steps", "--frames"), ("--em-components", "--kl-bound", "--components")),
    ],
)
def test_help_shows_the_settings_of_the_method(capsys, name, shown, hidden):
    text = help_of(capsys, "--method", name)
    assert all(option in text for option in (*shown, "--seed", "--out"))
    assert not any(option in text for option in hidden)


def test_without_words_it_says_what_is_missing(capsys):
    assert "name a task: planar-reacher, " in refused(capsys, "train")
