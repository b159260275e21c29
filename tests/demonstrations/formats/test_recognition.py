"""The format is found out by looking, and what is none is refused before anything of it is read."""

import os
from pathlib import Path

import numpy as np
import pytest

from helpers import movement
from recorded import POINTED, bag, lerobot, robomimic
from vigor.basics import files
from vigor.basics.errors import UserError
from vigor.demonstrations import importers
from vigor.demonstrations.dataset import Demonstrations
from vigor.demonstrations.formats.episodes import Reading
from vigor.demonstrations.formats.recognition import recognise


def test_formats_are_recognised_whatever_they_are_called(tmp_path: Path):
    times, there = np.arange(40) / 20, movement((1.0, 0.0))
    lerobot(tmp_path / "a")
    bag(tmp_path / "b", [("/arm", ("x", "y"), times, there)])
    bag(tmp_path / "bags" / "c", [("/arm", ("x", "y"), times, there)], storage="sqlite3")
    robomimic(tmp_path / "data.bin")
    np.savez(tmp_path / "d.npz", contexts=np.zeros((1, 2)))
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "contexts.csv").write_text("1,0\n")
    (tmp_path / "human").mkdir()
    (tmp_path / "human" / "results.csv").write_text("a,b\n")
    (tmp_path / "human" / "environments" / "pointed" / "promp_fits").mkdir(parents=True)
    np.savez(tmp_path / "human" / "environments" / "pointed" / "promp_fits" / "promp_weights.npz", np.zeros(1))
    found = {
        name: recognise(POINTED, tmp_path / name) for name in ("a", "b", "bags", "data.bin", "d.npz", "tables", "human")
    }
    assert list(found.values()) == ["lerobot", "rosbag", "rosbag", "robomimic", "npz", "csv", "published"]
    (file,) = (tmp_path / "bags" / "c").glob("*.db3")
    assert recognise(POINTED, file) == "rosbag"


def test_a_set_of_demonstrations_is_used_as_it_is(tmp_path: Path):
    made = Demonstrations.from_recordings(POINTED, [[1.0, 0.0]], [movement((1.0, 0.0))], [0])
    made.save(tmp_path / "set")
    with pytest.raises(UserError, match="holds demonstrations already; use it as it is: vigor train pointed --demos"):
        recognise(POINTED, tmp_path / "set")
    assert len(importers.load(POINTED, tmp_path / "set")) == 1
    with pytest.raises(UserError, match="leave out the options for these"):
        importers.load(POINTED, tmp_path / "set", Reading(unit="deg"))


def test_foreign_and_endless_things_are_refused(tmp_path: Path):
    (tmp_path / "empty" / "demonstrations").mkdir(parents=True)
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "read.me").write_text("none yet")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    (tmp_path / "file-000.parquet").write_bytes(b"PAR1" + bytes(100))
    os.mkfifo(tmp_path / "pipe")
    for name, says in {
        "empty": "empty is empty: put recordings into it",
        "notes": "is in no known format; name a LeRobot data set, a rosbag2",
        "picture.png": "is in no known format",
        "file-000.parquet": "name the folder that has its meta/info.json",
        "pipe": "is not a file",
        "nowhere": "does not exist",
    }.items():
        with pytest.raises(UserError, match=says):
            importers.import_demonstrations(POINTED, tmp_path / name, Reading())
    with pytest.raises(UserError, match="is not a file"):
        recognise(POINTED, Path("/dev/zero"))


def test_an_archive_that_unpacks_to_much_is_refused(tmp_path: Path, monkeypatch):
    np.savez_compressed(tmp_path / "bomb.npz", contexts=np.zeros((2**18, 10)))
    assert (tmp_path / "bomb.npz").stat().st_size < 2**20
    monkeypatch.setattr(files, "UNPACKED", 2**20)
    with pytest.raises(UserError, match=r"holds 20 MiB; at most 1 MiB can be read"):
        importers.import_demonstrations(POINTED, tmp_path / "bomb.npz", Reading())
