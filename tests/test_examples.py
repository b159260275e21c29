"""The examples run as their first lines say, with the public API alone, and reach what no chance could."""

import ast
import re
import runpy
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

import vigor
from helpers import EXAMPLE, EXAMPLE_TASK, SMALL, made_once

EXAMPLES = sorted(EXAMPLE.parent.glob("0*.py"))


def example(name: str) -> dict:
    return runpy.run_path(str(EXAMPLE.with_name(name)))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_examples_are_short_and_use_the_public_api(path):
    text = path.read_text()
    assert len(text.splitlines()) < 60
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "vigor":
            assert node.module == "vigor"
            assert {name.name for name in node.names} <= set(vigor.__all__)
        elif isinstance(node, ast.Import):
            assert all(not name.name.startswith("vigor.") for name in node.names)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "vigor":
            assert node.attr in vigor.__all__


@pytest.mark.parametrize("path", sorted(EXAMPLE.parent.glob("0*.toml")), ids=lambda path: path.stem)
def test_a_scene_is_learned_and_planned(path, tmp_path, capsys):
    """Arms of five joints with a gripper, of six and of seven; so little is learned that what was carried stays."""
    pytest.importorskip("yourdfpy")
    small = SMALL | {"iterations": 1, "room": 0.05, "train_contexts": 2, "test_contexts": 2}
    run = example(f"{path.stem}.py")["main"](tmp_path / "run", 2, **small)
    assert len(run.demonstrations) >= 10
    assert run.result["test"]["success_best"] > 0.9
    assert re.search(r"[1-9] of \d solutions hold", capsys.readouterr().out)
    assert len(list((tmp_path / "run").glob("*.csv" if "pick" in path.stem else "plan.png"))) == 1


def train_example(folder: Path) -> None:
    """Run example 02 for fewer iterations, with smaller mixtures and networks, and keep what it says."""
    smaller = {"iterations": 12, "components": 6, "samples": 40, "networks": 2, "width": 16, "layers": 1}
    with redirect_stdout(StringIO()) as said:
        example("02_train_and_plan.py")["main"](folder, **smaller)
    (folder / "said.txt").write_text(said.getvalue())


@pytest.fixture(scope="module")
def trained_example(tmp_path_factory) -> tuple[vigor.Run, str]:
    """The run that example 02 makes, and what the example says."""
    folder = made_once(tmp_path_factory, "example", train_example)
    return vigor.load(folder, vigor.load_task(EXAMPLE_TASK)), (folder / "said.txt").read_text()


def test_a_task_of_ones_own_is_learned_on_both_sides_of_the_obstacle(trained_example):
    result = trained_example[0].result
    assert result["test"]["success_best"] > 0.9
    assert result["test"]["success_mixture"] > 0.6
    assert result["test"]["versatility"]["distinct_solutions"] > 1.2


def test_what_was_trained_once_plans_for_other_contexts(trained_example):
    run, said = trained_example
    assert "a solution holds" in said
    assert "obstacle x = 2.5 lies" in said
    assert len(vigor.Plans.load(run.folder / "plan.json")[0].samples) == 10
    assert example("03_thousand_contexts.py")["main"](run.folder, 4) >= 0.9


def test_a_plan_goes_around_an_obstacle(trained_example):
    folder: Path = trained_example[0].folder
    around = example("04_avoid_an_obstacle.py")["main"](folder)
    assert around.failure is None
    assert around.best.margins["keep-out 1"] >= 0
    assert (folder / "plan_around.png").stat().st_size > 10_000


def test_a_plan_is_exported(trained_example):
    folder: Path = trained_example[0].folder
    moved = example("05_export.py")["main"](folder)
    assert abs(moved.velocities).max() <= 0.5
    assert (folder / "moved_bag" / "metadata.yaml").exists()
