"""Pages of the documentation: all are in the contents, no link leads nowhere, the API reference is complete."""

import ast
import re
import runpy
import shlex
from pathlib import Path

import pytest

import vigor
from vigor.cli.main import parse

DOCS = Path(__file__).parents[1] / "docs"
LINK = re.compile(r"\]\((?![a-z]+:|#)([^)#\s]+)(?:#([^)\s]*))?\)")
PICTURE = re.compile(r'<img [^>]*src="([^"]+)"')
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)
BUILT = ("gallery", "_build", "site", "benchmark")
"""Folders that hold what is built, or what is no page."""


def pages():
    own = [path for path in DOCS.rglob("*.md") if not set(path.relative_to(DOCS).parts) & set(BUILT)]
    return [*sorted(own), *sorted(DOCS.parent.glob("*.md"))]


def anchors(path):
    """Anchors of a page's headings, as hosts of repositories and MyST make them."""
    text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    heads = [re.sub(r"[`*]", "", head).strip().lower() for head in re.findall(r"^#+ (.*)$", text, re.MULTILINE)]
    return {re.sub(r"[^\w\- ]", "", head).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.relative_to(DOCS.parent).as_posix())
def test_links_lead_somewhere(page):
    text = CODE.sub("", page.read_text(encoding="utf-8"))
    for target, anchor in [*LINK.findall(text), *((picture, "") for picture in PICTURE.findall(text))]:
        path = page.parent / target
        assert path.exists(), target
        assert not anchor or path.suffix != ".md" or anchor in anchors(path), f"{target}#{anchor}"


def test_every_page_is_in_the_contents():
    contents = re.findall(r"```{toctree}(.*?)```", (DOCS / "index.md").read_text(encoding="utf-8"), re.DOTALL)
    lines = [line for block in contents for line in block.splitlines() if line and line[0] != ":"]
    entries = [re.sub(r"^.*<(.*)>$", r"\1", line) for line in lines]
    listed = {path.relative_to(DOCS) for entry in entries for path in DOCS.glob(f"{entry}.md")}
    here = {path.relative_to(DOCS) for path in pages() if path.is_relative_to(DOCS)}
    assert here - listed == {Path("index.md")}


def test_the_api_reference_has_every_public_name():
    page = (DOCS / "api.md").read_text(encoding="utf-8")
    named = set(re.findall(r"^\.\. auto\w+:: (?:vigor\.motion\.)?(\w+)", page, re.MULTILINE))
    assert named == set(vigor.__all__) - {"__version__"}


def test_names_beside_files_in_the_method_are_in_these_files():
    """The table of section 1: what is in backticks in a row's last cell is in a file that the row links to."""
    rows = [line.split(" | ") for line in (DOCS / "concepts.md").read_text(encoding="utf-8").splitlines()]
    linked = [row[1:] for row in rows if len(row) == 3 and "(../src/vigor/" in row[1]]
    assert len(linked) > 30
    for links, names in linked:
        places = [DOCS / target for target in re.findall(r"\((\.\./src/[^)]+)\)", links + names)]
        files = [file for place in places for file in (place.rglob("*.py") if place.is_dir() else [place])]
        text = "".join(file.read_text(encoding="utf-8") + file.name for file in files)
        for name in re.findall(r"`([\w.]+)`", names):
            parts = [name] if name.endswith(".py") else name.split(".")
            assert all(re.search(rf"\b{part}\b", text) for part in parts), f"{name} is not in {links}"


FIRST = (DOCS.parent / "README.md", DOCS / "get_started.md")
"""Pages that a newcomer reads first."""


def blocks(page, language):
    found = re.findall(r"^```(\w*)\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    return [text for name, text in found if name == language]


def test_commands_of_the_first_pages_are_commands_of_the_program(tmp_path, monkeypatch):
    """With the scene that the README shows, but for capsules, which take a while."""
    monkeypatch.chdir(tmp_path)
    (scene,) = blocks(FIRST[0], "toml")
    Path("cup.toml").write_text(f"collisions = false\n{scene}", encoding="utf-8")
    lines = [line for page in FIRST for block in blocks(page, "") for line in block.splitlines()]
    commands = [shlex.split(line, comments=True)[1:] for line in lines if line.startswith("vigor ")]
    assert {words[0] for words in commands} == {"train", "open", "plan", "export", "benchmark"}
    for words in commands:
        parse(words)


def test_names_of_the_first_pages_are_names_of_the_package():
    for page in FIRST:
        (code,) = blocks(page, "python")
        used = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Attribute)]
        names = {node.attr for node in used if isinstance(node.value, ast.Name) and node.value.id == "vigor"}
        assert len(names) > 2
        assert names <= set(vigor.__all__)


def test_dead_links_of_a_built_site_are_found(tmp_path):
    dead = runpy.run_path(str(DOCS / "site" / "links.py"))["dead"]
    (tmp_path / "b.html").write_text('<h1 id="here">x</h1>')
    (tmp_path / "a.html").write_text(
        '<a href="b.html#here">1</a> <a href="https://example.org/">2</a> <img src="b.html">'
    )
    assert dead(tmp_path) == []
    (tmp_path / "a.html").write_text('<a href="b.html#there">1</a> <a href="c.html">2</a>')
    assert dead(tmp_path) == ["a.html: b.html#there", "a.html: c.html"]


def test_links_to_sources_become_pages_of_the_site():
    sources = runpy.run_path(str(DOCS / "site" / "sources.py"))

    class App:
        class env:
            found_docs = ("concepts", "results/plans")

    text = "[a](../src/vigor/api.py) `[b](../src)` [c](results/plans.md#x) [d](../CHANGELOG.md) [e](https://e.org)"
    content = [text]
    sources["read"](App, "concepts", content)
    assert content == [
        "[a](source:source/src/vigor/api.py.html) `[b](../src)` [c](results/plans.md#x) [d](changelog.md) [e](https://e.org)"
    ]
    assert App.env.vigor_sources == {"src/vigor/api.py"}
