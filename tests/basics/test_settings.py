"""Settings within settings: every field is reached by its own name, whichever dataclass it is in."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields, is_dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vigor.basics.errors import UserError
from vigor.basics.settings import value_of, with_values
from vigor.runs.methods import METHODS


@dataclass(frozen=True)
class Inner:
    depth: int = 1
    kind: str = "plain"


@dataclass(frozen=True)
class Middle:
    inner: Inner = Inner()
    rate: float = 0.5


@dataclass(frozen=True)
class Outer:
    middle: Middle = Middle()
    other: Inner | None = None
    count: int = 3

    def __post_init__(self) -> None:
        if self.count < self.middle.inner.depth:
            raise UserError("count must not be below depth")


VALUES = st.fixed_dictionaries(
    {},
    optional={
        "depth": st.integers(max_value=5),
        "kind": st.text(),
        "rate": st.floats(allow_nan=False),
        "count": st.integers(5),
    },
)


def leaves(settings: Any) -> Iterator[tuple[str, Any]]:
    """Names and values of all fields that hold no settings themselves."""
    for item in fields(settings):
        value = getattr(settings, item.name)
        if is_dataclass(value):
            yield from leaves(value)
        else:
            yield item.name, value


START = Outer(count=5)


@given(VALUES)
def test_values_come_back_by_their_names_and_others_stay(values):
    changed = with_values(START, **values)
    assert type(changed) is Outer
    assert dict(leaves(changed)) == dict(leaves(START)) | values
    for name, value in dict(leaves(changed)).items():
        assert value_of(changed, name) == value
        assert value_of(asdict(changed), name) == value
    assert with_values(changed, **dict(leaves(START))) == START


@given(VALUES, VALUES)
def test_changes_one_after_the_other_are_changes_at_once(first, second):
    assert with_values(with_values(START, **first), **second) == with_values(START, **first | second)


def test_settings_within_can_be_changed_whole():
    changed = with_values(START, inner=Inner(2, "odd"), count=7)
    assert changed == Outer(Middle(Inner(2, "odd")), count=7)
    assert value_of(changed, "inner") == Inner(2, "odd")


def test_settings_check_themselves_when_they_are_changed():
    with pytest.raises(UserError, match="count must not be below depth"):
        with_values(START, depth=6)
    assert with_values(START, depth=6, count=6).middle.inner.depth == 6


def test_an_unknown_name_is_one_sentence():
    with pytest.raises(UserError, match=r"^Outer has no setting 'breadth'$"):
        with_values(START, depth=2, width=1, breadth=1)
    for settings in (START, asdict(START)):
        with pytest.raises(KeyError, match="breadth"):
            value_of(settings, "breadth")


@pytest.mark.parametrize("name", METHODS)
def test_no_two_settings_of_a_method_have_the_same_name(name):
    settings = METHODS[name].settings()
    names = [leaf for leaf, _ in leaves(settings)]
    assert len(names) == len(set(names))
    assert with_values(settings, **dict(leaves(settings))) == settings
