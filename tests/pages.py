"""Checks that tests of pages share."""

from html.parser import HTMLParser


class Balance(HTMLParser):
    """Parser that fails where a tag is not closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        if tag not in ("meta", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def tags(text: str) -> list[str]:
    """All tags of a page in their order."""
    parser = Balance()
    parser.feed(text)
    assert not parser.open
    return parser.seen
