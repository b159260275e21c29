"""Mutations of values for `mutations.py`: of JSON by the types that it is read as, of arrays by their descriptions."""

import json
import random
import types
import typing
from collections.abc import Callable
from dataclasses import is_dataclass
from typing import Any, NamedTuple, get_args, get_origin, get_type_hints

import numpy as np


class Mutation(NamedTuple):
    """A change of a file."""

    words: str
    """The change, in words."""
    wrong: bool
    """Whether what is left must not be accepted."""


JUNK: tuple[Any, ...] = (
    *(
        None,
        True,
        False,
        0,
        -1,
        10**6,
        2**31,
        10**18,
        10**19,
        10**30,
        1e300,
        -1e30,
        1e-300,
        0.5,
        float("nan"),
        float("inf"),
    ),
    *(
        "",
        "x",
        "1_0",
        "\uff11\uff12",
        "nan",
        "a\nb",
        "[/b]",
        "$\\q$",
        "\x1b[2J",
        "\u202e",
        "\0",
        "../../etc/passwd",
        "/dev/zero",
        "x" * 10**5,
    ),
    *([], [[]], [1, "a"], {}, {"a": {}}, [None] * 3, json.loads("[" * 400 + "]" * 400)),
)
"""Values in place of others."""


# JSON


def change_value(value: Any, rng: random.Random, kind: Any) -> Mutation:
    """Put a value of another type, or a field more or less, anywhere into a value; kind: type that it is read as."""
    way = rng.choice([way for way in _places(value) if way])
    inner = value
    for step in way[:-1]:
        inner = inner[step]
    old, hint = inner[way[-1]], _hint(kind, way)
    change = rng.choice(("value", "value", "value", "remove", "more"))
    if change == "remove":
        del inner[way[-1]]
        said, wrong = "removed", isinstance(way[-1], str) and _required(_hint(kind, way[:-1]), way[-1])
    elif change == "more" and isinstance(inner, dict):
        inner[rng.choice(("x", "__class__", "\n"))] = rng.choice(JUNK)
        said, wrong = "more", False
    else:
        new = rng.choice(JUNK)
        inner[way[-1]] = new
        said, wrong = f"{new!s:.20}", _not_of(hint, new) and new != old
    return Mutation(f"{'.'.join(map(str, way))}: {said}", wrong)


def _places(value: Any, way: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value[:3]) if isinstance(value, list) else ()
    return [way, *(found for name, part in inner for found in _places(part, (*way, name)))]


def _hint(kind: Any, way: tuple[Any, ...]) -> Any:
    """Type that a place is read as; Any where nothing is said."""
    for step in way:
        parts = [part for part in get_args(kind) if part is not type(None)]
        if isinstance(kind, types.UnionType) or get_origin(kind) is typing.Union:
            kind = parts[0] if len(parts) == 1 else Any
            parts = get_args(kind)
        if get_origin(kind) in (list, tuple):
            kind = parts[0]
        elif get_origin(kind) is dict:
            kind = parts[1]
        else:
            kind = _fields(kind).get(step, Any)
    return kind


def _fields(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind) if is_dataclass(kind) or typing.is_typeddict(kind) else {}


def _required(kind: Any, name: str) -> bool:
    return typing.is_typeddict(kind) and name in kind.__required_keys__


def _not_of(kind: Any, value: Any) -> bool:
    """Whether a value is certainly not of a type."""
    if isinstance(value, float) and not np.isfinite(value):
        return True
    plain = {bool: (bool,), int: (int,), float: (int, float), str: (str,)}
    if kind in plain:
        return type(value) not in plain[kind]
    return (get_origin(kind) in (list, tuple) and not isinstance(value, list)) or (
        (bool(_fields(kind)) or get_origin(kind) is dict) and not isinstance(value, dict)
    )


# Arrays


def broken(array: np.ndarray, described: Any, rng: random.Random, packed: bool) -> tuple[Mutation, np.ndarray]:
    known = described is not None
    ways: dict[str, tuple[bool, Callable[[], np.ndarray]]] = {
        "removed": (known, lambda: array),
        "one more": (known, lambda: array),
        "metadata": (False, lambda: array),
        "an axis more": (known, lambda: array[None]),
        "an axis less": (known and array.ndim > 0, lambda: array[0] if array.ndim else array),
        "longer": (known and array.ndim > 0, lambda: np.concatenate([array, array[:1]]) if array.ndim else array),
        "empty": (known and array.ndim > 0, lambda: array[:0] if array.ndim else array),
    }
    if array.dtype.kind in "iuf" and array.size:

        def put(value: Any) -> np.ndarray:
            with np.errstate(all="ignore"):
                changed = np.array(array)
                changed.reshape(-1)[rng.randrange(array.size)] = value
                return changed

        ways["doubles"] = (False, lambda: array.astype(np.float64))
        if packed:
            ways["texts"] = (known, lambda: array.astype(str))
        if array.dtype.kind == "f":
            ways["complex"] = (
                known and array.dtype.itemsize > 2,
                lambda: array.astype(np.complex64) if array.dtype.itemsize > 2 else array,
            )
            ways["not a number"] = (known, lambda: put(np.nan))
            for name, bound in (("infinite", np.inf), ("infinitely small", -np.inf)):
                allowed = known and (described.high if bound > 0 else described.low) == bound
                ways[name] = (known and not allowed, lambda bound=bound: put(bound))
        beyond = {"too small": described.low * 2 - 1, "too large": described.high * 2 + 1} if known else {}
        for name, value in beyond.items():
            if _holds(array.dtype, value):
                ways[name] = (True, lambda value=value: put(value))
    # "longer" is right where the size of the first axis is nobody's business but this array's.
    if known and described.axes and described.axes[0] in ("sample", "iteration"):
        ways["longer"] = (False, ways["longer"][1])
    words = rng.choice(sorted(ways))
    wrong, change = ways[words]
    return Mutation(words, wrong), change()


def _holds(kind: np.dtype, value: float) -> bool:
    """Whether arrays of a type can have a number; infinite ones are another change."""
    if kind.kind == "f":
        return bool(abs(value) < np.finfo(kind).max)
    return bool(np.iinfo(kind).min <= value <= np.iinfo(kind).max)
