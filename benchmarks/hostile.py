"""Memory that hostile files take: files of every format that unpack to more than a machine has, or never end.

`python benchmarks/hostile.py [FILE ...]`: each is opened by a command in a process of its own. `data.py` keeps rows.
"""

import json
import os
import struct
import subprocess
import sys
import tempfile
import threading
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests")]

import recorded  # noqa: E402

POINT = f"{ROOT / 'tests' / 'recorded.py'}:POINTED"
HUGE = 2**33
"""Bytes that a file pretends to hold."""


def _import(path: str) -> tuple[str, ...]:
    return "demos", "import", POINT, path, "--out", "new"


def _sparse(path: str, begin: bytes = b"") -> None:
    """A file of the size of `HUGE` that takes no room."""
    with open(path, "wb") as file:
        file.write(begin)
        file.truncate(HUGE)


def _npz() -> tuple[str, ...]:
    zeros = bytes(2**24)
    with (
        zipfile.ZipFile("bomb.npz", "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("contexts.npy", "w", force_zip64=True) as part,
    ):
        head = b"{'descr': '<f8', 'fortran_order': False, 'shape': (134217728, 2), }"
        part.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head) + 1) + head + b"\n")
        for _ in range(128):
            part.write(zeros)
    return _import("bomb.npz")


def _csv() -> tuple[str, ...]:
    _sparse("endless.csv", b"1,2\n")
    return _import("endless.csv")


def _pipe() -> tuple[str, ...]:
    os.mkfifo("pipe.csv")
    return _import("pipe.csv")


def _parquet(column: Callable[[Any, Any], Any]) -> tuple[str, ...]:
    """A column of a data set in place of the joints, of few bytes in the file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    recorded.lerobot(Path("set"))
    file = Path("set/data/chunk-000/file-000.parquet")
    table = pq.read_table(file).slice(0, 1)
    at = table.column_names.index("observation.state")
    pq.write_table(table.set_column(at, "observation.state", column(pa, np)), file, compression="zstd")
    return _import("set")


def _many() -> tuple[str, ...]:
    return _parquet(lambda pa, np: pa.array([np.zeros(3 * 10**8, np.float32)]))


def _long() -> tuple[str, ...]:
    return _parquet(lambda pa, np: pa.array(["0" * 10**9]))


def _info() -> tuple[str, ...]:
    recorded.lerobot(Path("set"))
    _sparse("set/meta/info.json", b"{")
    return _import("set")


def _bag(storage: str) -> str:
    times = np.arange(40) / 30
    states = [("/joint_states", ("x", "y"), 1 + times, recorded.gripped(recorded.goals(2)[0], 40)[:, :2])]
    recorded.bag(Path("bag"), states, storage=storage)
    return str(next(path for path in Path("bag").iterdir() if path.suffix in (".mcap", ".db3")))


def _mcap() -> tuple[str, ...]:
    """A chunk that unpacks to 16 GB, before all others."""
    import lz4.frame

    packed = lz4.frame.compress(bytes(2**28))
    chunk = (
        struct.pack("<QQQI", 0, 1, HUGE, 0) + struct.pack("<I", 3) + b"lz4" + struct.pack("<Q", len(packed)) + packed
    )
    path = Path(_bag("mcap"))
    content = path.read_bytes()
    head = 8 + 9 + struct.unpack("<Q", content[9:17])[0]
    path.write_bytes(content[:head] + b"\x06" + struct.pack("<Q", len(chunk)) + chunk + content[head:])
    return _import("bag")


def _sqlite() -> tuple[str, ...]:
    import sqlite3

    with sqlite3.connect(_bag("sqlite3")) as database:
        database.execute("update messages set data = zeroblob(900000000) where id = 1")
    database.close()
    return _import("bag")


def _yaml() -> tuple[str, ...]:
    _bag("mcap")
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    Path("bag/metadata.yaml").write_text("\n".join(lines) + "\nrosbag2_bagfile_information: *a11\n")
    return _import("bag")


def _hdf5() -> tuple[str, ...]:
    import h5py

    recorded.robomimic(Path("demo.hdf5"))
    with h5py.File("demo.hdf5", "r+") as file:
        del file["data/demo_0/obs/robot0_joint_pos"]
        options: dict[str, Any] = {"maxshape": (None, 2), "chunks": (2 * 10**8, 2), "compression": "gzip"}
        file.create_dataset("data/demo_0/obs/robot0_joint_pos", (40, 2), "f8", **options)
    return _import("demo.hdf5")


def _skill() -> tuple[str, ...]:
    head = json.dumps({"contexts": {"dtype": "F32", "shape": [2**31], "data_offsets": [0, HUGE]}}).encode()
    _sparse("large.vigor", struct.pack("<Q", len(head)) + head)
    return "inspect", "large.vigor"


def _header() -> tuple[str, ...]:
    _sparse("header.vigor", struct.pack("<Q", HUGE - 8))
    return "inspect", "header.vigor"


def _plan() -> tuple[str, ...]:
    Path("plan.json").write_bytes(b"[" * 10**8)
    return "export", "plan.json", "--format", "csv"


def _entities() -> tuple[str, ...]:
    entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 12))
    Path("arm.urdf").write_text(f'<!DOCTYPE robot [<!ENTITY e0 "lol">{entities}]><robot name="&e11;"/>')
    return "robot", "arm.urdf"


def _mesh() -> tuple[str, ...]:
    _sparse("hand.stl", bytes(80) + struct.pack("<I", 10**8))
    shape = '<collision><geometry><mesh filename="hand.stl"/></geometry></collision>'
    joint = '<joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>'
    joint += '<limit lower="-1" upper="1" velocity="1" effort="1"/></joint>'
    Path("arm.urdf").write_text(f'<robot name="arm"><link name="a">{shape}</link><link name="b"/>{joint}</robot>')
    Path("scene.toml").write_text('robot = "arm.urdf"\n[objects.cup]\npose = "position"\n')
    return "demos", "import", "scene.toml", ".", "--out", "new"


def _mjcf() -> tuple[str, ...]:
    Path("arm.xml").write_text("<mujoco><worldbody>" + "<body>" * 10**6)
    return "robot", "arm.xml"


FILES: dict[str, Callable[[], Iterable[str]]] = {
    "NPZ that unpacks to 2 GiB": _npz,
    "CSV of 8 GiB": _csv,
    "a pipe for a CSV": _pipe,
    "LeRobot: a list of 300 million numbers": _many,
    "LeRobot: a word of a billion letters": _long,
    "LeRobot: a description of 8 GiB": _info,
    "MCAP: a part that unpacks to 8 GiB, by its account": _mcap,
    "rosbag2 in sqlite3: a message of .9 GB": _sqlite,
    "rosbag2: a description that is 9 to the power of 12 words": _yaml,
    "robomimic: a part of 3.2 GB": _hdf5,
    "a skill of 8 GiB": _skill,
    "a skill whose header has 8 GiB": _header,
    "a plan 100 million brackets deep": _plan,
    "URDF: a name of 10 to the power of 11 words": _entities,
    "URDF: a mesh of 8 GiB": _mesh,
    "MJCF: bodies a million deep": _mjcf,
}
"""Files by what they are: each is made in the working folder, and the words of a command that opens it are returned."""


def opened(name: str) -> dict[str, Any]:
    """Memory and time of a command that opens a hostile file, and whether it ended in a sentence and wrote nothing."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            # In a process of its own: the command is begun by a copy of this one, whose memory would count as its own.
            made = subprocess.run([sys.executable, __file__, "--make", name], stdout=subprocess.PIPE, check=True)
            words = json.loads(made.stdout)
            there = set(Path().iterdir())
            command = [sys.executable, "-m", "vigor", *words]
            path = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
            process = subprocess.Popen(
                command, env=os.environ | {"PYTHONPATH": path}, stderr=subprocess.PIPE, text=True
            )
            assert process.stderr is not None
            late = threading.Timer(300, process.kill)
            late.start()
            said = process.stderr.read()
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            late.cancel()
            left = set(Path().iterdir()) - there
        finally:
            os.chdir(before)
    sentence = process.returncode == 2 and len(said.splitlines()) == 1 and said.startswith("vigor: ")
    figures = {"MB": used.ru_maxrss // 1024, "cpu_s": round(used.ru_utime + used.ru_stime, 1)}
    return {
        "file": name,
        **figures,
        "a sentence": sentence,
        "wrote": sorted(map(str, left)),
        "said": said.strip().replace(f"{folder}/", "")[-300:],
    }


def main() -> None:
    if sys.argv[1:2] == ["--make"]:
        print(json.dumps(FILES[sys.argv[2]]()))
        return
    for name in sys.argv[1:] or FILES:
        print(json.dumps(opened(name)), flush=True)


if __name__ == "__main__":
    main()
