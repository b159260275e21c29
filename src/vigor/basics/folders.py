"""Folders that are written whole or not at all, as single files are; and those of the user."""

import os
import secrets
import shutil
from collections.abc import Callable
from pathlib import Path

from vigor.basics import files
from vigor.basics.errors import UserError


def write_whole(path: Path, write: Callable[[Path], object]) -> None:
    """Let `write` make a folder elsewhere, then move it to `path`, which must be new: see `files.write_whole`.

    write: is given the place for the folder, whose name is that of `path`.
    """
    if path.exists() or path.is_symlink():
        raise UserError(f"{path} exists already; choose another place")
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}{files.MARK}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        files.remove_leftovers(path.parent, files.FORGOTTEN)
        temporary.mkdir()
        write(temporary / path.name)
        for item in (temporary / path.name, *(temporary / path.name).rglob("*")):
            files.sync(item)
        (temporary / path.name).rename(path)
        files.sync(path.parent)
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)  # What came before matters more.


def of_user(variable: str, usual: str) -> Path:
    """The user's folder that a variable of the environment names, or the usual one in the home.

    A relative path does not count: what lies in the working folder may be anybody's.
    """
    given = Path(os.environ.get(variable, ""))
    return given if given.is_absolute() else Path.home() / usual
