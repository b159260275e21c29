"""What the page says when something goes wrong that nobody asked for."""

import traceback

from vigor.basics.errors import UserError


def sentence(error: Exception) -> str:
    """One sentence: that of bad input, or an error's name and its first words."""
    if isinstance(error, UserError):
        return str(error)
    said = str(error).strip().splitlines()
    return f"{type(error).__name__}: {said[0]}" if said else type(error).__name__


def print_unexpected(error: Exception) -> None:
    """Leave where an error came from in the terminal, if it is not about the input."""
    if not isinstance(error, UserError):
        traceback.print_exception(error)
