"""Task files that may be run: those that the user has named, known again by their content.

A task of a user's own is a Python program. Naming it, as in `vigor train my_task.py:TASK`, is asking for it to be run,
and confirms that very content. A run or a plan that only refers to a task file is no reason to run it: it is loaded if
its content has been confirmed on this machine before, and otherwise a sentence says which file has to be named.
"""

import hashlib
from pathlib import Path

from vigor.basics import files, folders

LARGEST = 2**26
"""Most bytes of a file that is looked at."""


def digest(path: Path) -> str:
    """SHA-256 of a file's content, which is of a size that a program or a scene can have."""
    files.check_plain(path, LARGEST)
    return digest_of(path.read_bytes())


def digest_of(content: bytes) -> str:
    """SHA-256 of a content, in hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()


def confirm(path: Path) -> None:
    """Remember that the user has asked for this file's content to be run."""
    mark = _folder() / digest(path)
    if not mark.exists():
        try:
            files.write_text(mark, f"{path.resolve()}\n")
        except OSError:  # Where nothing can be remembered, the user is asked again.
            return


def is_confirmed(content: str) -> bool:
    """Whether a file with this SHA-256 may be run."""
    return len(content) == 64 and content.isalnum() and (_folder() / content).is_file()


def _folder() -> Path:
    return folders.of_user("XDG_STATE_HOME", ".local/state") / "vigor" / "confirmed"
