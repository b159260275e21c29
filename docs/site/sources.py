"""Pages of the site that are files elsewhere, and links to files that are no pages.

A page `<!-- page: ../FILE.md -->` is that file. Any link to a file or a folder outside docs leads to a page of it;
one that leads nowhere is a warning.
"""

import os
import re
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_for_filename
from pygments.util import ClassNotFound

DOCS = Path(__file__).parents[1]
ROOT = DOCS.parent
OTHER = re.compile(r"^<!-- page: (\S+) -->\s*$")
LINK = re.compile(r"(!?\[[^\]]*\]\()(?![a-z]+:|#)([^)#\s]+)(#[^)\s]*)?\)")
CODE = re.compile(r"^(```|~~~|:::).*?^\1\s*$|`[^`\n]*`", re.DOTALL | re.MULTILINE)
COPIED = (".csv", ".gif", ".html", ".json", ".png", ".webp")
"""Files of docs that are pictures, or are taken as they are."""
PAGES = {
    "README.md": "index",
    "CHANGELOG.md": "changelog",
    "CONTRIBUTING.md": "contributing",
    "SECURITY.md": "security",
}
"""Files outside docs that have a page."""


def read(app: Any, page: str, content: list[str]) -> None:
    """A page's text, from elsewhere if it says so, with links that hold on the site."""
    folder = (DOCS / page).parent
    if found := OTHER.match(content[0]):
        origin = folder / found[1]
        content[0], folder = origin.read_text(encoding="utf-8"), origin.parent
        app.env.note_dependency(str(origin))
    content[0] = content[0].replace("```mermaid", "```text")  # Which hosts of repositories draw, and Sphinx does not.
    content[0] = _outside_code(content[0], lambda text: _linked(app, page, folder, text))


def _outside_code(text: str, changed: Any) -> str:
    """Text with all but its code changed."""
    kept, parts = 0, []
    for found in CODE.finditer(text):
        parts += [changed(text[kept : found.start()]), found[0]]
        kept = found.end()
    return "".join([*parts, changed(text[kept:])])


def _linked(app: Any, page: str, folder: Path, text: str) -> str:
    """Text whose links lead to pages of the site."""

    def link(found: re.Match[str]) -> str:
        target = Path(os.path.normpath(folder / found[2]))
        if not target.is_relative_to(ROOT) or not target.exists():
            from sphinx.util import logging

            logging.getLogger(__name__).warning("%s: no file %s", page, found[2], location=page)
            return found[0]
        name, anchor = target.relative_to(ROOT).as_posix(), found[3] or ""
        if target.is_relative_to(DOCS) and (_is_page(app, target) or target.suffix in COPIED):
            place = os.path.relpath(target, (DOCS / page).parent)
            return f"{found[1]}{place}{anchor})"
        if name in PAGES:
            return f"{found[1]}{os.path.relpath(DOCS / PAGES[name], (DOCS / page).parent)}.md{anchor})"
        if target.parent == ROOT / "examples" and (DOCS / "gallery" / f"{target.stem}.md").exists():
            return f"{found[1]}{os.path.relpath(DOCS / 'gallery' / target.stem, (DOCS / page).parent)}.md)"
        app.env.vigor_sources = getattr(app.env, "vigor_sources", set()) | {name}
        place = os.path.relpath(DOCS / "source" / name, (DOCS / page).parent)
        return f"{found[1]}source:{place}.html{anchor})"

    return LINK.sub(link, text)


def _is_page(app: Any, path: Path) -> bool:
    return path.suffix == ".md" and path.relative_to(DOCS).with_suffix("").as_posix() in app.env.found_docs


def pages(app: Any) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Pages of the files and folders that are linked to, and of those in these folders."""
    wanted = sorted(getattr(app.env, "vigor_sources", set()))
    for name in wanted:
        path = ROOT / name
        inside = (
            [path] if path.is_file() else sorted(item for item in path.iterdir() if item.suffix in (".py", ".toml"))
        )
        body = "".join((f"<h2>{escape(item.name)}</h2>" if item != path else "") + _shown(item) for item in inside)
        context = {"title": name, "body": f"<h1>{escape(name)}</h1>{body}", "parents": [], "display_toc": False}
        yield f"source/{name}", context, "page.html"


def _shown(path: Path) -> str:
    try:
        lexer = get_lexer_for_filename(path.name)
    except ClassNotFound:
        lexer = get_lexer_for_filename("file.txt")
    return highlight(path.read_text(encoding="utf-8"), lexer, HtmlFormatter())


def setup(app: Any) -> dict[str, bool]:
    """Both, for every page."""
    app.connect("source-read", read)
    app.connect("html-collect-pages", pages)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
