"""Dataclasses as JSON and back: what is written comes back, and nothing is guessed of what does not fit."""

import json
from dataclasses import dataclass, field
from typing import Literal

import pytest

from vigor.basics.errors import UserError
from vigor.basics.serialisation import from_json, is_plain, to_json
from vigor.runs.methods import METHODS


@dataclass(frozen=True)
class Wheel:
    radius: float = 1.0
    names: tuple[str, ...] = ()
    side: Literal["left", "right"] = "left"

    def __post_init__(self) -> None:
        if self.radius <= 0:
            raise UserError("a wheel needs a positive radius")


@dataclass(frozen=True)
class Cart:
    seats: int
    braked: bool
    wheel: Wheel = Wheel()
    load: float | None = None
    limits: tuple[tuple[float, float], ...] = ()
    loads: list[float] = field(default_factory=list)


CART = Cart(2, True, Wheel(0.5, ("hub", "rim"), "right"), 3.5, ((0.0, 1.0), (-1.0, 2.0)))


@pytest.mark.parametrize("cart", [CART, Cart(0, False)])
def test_what_is_written_comes_back(cart):
    assert from_json(Cart, json.loads(json.dumps(to_json(cart)))) == cart


@pytest.mark.parametrize("name", METHODS)
def test_the_settings_of_every_method_come_back(name):
    settings = METHODS[name].settings()
    assert from_json(type(settings), json.loads(json.dumps(to_json(settings)))) == settings


def test_a_whole_number_serves_as_a_number():
    radius = from_json(Wheel, {"radius": 2}).radius
    assert radius == 2
    assert isinstance(radius, float)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "it must be an object"),
        ([], "it must be an object"),
        ("cart", "it must be an object"),
        ({}, "seats is missing; braked is missing"),
        ({"seats": 1.5}, "seats must be a whole number"),
        ({"seats": True}, "seats must be a whole number"),
        ({"seats": None}, "seats must be a whole number"),
        ({"braked": 1}, "braked must be true or false"),
        ({"load": "heavy"}, "load must be a number"),
        ({"wheel": []}, "wheel must be an object"),
        ({"wheel": {"radius": "1"}}, "wheel.radius must be a number"),
        ({"wheel": {"radius": True}}, "wheel.radius must be a number"),
        ({"wheel": {"radius": 10**400}}, "wheel.radius must be a number"),
        ({"wheel": {"radius": -1.0}}, "wheel: a wheel needs a positive radius"),
        ({"wheel": {"side": "top"}}, "wheel.side must be one of left, right"),
        ({"wheel": {"side": []}}, "wheel.side must be one of left, right"),
        ({"wheel": {"names": "hub"}}, "wheel.names must be a list"),
        ({"wheel": {"names": {}}}, "wheel.names must be a list"),
        ({"wheel": {"names": ["hub", 1]}}, "wheel.names[1] must be a text"),
        ({"limits": 3}, "limits must be a list"),
        ({"limits": [[0, 1], [0]]}, "limits[1] must be a list of 2"),
        ({"limits": [[0, "1"]]}, "limits[0][1] must be a number"),
        ({"loads": {}}, "loads must be a list"),
        ({"loads": ""}, "loads must be a list"),
        ({"loads": ["1"]}, "loads[0] must be a number"),
        ({"colour": "red"}, "it has unknown fields: colour"),
    ],
)
def test_what_does_not_fit_is_named_in_one_sentence(value, said):
    whole = {"seats": 1, "braked": True} | value if isinstance(value, dict) and value else value
    with pytest.raises(UserError) as error:
        from_json(Cart, whole)
    assert str(error.value) == said


@pytest.mark.parametrize("name", ["a\nb", "\x1b[2J", "\u202eabc", "\0", "\ud800", "\u2028", "\x9b2J"])
def test_texts_that_a_terminal_obeys_or_that_are_two_lines_are_refused(name):
    assert not is_plain(name)
    with pytest.raises(UserError, match="it has characters that cannot be shown"):
        from_json(Wheel, {"names": [name]})
    for other in ("größe", "関節", "a b", ""):
        assert is_plain(other)


def test_no_more_than_three_reasons_are_given():
    with pytest.raises(UserError) as error:
        from_json(Wheel, {"names": list(range(100))})
    assert str(error.value).count("must be a text") == 3
