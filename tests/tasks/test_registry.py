"""Tasks by name, and from files of the user's own: what is run, when, and what is wrong with a reference."""

import shlex
import sys
from pathlib import Path

import pytest

from helpers import EXAMPLE, EXAMPLE_TASK, POINT
from vigor.basics.errors import Notice, UserError
from vigor.tasks import TASKS, absolute, load_stored, load_task, trust

COUNTED = """
from pathlib import Path
from vigor.tasks import load_task
counter = Path({counter!r})
counter.write_text(counter.read_text() + "x")
TASK = load_task("planar-reacher")
"""
"""A task file that notes how often it is run."""


@pytest.fixture
def counter(tmp_path) -> Path:
    path = tmp_path / "counter"
    path.write_text("")
    return path


@pytest.fixture
def own(tmp_path, counter) -> Path:
    """A task file that nobody has run yet."""
    path = tmp_path / "own.py"
    path.write_text(COUNTED.format(counter=str(counter)))
    return path


# Names and files -----------------------------------------------------------------------------------------------------


def test_tasks_of_the_package_have_their_names():
    for name in TASKS:
        task = load_task(name)
        assert task.name == name
        assert task is load_task(name)
        assert (task.origin, task.digest) == ("", "")


def test_a_task_itself_is_taken_as_it_is():
    assert load_task(POINT) is POINT


def test_a_users_task_knows_where_it_comes_from(monkeypatch):
    task = load_task(EXAMPLE_TASK)
    assert task.origin == absolute(EXAMPLE_TASK) == f"{EXAMPLE.resolve()}:TASK"
    assert task.digest == trust.digest(EXAMPLE)
    monkeypatch.chdir(EXAMPLE.parent)
    assert load_task(f"{EXAMPLE.name}:TASK").origin == task.origin
    assert absolute(f"{EXAMPLE.name}:TASK") == task.origin
    assert absolute("planar-reacher") == "planar-reacher"


@pytest.mark.parametrize(
    ("text", "reference", "said"),
    [
        ("", "{path}:TASK", "defines no TASK; it has NAME"),
        ("TASK = 3", "{path}:TASK", r"TASK in .*mine\.py is a int; it must be an instance of vigor\.Task"),
        ("1 / 0", "{path}:TASK", "cannot be run: ZeroDivisionError"),
        ("import sys; sys.exit(0)", "{path}:TASK", "cannot be run: SystemExit"),
        ("def broken(:", "{path}:TASK", "cannot be run: SyntaxError"),
        ("import no_such_module", "{path}:TASK", "cannot be run: ModuleNotFoundError"),
        ("TASK = Task()", "{path}", r"say which task of .*mine\.py is meant: .*mine\.py:TASK"),
        ("x = a" + ".a" * 10**5, "{path}", r"say which task of .*mine\.py is meant: .*mine\.py:NAME"),
        ("A = vigor.Task()\nB = Task()", "{path}", r"mine\.py:A or B"),
        ("broken(", "{path}", r"mine\.py:NAME"),
        ("", "{path}.missing.py:TASK", "does not exist; name a Python file"),
        ("", "{path}.txt:TASK", "there is no task"),
        ("", "planer-reacher", r"there is no task 'planer-reacher' \(did you mean planar-reacher\?\)"),
        ("", "", "there is no task ''; name one of planar-reacher, panda-reacher, box-pusher"),
    ],
)
def test_a_bad_reference_is_one_sentence(tmp_path, text, reference, said):
    path = tmp_path / "mine.py"
    path.write_text(text)
    with pytest.raises(UserError, match=said):
        load_task(reference.format(path=path))


def test_a_file_without_a_name_is_not_run(own, counter):
    with pytest.raises(UserError, match="say which task"):
        load_task(str(own))
    assert counter.read_text() == ""


def test_a_mistake_in_a_task_is_named_with_its_file(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text("from dataclasses import replace\nfrom vigor.tasks import load_task\n")
    path.write_text(path.read_text() + "TASK = replace(load_task('planar-reacher'), descriptors=())\n")
    with pytest.raises(UserError, match=r"TASK in .*mine\.py: descriptors is empty"):
        load_task(f"{path}:TASK")


def test_a_users_file_is_run_again_only_when_it_has_changed(own, counter):
    first = load_task(f"{own}:TASK")
    assert load_task(f"{own}:TASK") is first
    assert counter.read_text() == "x"
    own.write_text(own.read_text() + "# changed\n")
    assert load_task(f"{own}:TASK") is not first
    assert counter.read_text() == "xx"


def test_a_named_file_may_import_what_lies_beside_it(own):
    (own.parent / "beside_own.py").write_text("NUMBER = 3")
    own.write_text("import sys\nsys.path.insert(0, '/elsewhere')\nimport beside_own\n" + own.read_text())
    before = list(sys.path)
    load_task(f"{own}:TASK")
    assert sys.path == ["/elsewhere", *before]  # What the file wants stays, ours goes.
    sys.path.remove("/elsewhere")


# Stored references ---------------------------------------------------------------------------------------------------


@pytest.fixture
def where(tmp_path, monkeypatch) -> Path:
    """A file that refers to a task, on a machine where nothing was ever confirmed."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "config.json"


def test_tasks_of_the_package_are_loaded(where):
    assert load_stored("planar-reacher", "", (), where) is load_task("planar-reacher")


def test_a_file_that_was_never_named_is_not_run(own, counter, where):
    with pytest.raises(UserError) as caught:
        load_stored(f"{own}:TASK", trust.digest(own), (), where)
    said = str(caught.value)
    assert said.startswith(f"{where} needs the task in {own}, a program that you have not run before")
    assert said.endswith(f"give --task {own}:TASK")
    assert counter.read_text() == ""


def test_a_sentence_that_is_pasted_into_a_shell_runs_nothing(own, where, tmp_path):
    folder = tmp_path / "$(touch mark)"
    folder.mkdir()
    copy = own.rename(folder / "task.py")
    with pytest.raises(UserError) as caught:
        load_stored("/nowhere/task.py:`touch mark`", trust.digest(copy), (folder,), where)
    assert shlex.split(str(caught.value).partition("--task ")[2]) == [f"{copy}:`touch mark`"]
    assert str(caught.value).endswith("'")


def test_a_file_that_was_named_is_loaded_also_from_a_copy(own, counter, where, tmp_path):
    load_task(f"{own}:TASK")
    digest, copy = trust.digest(own), tmp_path / "task.py"
    assert load_stored(f"{own}:TASK", digest, (tmp_path,), where).origin == f"{own}:TASK"
    own.rename(copy)
    task = load_stored(f"{own}:TASK", digest, (tmp_path,), where)
    assert task.origin == f"{copy}:TASK"
    assert task.digest == digest
    assert load_stored(f"{own}:TASK", digest, (tmp_path,), where) is task
    assert counter.read_text() == "xxx"


def test_a_file_that_has_changed_is_not_run(own, counter, where):
    """Not even if the new content was confirmed: it is not what was stored."""
    with pytest.raises(UserError, match=r"needs its task .*own\.py, which has changed since; give --task FILE:NAME"):
        load_stored(f"{own}:TASK", "0" * 64, (), where)
    load_task(f"{own}:TASK")
    with pytest.raises(UserError, match="has changed since"):
        load_stored(f"{own}:TASK", "0" * 64, (), where)
    with pytest.raises(UserError, match="has changed since"):
        load_stored(f"{own}:TASK", "", (), where)
    assert counter.read_text() == "x"


def test_where_a_file_has_changed_a_copy_is_used_and_that_is_said(own, counter, where, tmp_path):
    digest, copy = trust.digest(own), tmp_path / "task.py"
    copy.write_bytes(own.read_bytes())
    trust.confirm(own)
    own.write_text("1 / 0")
    with pytest.warns(
        Notice, match=r"own\.py has changed since .*config\.json was written; the copy .*task\.py is used"
    ):
        assert load_stored(f"{own}:TASK", digest, (tmp_path,), where).origin == f"{copy}:TASK"
    assert counter.read_text() == "x"


def test_a_task_that_is_nowhere_is_one_sentence(where, tmp_path):
    with pytest.raises(UserError, match=r"needs its task gone\.py, which is not there; give --task FILE:NAME"):
        load_stored("gone.py:TASK", "0" * 64, (tmp_path / "gone too",), where)
    with pytest.raises(UserError, match="is of the task point, which is in no file; give the task itself"):
        load_stored("point", "", (), where)
    with pytest.raises(UserError, match="which is not there"):
        load_stored(f"{tmp_path}:TASK", "0" * 64, (), where)


def test_a_stored_task_is_run_alone(own, counter, where):
    """Files beside it may be anybody's, though the file itself is known."""
    marker = own.parent / "marker"
    (own.parent / "beside_stored.py").write_text(f"open({str(marker)!r}, 'w')")
    own.write_text("import beside_stored\n" + own.read_text())
    trust.confirm(own)
    with pytest.raises(UserError) as caught:
        load_stored(f"{own}:TASK", trust.digest(own), (), where)
    said = str(caught.value)
    assert f"{own} cannot be run: ModuleNotFoundError: No module named 'beside_stored'" in said
    assert said.endswith("give --task FILE:NAME")
    assert not marker.exists()
    assert counter.read_text() == ""
