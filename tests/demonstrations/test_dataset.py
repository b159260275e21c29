"""Demonstrations: what is written is read, what is wrong is refused in one sentence, what fails is dropped."""

import json
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.extra.numpy import arrays

from helpers import POINT
from vigor.basics.errors import UserError
from vigor.demonstrations import dataset as demos
from vigor.demonstrations.dataset import Demonstrations
from vigor.tasks.reachers.planar_reacher import TASK as PLANAR
from vigor.tasks.task import Task


def example(**changes: object) -> Demonstrations:
    fields = {
        "task": "point",
        "contexts": np.arange(8.0).reshape(4, 2),
        "context_of": np.array([2, 0, 2]),
        "weights": np.arange(24.0).reshape(3, 8),
        "recordings": (np.zeros((5, 2)), np.ones((2, 2)), np.ones((9, 2))),
        "source": "by hand",
    }
    return Demonstrations(**{**fields, **changes})  # type: ignore[arg-type]


def assert_same(a: Demonstrations, b: Demonstrations) -> None:
    assert (a.task, a.source) == (b.task, b.source)
    for name in ("contexts", "context_of", "weights"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
        assert getattr(a, name).dtype == getattr(b, name).dtype
    assert (a.recordings is None) == (b.recordings is None)
    for x, y in zip(a.recordings or (), b.recordings or (), strict=True):
        np.testing.assert_array_equal(x, y)
    assert (a.own is None) == (b.own is None)
    np.testing.assert_array_equal(a.own, b.own)


# The data type


def test_which_demonstrations_belong_to_which_context():
    set_ = example()
    assert set_.demonstrated.tolist() == [0, 2]
    assert [set_.of(context).tolist() for context in range(4)] == [[1], [], [0, 2], []]


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"contexts": np.arange(4.0)}, "contexts must have 2 axes"),
        ({"contexts": np.full((4, 2), np.nan)}, "contexts must be finite"),
        ({"contexts": np.zeros((0, 2))}, "contexts must have 2 axes and none of them empty"),
        ({"contexts": [[1.0, 2.0], [3.0]]}, "rows of equal length"),
        ({"contexts": [["a", "b"]] * 4}, "contexts must be real numbers"),
        ({"weights": np.full((3, 8), np.inf)}, "weights must be finite"),
        ({"weights": np.zeros((3, 8), complex)}, "weights must be real numbers"),
        ({"weights": np.zeros((2, 8))}, "context_of has shape"),
        ({"weights": np.zeros((3, 8, 1))}, "weights must have 2 axes"),
        ({"context_of": np.array([0.0, 1.0, 2.0])}, "must hold integers"),
        ({"context_of": np.array([True, False, True])}, "must hold integers"),
        ({"context_of": np.array([0, 1])}, "context_of has shape"),
        ({"context_of": np.array([0, 1, 4])}, "contexts 0 to 3"),
        ({"context_of": np.array([0, 1, -1])}, "contexts 0 to 3"),
        ({"recordings": (np.zeros((5, 2)),)}, "1 recordings for 3"),
        ({"recordings": (np.zeros((5, 2)), np.zeros((5, 2)), np.zeros(5))}, "recording 2 must have 2 axes"),
        ({"recordings": (np.zeros((5, 2)), np.zeros((5, 2)), np.zeros((5, 3)))}, "same number of columns"),
        ({"recordings": (np.zeros((5, 2)), np.zeros((5, 2)), np.zeros((1, 2)))}, "at least 2 steps"),
        ({"recordings": (np.zeros((5, 2)), np.full((5, 2), np.nan), np.zeros((5, 2)))}, "recording 1 must be finite"),
    ],
)
def test_refuses_what_is_wrong(changes: dict[str, object], says: str):
    with pytest.raises(UserError, match=says):
        example(**changes)


def test_keeps_its_own_copy():
    contexts = np.zeros((4, 2))
    set_ = example(contexts=contexts)
    contexts[:] = 1
    assert np.all(set_.contexts == 0)


# Files

finite = st.floats(-1e6, 1e6)


@st.composite
def sets(draw: st.DrawFn) -> Demonstrations:
    contexts, count, columns = draw(st.integers(1, 4)), draw(st.integers(1, 4)), draw(st.integers(1, 3))
    lengths = draw(st.lists(st.integers(2, 5), min_size=count, max_size=count))
    return Demonstrations(
        draw(st.text(st.characters(exclude_categories=["Cc", "Cf", "Cs", "Zl", "Zp"]))),
        draw(arrays(np.float64, (contexts, 2), elements=finite)),
        draw(arrays(np.int64, count, elements=st.integers(0, contexts - 1))),
        draw(arrays(np.float64, (count, 3), elements=finite)),
        draw(st.none() | st.tuples(*(arrays(np.float64, (length, columns), elements=finite) for length in lengths))),
        draw(st.text(st.characters(exclude_categories=["Cc", "Cf", "Cs", "Zl", "Zp"]))),
        draw(st.none() | arrays(bool, count)),
    )


@given(sets())
@settings(max_examples=30, deadline=None)
def test_reads_what_it_wrote(tmp_path_factory: pytest.TempPathFactory, set_: Demonstrations):
    folder = tmp_path_factory.mktemp("set") / "new"
    demos.save(set_, folder)
    assert sorted(file.name for file in folder.iterdir()) == [demos.HEADER, demos.ARRAYS]
    assert_same(demos.load(folder), set_)


def test_writes_no_other_set_over_one(tmp_path: Path):
    demos.save(example(), tmp_path)
    demos.save(example(), tmp_path)
    for other in (example(weights=np.zeros((3, 8))), example(source="others"), example(recordings=None)):
        with pytest.raises(UserError, match="choose another --out"):
            demos.save(other, tmp_path)
    assert_same(demos.load(tmp_path, POINT), example())
    (tmp_path / demos.HEADER).write_text("{}")
    with pytest.raises(UserError, match="choose another --out"):
        demos.save(example(), tmp_path)


def test_ends_a_save_that_was_interrupted_but_not_that_of_another_set(tmp_path: Path):
    demos.save(example(), tmp_path)
    (tmp_path / demos.HEADER).unlink()
    with pytest.raises(UserError, match="choose another --out"):
        demos.save(example(weights=np.zeros((3, 8))), tmp_path)
    demos.save(example(), tmp_path)
    assert_same(demos.load(tmp_path, POINT), example())


def test_a_set_that_is_replaced_takes_its_own_arrays_along_and_nobody_elses(tmp_path: Path):
    example().save(tmp_path)
    demos.replace(example(source="first"), tmp_path)
    copies = {"demonstrations-backup.npz", "demonstrations_old.npz", "demonstrations-0123456789.npz"}
    for name in copies:
        (tmp_path / name).write_bytes(b"mine")
    demos.replace(example(source="second"), tmp_path)
    left, header = {path.name for path in tmp_path.iterdir()}, json.loads((tmp_path / demos.HEADER).read_text())
    assert left == copies | {demos.HEADER, header["arrays"]}
    assert demos.load(tmp_path).source == "second"


def test_sets_that_differ_by_rounding_are_alike():
    weights = np.array(example().weights)
    assert demos.alike(example(), example(weights=weights * (1 + 1e-9)))
    assert not demos.alike(example(), example(weights=weights * (1 + 1e-3)))
    assert not demos.alike(example(), example(source="others"))
    assert not demos.alike(example(), example(weights=weights[:, :4]))


def test_says_where_it_cannot_write(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="cannot be written"):
        demos.save(example(), tmp_path / "file")


def refusal(folder: Path, task: Task | None = POINT) -> str:
    with pytest.raises(UserError) as error:
        demos.load(folder, task)
    message = str(error.value)
    assert "\n" not in message
    assert demos.HEADER in message or demos.ARRAYS in message
    return message


@pytest.mark.parametrize(
    ("header", "says"),
    [
        ("", "not a readable JSON"),
        ('{"format": "vigor-dem', "not a readable JSON"),
        ("[]", "does not describe demonstrations"),
        ({"format": "other"}, "does not describe demonstrations"),
        ({"version": 2}, "has version 2"),
        ({"task": 3}, "task must be a text"),
        ({"source": None}, "source must be a text"),
        ({"source": "\x1b[2J"}, "source: it has characters that cannot be shown"),
        ({"contexts": "4"}, "contexts must be a whole number"),
        ({"demonstrations": 4}, "does not belong"),
    ],
)
def test_refuses_a_wrong_header(tmp_path: Path, header: str | dict[str, object], says: str):
    demos.save(example(), tmp_path)
    file = tmp_path / demos.HEADER
    file.write_text(header if isinstance(header, str) else json.dumps({**json.loads(file.read_text()), **header}))
    assert says in refusal(tmp_path)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"weights": None}, "lacks weights"),
        ({"weights": np.zeros((3, 7))}, "7 numbers where point has 8"),
        ({"weights": np.full((3, 8), np.nan)}, "weights must be from -1e+09 to 1e+09"),
        ({"weights": np.array([[None] * 8] * 3)}, "without pickled objects"),
        ({"contexts": np.zeros((4, 3))}, "3 numbers where point has 2"),
        ({"contexts": np.full((4, 2), -1e30)}, "contexts must be from -1e+06 to 1e+06"),
        ({"context_of": np.array([0, 1, 9])}, "contexts 0 to 3"),
        ({"context_of": np.array([0.0, 1.0, 1.0])}, "must be integers [demonstration]"),
        ({"lengths": None}, "it lacks lengths"),
        ({"lengths": np.array([5, 2, 8])}, "add up to 15 for 16"),
        ({"lengths": np.array([18, -2, 0])}, "lengths must be from 1"),
        ({"samples": np.zeros((16, 3))}, "3 columns where point moves 2"),
        ({"samples": np.zeros(16)}, "samples must be real numbers [sample, dimension]"),
        ({"samples": None}, "unknown arrays: lengths"),
        ({"samples": None, "lengths": None}, "does not belong"),
        ({"weights": np.full((3, 8), 1e18)}, "weights must be from"),
        ({"weights": np.zeros((3, 8), complex)}, "must be real numbers"),
    ],
)
def test_refuses_wrong_arrays(tmp_path: Path, changes: dict[str, np.ndarray | None], says: str):
    demos.save(example(), tmp_path)
    with np.load(tmp_path / demos.ARRAYS) as file:
        contents = {**file, **changes}
    np.savez(tmp_path / demos.ARRAYS, **{name: array for name, array in contents.items() if array is not None})
    assert says in refusal(tmp_path)


def test_a_place_without_a_set_is_refused(tmp_path: Path):
    (tmp_path / "recordings").mkdir()
    for name, says in (("nowhere", "does not exist"), ("recordings", "is empty: put recordings into it")):
        with pytest.raises(UserError, match=f"{name} {says}"):
            demos.load(tmp_path / name)
    (tmp_path / "recordings" / "drawn.csv").write_text("0,0")
    with pytest.raises(UserError, match="recordings become one by `vigor demos import`"):
        demos.load(tmp_path / "recordings")


# numpy leaves the file of an archive that it cannot open to the garbage collector.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning")
def test_refuses_damaged_files(tmp_path: Path):
    demos.save(example(), tmp_path)
    file = tmp_path / demos.ARRAYS
    whole = file.read_bytes()
    rng = np.random.default_rng(0)
    for length in (0, 10, len(whole) // 2, len(whole) - 1):
        file.write_bytes(whole[:length])
        refusal(tmp_path)
    for position in rng.integers(len(whole), size=200):
        flipped = bytearray(whole)
        flipped[position] ^= 0xFF
        file.write_bytes(flipped)
        try:
            # Some bytes of an archive mean nothing; then what is read must be what was written.
            assert_same(demos.load(tmp_path, POINT), example())
        except UserError as error:
            assert demos.ARRAYS in str(error)  # noqa: PT017
    with file.open("wb") as opened:
        np.save(opened, np.zeros(3))
    refusal(tmp_path)
    file.unlink()
    assert "does not exist" in refusal(tmp_path)


def test_refuses_the_demonstrations_of_another_task(tmp_path: Path):
    demos.save(example(), tmp_path)
    assert "demonstrations of point, not of planar-reacher" in refusal(tmp_path, PLANAR)


def test_raw_trajectories_are_evenly_spaced_steps_of_the_recordings():
    line = np.linspace(0.0, 1.0, 97)[:, None] * np.array([1.0, 2.0])
    set_ = example(recordings=(line, line[::2], line[:, ::-1]))
    raw = demos.trajectories(POINT, set_, raw=True)
    expected = np.linspace(0.0, 1.0, 25)[:, None] * np.array([1.0, 2.0])
    np.testing.assert_allclose(raw, [expected, expected, expected[:, ::-1]], atol=1e-12)
    with pytest.raises(UserError, match="hold no recordings"):
        demos.trajectories(POINT, example(recordings=None), raw=True)
