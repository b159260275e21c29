"""Messages about errors: one sentence for the page, the details for the terminal."""

import traceback

from vigor.basics.errors import UserError


def sentence(error: Exception) -> str:
    """One sentence: that of bad input, or an error's name and its first words."""
    if isinstance(error, UserError):
        return str(error)
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


def print_unexpected(error: Exception) -> None:
    """Leave where an error came from in the terminal, if it is not about the input."""
    if not isinstance(error, UserError):
        traceback.print_exception(error)
