"""The distribution's name, and what is said when one of its extras is missing."""

import ast
import importlib
import re
import sys
import tomllib
from pathlib import Path

import pytest

from vigor.basics import evolution
from vigor.basics.errors import UserError
from vigor.basics.install import DISTRIBUTION, missing

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
TEXTS = [
    *SOURCES,
    *ROOT.glob("*.md"),
    *(path for part in ("docs", "examples", "benchmarks", "tests") for path in (ROOT / part).rglob("*.py")),
    *(ROOT / "docs").rglob("*.md"),
    ROOT / "pyproject.toml",
]


def occurrences(pattern: str) -> list[tuple[str, str]]:
    """All matches in what people read or run, with the file's name."""
    return [
        (str(path.relative_to(ROOT)), match)
        for path in TEXTS
        for match in re.findall(pattern, path.read_text(encoding="utf-8"))
    ]


def test_what_is_missing_is_said_with_the_command_that_installs_it():
    error = missing("films need a camera", "sim")
    assert isinstance(error, UserError)
    assert str(error) == 'films need a camera; install it with: pip install "vigor-skills[sim]"'


def test_the_name_is_that_of_the_distribution():
    assert PROJECT["name"] == DISTRIBUTION


def test_nobody_is_sent_to_the_other_package_named_vigor():
    assert not occurrences(r"\bvigor\[[a-z,]+\]")
    assert not occurrences(r"pip install \"?vigor\b(?!-)")


def test_extras_that_are_named_exist():
    written = {extra for _, extras in occurrences(rf"\b{DISTRIBUTION}\[([a-z,]+)\]") for extra in extras.split(",")}
    calls = [
        node
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "missing"
    ]
    raised = {call.args[1].value for call in calls if isinstance(call.args[1], ast.Constant)}
    assert len(calls) > 5
    assert written | raised <= set(PROJECT["optional-dependencies"])


def test_extras_pin_no_version():
    required = [item for items in PROJECT["optional-dependencies"].values() for item in items]
    assert not [item for item in required + PROJECT["dependencies"] if "==" in item]


def test_the_sentence_is_written_once():
    assert {path for path, _ in occurrences(r"install it with: pip install \"\{")} == {"src/vigor/basics/install.py"}
    raised = [
        (path.name, ast.unparse(statement))
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ExceptHandler) and node.type is not None and "ImportError" in ast.unparse(node.type)
        for statement in node.body
        if isinstance(statement, ast.Raise)
    ]
    assert len(raised) > 5
    assert not [item for item in raised if not item[1].startswith("raise missing(")]


def test_what_is_missing_says_what_to_install(monkeypatch):
    module = "vigor.baselines.environments"
    monkeypatch.delitem(sys.modules, module, raising=False)
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    monkeypatch.setitem(sys.modules, "cmaes", None)
    with pytest.raises(UserError, match=r"(?i)need.*gymnasium; install it with: pip install"):
        importlib.import_module(module)
    with pytest.raises(UserError, match=r"(?i)need.*cmaes; install it with: pip install"):
        evolution.cma()
