"""LeRobot data sets of plans: laid out as LeRobot's own, and the same trajectories when they are read again."""

import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from recorded import lerobot as as_lerobot_writes
from vigor.basics.errors import UserError
from vigor.demonstrations import importers
from vigor.demonstrations.formats import lerobot as reader
from vigor.demonstrations.formats.episodes import Reading
from vigor.motion.panda import PANDA
from vigor.planning import lerobot
from vigor.planning.constraints import Constraints
from vigor.planning.trajectories import Trajectory, trajectory
from vigor.tasks.reachers.panda_reacher import TASK


@pytest.fixture(scope="module")
def moved() -> list[Trajectory]:
    """Two planned movements of different lengths."""
    rng = np.random.default_rng(0)
    limits = (Constraints(PANDA, seconds) for seconds in (3.0, 8.0))
    return [trajectory(TASK, 0.3 * rng.normal(size=TASK.promp.weights), limit, rate=30) for limit in limits]


@pytest.mark.parametrize("unit", ["rad", "deg", "percent"])
def test_what_is_written_comes_back(moved, tmp_path: Path, unit):
    lerobot.write(tmp_path / "set", moved, "reach", unit=unit, limits=PANDA.position)
    reading = Reading(unit=unit, contexts_file=tmp_path / "contexts.csv")
    (tmp_path / "contexts.csv").write_text("1,2,3,4,5,6\n" * 2)
    found = importers.recordings(TASK, tmp_path / "set", reading)
    for recording, wanted in zip(found.recordings, moved, strict=True):
        np.testing.assert_allclose(recording, wanted.positions[: len(recording), :6], atol=1e-6)
    for item, wanted in zip(reader.read(tmp_path / "set", Reading()).episodes, moved, strict=True):
        assert len(item.values) == len(wanted.times)
        np.testing.assert_allclose(item.times, wanted.times, atol=1e-6)


def test_it_is_laid_out_as_lerobots_own(moved, tmp_path: Path):
    lerobot.write(tmp_path / "set", moved, "reach")
    as_lerobot_writes(tmp_path / "own", names=("a", "b", "c"))
    ours, theirs = (json.loads((tmp_path / name / "meta" / "info.json").read_text()) for name in ("set", "own"))
    assert theirs.keys() == ours.keys()
    assert ours["features"]["action"] == {"dtype": "float32", "shape": [7], "names": [f"{n}.pos" for n in PANDA.joints]}
    assert ours["fps"] == 30
    file = ours["data_path"].format(chunk_index=0, file_index=0)
    frames = pq.read_table(tmp_path / "set" / file)
    written = pq.read_table(tmp_path / "own" / "data" / "chunk-000" / "file-000.parquet")
    for name in frames.column_names:
        if name != "action":
            assert frames.schema.field(name).type == written.schema.field(name).type
        assert name in ours["features"]
    assert frames["index"].to_pylist() == list(range(ours["total_frames"]))
    episodes = pq.read_table(tmp_path / "set" / "meta" / "episodes" / "chunk-000" / "file-000.parquet").to_pylist()
    assert [item["length"] for item in episodes] == [len(item.times) for item in moved]
    for item in episodes:
        part = frames["episode_index"].to_pylist()[item["dataset_from_index"] : item["dataset_to_index"]]
        assert set(part) == {item["episode_index"]}
        assert item["tasks"] == ["reach"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["own", "set"]


def test_the_table_of_tasks_has_an_index_for_pandas(moved, tmp_path: Path):
    lerobot.write(tmp_path / "set", moved, "reach")
    table = pq.read_table(tmp_path / "set" / "meta" / "tasks.parquet")
    assert table.to_pydict() == {"task_index": [0], "task": ["reach"]}
    described = json.loads(table.schema.metadata[b"pandas"])
    assert described["index_columns"] == ["task"]
    assert {column["name"] for column in described["columns"]} == set(table.column_names)


def test_what_lerobot_could_not_read_is_refused(moved, tmp_path: Path):
    uneven = trajectory(TASK, np.zeros(TASK.promp.weights), Constraints(PANDA, 3.0), rate=29.97)
    with pytest.raises(UserError, match="a whole number of samples a second"):
        lerobot.write(tmp_path / "set", [uneven])
    with pytest.raises(UserError, match="a whole number of samples a second"):
        lerobot.write(tmp_path / "set", [moved[0], uneven])
    with pytest.raises(UserError, match="7 joints need as many names, not 2"):
        lerobot.write(tmp_path / "set", moved, names=("a", "b"))
    assert not list(tmp_path.iterdir())
