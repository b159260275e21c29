"""LeRobot data sets of both versions, laid out as LeRobot writes them; what is damaged or hostile is one sentence."""

import json
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from recorded import POINTED, fixed, gripped, lerobot
from vigor.basics import files
from vigor.basics.errors import UserError
from vigor.demonstrations import importers
from vigor.demonstrations.formats import lerobot as format
from vigor.demonstrations.formats.episodes import Reading


@pytest.mark.parametrize("version", ["v3.0", "v2.1"])
@pytest.mark.parametrize("names", [("x.pos", "y.pos", "gripper.pos"), {"motors": ["x", "y", "gripper"]}, None])
def test_fifty_episodes_of_either_version_are_read(tmp_path: Path, version: str, names: object):
    ends = lerobot(tmp_path / "set", version, episodes=50, names=names)
    read = format.read(tmp_path / "set", Reading())
    assert read.format == f"a LeRobot data set, {version}"
    assert read.named is (names is not None)
    assert len(read.columns) == 3
    assert [item.name for item in read.episodes] == [f"episode {number}" for number in range(50)]
    for number, (item, goal) in enumerate(zip(read.episodes, ends, strict=True)):
        state = gripped(goal, 40 + number % 3)
        np.testing.assert_array_equal(item.values, state.astype(np.float32))
        np.testing.assert_allclose(item.times, np.arange(len(state)) / 30, atol=1e-6)
        np.testing.assert_array_equal(item.surroundings["observation.environment_state"], goal)


def test_two_hundred_episodes_are_imported_within_five_seconds(tmp_path: Path):
    for version in ("v3.0", "v2.1"):
        lerobot(tmp_path / version, version, episodes=200, steps=150)
        begun = time.process_time()  # Whatever else the machine does.
        made = importers.import_demonstrations(POINTED, tmp_path / version, Reading())
        assert time.process_time() - begun < 5
        assert len(made) == 200
        assert len(made.contexts) == 100


def test_actions_serve_as_well(tmp_path: Path):
    lerobot(tmp_path / "set")
    state, action = (format.read(tmp_path / "set", Reading(key=key)) for key in ("", "action"))
    np.testing.assert_allclose(action.episodes[0].values[:, 2] - state.episodes[0].values[:, 2], 1.0)
    with pytest.raises(UserError, match=r"has no 'pose'; choose with --key from observation\.state, action"):
        format.read(tmp_path / "set", Reading(key="pose"))


def test_rows_may_be_in_any_order_and_in_lists_of_any_kind(tmp_path: Path):
    lerobot(tmp_path / "set", episodes=3)
    before = format.read(tmp_path / "set", Reading())
    for file in (tmp_path / "set" / "data").glob("*/*.parquet"):
        table = pq.read_table(file)
        listed = pa.array([list(map(float, row)) for row in table["observation.state"].to_pylist()])
        table = table.set_column(table.column_names.index("observation.state"), "observation.state", listed)
        pq.write_table(table.take(np.random.default_rng(0).permutation(len(table))), file)
    after = format.read(tmp_path / "set", Reading())
    for a, b in zip(before.episodes, after.episodes, strict=True):
        np.testing.assert_array_equal(a.values, b.values)


def test_what_info_counts_and_files_lack_is_said(tmp_path: Path):
    lerobot(tmp_path / "set", "v2.1", episodes=4)
    next(iter(sorted((tmp_path / "set" / "data").glob("*/*.parquet")))).unlink()
    read = format.read(tmp_path / "set", Reading())
    assert "meta/info.json counts 4 episodes, and 3 are there" in read.notes
    assert read.episodes[0].name == "episode 1"


def change(folder: Path, **values: object) -> None:
    path = folder / "meta" / "info.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


def rewrite(folder: Path, **columns: object) -> None:
    """Replace columns of the first parquet file, or leave them out if None."""
    file = folder / "data" / "chunk-000" / "file-000.parquet"
    table = pq.read_table(file)
    for name, column in columns.items():
        table = table.drop_columns([name.replace("__", ".")])
        if column is not None:
            table = table.append_column(name.replace("__", "."), column(len(table)))
    pq.write_table(table, file)


WRONG = {
    "an old version": (lambda folder: change(folder, codebase_version="v1.6"), "version v1.6 of LeRobot's format"),
    "no version": (lambda folder: change(folder, codebase_version=None), "version None"),
    "no features": (lambda folder: change(folder, features=[1]), "does not describe the data set's features"),
    "info is a list": (lambda folder: (folder / "meta" / "info.json").write_text("[]"), "version None"),
    "truncated info": (lambda folder: (folder / "meta" / "info.json").write_text('{"a'), "not a readable JSON file"),
    "no data": (lambda folder: [file.unlink() for file in folder.glob("data/*/*")], "holds 0 parquet files"),
    "a lacking column": (lambda folder: rewrite(folder, timestamp=None), "lacks timestamp"),
    "a column of words": (
        lambda folder: rewrite(folder, observation__state=lambda count: pa.array(["a"] * count)),
        "instead of numbers",
    ),
    "missing values": (
        lambda folder: rewrite(folder, timestamp=lambda count: pa.array([None] * count, pa.float32())),
        "lacks some values",
    ),
    "lists of other lengths": (
        lambda folder: rewrite(
            folder, observation__state=lambda count: pa.array([[1.0]] + [[1.0, 2.0, 3.0]] * (count - 2) + [[1.0] * 5])
        ),
        "lists of different lengths",
    ),
    "fewer numbers": (
        lambda folder: rewrite(folder, observation__state=lambda count: fixed(np.zeros((count, 2)))),
        "of different lengths in different files",
    ),
    "frames twice": (
        lambda folder: rewrite(folder, frame_index=lambda count: pa.array(np.zeros(count, np.int64))),
        "frames of episode 0 twice",
    ),
    "nan": (
        lambda folder: rewrite(folder, observation__state=lambda count: fixed(np.full((count, 3), np.nan))),
        "is no finite number",
    ),
    "times that are none": (
        lambda folder: rewrite(folder, timestamp=lambda count: pa.array(np.append(np.arange(count - 1.0), np.nan))),
        "has time stamps that are none",
    ),
    "endless times": (
        lambda folder: rewrite(folder, timestamp=lambda count: pa.array(np.linspace(0.0, 1e308, count))),
        "has time stamps that are none",
    ),
    "frames that are not counted": (
        lambda folder: rewrite(folder, frame_index=lambda count: pa.array(np.append(np.arange(count - 1.0), np.nan))),
        "must be counted by whole numbers",
    ),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_data_sets_are_refused_in_one_sentence(tmp_path: Path, wrong: str):
    lerobot(tmp_path / "set")
    spoil, says = WRONG[wrong]
    spoil(tmp_path / "set")
    with pytest.raises(UserError, match=says) as error:
        importers.import_demonstrations(POINTED, tmp_path / "set", Reading())
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("cut", [0, 3, 100, -1])
def test_truncated_parquet_files_are_refused(tmp_path: Path, cut: int):
    lerobot(tmp_path / "set")
    file = tmp_path / "set" / "data" / "chunk-000" / "file-001.parquet"
    file.write_bytes(file.read_bytes()[:cut])
    with pytest.raises(UserError, match=r"file-001\.parquet is damaged or not a parquet file"):
        format.read(tmp_path / "set", Reading())


def test_damaged_bytes_never_cause_anything_but_a_sentence(tmp_path: Path):
    lerobot(tmp_path / "set")
    file = tmp_path / "set" / "data" / "chunk-000" / "file-000.parquet"
    whole, rng = file.read_bytes(), np.random.default_rng(0)
    for _ in range(60):
        damaged = bytearray(whole)
        for place in rng.integers(0, len(whole), 5):
            damaged[place] = rng.integers(256)
        file.write_bytes(damaged)
        with suppress(UserError):
            format.read(tmp_path / "set", Reading())


def test_a_small_file_that_unpacks_to_much_is_refused_before_it_is_read(tmp_path: Path, monkeypatch):
    lerobot(tmp_path / "set")
    monkeypatch.setattr(files, "MOST", 10**5)
    rows = 10**6
    table = pa.table(
        {
            "episode_index": np.zeros(rows, np.int64),
            "frame_index": np.arange(rows),
            "timestamp": np.zeros(rows, np.float32),
            "observation.state": fixed(np.zeros((rows, 3))),
            "observation.environment_state": fixed(np.zeros((rows, 2))),
        }
    )
    pq.write_table(table, tmp_path / "set" / "data" / "chunk-000" / "file-000.parquet", compression="zstd")
    with pytest.raises(UserError, match="numbers; at most 100,000 can be read"):
        format.read(tmp_path / "set", Reading())


def test_a_long_word_is_refused_before_it_is_read(tmp_path: Path, monkeypatch):
    """It counts as one number, and takes as much memory as many."""
    lerobot(tmp_path / "set")
    monkeypatch.setattr(files, "UNPACKED", 10**6)
    file = tmp_path / "set" / "data" / "chunk-000" / "file-000.parquet"
    table = pq.read_table(file).slice(0, 1)
    at = table.column_names.index("timestamp")
    pq.write_table(table.set_column(at, "timestamp", pa.array(["0" * 10**7])), file, compression="zstd")
    assert file.stat().st_size < 10**5
    with pytest.raises(UserError, match="MiB; at most 1 MiB can be read"):
        format.read(tmp_path / "set", Reading())


def test_pictures_are_not_read(tmp_path: Path, monkeypatch):
    lerobot(tmp_path / "set")
    for file in (tmp_path / "set" / "data").glob("*/*.parquet"):
        table = pq.read_table(file)
        pq.write_table(table.append_column("observation.images.top", pa.array([b"0" * 10**5] * len(table))), file)
    monkeypatch.setattr(files, "MOST", 5000)
    assert len(format.read(tmp_path / "set", Reading()).episodes) == 4
