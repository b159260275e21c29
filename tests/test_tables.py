"""Tables of README and docs are those of stored results, and measured figures stand nowhere else."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from docs.tables import rows
from helpers import SHARED

DOCS = Path(__file__).parents[1] / "docs"
BLOCK = re.compile(r"<!-- table: (\w+) -->.*?<!-- end -->", re.DOTALL)
CODE = re.compile(r"```.*?```|`[^`]*`|^ {4}.*$", re.DOTALL | re.MULTILINE)
MEASURED = re.compile(
    r"(?<![\w.])[01]?\.\d{3,}|(?<![\w.])\d+(?:\.\d+)? ?(?:s|ms|min|minutes|seconds)\b|\d\.?\d* ?%(?! interval)"
)
"""Figures as measurements have them: thousandths, times, percentages."""


def test_tables_are_true():
    done = subprocess.run(
        [sys.executable, "-m", "docs.tables", "--check"], cwd=DOCS.parent, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def pages():
    return [DOCS.parent / "README.md", DOCS / "paper.md", *sorted((DOCS / "results").glob("*.md"))]


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_measured_figures_stand_in_tables_alone(page):
    prose = CODE.sub("", BLOCK.sub("", page.read_text(encoding="utf-8")))
    assert not [found[0] for found in MEASURED.finditer(prose)]


def test_a_figure_in_prose_would_be_found():
    for words in ("it has .917 there", "success 0.9912", "takes 31 s", "in 7 minutes", "93% of them"):
        assert MEASURED.search(words)
    for words in ("with its 95% interval", "radius .25", "version 1.0.1", "seeds 0 to 9"):
        assert not MEASURED.search(words)


def test_every_cell_has_one_row_and_seeds_are_said():
    kept = rows.stored()
    assert len({(*rows._kind(row), row["setup"]["seed"]) for row in kept}) == len(kept)
    groups = rows.groups(kept)
    assert sum(len(group.rows) for group in groups) == len(kept)
    usual = next(group for group in groups if (group.task, group.name, group.varied) == PAPERS)
    assert rows.seeds(usual).startswith("0 to 9, 400 to ")


def test_every_figure_and_table_of_the_paper_is_on_its_page():
    source = SHARED / "paper" / "vigor_paper.tex"
    if not source.exists():
        pytest.skip("the paper is not here (../shared/paper)")
    text = re.sub(
        r"\\(?:gls|acrshort|textit){(\w+)}", lambda found: found[1].upper(), source.read_text(encoding="utf-8")
    )
    floats = re.findall(r"\\begin{(?:figure|table)}.*?\\caption{(.*?)\\end{(?:figure|table)}", text, re.DOTALL)
    assert len(floats) == 15 + 8
    page = (DOCS / "paper.md").read_text(encoding="utf-8").replace("EM+D-REX", "EM+DREX")
    for caption in floats:
        sentence = " ".join(caption.replace("$", "").replace("D-REX", "DREX").split()).split(". ")[0]
        assert sentence[:60].split(".}")[0] in page, sentence


PAPERS = ("planar-reacher", "VIGOR, paper's settings", "")
