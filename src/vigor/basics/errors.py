"""Errors that the input causes, each said in one sentence."""

import difflib
from collections.abc import Iterable
from dataclasses import fields
from typing import Any, Literal, get_args, get_origin, get_type_hints


class UserError(Exception):
    """Bad input: the message names the thing and the remedy. The command line prints it and exits with code 2."""


class OutOfRange(UserError):
    """Numbers that are not finite, or beyond what can be computed with: in a file, or where training has diverged."""


class Notice(UserWarning):
    """Something that is done otherwise than the user may think, said in one sentence; nothing is wrong."""


def check_choices(settings: Any) -> None:
    """Raise a UserError if a field of a dataclass that is annotated with Literal has a value of its own."""
    hints = get_type_hints(type(settings))
    for item in fields(settings):
        value, hint = getattr(settings, item.name), hints[item.name]
        if get_origin(hint) is Literal and value not in get_args(hint):
            raise UserError(f"{item.name} must be one of {', '.join(get_args(hint))}, not {value!r}")


def near_misses(word: str, known: Iterable[str]) -> str:
    """The words "(did you mean ...?)" if a word resembles one that is known, else nothing."""
    close = difflib.get_close_matches(word, list(known), 1)
    return f" (did you mean {close[0]}?)" if close else ""
