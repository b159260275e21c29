"""The examples run as their first lines say, and reach what no chance could."""

import json
import runpy

import pytest

from conftest import EXAMPLE
from vigor import cli


def test_a_task_of_ones_own_has_few_lines():
    lines = [line for line in EXAMPLE.read_text().splitlines() if line.strip()]
    assert len(lines) < 60
    assert runpy.run_path(str(EXAMPLE))["TASK"].name == "gate-and-obstacle"


@pytest.mark.slow
def test_a_task_of_ones_own_is_learned_on_both_sides_of_the_obstacle(tmp_path):
    cli.main(["train", f"{EXAMPLE}:TASK", "--iterations", "50", "--out", str(tmp_path / "run")])
    result = json.loads((tmp_path / "run" / "result.json").read_text())
    assert result["test"]["success_best"] > 0.9
    assert result["test"]["success_mixture"] > 0.6
    assert result["test"]["versatility"]["distinct_solutions"] > 1.2
