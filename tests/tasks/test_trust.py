"""Files that may be run are known by their content, wherever they lie."""

import hashlib
from pathlib import Path

import pytest

from vigor.basics.errors import UserError
from vigor.tasks import trust


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch) -> Path:
    """A machine where nothing was ever confirmed."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state"


@pytest.fixture
def own(tmp_path) -> Path:
    path = tmp_path / "own.py"
    path.write_bytes(b"TASK = 1\r\n")
    return path


def test_a_digest_is_that_of_the_bytes(own):
    assert trust.digest(own) == trust.digest_of(b"TASK = 1\r\n") == hashlib.sha256(b"TASK = 1\r\n").hexdigest()


def test_a_file_that_can_be_no_program_is_not_read(tmp_path):
    with (tmp_path / "huge.py").open("wb") as file:
        file.truncate(2**40)
    with pytest.raises(UserError, match=r"huge.py holds 1,048,576 MiB; at most 64 MiB can be read"):
        trust.digest(tmp_path / "huge.py")


def test_content_is_confirmed_not_a_place(own, tmp_path):
    assert not trust.is_confirmed(trust.digest(own))
    trust.confirm(own)
    copy = tmp_path / "elsewhere.py"
    copy.write_bytes(own.read_bytes())
    assert trust.is_confirmed(trust.digest(copy))
    own.write_text("TASK = 2")
    assert not trust.is_confirmed(trust.digest(own))


def test_confirming_again_changes_nothing(own, state):
    trust.confirm(own)
    marks = {path: path.stat().st_mtime_ns for path in state.rglob("*")}
    trust.confirm(own)
    assert {path: path.stat().st_mtime_ns for path in state.rglob("*")} == marks
    assert [path.read_text() for path in state.rglob("*") if path.is_file()] == [f"{own}\n"]


@pytest.mark.parametrize("content", ["", ".", "..", "../confirmed", "a", "/etc/passwd", "x" * 63, "." * 64, "é" * 64])
def test_what_is_no_digest_is_not_confirmed(own, content):
    trust.confirm(own)
    assert not trust.is_confirmed(content)


def test_where_nothing_can_be_remembered_nothing_is_confirmed(own, state):
    state.write_text("a file, where a folder should be")
    trust.confirm(own)
    assert not trust.is_confirmed(trust.digest(own))


@pytest.mark.parametrize("given", ["", "state", "./state"])
def test_the_working_folder_confirms_nothing(own, given, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_STATE_HOME", given)
    monkeypatch.chdir(tmp_path)
    mark = tmp_path / given / "vigor" / "confirmed" / trust.digest(own)
    mark.parent.mkdir(parents=True)
    mark.touch()
    assert not trust.is_confirmed(trust.digest(own))
    trust.confirm(own)
    assert [path.name for path in (tmp_path / "home").rglob(trust.digest(own))] == [trust.digest(own)]
    assert trust.is_confirmed(trust.digest(own))
