"""Tables: names, time stamps and separators are recognised; what is wrong is named with its row and column."""

from pathlib import Path

import numpy as np
import pytest

from helpers import movement
from recorded import POINTED
from vigor.basics.errors import UserError
from vigor.demonstrations import importers
from vigor.demonstrations.formats import tables
from vigor.demonstrations.formats.episodes import Reading


def write(path: Path, names: str, values: np.ndarray, separator: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savetxt(path, values, delimiter=separator, header=names.replace(",", separator), comments="", fmt="%.9f")


@pytest.mark.parametrize("separator", [",", ";", "\t", " "])
@pytest.mark.parametrize(("stamp", "unit"), [("time", 1.0), ("t", 1.0), ("Timestamp [ms]", 1e-3), ("stamp_ns", 1e-9)])
def test_time_stamps_are_a_column_of_any_place(tmp_path: Path, separator: str, stamp: str, unit: str):
    stamp = stamp.replace(" ", "_") if separator == " " else stamp
    times = np.linspace(0.0, 2.0, 40)
    values = np.column_stack([movement((1.0, 0.5)), times / unit + 100.0])
    write(tmp_path / "one.csv", f"y,x,{stamp}", values, separator)
    read = tables.read_csv(tmp_path / "one.csv", Reading())
    assert read.columns == ("y", "x")
    np.testing.assert_allclose(read.episodes[0].times, times, atol=1e-6)
    made = importers.import_demonstrations(POINTED, tmp_path / "one.csv", Reading(context_from="end"))
    np.testing.assert_allclose(made.contexts, [[0.5, 1.0]], atol=1e-6)  # Joints are found by their names.


def test_recordings_are_resampled_by_their_time_stamps(tmp_path: Path):
    even = movement((1.0, 0.5), steps=101)
    kept = np.sort(np.random.default_rng(0).permutation(np.arange(1, 100))[:70])
    kept = np.concatenate([[0], kept, [100]])
    write(tmp_path / "uneven.csv", "time,x,y", np.column_stack([kept / 50, even[kept]]), ",")
    write(tmp_path / "even.csv", "time,x,y", np.column_stack([np.arange(101) / 50, even]), ",")
    notes: list[str] = []
    reading = Reading(context_from="end")
    uneven = importers.import_demonstrations(POINTED, tmp_path / "uneven.csv", reading, notes.append)
    whole = importers.import_demonstrations(POINTED, tmp_path / "even.csv", reading)
    assert any("1 of 1 recordings are resampled by their uneven time stamps" in note for note in notes)
    np.testing.assert_allclose(uneven.weights, whole.weights, atol=2e-3)
    by_index = POINTED.promp.fit(even[kept][None])
    assert np.abs(by_index - whole.weights).max() > 0.02  # Which shows that it makes a difference.


def test_a_folder_of_tables_needs_no_contexts_of_its_own(tmp_path: Path):
    for number, goal in enumerate([(1.0, 0.0), (0.0, 1.0)]):
        write(tmp_path / f"take {number}.tsv", "x,y", movement(goal), "\t")
    with pytest.raises(UserError, match=r"the context of every episode is missing \(x, y\); the file has none"):
        importers.import_demonstrations(POINTED, tmp_path, Reading())
    made = importers.import_demonstrations(POINTED, tmp_path, Reading(context_from="end"))
    np.testing.assert_allclose(made.contexts, [[1, 0], [0, 1]], atol=1e-6)


def test_npz_files_may_have_times(tmp_path: Path):
    times = np.linspace(0.0, 1.0, 40) ** 2
    arrays = {"contexts": np.ones((1, 2)), "context_of": [0], "trajectories": movement((1.0, 1.0))[None]}
    np.savez(tmp_path / "timed.npz", **arrays, times=times[None])
    np.testing.assert_array_equal(tables.read_npz(tmp_path / "timed.npz", Reading()).episodes[0].times, times)
    np.savez(tmp_path / "wrong.npz", **arrays, times=times[:5])
    with pytest.raises(UserError, match="add up to 40 for 5 samples"):
        tables.read_npz(tmp_path / "wrong.npz", Reading())


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("x,y\n0,0\n1,one\n", "row 3, column 2: 'one' is no finite number"),
        ("x,x\n0,0\n1,1\n", "names two columns alike"),
        ("x,y,z\n0,0\n1,1\n", "3 names for 2 columns"),
        ("x,y\n0,0\n", "at least 2 steps"),
        ("a,b\n0,0\n1,1\n", "has the joints a, b where pointed moves x y; give --joints"),
        ("x,y\n0,0\n400,3\n", "in rad, x goes from 0 to 400 rad where the robot has it from -3 to 3"),
        ("x,y\n0,0\n1e18,3\n", "numbers beyond 1e.06; check the columns"),
        ("", "is empty"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, says: str):
    (tmp_path / "one.csv").write_text(text)
    with pytest.raises(UserError, match=says):
        importers.import_demonstrations(POINTED, tmp_path / "one.csv", Reading(context_from="end"))


def test_files_of_different_columns_are_refused(tmp_path: Path):
    (tmp_path / "a.csv").write_text("x,y\n0,0\n1,1\n")
    (tmp_path / "b.csv").write_text("y,x\n0,0\n1,1\n")
    with pytest.raises(UserError, match=r"b\.csv has the columns y, x where a\.csv has x, y"):
        tables.read_csv(tmp_path, Reading())
