"""`vigor practise`: a new run beside the old one, and what came of practice in words."""

from helpers import refused
from vigor.cli import main as cli

SMALL = ["--contexts", "2", "--rounds", "1", "--samples", "1"]


def test_practice_is_told_and_leaves_a_run(trained, tmp_path, capsys):
    cli.main(["practise", str(trained), *SMALL, "--out", "better"])
    said = capsys.readouterr().out
    assert "round 1 of 1, " in said
    assert "Round 1, 2 new contexts: plans succeed in " in said
    assert "figures of test contexts are of other contexts" in said
    assert "success, best component" in said
    assert "<h2>Practice</h2>" in (tmp_path / "better" / "report.html").read_text(encoding="utf-8")
    assert "better already holds a run" in refused(capsys, "practise", trained, *SMALL, "--out", "better")


def test_bad_input_is_one_sentence(trained, capsys):
    assert "at least as many as rounds" in refused(capsys, "practise", trained, "--contexts", "1", "--rounds", "2")
    assert "nowhere holds no run" in refused(capsys, "practise", "nowhere")
