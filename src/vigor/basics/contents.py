"""Contents of files with arrays, described once: what writes a file and what reads it check the same.

A description has an entry for every array of a file. What it says is also what fuzzing breaks
(`benchmarks/torture.py`), so that an array that is added is checked and fuzzed without further code.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
import safetensors.numpy

from vigor.basics import files
from vigor.basics.errors import OutOfRange, UserError

LARGEST = 1e9
"""No number may be beyond unless its description says so: what is computed from it in single precision is finite."""


@dataclass(frozen=True)
class Numbers:
    """Description of an array of real numbers, none of which is NaN."""

    axes: tuple[str | int, ...] = ()
    """Name or size of each axis. Axes of one name have one size, in all arrays of a file."""
    low: float = -LARGEST
    """Least number; where it is -inf, numbers may be infinite."""
    high: float = LARGEST
    """Largest number; where it is inf, numbers may be infinite."""
    whole: bool = False
    """Whether they are integers."""

    def __str__(self) -> str:
        return f"{'integers' if self.whole else 'real numbers'} [{', '.join(map(str, self.axes))}]"


Contents = dict[str, Numbers]
"""Arrays of a file by name."""


def check(contents: Contents, arrays: Mapping[str, np.ndarray], **sizes: int) -> dict[str, int]:
    """Sizes of the axes by name; raises a UserError that names what is missing, unknown, or not as described.

    sizes: axes whose size is known.
    """
    if missing := contents.keys() - arrays.keys():
        raise UserError(f"it lacks {', '.join(sorted(missing)[:3])}")
    if unknown := arrays.keys() - contents.keys():
        raise UserError(f"it has unknown arrays: {', '.join(sorted(unknown))[:100]}")
    for name, meant in contents.items():
        _check(name, meant, arrays[name], sizes)
    return sizes


def _check(name: str, meant: Numbers, array: np.ndarray, sizes: dict[str, int]) -> None:
    if array.dtype.kind not in ("iub" if meant.whole else "f") or array.ndim != len(meant.axes):
        raise UserError(f"{name} must be {meant}, not {array.dtype} of the shape {array.shape}")
    for axis, size in zip(meant.axes, array.shape, strict=True):
        known = sizes.setdefault(axis, size) if isinstance(axis, str) else axis
        if size != known or (not size and isinstance(axis, str)):
            raise UserError(f"{name} must be {meant}, with {known or 'some'} for {axis}; its shape is {array.shape}")
    # A comparison with NaN is false.
    if not np.all((array >= meant.low) & (array <= meant.high)):
        raise OutOfRange(f"{name} must be from {meant.low:g} to {meant.high:g}, and is not everywhere")


def write_tensors(
    path: Path,
    arrays: Mapping[str, np.ndarray],
    contents: Contents,
    metadata: dict[str, str] | None = None,
    new: bool = False,
) -> None:
    """Write a safetensors file of what the description says. new: raise FileExistsError if there is such a file."""
    check(contents, arrays)
    contiguous = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    # Written here, since the library's own errors do not say what is wrong with the disk.
    files.write_bytes(path, safetensors.numpy.save(contiguous, metadata), new)


def read_tensors(
    path: Path, contents: Contents | None = None, *, largest: int = files.LARGEST, **sizes: int
) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Arrays and metadata of a safetensors file, checked if a description is given; sizes: see `check`.

    largest: most bytes of the file.
    """
    with _opened(path, largest) as file:
        arrays, metadata = {name: file.get_tensor(name) for name in file.keys()}, file.metadata() or {}  # noqa: SIM118
    if contents is not None:
        check(contents, arrays, **sizes)
    return arrays, metadata


def tensor_shapes(path: Path) -> dict[str, tuple[int, ...]]:
    """Shapes of the arrays of a safetensors file, which are not read."""
    with _opened(path) as file:
        return {name: tuple(file.get_slice(name).get_shape()) for name in file.keys()}  # noqa: SIM118


@contextmanager
def _opened(path: Path, largest: int = files.LARGEST) -> Iterator[Any]:
    files.check_plain(path, largest)
    try:
        with safetensors.safe_open(path, "numpy") as file:
            yield file
    except UserError:
        raise
    except Exception as error:  # A damaged file may also have types that numpy does not know.
        raise UserError(f"it cannot be read ({str(error).partition(chr(10))[0][:100]})") from None
