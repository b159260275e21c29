"""Files are written whole or not at all, and wrong ones are refused in one sentence that names them."""

import json
import os
import re
import stat
import zipfile

import numpy as np
import pytest

from vigor.basics import files
from vigor.basics.errors import UserError


class Broken(Exception):
    pass


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_arrays_come_back(tmp_path):
    path = tmp_path / "new folder" / "some.npz"
    arrays = {"a": np.arange(6.0).reshape(2, 3), "b": np.array(7), "text": np.array(["x", "y"])}
    files.write_arrays(path, arrays)
    loaded = files.read_arrays(path)
    assert loaded.keys() == arrays.keys()
    for name, value in arrays.items():
        np.testing.assert_array_equal(loaded[name], value)
        assert loaded[name].dtype == value.dtype


def test_json_comes_back(tmp_path):
    value = {"name": "größe", "numbers": [1, 2.5, None, True]}
    files.write_json(tmp_path / "some.json", value)
    assert files.read_json(tmp_path / "some.json") == value
    assert names(tmp_path) == ["some.json"]


def test_a_failing_writer_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "some.txt"
    files.write_text(path, "old")

    def half(temporary):
        temporary.write_text("ne")
        raise Broken

    with pytest.raises(Broken):
        files.write_whole(path, half)
    assert path.read_text() == "old"
    assert names(tmp_path) == ["some.txt"]


def test_the_old_file_stays_until_the_new_one_is_whole(tmp_path):
    path = tmp_path / "some.txt"
    files.write_text(path, "old")

    def write(temporary):
        assert temporary != path
        assert temporary.parent == path.parent
        temporary.write_text("new")
        assert path.read_text() == "old"

    files.write_whole(path, write)
    assert path.read_text() == "new"
    assert names(tmp_path) == ["some.txt"]


def test_written_files_can_be_read_by_others(tmp_path):
    files.write_text(tmp_path / "some.txt", "text")
    assert stat.S_IMODE(os.stat(tmp_path / "some.txt").st_mode) == 0o644


def test_values_that_json_cannot_hold_leave_the_old_file(tmp_path):
    path = tmp_path / "some.json"
    files.write_json(path, [1])
    with pytest.raises(ValueError):
        files.write_json(path, [float("nan")])
    assert files.read_json(path) == [1]
    assert names(tmp_path) == ["some.json"]


def test_arrays_of_objects_are_not_written(tmp_path):
    with pytest.raises(ValueError):
        files.write_arrays(tmp_path / "some.npz", {"a": np.array([{}], dtype=object)})
    assert names(tmp_path) == []


def refused(path):
    return pytest.raises(UserError, match=re.escape(path.name))


def pickled(path):
    np.savez(path, a=np.array([print], dtype=object))


def array_alone(path):
    with path.open("wb") as file:
        np.save(file, np.zeros(3))


def truncated(path):
    np.savez(path, a=NUMBERS)
    path.write_bytes(path.read_bytes()[:3000])


def overwritten(path, save):
    """The zip's directory is whole, but not what it points to."""
    save(path, a=NUMBERS)
    content = bytearray(path.read_bytes())
    content[100:200] = 100 * b"\xff"
    path.write_bytes(bytes(content))


def not_arrays(path):
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("readme.txt", "hello")


def case(name, maker):
    """A wrong file."""
    return pytest.param(maker, id=name)


NUMBERS = np.random.default_rng(0).normal(size=1000)
UNREADABLE = [
    case("missing", lambda path: None),
    case("empty", lambda path: path.write_bytes(b"")),
    case("text", lambda path: path.write_text("hello")),
    case("folder", lambda path: path.mkdir()),
    case("pickled", pickled),
    case("overwritten", lambda path: overwritten(path, np.savez)),
    case("overwritten, compressed", lambda path: overwritten(path, np.savez_compressed)),
    case("cut", truncated),
    case("no arrays", not_arrays),
]


@pytest.mark.parametrize("make", [*UNREADABLE, case("one array", array_alone)])
def test_files_that_are_no_archive_are_refused_by_name(tmp_path, make):
    make(tmp_path / "wrong.npz")
    with refused(tmp_path / "wrong.npz"):
        files.read_arrays(tmp_path / "wrong.npz")


@pytest.mark.parametrize("make", UNREADABLE)
def test_files_without_an_array_are_refused_by_name(tmp_path, make):
    make(tmp_path / "wrong.npz")
    with refused(tmp_path / "wrong.npz"):
        files.read_array(tmp_path / "wrong.npz")


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"{'a': 1}"], ids=["empty", "half", "binary", "quotes"])
def test_wrong_json_is_refused_by_name(tmp_path, content):
    path = tmp_path / "wrong.json"
    path.write_bytes(content)
    with refused(path):
        files.read_json(path)


def test_missing_json_is_refused_by_name(tmp_path):
    with pytest.raises(UserError, match=r"wrong\.json does not exist"):
        files.read_json(tmp_path / "wrong.json")


def test_one_array_comes_from_npy_or_npz(tmp_path):
    value = np.arange(4.0)
    np.save(tmp_path / "one.npy", value)
    np.savez(tmp_path / "one.npz", value)
    for name in ("one.npy", "one.npz"):
        np.testing.assert_array_equal(files.read_array(tmp_path / name), value)


def test_an_archive_of_two_arrays_is_not_one_array(tmp_path):
    np.savez(tmp_path / "two.npz", a=np.zeros(1), b=np.zeros(1))
    with pytest.raises(UserError, match=r"two\.npz holds 2 arrays"):
        files.read_array(tmp_path / "two.npz")


def test_json_is_readable_by_any_program(tmp_path):
    files.write_json(tmp_path / "some.json", {"a": [1, 2]})
    text = (tmp_path / "some.json").read_text()
    assert text.endswith("\n")
    assert json.loads(text) == {"a": [1, 2]}
