"""The directive `commands`: the help of every command, as the program prints it."""

import contextlib
import io
import os
from collections.abc import Iterator
from typing import Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective


def helps() -> Iterator[tuple[str, str]]:
    """Commands and their help."""
    from vigor.cli.main import COMMANDS, parse

    os.environ |= {"COLUMNS": "86", "NO_COLOR": "1"}
    for name in COMMANDS:
        with contextlib.redirect_stdout(io.StringIO()) as said, contextlib.suppress(SystemExit):
            parse([name, "--help"])
        yield name, said.getvalue()


class Commands(SphinxDirective):
    """A section for every command."""

    def run(self) -> list[nodes.Node]:
        made: list[nodes.Node] = []
        for name, text in helps():
            section = nodes.section(ids=[nodes.make_id(f"vigor-{name}")])
            section += nodes.title("", "", nodes.literal("", f"vigor {name}"))
            section += nodes.literal_block(text, text, language="text")
            made.append(section)
        return made


def setup(app: Any) -> dict[str, bool]:
    """The directive."""
    app.add_directive("commands", Commands)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
