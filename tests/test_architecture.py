"""The page that shows the rooms of the package is true."""

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "docs" / "architecture.py"


@pytest.fixture(scope="module")
def architecture() -> ModuleType:
    spec = importlib.util.spec_from_file_location("architecture", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_true():
    checked = subprocess.run([sys.executable, SCRIPT, "--check"], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr


def test_the_page_has_every_module_once(architecture: ModuleType):
    page = architecture.PAGE.read_text(encoding="utf-8")
    names = [line.split()[0] for line in page.split("```")[1].splitlines() if line]
    paths = [path for path in architecture.PACKAGE.rglob("*.py") if path.name != "__init__.py"]
    assert sorted(name for name in names if name.endswith(".py")) == sorted(path.name for path in paths)


def test_arrows_that_a_path_replaces_are_left_out(architecture: ModuleType):
    edges = {"roof": {"attic", "cellar"}, "attic": {"cellar"}, "shed": {"cellar"}, "cellar": set()}
    assert architecture.essential(edges) == [("roof", "attic"), ("attic", "cellar"), ("shed", "cellar")]


def test_tests_have_the_same_rooms(architecture: ModuleType):
    folders = {path.parent.name for path in (ROOT / "tests").glob("*/test_*.py")}
    assert folders == {room for room in architecture.rooms() if (architecture.PACKAGE / room).is_dir()}
