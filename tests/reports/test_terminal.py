"""Lines and tables where the terminal is a log: time from the first second, figures, tables of 80 columns."""

import numpy as np
import pytest

from helpers import POINT, movement
from vigor.demonstrations.dataset import Demonstrations
from vigor.reports import terminal
from vigor.runs.run import Progress


def lines(capsys) -> list[str]:
    return capsys.readouterr().out.splitlines()


def test_progress_has_elapsed_and_expected_time(capsys):
    with terminal.progress_bar() as show:
        for iteration in range(121):
            figures = {"success_best": 0.5, "success_mixture": 0.25} if iteration >= 10 else {}
            show(Progress(iteration, 120, 0.0 if iteration == 0 else 30.0 + 2 * iteration, figures))
    assert lines(capsys) == [
        "compiling, 0 s",
        "iteration 2 of 120, 34 s, about 0:03:56 left",
        "iteration 50 of 120, 130 s, about 0:02:20 left, success 0.500 (best), 0.250 (mixture)",
        "iteration 100 of 120, 230 s, about 0:00:40 left, success 0.500 (best), 0.250 (mixture)",
        "iteration 120 of 120, 270 s, success 0.500 (best), 0.250 (mixture)",
    ]


def test_a_resumed_run_is_expected_by_its_own_pace(capsys):
    with terminal.progress_bar() as show:
        for iteration, seconds in ((98, 500.0), (99, 503.0), (100, 504.0), (101, 505.0)):
            show(Progress(iteration, 110, seconds, {}))
    assert lines(capsys) == ["iteration 100 of 110, 504 s, about 0:00:20 left"]


def test_what_has_no_iterations_is_logged_now_and_then_and_each_part_has_its_own_pace(capsys):
    with terminal.progress_bar() as show:
        for seconds in (0.0, 10.0, 40.0):
            show(Progress(0, 0, seconds, {}, f"{seconds:.0f} movements tried"))
        for iteration, seconds in ((1, 50.0), (2, 52.0)):
            show(Progress(iteration, 12, seconds, {}, "round 1"))
        for iteration, seconds in ((1, 100.0), (2, 101.0)):
            show(Progress(iteration, 12, seconds, {}, "round 2"))
    assert lines(capsys) == [
        "0 movements tried, 0 s",
        "40 movements tried, 40 s",
        "round 1, iteration 2 of 12, 52 s, about 0:00:20 left",
        "round 2, iteration 2 of 12, 101 s, about 0:00:10 left",
    ]


def test_counting_is_logged_now_and_then(capsys, monkeypatch):
    for seconds, expected in ((-1.0, ["contexts: 1 of 2", "contexts: 2 of 2"]), (3600.0, [])):
        monkeypatch.setattr(terminal, "_SECONDS", seconds)
        with terminal.count_bar("contexts") as show:
            for done in (1, 2):
                show(done, 2)
        assert lines(capsys) == expected


@pytest.mark.parametrize("test", [True, False])
def test_results_have_a_column_for_each_kind_of_context(capsys, test):
    part = {
        "success_best": 0.9876,
        "success_mixture": 0.5,
        "success_components": [0.9876, 0.0124],
        "distance_best": 0.25,
        "versatility": {"working_components": 1.5, "distinct_solutions": 1.25, "entropy": 0.75},
        "contexts": [{}, {}],
    }
    result = {"task": "[/point] :dog:", "method": "vigor", "train": part, "test": part if test else {}}
    terminal.results_table(result | {"iterations": 3, "stopped": "[/enough]"})
    output = lines(capsys)
    assert max(map(len, output)) <= 80
    assert output[0].strip() == "[/point] :dog:, vigor", "a name is shown as it is"
    (best,) = (line for line in output if "success, best component" in line)
    assert best.count("0.988") == 1 + test
    assert ("test (2 contexts)" in "".join(output)) == test


def test_demonstrations_are_listed_by_context_counted_from_one(capsys):
    goals = np.array([[0.5, 0.5], [9.0, 9.0], [-0.5, 0.25]])
    recordings = [movement(goals[0]), movement(goals[2]), movement(goals[2])]
    made = Demonstrations.from_recordings(POINT, goals, recordings, [0, 2, 2], "made [by hand]")
    terminal.demonstrations_table(POINT, made)
    output = lines(capsys)
    assert max(map(len, output)) <= 80
    assert output[0].strip() == "point: 3 demonstrations, made [by hand]"
    rows = [line.replace("|", "│").strip("│ ").split("│") for line in output if "0.50" in line]
    assert [(int(row[0]), row[1].strip(), int(row[2])) for row in rows] == [(1, "0.50 0.50", 1), (3, "-0.50 0.25", 2)]
    assert output[-1] == "1 further contexts without demonstrations, to draw test contexts from"


def test_results_say_which_ways_samples_go_and_how_often(capsys):
    ways = [
        {"name": "way 1, tool left", "demonstrations": 0.625, "samples": 0.5},
        {"name": "way 2", "demonstrations": 0.375, "samples": 0.25},
        {"name": "way 3", "demonstrations": 0.0, "samples": 0.0},
        {"name": "far from all ways", "demonstrations": 0.0, "samples": 0.25},
    ]
    part = {
        "predicted_best": 1.0,
        "predicted_mixture": 1.0,
        "versatility": {"working_components": 1.5, "distinct_solutions": 1.25, "entropy": 0.75},
        "contexts": [{}],
    }
    compared = {"coverage": 0.75, "precision": 0.5, "difference": 0.125, "contexts": 1, "ways": ways}
    result = {"task": "point", "method": "vigor", "train": part, "test": part | {"resemblance": compared}}
    terminal.results_table(result)
    output = capsys.readouterr().out
    (covered,) = (line for line in output.splitlines() if "held-out demonstrations covered" in line)
    assert covered.count("0.75") == 1
    said = " ".join(output.split())
    assert "way 1, tool left: 62% of demonstrations, 50% of samples; way 2: 38% of demonstrations, 25%" in said
    assert "way 3" not in said
    assert "far from all ways: 0% of demonstrations, 25% of samples (test)." in said
