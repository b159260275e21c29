"""Words that are no command or no option, exit codes, and that whatever goes wrong is said in one sentence."""

import os
import re
import subprocess
import sys
import warnings
from dataclasses import dataclass

import pytest

from helpers import refused
from vigor.basics.errors import Notice, UserError
from vigor.basics.version import __version__
from vigor.cli import main as cli
from vigor.cli.main import COMMANDS

BOXES = re.compile("[\u2500-\u257f]")


def ended(capsys, *arguments) -> tuple[int, str, str]:
    """Exit code, output and errors of a command."""
    try:
        cli.main(list(map(str, arguments)))
        code = 0
    except SystemExit as stop:
        code = stop.code or 0
    said = capsys.readouterr()
    return code, said.out, said.err


@pytest.mark.parametrize("word", ["--version", "-V"])
def test_the_version(capsys, word):
    assert ended(capsys, word) == (0, f"vigor {__version__}\n", "")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            [],
            "expected one of {train, evaluate, report, open, plan, export, show, suggest, practise, pack, inspect, "
            "benchmark, demos, studio, robot}; see vigor --help",
        ),
        (["evalute", "run"], "there is no command 'evalute' (did you mean evaluate?); choose from train, evaluate"),
        (["xyz"], "there is no command 'xyz'; choose from train"),
        (["--verbose"], "unrecognized options: --verbose"),
        (
            ["train", "planar-reacher", "--itertions", "3"],
            "--itertions, 3 (did you mean --iterations?); see vigor train",
        ),
        (["plan", "run", "--keepout", "x"], "--keepout, x (did you mean --keep-out?); see vigor plan --help"),
        (["plan", "run", "--zzzz", "x"], "unrecognized options: --zzzz, x; see vigor plan --help"),
        (["train", "planar-reacher", "--seed", "x"], "--seed"),
        (["train", "planar-reacher", "--seed"], "missing value for argument '--seed'"),
        (["train", "planar-reacher", "--preset", "quick"], "invalid choice 'quick' for argument '--preset'"),
        (["plan"], "RUN"),
        (["export", "plan.json"], "--format"),
        (["export", "plan.json", "--format", "xml"], "'csv', 'json', 'ros2', 'mcap'"),
        (["demos"], "expected one of {generate, import, check, show}"),
        (["demos", "generate", "planar-reacher"], "--out"),
        (["benchmark", "quick"], "'paper', 'ablations', 'contexts'"),
    ],
)
def test_mistakes_in_words_are_one_sentence(tmp_path, capsys, words, said):
    sentence = refused(capsys, *words)
    assert said in sentence
    assert not BOXES.search(sentence)
    assert not list(tmp_path.iterdir())


def test_the_sentence_is_the_same_where_the_parser_draws_boxes(capsys):
    words = ["train", "planar-reacher", "--itertions", "3"]
    drawn = os.environ | {"PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        [sys.executable, "-m", "vigor", *words], capture_output=True, text=True, check=False, env=drawn
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.strip() == refused(capsys, *words)


@pytest.mark.parametrize("words", [[], *([name] for name in COMMANDS), ["demos", "import"]], ids=" ".join)
def test_every_command_has_help(capsys, words):
    code, out, err = ended(capsys, *words, "--help")
    assert (code, err) == (0, "")
    assert out.startswith(" ".join(["usage: vigor", *words]))
    assert not re.search(r"None|default: (''|\))", out)  # What can be left out is simply not there.


def test_words_are_understood_without_what_computes():
    """JAX, SciPy and matplotlib take longer to load than the help to be read."""
    program = "import sys; from vigor.cli.main import parse; parse(['plan', 'run']); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not {"jax", "scipy", "matplotlib", "optax"} & set(done.stdout.split())


# What goes wrong on the way ------------------------------------------------------------------------------------------


def command(monkeypatch, act):
    """Let the command line have a command `act`."""

    @dataclass(frozen=True)
    class Act:
        """A command of this test's own."""

        def __call__(self, words: list[str]) -> int:
            return act()

    monkeypatch.setitem(COMMANDS, "act", Act)


def fails(error):
    def act():
        raise error

    return act


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (UserError("the sun is down; wait for it"), 2, "vigor: the sun is down; wait for it\n"),
        (KeyboardInterrupt(), 130, "vigor: stopped\n"),
        (MemoryError(), 2, "vigor: there is not enough memory; lower --chunk, --samples"),
        (RuntimeError("RESOURCE_EXHAUSTED: out of memory"), 2, "vigor: there is not enough memory"),
        (RuntimeError("INTERNAL: Out of memory allocating 1 bytes"), 2, "vigor: there is not enough memory"),
        (
            PermissionError(13, "Permission denied", "/root/run"),
            2,
            "vigor: /root/run: Permission denied; choose another",
        ),
        (OSError(28, "No space left on device"), 2, "vigor: a file: No space left on device; choose another place\n"),
    ],
)
def test_what_goes_wrong_has_a_code_and_a_sentence(monkeypatch, capsys, error, code, said):
    command(monkeypatch, fails(error))
    found, out, err = ended(capsys, "act")
    assert (found, out) == (code, "")
    assert err.startswith(said)
    assert err.count("\n") == 1


@pytest.mark.parametrize("word", ["a\nb", "\x1b[2J", "\0", "\udcff"])
def test_words_that_a_terminal_obeys_are_refused(capsys, word):
    found, _, err = ended(capsys, "report", word)
    assert found == 2
    assert err == f"vigor: {word!r} has characters that cannot be shown; write it without them\n"


def test_mistakes_of_the_program_are_not_hidden(monkeypatch):
    for error in (RuntimeError("a mistake"), ZeroDivisionError()):
        command(monkeypatch, fails(error))
        with pytest.raises(type(error)):
            cli.main(["act"])


def test_a_commands_own_code_is_that_of_the_program(monkeypatch, capsys):
    command(monkeypatch, lambda: 3)
    assert ended(capsys, "act") == (3, "", "")
    command(monkeypatch, lambda: 0)
    assert ended(capsys, "act") == (0, "", "")


def test_notices_are_said_once_and_warnings_of_other_libraries_not_at_all(monkeypatch, capsys):
    def act():
        for _ in range(2):
            warnings.warn("the file has changed", Notice, stacklevel=1)
            warnings.warn("nan in slice", RuntimeWarning, stacklevel=1)
            warnings.warn("use another name", DeprecationWarning, stacklevel=1)
        return 0

    command(monkeypatch, act)
    for _ in range(2):
        assert ended(capsys, "act") == (0, "", "vigor: the file has changed\n")
    with pytest.warns(RuntimeWarning, match="nan in slice"):
        warnings.warn("nan in slice", RuntimeWarning, stacklevel=1)


def test_a_pipe_that_nobody_reads_is_no_mistake():
    read = f"{sys.executable} -m vigor train --help | head -1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", read], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
