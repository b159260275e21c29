"""XML of foreign files: read up to a size, without document types, with numbers and names as strict as can be."""

import math
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from vigor.basics.errors import UserError
from vigor.basics.files import NUMBER

MAX_BYTES = 16 * 1024 * 1024
"""Largest description of a robot that is read; the largest known have some hundred kilobytes."""
LARGEST = 1e6
"""No number may be beyond: kinematics are computed in single precision."""


class _Builder(ElementTree.TreeBuilder):
    """Elements alone; a document type, which can name other files or grow without end, is refused."""

    def doctype(self, name: str, public: str | None, system: str | None) -> None:
        raise ValueError("it has a document type")


def read(path: Path) -> ElementTree.Element:
    """The root element of a file."""
    if not path.is_file():
        raise UserError(f"{path} {'is not a file' if path.exists() else 'does not exist'}")
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            raise UserError(f"{path} is larger than {MAX_BYTES // 1024**2} MB, more than any robot's description")
        parser = ElementTree.XMLParser(target=_Builder())
        parser.feed(content)
        return parser.close()
    except (OSError, LookupError, ValueError, RecursionError, ElementTree.ParseError) as error:
        raise UserError(f"{path} is not a readable XML file: {error}") from None


def numbers(text: str, counts: tuple[int, ...], where: str, largest: float = LARGEST) -> list[float]:
    """Numbers of an attribute, as many as one of the counts."""
    words = text.replace(",", " ").split() if counts != (1,) else [text.strip()]
    if len(words) not in counts:
        raise UserError(f"{where} must have {' or '.join(map(str, counts))} numbers, not {text[:40]!r}")
    for word in words:
        if not NUMBER.fullmatch(word) or not abs(float(word)) <= largest:
            raise UserError(f"{where} has {word[:40]!r}, which is no finite number of a sensible size")
    return [float(word) for word in words]


def unit(axis: list[float], where: str) -> tuple[float, float, float]:
    """A direction of length 1."""
    length = math.hypot(*axis)
    if length < 1e-9:
        raise UserError(f"{where} has an axis without direction")
    x, y, z = (value / length for value in axis)
    return x, y, z
