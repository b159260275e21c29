"""Dataclasses as JSON and back, strictly: nothing is guessed, and what does not fit is named in one sentence."""

import unicodedata
from typing import Any, Literal, TypeVar, get_args, get_origin, is_typeddict

import cattrs
from cattrs.cols import list_structure_factory
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn
from cattrs.gen.typeddicts import make_dict_structure_fn as make_typed_dict_structure_fn

from vigor.basics.errors import UserError

T = TypeVar("T")


def _strict(kinds: tuple[type, ...]) -> Any:
    def structure(value: Any, kind: type) -> Any:
        if type(value) not in kinds:
            raise ValueError(kind)
        return kind(value)

    return structure


def _text(value: Any, kind: type) -> str:
    """A text that can be shown: a terminal obeys some characters, and a name that ends a line makes two rows of one."""
    if type(value) is not str:
        raise ValueError(kind)
    if not is_plain(value):
        raise UserError("it has characters that cannot be shown")
    return value


def is_plain(text: str) -> bool:
    """Whether a text is one line of characters that can be shown."""
    return text.isprintable() or not any(unicodedata.category(letter) in _UNSEEN for letter in text)


FORMULAS = ("=", "+", "-", "@")
"""Beginnings of texts in a table that programs for tables compute."""
_UNSEEN = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""Categories of characters that control what others look like, end lines, or are none."""


def _strict_tuple(kind: Any, converter: cattrs.Converter) -> Any:
    """Reader of a tuple whose parts are all of one type: from a list, not from the letters of a word."""
    part, *others = get_args(kind)

    def structure(value: Any, _: Any) -> Any:
        if not isinstance(value, list | tuple) or (others != [...] and len(value) != len(others) + 1):
            raise ValueError(kind)
        return tuple(converter.structure(value, list[part]))  # type: ignore[valid-type]

    return structure


def _strict_list(kind: Any, converter: cattrs.Converter) -> Any:
    """Reader of a list: from a list, not from the letters of a word or the names of an object."""
    usual = list_structure_factory(kind, converter)

    def structure(value: Any, _: Any) -> Any:
        if not isinstance(value, list | tuple):
            raise ValueError(kind)
        return usual(value, kind)

    return structure


def _of(origin: Any) -> Any:
    """Whether a type is of another, as list[int] is of list."""
    return lambda kind: get_origin(kind) is origin


def _converter() -> cattrs.Converter:
    converter = cattrs.Converter(forbid_extra_keys=True, detailed_validation=True)
    for kind, allowed in {bool: (bool,), int: (int,), float: (int, float)}.items():
        converter.register_structure_hook(kind, _strict(allowed))
    converter.register_structure_hook(str, _text)
    strict: dict[Any, Any] = {tuple: _strict_tuple, list: _strict_list}
    for origin, factory in strict.items():
        converter.register_structure_hook_factory(_of(origin), factory)
    # Results may have more than is described.
    converter.register_structure_hook_factory(
        is_typeddict, lambda kind: make_typed_dict_structure_fn(kind, converter, _cattrs_forbid_extra_keys=False)
    )
    return converter


CONVERTER = _converter()


def changed(kind: type, **changes: Any) -> None:
    """Let a class be written and read with changes to some of its fields."""
    CONVERTER.register_unstructure_hook(kind, make_dict_unstructure_fn(kind, CONVERTER, **changes))
    CONVERTER.register_structure_hook(kind, make_dict_structure_fn(kind, CONVERTER, **changes))


def to_json(value: Any) -> Any:
    """Plain dicts, lists, numbers and words of a dataclass."""
    return CONVERTER.unstructure(value)


def from_json(kind: type[T], value: Any) -> T:
    """A dataclass of what `to_json` made of it; raises a UserError that names what does not fit."""
    try:
        return CONVERTER.structure(value, kind)
    except UserError:
        raise
    except Exception as error:
        # Each reason is such as " must be a number @ $.constraints.seconds"; three suffice.
        found = [said.partition(" @ $") for said in cattrs.transform_error(error, format_exception=_reason)[:3]]
        raise UserError("; ".join(f"{place.lstrip('.') or 'it'}{said}" for said, _, place in found)) from None


_WORDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}


def _reason(error: BaseException, kind: Any) -> str:
    """The fault of a value, in words that follow its name."""
    if isinstance(error, UserError):
        return f": {error}"
    if isinstance(error, KeyError):
        return " is missing"
    if isinstance(error, cattrs.errors.ForbiddenExtraKeysError):
        return f" has unknown fields: {', '.join(sorted(error.extra_fields))[:100]}"
    if get_origin(kind) is Literal:
        return f" must be one of {', '.join(map(str, get_args(kind)))}"
    if get_origin(kind) is list:
        return " must be a list"
    if get_origin(kind) is tuple:
        return " must be a list" if get_args(kind)[-1] is ... else f" must be a list of {len(get_args(kind))}"
    meant = next(iter(get_args(kind)), kind)  # Of `float | None` the former.
    return f" must be {_WORDS.get(meant, 'an object')}"
