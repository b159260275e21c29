"""Importers: what is right is read, what is wrong refused in one sentence that names the file."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from helpers import POINT, movement
from vigor.basics.errors import UserError
from vigor.demonstrations import dataset as demos
from vigor.demonstrations import importers
from vigor.demonstrations.formats.episodes import Reading
from vigor.demonstrations.importers import LeftOut, Recordings, Remedy
from vigor.tasks.task import Judge


def test_imports_csv(tmp_path: Path):
    (tmp_path / "demonstrations").mkdir()
    (tmp_path / "contexts.csv").write_text("x,y\n1,0\n0,1\n3,3\n")
    for name, goal in (("0_a", (1.0, 0.0)), ("1_b", (0.0, 1.0)), ("1_c", (0.05, 1.0))):
        lines = [f"{x!r}, {y!r}" for x, y in movement(goal).tolist()]
        (tmp_path / "demonstrations" / f"{name}.csv").write_text("\n".join(["first,second", *lines, ""]))
    set_ = importers.import_demonstrations(POINT, tmp_path, Reading("csv"))
    assert set_.context_of.tolist() == [0, 1, 1]
    assert set_.source == f"imported from {tmp_path.name}"
    np.testing.assert_array_equal(set_.contexts, [[1, 0], [0, 1], [3, 3]])
    assert set_.recordings is not None
    np.testing.assert_array_equal(set_.recordings[0][-1], [1.0, 0.0])


def test_says_which_recordings_are_left_out(tmp_path: Path):
    (tmp_path / "demonstrations").mkdir()
    (tmp_path / "contexts.csv").write_text("1,0\n0,1\n")
    recordings = {"0_a.csv": movement((1.0, 0.0)), "1_b.csv": movement((0.0, 1.5))}
    for name, recording in recordings.items():
        np.savetxt(tmp_path / "demonstrations" / name, recording, delimiter=",")
    left_out: list[LeftOut] = []
    set_ = importers.import_demonstrations(POINT, tmp_path, Reading("csv"), report=left_out.append)
    assert set_.source == f"imported from {tmp_path.name}, 1 of 2 recordings kept"
    assert left_out == [LeftOut("1_b.csv", 1, pytest.approx(0.4, abs=0.05))]
    file = tmp_path / "set.npz"
    np.savez(file, contexts=np.eye(2), context_of=[0, 1], trajectories=np.stack([*recordings.values()]))
    importers.import_demonstrations(POINT, file, Reading(), report=left_out.append)
    assert left_out[1] == replace(left_out[0], name="recording 1")
    # The recording itself misses: no other ProMP would help.
    assert importers.remedy(POINT, importers.recordings(POINT, file, Reading())) is None


def touching(joints: np.ndarray, contexts: np.ndarray) -> np.ndarray:
    """Distances [n] at which paths [n, T, 2] pass their contexts [n, 2]."""
    return np.maximum(0.0, np.linalg.norm(joints - contexts[:, None], axis=-1).min(axis=1) - 0.1)


def test_says_how_many_bases_keep_more_recordings():
    # Only a simulation judges it, so that no ProMP can be moved to where its recording was.
    task = replace(POINT, judge=Judge(simulate=touching))
    time = np.linspace(0.0, 1.0, 60)
    aside = np.stack([np.maximum(0.0, 1 - 4 * np.abs(time - 0.5)), 2 * time], axis=1)
    contexts, left_out = np.array([[0.0, 2.0], [1.0, 1.0], [9.0, 9.0]]), []
    recordings = Recordings(Path("some"), contexts, np.array([0, 1]), [movement((0.0, 2.0)), aside], ["a", "b"])
    importers.fitted(task, recordings, left_out.append)
    assert [item.name for item in left_out] == ["b"]
    assert importers.remedy(task, recordings) == Remedy(6, 2, 2)
    six = replace(task, promp=replace(task.promp, bases=6))
    assert len(importers.fitted(six, recordings)) == 2
    assert importers.remedy(six, recordings) is None
    with_a_miss = Recordings(Path("some"), contexts, np.array([2, 1]), recordings.recordings, ["a", "b"])
    with pytest.raises(UserError, match="none of the 2 recordings"):
        importers.fitted(task, with_a_miss)
    assert importers.remedy(task, with_a_miss) == Remedy(6, 1, 2)


@pytest.mark.parametrize(
    ("file", "text", "says"),
    [
        ("contexts.csv", None, "contexts.csv does not exist"),
        ("contexts.csv", "x,y\n", "contexts.csv has names and no numbers"),
        ("contexts.csv", "1,2,3\n", "3 numbers where point has 2"),
        ("contexts.csv", "1,nan\n", "row 1, column 2: 'nan' is no finite number"),
        ("contexts.csv", "1,0\n1\n", "row 2 has 1 columns where others have 2"),
        ("contexts.csv", b"\xff\xfe\x00", "not a readable text file"),
        ("demonstrations/0_a.csv", None, "0_first.csv"),
        ("demonstrations/0_a.csv", "0,0\n1,one\n", "0_a.csv, row 2, column 2: 'one' is no finite number"),
        ("demonstrations/a.csv", "0,0\n", "must begin with the number of its context"),
        ("demonstrations/1_a.csv", "0,0\n1,0\n", "names context 1"),
    ],
)
def test_refuses_wrong_csv(tmp_path: Path, file: str, text: str | bytes | None, says: str):
    (tmp_path / "demonstrations").mkdir()
    (tmp_path / "contexts.csv").write_text("1,0\n")
    (tmp_path / "demonstrations" / "0_a.csv").write_text("0,0\n0.5,0\n1,0\n")
    if text is None:
        (tmp_path / file).unlink()
    else:
        (tmp_path / file).write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(UserError, match=says):
        importers.import_demonstrations(POINT, tmp_path, Reading("csv"))


def test_imports_npz(tmp_path: Path):
    contexts, context_of = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([1, 0])
    recordings = [movement((0.0, 1.0)), movement((1.0, 0.0))]
    np.savez(tmp_path / "equal.npz", contexts=contexts, context_of=context_of, trajectories=np.stack(recordings))
    np.savez(
        tmp_path / "lengths.npz",
        contexts=contexts,
        context_of=context_of,
        samples=np.concatenate([recordings[0], np.zeros((4, 2)), recordings[1]]),
        lengths=np.array([40, 44]),
    )
    for name in ("equal.npz", "lengths.npz"):
        set_ = importers.import_demonstrations(POINT, tmp_path / name, Reading("npz"))
        assert set_.context_of.tolist() == [1, 0]
        np.testing.assert_allclose(demos.trajectories(POINT, set_)[:, -1], contexts[[1, 0]], atol=0.05)


def test_refuses_wrong_npz(tmp_path: Path):
    np.savez(tmp_path / "few.npz", contexts=np.zeros((1, 2)))
    with pytest.raises(UserError, match="must hold contexts, context_of"):
        importers.import_demonstrations(POINT, tmp_path / "few.npz", Reading("npz"))
    np.savez(tmp_path / "flat.npz", contexts=np.zeros((1, 2)), context_of=np.array([0]), trajectories=np.zeros((5, 2)))
    with pytest.raises(UserError, match=r"flat\.npz: the trajectories must have 3 axes"):
        importers.import_demonstrations(POINT, tmp_path / "flat.npz", Reading("npz"))
    with pytest.raises(UserError, match="does not exist"):
        importers.import_demonstrations(POINT, tmp_path / "none.npz", Reading("npz"))
    with pytest.raises(UserError, match=r"format must be one of lerobot, .*, not 'mat'"):
        Reading("mat")
