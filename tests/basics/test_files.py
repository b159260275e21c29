"""Files are written whole or not at all, and wrong ones are refused in one sentence that names them."""

import errno
import io
import json
import os
import re
import resource
import stat
import struct
import zipfile

import numpy as np
import pytest

from vigor.basics import contents, files
from vigor.basics.contents import Numbers
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


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_permissions_are_those_that_the_user_wants(tmp_path, mask, mode):
    before = os.umask(mask)
    try:
        files.write_text(tmp_path / "some.txt", "text")
        files.write_arrays(tmp_path / "some.npz", {"a": np.zeros(1)})
    finally:
        os.umask(before)
    assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()} == {mode}


def test_a_file_and_then_its_folder_are_synced_before_anybody_goes_on(tmp_path, monkeypatch):
    """A rename is on the disk only when the folder is: else a power cut could undo it."""
    done = []
    monkeypatch.setattr(os, "fsync", lambda handle: done.append(os.readlink(f"/proc/self/fd/{handle}")))
    files.write_text(tmp_path / "some.txt", "text")
    part, folder = done
    assert re.fullmatch(rf"{tmp_path}/\.some\.txt\.[0-9a-f]{{8}}\.vigor-part\.txt", part)
    assert folder == str(tmp_path)


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EACCES, errno.EIO])
def test_a_disk_that_fails_is_told_with_the_name_of_the_file(tmp_path, monkeypatch, code):
    path = tmp_path / "some.npz"
    files.write_arrays(path, {"a": np.zeros(3)})

    def fail(handle):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError) as error:
        files.write_arrays(path, {"a": np.ones(3)})
    assert (error.value.filename, error.value.strerror) == (str(path), os.strerror(code))
    assert names(tmp_path) == ["some.npz"]
    np.testing.assert_array_equal(files.read_arrays(path)["a"], np.zeros(3))


def test_a_file_that_can_grow_no_more_is_told_with_its_name(tmp_path):
    """The system's own refusal, in the middle of writing."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(OSError) as error:
            contents.write_tensors(tmp_path / "some.safetensors", {"a": np.zeros(1000)}, {"a": Numbers((1000,))})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert error.value.filename == str(tmp_path / "some.safetensors")
    assert names(tmp_path) == []


OWN = (
    ".env.backup01",
    ".ssh.identity",
    ".notes.markdown",
    ".a.vigor-part",
    ".a.0123.vigor-part.txt",
    "a.01234567.vigor-part",
)
LEFT = (".some.txt.0123abcd.vigor-part.txt", ".plan.0123abcd.vigor-part")


def test_only_what_this_program_left_is_removed(tmp_path):
    for name in (*OWN, *LEFT):
        (tmp_path / name).write_text("")
    (tmp_path / ".link.0123abcd.vigor-part").symlink_to(tmp_path / OWN[0])
    (tmp_path / ".folder.0123abcd.vigor-part").mkdir()
    files.remove_leftovers(tmp_path, older=60)
    assert len(names(tmp_path)) == len(OWN) + len(LEFT) + 2
    files.remove_leftovers(tmp_path)
    assert names(tmp_path) == sorted([*OWN, ".link.0123abcd.vigor-part"])


def test_what_a_killed_process_left_goes_when_something_is_written_there_much_later(tmp_path):
    for name in LEFT:
        (tmp_path / name).write_text("")
    os.utime(tmp_path / LEFT[0], (0, 0))
    files.write_text(tmp_path / "some.txt", "text")
    assert names(tmp_path) == sorted([LEFT[1], "some.txt"])


def packed(path, header, size):
    """An .npz whose only array is so many zeros after a header of any kind."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        whole = io.BytesIO()
        np.lib.format.write_array_header_1_0(whole, header)
        file.writestr("a.npy", whole.getvalue() + bytes(size))


def test_arrays_that_are_not_in_the_file_take_no_memory(tmp_path):
    path = tmp_path / "some.npz"
    for shape in ((10**12,), (2**62, 8), (3, -1)):
        packed(path, {"descr": "<f8", "fortran_order": False, "shape": shape}, 1000)
        with pytest.raises(UserError, match=r"some\.npz is damaged .*is not in it"):
            files.read_arrays(path)


def test_archives_that_grow_are_refused_before_they_do(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "UNPACKED", 2**20)
    packed(tmp_path / "some.npz", {"descr": "<f8", "fortran_order": False, "shape": (2**18,)}, 2**21)
    assert (tmp_path / "some.npz").stat().st_size < 10_000
    with pytest.raises(UserError, match="holds 2 MiB; at most 1 MiB can be read"):
        files.read_arrays(tmp_path / "some.npz")


def test_the_directory_of_an_archive_is_not_read_before_its_size_is_known(tmp_path, monkeypatch):
    """A zip of nothing but entries takes several times its size in memory once it is opened."""
    path = tmp_path / "some.npz"
    with zipfile.ZipFile(path, "w") as file:
        for number in range(30):
            file.writestr(f"{number}{'a' * 50_000}.npy", b"")
    many = path.read_bytes()
    directory, end = int.from_bytes(many[-6:-2], "little"), len(many) - 22
    locator = struct.pack("<4sLQL", b"PK\6\7", 0, end, 1)
    second = struct.pack("<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, 0, 0, 30, 30, end - directory, directory)
    hidden = many[:end] + second + locator + many[end:-10] + bytes(10)  # The short end says that it is empty.
    monkeypatch.setattr(zipfile, "ZipFile", None)
    for content in (many, many[:-2] + b"\1\0a", hidden):
        path.write_bytes(content)
        assert zipfile.is_zipfile(path)
        with pytest.raises(UserError, match=r"some\.npz is damaged .*: its directory is not one of arrays"):
            files.read_arrays(path)


@pytest.mark.parametrize("read", [files.read_json, files.read_json_lines, files.read_arrays, files.read_csv])
def test_pipes_and_devices_are_not_read(tmp_path, read):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zeros").symlink_to("/dev/zero")
    for name in ("pipe", "zeros"):
        with pytest.raises(UserError, match=f"{name} is not a file"):
            read(tmp_path / name)


def test_lines_of_json_come_back(tmp_path):
    path = tmp_path / "some.jsonl"
    path.write_text('{"a": 1}\n\n[2.5]\n')
    assert files.read_json_lines(path) == [{"a": 1}, [2.5]]
    path.write_text('{"a": 1}\n{"a": NaN}\n')
    with refused(path):
        files.read_json_lines(path)


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


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "Expecting value"),
        (b"{", "Expecting property name"),
        (b"\xff\xfe", "can't decode byte"),
        (b"{'a': 1}", "Expecting property name"),
        (b'{"a": NaN}', "NaN is no finite number"),
        (b"[1, -Infinity]", "-Infinity is no finite number"),
        (b"[1e999]", "1e999 is no finite number"),
        (100_000 * b"[", "nested too deeply"),
        (b"[" + 5000 * b"1" + b"]", "no number of a sensible size"),
    ],
    ids=["empty", "half", "binary", "quotes", "nan", "infinite", "huge", "deep", "digits"],
)
def test_wrong_json_is_one_sentence_that_names_it(tmp_path, content, said):
    path = tmp_path / "wrong.json"
    path.write_bytes(content)
    with pytest.raises(UserError, match=re.escape(said)) as error:
        files.read_json(path)
    assert str(error.value).startswith(f"{path} is not a readable JSON file: ")
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 200 + len(str(path))


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


# CSV


@pytest.mark.parametrize(
    "text",
    [
        "1,2.5\n-3,4e1\n",
        "first,second\n1, 2.5\n-3 ,+4e1",
        "1;2.5\r\n-3;40\r\n",
        "first;second\n1;2,5\n-3;40\n",
        "1\t2.5\n\n-3\t40\n",
        "\ufeff1,2.5\n-3.,4E+1\n",
    ],
    ids=["commas", "names", "semicolons", "decimal commas", "tabs", "byte order mark"],
)
def test_numbers_of_a_csv(tmp_path, text):
    path = tmp_path / "some.csv"
    path.write_text(text, encoding="utf-8")
    np.testing.assert_array_equal(files.read_csv(path), [[1, 2.5], [-3, 40]])
    np.testing.assert_array_equal(files.read_table(path), [[1, 2.5], [-3, 40]])


def test_one_column_is_a_column(tmp_path):
    (tmp_path / "some.csv").write_text("x\n1\n2\n")
    np.testing.assert_array_equal(files.read_csv(tmp_path / "some.csv"), [[1], [2]])


def test_a_table_may_be_a_numpy_file(tmp_path):
    np.save(tmp_path / "some.npy", np.eye(2))
    np.testing.assert_array_equal(files.read_table(tmp_path / "some.npy"), np.eye(2))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        ("\n \n", "is empty"),
        ("x,y\n", "has names and no numbers"),
        ("1,2\n\n3,four\n", "row 3, column 2: 'four' is no finite number"),
        ("1,2\nnan,4\n", "row 2, column 1: 'nan' is no finite number"),
        ("1,inf\n", "row 1, column 2: 'inf' is no finite number"),
        ("1,2\n3,\n", "row 2, column 2: '' is no finite number"),
        ("1,2\n3,1e400\n", "row 2, column 2: '1e400' is no finite number"),
        ("1,2\n3,9e19\n", "row 2, column 2: '9e19' is no finite number of a sensible size"),
        ("1,2\n3,1_0\n", "row 2, column 2: '1_0' is no finite number"),
        ("1,2\n3,\uff11\n", "row 2, column 2: '\uff11' is no finite number"),
        ("1,2\n3\n", "row 2 has 1 columns where others have 2"),
        ("x,y\n1,2\n3,4,5\n", "row 3 has 3 columns where others have 2"),
    ],
)
def test_a_wrong_csv_is_one_sentence_with_row_and_column(tmp_path, text, said):
    path = tmp_path / "wrong.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=re.escape(said)) as error:
        files.read_csv(path)
    assert str(error.value).startswith(str(path))
    assert "\n" not in str(error.value)


def test_a_csv_that_cannot_be_read_is_refused_by_name(tmp_path):
    with pytest.raises(UserError, match=r"wrong\.csv does not exist"):
        files.read_csv(tmp_path / "wrong.csv")
    (tmp_path / "wrong.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UserError, match=r"wrong\.csv is not a readable text file"):
        files.read_csv(tmp_path / "wrong.csv")


def test_a_table_of_too_many_numbers_is_refused(tmp_path, monkeypatch):
    (tmp_path / "long.csv").write_text("1,2\n" * 100)
    assert files.read_csv(tmp_path / "long.csv").shape == (100, 2)
    monkeypatch.setattr(files, "MOST", 50)
    with pytest.raises(UserError, match="holds more than the 50 numbers that can be read"):
        files.read_csv(tmp_path / "long.csv")
    monkeypatch.setattr(files, "LARGEST", 100)
    with pytest.raises(UserError, match="can be read"):
        files.read_csv(tmp_path / "long.csv")


@pytest.mark.parametrize("read", [files.read_json, files.read_csv, files.read_array])
def test_pipes_are_not_opened(tmp_path, read):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UserError, match="pipe is not a file"):
        read(tmp_path / "pipe")


def test_names_of_columns_are_read(tmp_path):
    (tmp_path / "named.csv").write_text('# "a"; b ;c\n1,5;2;3\n')
    names, values = files.read_named(tmp_path / "named.csv")
    assert names == ("a", "b", "c")
    np.testing.assert_array_equal(values, [[1.5, 2, 3]])
    (tmp_path / "bare.txt").write_text("1 2\n3 4\n")
    assert files.read_named(tmp_path / "bare.txt")[0] is None
