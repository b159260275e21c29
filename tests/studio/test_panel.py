"""The panel: errors and exports are told on the page."""

from types import SimpleNamespace

import numpy as np
import pytest

from planned import CONTEXT, solution
from vigor.planning.plans import Approach, Plan
from vigor.studio.panel import careful, download, recorded, table
from vigor.studio.shared import Trace


class Page:
    """Keeps what it is told."""

    def __init__(self):
        self.said, self.files = [], []

    def add_notification(self, title, body, **options):
        self.said.append(body)

    def send_file_download(self, name, content, save_immediately):
        assert save_immediately  # Else a second click is needed.
        self.files.append((name, content))


def test_any_error_of_a_button_is_a_notice(capsys):
    def fail(client):
        raise OSError("no space left on device\nand details")

    page = Page()
    careful(fail)(SimpleNamespace(client=page))
    assert page.said == ["OSError: no space left on device"]
    assert "in fail\n" in capsys.readouterr().err


@pytest.mark.parametrize("holds", [True, False])
def test_an_exported_plan_that_fails_is_called_so(tmp_path, holds):
    exported = tmp_path / "planar-reacher_plan1_way1.csv"
    exported.write_text("joints")
    page = Page()
    download(page, exported, holds)
    assert page.files == [(exported.name, b"joints")]
    assert ("predicted to fail" in page.said[0]) != holds


def test_a_recording_says_in_time_that_it_ends():
    assert recorded(12.4) == "recording 12 s"
    assert recorded(45.0) == "recording 45 s, ends by itself at 60 s"


def test_a_plan_says_why_it_fails():
    near, far = Approach(-0.1, 0.4), Approach(-0.05, 0.04)
    fails = solution(solves=False, targets={"first": near, "last": far})
    holds = solution(solves=True, targets={"first": near, "last": near})
    trace = Trace(np.array([[0.0, 0.0, 0.0], [3.0, 4.0, 0.0]]), 1)
    shown = table(Plan(CONTEXT, 0.0, None, (holds, fails)), [trace, trace])
    assert shown.count("path of 5.0 m") == 1
    assert "misses last by 4 cm" in shown
    assert "misses first" not in shown
