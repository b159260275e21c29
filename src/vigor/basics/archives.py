"""Archives of arrays, looked at before they are opened."""

import os
from pathlib import Path

DIRECTORY = 2**20
"""Most bytes of the directory of a compressed file."""


def check_directory(path: Path) -> None:
    """Refuse a zip with a directory larger than that of any arrays: it is read as a whole, and takes more memory yet.

    Such as numpy writes end in the directory's size, without a comment, and without a second one of more digits.
    """
    with path.open("rb") as file:
        file.seek(-min(42, path.stat().st_size), os.SEEK_END)
        end = file.read()
    if end[-22:-18] != b"PK\5\6" or end[:4] == b"PK\6\7" or int.from_bytes(end[-10:-6], "little") > DIRECTORY:
        raise ValueError("its directory is not one of arrays")
