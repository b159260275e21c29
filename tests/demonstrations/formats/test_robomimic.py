"""robomimic's files: observations, masks, and links that lead out of the file."""

import os
from contextlib import suppress
from pathlib import Path

import h5py
import numpy as np
import pytest

from recorded import POINTED, gripped, robomimic
from vigor.basics import files
from vigor.basics.errors import UserError
from vigor.demonstrations import importers
from vigor.demonstrations.formats import robomimic as format
from vigor.demonstrations.formats.episodes import Reading


def test_episodes_are_read_in_the_order_of_their_numbers(tmp_path: Path):
    ends = robomimic(tmp_path / "low_dim.hdf5", episodes=12)
    read = format.read(tmp_path / "low_dim.hdf5", Reading())
    assert [item.name for item in read.episodes] == [f"demo_{number}" for number in range(12)]
    assert read.columns == ("1", "2", "gripper")
    for item, goal in zip(read.episodes, ends, strict=True):
        state = gripped(goal, 40)
        np.testing.assert_allclose(item.values, state * (1, 1, 8e-4))
        np.testing.assert_allclose(item.times, np.arange(40) / 20)
        assert set(item.surroundings) == {"object"}


def test_contexts_are_what_is_observed_of_the_object(tmp_path: Path):
    ends = robomimic(tmp_path / "set.hdf5")
    made = importers.import_demonstrations(POINTED, tmp_path / "set.hdf5", Reading())
    np.testing.assert_array_equal(made.contexts[made.context_of], ends)


def test_a_mask_names_some_episodes(tmp_path: Path):
    robomimic(tmp_path / "set.hdf5")
    read = format.read(tmp_path / "set.hdf5", Reading(mask="train"))
    assert [item.name for item in read.episodes] == ["demo_0", "demo_2"]
    with pytest.raises(UserError, match=r"no mask 'trian' \(did you mean train\?\)"):
        format.read(tmp_path / "set.hdf5", Reading(mask="trian"))


def test_another_observation_can_be_chosen(tmp_path: Path):
    robomimic(tmp_path / "set.hdf5")
    assert format.read(tmp_path / "set.hdf5", Reading(key="robot0_eef_pos")).columns == ("1", "2", "3", "gripper")
    with pytest.raises(UserError, match="no obs/joints; choose with --key from object, robot0_eef_pos, robot0_grip"):
        format.read(tmp_path / "set.hdf5", Reading(key="joints"))


def spoil(path: Path, change) -> Path:
    robomimic(path)
    with h5py.File(path, "a") as file:
        change(file)
    return path


def replaced(file: h5py.File, name: str, value: object) -> None:
    del file[name]
    file[name] = value


JOINTS = "data/demo_1/obs/robot0_joint_pos"
WRONG = {
    "no data": (lambda file: file.pop("data"), "has no group 'data'"),
    "data is a number": (lambda file: replaced(file, "data", 1.0), "has no group 'data'"),
    "another file": (
        lambda file: replaced(file, JOINTS, h5py.ExternalLink("/etc/hostname", "/x")),
        "no table of numbers",
    ),
    "another group's file": (lambda file: replaced(file, "data", h5py.ExternalLink("a.h5", "/")), "no group 'data'"),
    "words": (lambda file: replaced(file, JOINTS, np.array([b"a"] * 40)), "no table of numbers"),
    "a number": (lambda file: replaced(file, JOINTS, 1.0), "no table of numbers"),
    "nan": (lambda file: replaced(file, JOINTS, np.full((40, 2), np.nan)), "is no finite number"),
    "more columns": (lambda file: replaced(file, JOINTS, np.zeros((40, 5))), "must have 3 columns"),
    "one step": (
        lambda file: [
            replaced(file, JOINTS, np.zeros((1, 2))),
            replaced(file, "data/demo_1/obs/robot0_gripper_qpos", np.zeros((1, 2))),
        ],
        "at least 2 steps",
    ),
    "no episodes": (lambda file: [file["data"].pop(name) for name in list(file["data"])], "holds no episodes"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_files_are_refused_in_one_sentence(tmp_path: Path, wrong: str):
    change, says = WRONG[wrong]
    with pytest.raises(UserError, match=says):
        format.read(spoil(tmp_path / "set.hdf5", change), Reading())


def test_numbers_in_other_files_are_not_read(tmp_path: Path):
    (tmp_path / "secret").write_bytes(bytes(640))

    def outside(file: h5py.File) -> None:
        del file[JOINTS]
        file.create_dataset(JOINTS, (40, 2), float, external=[(str(tmp_path / "secret"), 0, 640)])

    with pytest.raises(UserError, match=r"keeps .* in other files"):
        format.read(spoil(tmp_path / "set.hdf5", outside), Reading())


def test_a_small_file_with_much_in_it_is_refused_before_it_is_read(tmp_path: Path):
    def swell(file: h5py.File) -> None:
        del file[JOINTS]
        file.create_dataset(JOINTS, (10**10, 2), float, chunks=(1000, 2), compression="gzip")

    path = spoil(tmp_path / "set.hdf5", swell)
    assert path.stat().st_size < 10**6
    with pytest.raises(UserError, match=f"at most {files.MOST:,} can be read"):
        format.read(path, Reading())


def test_a_small_table_in_a_large_part_is_refused_before_that_is_unpacked(tmp_path: Path):
    def swell(file: h5py.File) -> None:
        del file[JOINTS]
        file.create_dataset(JOINTS, (40, 2), float, chunks=(10**8, 2), maxshape=(None, 2), compression="gzip")

    with pytest.raises(UserError, match="holds 1,526 MiB; at most 256 MiB can be read"):
        format.read(spoil(tmp_path / "set.hdf5", swell), Reading())


def test_damaged_bytes_never_cause_anything_but_a_sentence(tmp_path: Path):
    robomimic(tmp_path / "set.hdf5", episodes=2)
    whole, rng = (tmp_path / "set.hdf5").read_bytes(), np.random.default_rng(0)
    for number in range(40):
        damaged = bytearray(whole[: len(whole) - 500 * (number % 4)])
        for place in rng.integers(0, len(damaged), 5):
            damaged[place] = rng.integers(256)
        (tmp_path / "damaged.hdf5").write_bytes(damaged)
        with suppress(UserError):
            format.read(tmp_path / "damaged.hdf5", Reading())


def test_a_pipe_is_refused(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe.hdf5")
    with pytest.raises(UserError, match="is not a file"):
        format.read(tmp_path / "pipe.hdf5", Reading())
