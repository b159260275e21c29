"""LeRobot data sets (v3.0) of planned movements, as `lerobot-replay` reads them: an episode each."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from vigor.basics import folders
from vigor.basics.errors import UserError
from vigor.basics.install import missing
from vigor.motion.units import Unit, from_radians
from vigor.planning.trajectories import Trajectory

DATA, EPISODES = "data/chunk-000/file-000.parquet", "meta/episodes/chunk-000/file-000.parquet"


def write(
    path: Path,
    trajectories: Sequence[Trajectory],
    task: str = "move",
    names: Sequence[str] = (),
    unit: Unit = "rad",
    limits: Any = (),
) -> None:
    """Write a new data set, whole or not at all.

    task: what the robot does, in words; names: those of the robot's motors, by default the joints' with `.pos`, as
    LeRobot's robots name their actions; unit: the robot's; limits: [joint, 2] in radians, which percent needs.
    Trajectories have the same joints, and one whole number of samples a second.
    """
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise missing("LeRobot data sets are written by the package pyarrow", "lerobot") from None
    rates = {round(1 / (item.times[1] - item.times[0]), 6) for item in trajectories}
    if len(rates) != 1 or not (rate := rates.pop()).is_integer():
        raise UserError("a LeRobot data set has a whole number of samples a second; give --rate 30, for instance")
    grippers = [item.gripper for item in trajectories if item.gripper is not None]
    motors = [*trajectories[0].joints, *(item.channel for item in grippers[:1])]
    names = list(names) or [f"{motor.removesuffix('.pos')}.pos" for motor in motors]
    if len(names) != len(motors):
        raise UserError(f"{len(motors)} joints need as many names, not {len(names)}")
    positions = from_radians(np.concatenate([item.positions for item in trajectories]), unit, limits)
    if grippers:  # In the unit of the recordings already.
        positions = np.column_stack([positions, np.concatenate([item.positions for item in grippers])])
    frames, episodes = _frames(pa, trajectories, positions), _episodes(pa, trajectories, task)

    def fill(folder: Path) -> None:
        for part in (DATA, EPISODES):
            (folder / part).parent.mkdir(parents=True)
        parquet.write_table(frames, folder / DATA)
        parquet.write_table(episodes, folder / EPISODES)
        parquet.write_table(_tasks(pa, task), folder / "meta" / "tasks.parquet")
        info = _info(trajectories, int(rate), names)
        (folder / "meta" / "info.json").write_text(json.dumps(info, indent=4) + "\n", encoding="utf-8")

    folders.write_whole(path, fill)


def _info(trajectories: Sequence[Trajectory], rate: int, names: list[str]) -> dict[str, Any]:
    scalar = {"shape": [1], "names": None}
    features: dict[str, Any] = {"action": {"dtype": "float32", "shape": [len(names)], "names": names}}
    features["timestamp"] = {"dtype": "float32"} | scalar
    features |= {name: {"dtype": "int64"} | scalar for name in ("frame_index", "episode_index", "index", "task_index")}
    return {
        "codebase_version": "v3.0",
        "robot_type": None,
        "total_episodes": len(trajectories),
        "total_frames": sum(len(item.times) for item in trajectories),
        "total_tasks": 1,
        "chunks_size": 1000,
        "data_files_size_in_mb": 100,
        "video_files_size_in_mb": 200,
        "fps": rate,
        "splits": {"train": f"0:{len(trajectories)}"},
        "data_path": "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet",
        "video_path": None,
        "features": features,
    }


def _frames(pa: Any, trajectories: Sequence[Trajectory], positions: np.ndarray) -> Any:
    """A row for every sample of every episode, with its positions [row, joint]."""
    lengths, positions = [len(item.times) for item in trajectories], positions.astype(np.float32)
    return pa.table(
        {
            "action": pa.FixedSizeListArray.from_arrays(pa.array(positions.ravel()), positions.shape[1]),
            "timestamp": pa.array(np.concatenate([item.times for item in trajectories]).astype(np.float32)),
            "frame_index": pa.array(np.concatenate([np.arange(length) for length in lengths])),
            "episode_index": pa.array(np.repeat(np.arange(len(lengths)), lengths)),
            "index": pa.array(np.arange(sum(lengths))),
            "task_index": pa.array(np.zeros(sum(lengths), np.int64)),
        }
    )


def _episodes(pa: Any, trajectories: Sequence[Trajectory], task: str) -> Any:
    """A row for every episode: where its frames are."""
    ends = np.cumsum([len(item.times) for item in trajectories])
    zeros = pa.array(np.zeros(len(ends), np.int64))
    return pa.table(
        {
            "episode_index": pa.array(np.arange(len(ends))),
            "tasks": pa.array([[task]] * len(ends), pa.list_(pa.string())),
            "length": pa.array(np.diff(ends, prepend=0)),
            "data/chunk_index": zeros,
            "data/file_index": zeros,
            "dataset_from_index": pa.array(np.concatenate([[0], ends[:-1]])),
            "dataset_to_index": pa.array(ends),
            "meta/episodes/chunk_index": zeros,
            "meta/episodes/file_index": zeros,
        }
    )


def _tasks(pa: Any, task: str) -> Any:
    """The table of tasks: pandas reads `task` as its index."""

    def column(name: str, kind: str, stored: str) -> dict[str, Any]:
        return {"name": name, "field_name": name, "pandas_type": kind, "numpy_type": stored, "metadata": None}

    described = {
        "index_columns": ["task"],
        "column_indexes": [],
        "columns": [column("task_index", "int64", "int64"), column("task", "unicode", "object")],
        "creator": {"library": "pyarrow", "version": pa.__version__},
        "pandas_version": "2.0.0",
    }
    table = pa.table({"task_index": pa.array([0], pa.int64()), "task": pa.array([task], pa.string())})
    return table.replace_schema_metadata({"pandas": json.dumps(described)})
