"""The examples run as their first lines say, and reach what no chance could."""

import json
import runpy
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

from helpers import EXAMPLE
from vigor.planning import plans as solutions


def example(name: str) -> dict:
    path = EXAMPLE.with_name(name)
    assert len(path.read_text().splitlines()) < 100
    return runpy.run_path(str(path))


def test_a_task_of_ones_own_has_few_lines():
    lines = [line for line in EXAMPLE.read_text().splitlines() if line.strip()]
    assert len(lines) < 60
    assert runpy.run_path(str(EXAMPLE))["TASK"].name == "gate-and-obstacle"


@pytest.fixture(scope="module")
def trained(tmp_path_factory) -> tuple[Path, str]:
    """The run that example 02 makes, and what the example says."""
    folder = tmp_path_factory.mktemp("runs") / "run"
    with redirect_stdout(StringIO()) as said:
        example("02_train_and_plan.py")["main"](folder)
    return folder, said.getvalue()


@pytest.mark.slow
def test_a_task_of_ones_own_is_learned_on_both_sides_of_the_obstacle(trained):
    result = json.loads((trained[0] / "result.json").read_text())
    assert result["test"]["success_best"] > 0.9
    assert result["test"]["success_mixture"] > 0.6
    assert result["test"]["versatility"]["distinct_solutions"] > 1.2


@pytest.mark.slow
def test_what_was_trained_once_plans_for_other_contexts(trained):
    folder, said = trained
    assert "a solution holds" in said
    assert "obstacle x = 2.5 lies" in said
    assert len(solutions.load(folder / "plan.json").plans[0].samples) == 10
    assert example("03_thousand_contexts.py")["main"](folder, 12) >= 0.9


@pytest.mark.slow
def test_a_plan_goes_around_an_obstacle(trained):
    around = example("04_avoid_an_obstacle.py")["main"](trained[0])
    assert around.failure is None
    assert around.solutions[0].margins["keep-out 1"] >= 0
    assert (trained[0] / "plan_around.png").stat().st_size > 10_000


@pytest.mark.slow
def test_a_plan_is_exported(trained):
    moved = example("05_export.py")["main"](trained[0])
    assert abs(moved.velocities).max() <= 0.5
    assert (trained[0] / "moved_bag" / "metadata.yaml").exists()
