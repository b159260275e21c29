"""What the panel says."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from vigor.studio.learning import Progress
from vigor.studio.panel import Panel, state_of


class Page:
    """Keeps what it is told."""

    def __init__(self):
        self.said, self.files = [], []

    def add_notification(self, title, body, **options):
        self.said.append(body)

    def send_file_download(self, name, content):
        self.files.append((name, content))


def test_any_error_of_a_button_is_a_notice(capsys):
    def fail(client):
        raise OSError("no space left on device\nand details")

    page = Page()
    Panel._careful(None, fail)(SimpleNamespace(client=page))
    assert page.said == ["OSError: no space left on device"]
    assert "in fail\n" in capsys.readouterr().err


@pytest.mark.parametrize("holds", [True, False])
def test_an_exported_plan_that_fails_is_called_so(tmp_path, holds):
    table = tmp_path / "1_1_1.csv"
    table.write_text("joints")
    session, page = SimpleNamespace(export_plan=lambda rank: (table, holds)), Page()
    Panel._download(SimpleNamespace(_session=session, _place=lambda _: 0, _rank=None), page)
    assert page.files == [("1_1_1.csv", b"joints")]
    assert ("predicted to fail" in page.said[0]) != holds


@pytest.mark.parametrize(
    ("state", "iterations", "words"),
    [
        ({"running": True}, (), "compiling, and the first 10 iterations"),
        ({"running": True}, (10, 20), "learning, iteration 20 of 30"),
        ({"running": True, "stopping": True}, (), "stopping"),
        ({"running": True, "stopping": True}, (10,), "stopping, iteration 10 of 30"),
        ({}, (), "stopped"),
        ({"problem": "no memory"}, (), "no memory"),
        ({"finished": True}, (30,), "finished, iteration 30 of 30"),
    ],
)
def test_where_a_run_stands_is_said(state, iterations, words):
    metrics = tuple({"iteration": number} for number in iterations)
    given = {"running": False, "stopping": False, "finished": False, "problem": None} | state
    assert state_of(Progress(Path(), iterations=30, metrics=metrics, **given)) == words
