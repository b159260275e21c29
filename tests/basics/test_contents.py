"""Arrays are as their description says, or one sentence says what is not."""

from dataclasses import replace

import numpy as np
import pytest

from vigor.basics import contents
from vigor.basics.contents import Numbers, check
from vigor.basics.errors import OutOfRange, UserError

DESCRIBED = {
    "places": Numbers(("point", 2)),
    "owner": Numbers(("point",), 0, 5, whole=True),
    "loss": Numbers((), 0.0, np.inf),
    "matrix": Numbers(("side", "side"), -1.0, 1.0),
}


def right() -> dict[str, np.ndarray]:
    return {
        "places": np.zeros((3, 2)),
        "owner": np.array([0, 5, 1]),
        "loss": np.array(np.inf),
        "matrix": np.eye(4, dtype=np.float16),
    }


def test_sizes_of_named_axes_are_found():
    assert check(DESCRIBED, right()) == {"point": 3, "side": 4}
    assert check(DESCRIBED, right(), point=3)["point"] == 3


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("places", None, "it lacks places"),
        ("more", np.zeros(1), "it has unknown arrays: more"),
        ("places", np.zeros((3, 3)), "places must be real numbers [point, 2], with 2 for 2; its shape is (3, 3)"),
        ("places", np.zeros(3), "places must be real numbers [point, 2], not float64 of the shape (3,)"),
        ("places", np.zeros((3, 2), complex), "places must be real numbers [point, 2], not complex128"),
        ("places", np.zeros((3, 2), int), "places must be real numbers"),
        ("places", np.full((3, 2), "1"), "places must be real numbers"),
        ("owner", np.zeros(4, int), "owner must be integers [point], with 3 for point; its shape is (4,)"),
        ("owner", np.zeros(3), "owner must be integers [point], not float64"),
        ("owner", np.array([0, 6, 1]), "owner must be from 0 to 5, and is not everywhere"),
        ("loss", np.array(np.nan), "loss must be from 0 to inf"),
        ("matrix", np.zeros((4, 3)), "with 4 for side"),
        ("matrix", np.zeros((0, 0)), "its shape is (0, 0)"),
        ("matrix", np.full((4, 4), np.inf), "matrix must be from -1 to 1"),
    ],
)
def test_what_is_not_as_described_is_named(name, value, said):
    arrays = {key: array for key, array in (right() | {name: value}).items() if array is not None}
    with pytest.raises(UserError) as error:
        check(DESCRIBED, arrays)
    assert said in str(error.value)


def test_a_size_that_is_known_counts():
    with pytest.raises(UserError, match="with 7 for point"):
        check(DESCRIBED, right(), point=7)


def test_tensors_come_back_and_wrong_ones_are_neither_written_nor_read(tmp_path):
    path = tmp_path / "some.safetensors"
    contents.write_tensors(path, right(), DESCRIBED, {"a": "b"})
    arrays, metadata = contents.read_tensors(path, DESCRIBED, point=3)
    assert metadata == {"a": "b"}
    for name, array in right().items():
        np.testing.assert_array_equal(arrays[name], array)
    assert contents.tensor_shapes(path)["places"] == (3, 2)
    with pytest.raises(OutOfRange, match="owner must be from 0 to 5"):
        contents.write_tensors(tmp_path / "other", right() | {"owner": np.array([0, 9, 1])}, DESCRIBED)
    assert [item.name for item in tmp_path.iterdir()] == ["some.safetensors"]
    narrow = DESCRIBED | {"owner": replace(DESCRIBED["owner"], high=4)}
    with pytest.raises(OutOfRange, match="owner must be from 0 to 4"):
        contents.read_tensors(path, narrow)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(UserError, match="it cannot be read"):
        contents.read_tensors(path)
