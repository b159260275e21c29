"""Links of a built site that lead nowhere: python docs/site/links.py FOLDER says them and ends with 1.

Links to other places are not followed: there is no network.
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """Links and anchors of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, given: list[tuple[str, str | None]]) -> None:
        for name, value in given:
            if name in ("href", "src") and value and tag != "link":
                self.links.append(value)
            elif name in ("id", "name") and value:
                self.anchors.add(value)


def dead(folder: Path) -> list[str]:
    """Links from any page of a folder to no file, or to no place in its page."""
    own = [path for path in folder.rglob("*.html") if "__VISER" not in path.read_text(encoding="utf-8")]
    pages = {path.resolve(): Page(path) for path in own}
    found = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            lost = target in pages and parts.fragment and unquote(parts.fragment) not in pages[target].anchors
            if not target.exists() or lost:
                found.append(f"{path.relative_to(folder.resolve())}: {link}")
    return found


if __name__ == "__main__":
    wrong = dead(Path(sys.argv[1]))
    sys.exit("\n".join(["dead links:", *wrong]) if wrong else 0)
