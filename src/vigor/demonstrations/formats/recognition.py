"""The format of a file or a folder, found out by looking at it; and the reader of each."""

from collections.abc import Callable
from pathlib import Path

from vigor.basics import files
from vigor.basics.errors import UserError
from vigor.demonstrations.dataset import HEADER, check_holds_files
from vigor.demonstrations.formats import lerobot, published, robomimic, rosbag, tables
from vigor.demonstrations.formats.episodes import Episodes, Format, Reading
from vigor.tasks.task import Task

MAGIC: dict[bytes, Format] = {
    b"\x89HDF\r\n\x1a\n": "robomimic",
    b"\x89MCAP0\r\n": "rosbag",
    b"SQLite format 3\x00": "rosbag",
    b"PK\x03\x04": "npz",
}
"""First bytes of files."""
READERS: dict[str, Callable[[Path, Reading], Episodes]] = {
    "lerobot": lerobot.read,
    "rosbag": rosbag.read,
    "robomimic": robomimic.read,
    "csv": tables.read_csv,
    "npz": tables.read_npz,
}


def is_own(path: Path) -> bool:
    """Whether a folder is a set of demonstrations already."""
    return (path / HEADER).exists()


def recognise(task: Task, path: Path) -> Format:
    """Format of what is at a path, which is looked at but not read."""
    check_holds_files(path)
    if path.is_dir():
        found = _of_folder(task, path)
    else:
        files.check_plain(path, rosbag.LARGEST)
        with path.open("rb") as file:
            begin = file.read(16)
        found = next((name for magic, name in MAGIC.items() if begin.startswith(magic)), None)
        if found is None and path.suffix.lower() in tables.ENDINGS:
            found = "csv"
        if begin[:4] == b"PAR1":
            raise UserError(f"{path} is a part of a data set; name the folder that has its meta/info.json")
    if found is None:
        raise UserError(
            f"{path} is in no known format; name a LeRobot data set, a rosbag2 folder or file, a robomimic .hdf5 file, "
            "a folder of .csv files, or an .npz file"
        )
    return found


def _of_folder(task: Task, path: Path) -> Format | None:
    if is_own(path):
        raise UserError(f"{path} holds demonstrations already; use it as it is: vigor train {task.name} --demos {path}")
    if (path / "meta" / "info.json").exists():
        return "lerobot"
    if rosbag.bags(path):
        return "rosbag"
    if (path / "contexts.csv").exists():
        return "csv"
    if published.folder_of(task, path) is not None:
        return "published"
    return "csv" if tables.recordings(path) else None


def read(path: Path, format: Format, reading: Reading) -> Episodes:
    """Recordings in one of the formats that are preprocessed."""
    if not path.exists():
        raise UserError(f"{path} does not exist")
    if format not in READERS:
        known = ", ".join([*READERS, "published", "published-raw"])
        raise UserError(f"there is no format {format!r} of demonstrations; choose from {known}")
    return READERS[format](path, reading).only(reading.episodes)
