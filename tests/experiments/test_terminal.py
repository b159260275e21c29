"""A benchmark's progress has elapsed time from its beginning and expected time as soon as that is known."""

import io
import time

import pytest
from rich.console import Console

import standins
from vigor.basics.errors import UserError
from vigor.experiments import terminal
from vigor.experiments.runner import Finished, Progress

FIRST, *SEEDS = standins.cells(3)
BEGUN = Progress(3, 0, 0, 2, None)
FAILED = Progress(3, 0, 1, 2, None, Finished([FIRST], 1.0, "ValueError: [red] is no colour"))
DONE = Progress(3, 2, 1, 0, 65.4, Finished(SEEDS, 21.04, None))


@pytest.fixture
def screen(monkeypatch):
    file = io.StringIO()
    monkeypatch.setattr(
        terminal, "console", Console(file=file, markup=False, force_terminal=True, width=80, color_system=None)
    )
    return file


def test_a_log_has_a_line_for_the_beginning_and_for_every_job_that_ends(capsys):
    with terminal.cells_bar() as show:
        for progress in (BEGUN, BEGUN, FAILED, DONE):
            show(progress)
    assert capsys.readouterr().out.splitlines() == [
        "0 of 3 cells done, 2 running, 0:00:00 elapsed",
        "0 of 3 cells done, 2 running, 1 failed, 0:00:00 elapsed; "
        "point vigor seed 0: failed: ValueError: [red] is no colour",
        "2 of 3 cells done, 1 failed, 0:00:00 elapsed, 0:01:05 left; point vigor seed 1: 21.0 s for 2 seeds",
    ]


def test_a_log_says_now_and_then_that_the_benchmark_is_running(capsys, monkeypatch):
    monkeypatch.setattr(terminal, "QUIET", 0.02)
    with terminal.cells_bar() as show:
        time.sleep(0.1)
        show(BEGUN)
        time.sleep(0.1)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "starting, 0:00:00 elapsed"
    assert lines.count("0 of 3 cells done, 2 running, 0:00:00 elapsed") > 1


def test_a_bar_shows_both_times_and_failures_and_leaves_a_line(screen):
    with terminal.cells_bar() as show:
        for progress in (BEGUN, FAILED, DONE):
            show(progress)
    written = screen.getvalue()
    assert "starting 0:00:00" in written
    assert "2 of 3 cells done, 1 failed 0:00:00 0:01:05 left" in written
    assert "point vigor seed 0: failed: ValueError: [red] is no colour\n" in written
    assert written.endswith("2 of 3 cells done, 1 failed, 0:00:00 elapsed\n")


def test_a_bar_leaves_nothing_when_there_is_an_error(screen):
    with pytest.raises(UserError), terminal.cells_bar():
        raise UserError("bad input")
    assert "elapsed" not in screen.getvalue()
