"""Tables as Markdown, and the stored files that they are made of."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[1]
RESULTS = DOCS / "results"


def result(name: str) -> Any:
    """A stored file of docs/results."""
    return json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))


def table(lines: Sequence[dict[str, str]]) -> str:
    """Markdown of a table; every line has the same columns."""
    if not lines:
        return "*There are no rows of the present settings yet.*\n"
    head = list(lines[0])
    return "".join(
        f"| {' | '.join(line)} |\n" for line in (head, ["---"] * len(head), *(one.values() for one in lines))
    )
