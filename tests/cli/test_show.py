"""`vigor show`: a figure of a plan or of a run's own contexts."""

import re

import pytest

from helpers import EXAMPLE_TASK, refused
from vigor.cli import main as cli


def test_it_draws_a_plan_and_a_runs_own_contexts(planned, trained, tmp_path, capsys):
    for number, drawn in enumerate((planned, trained)):
        cli.main(["show", str(drawn), "--out", f"{number}.png"])
        assert capsys.readouterr().out == f"{number}.png\n"
        assert (tmp_path / f"{number}.png").read_bytes().startswith(b"\x89PNG")


def test_bad_input_is_one_sentence_and_writes_nothing(planned, tmp_path, capsys):
    for words, said in (
        (["--out", "x.jpg"], "--out must be a .png, .html, .mp4 or .gif file, not x.jpg"),
        (["--out", "x.mp4"], "gate-and-obstacle has no films; draw a figure with --out F.png"),
        (["--context", "3"], "--context must be from 1 to 2"),
    ):
        assert said in refused(capsys, "show", planned, *words)
    assert "nowhere.json does not exist" in refused(capsys, "show", "nowhere.json")
    assert not list(tmp_path.iterdir())


def test_a_run_a_plan_and_demonstrations_are_written_for_rerun(planned, trained, tmp_path, capsys):
    for number, (shown, words) in enumerate(
        ((planned, []), (trained, []), (trained / "demonstrations", ["--task", EXAMPLE_TASK]))
    ):
        path = tmp_path / f"{number}.rrd"
        cli.main(["show", str(shown), "--rerun", str(path), *words])
        assert capsys.readouterr().out == f"{path}\n"
        assert path.read_bytes().startswith(b"RRF2")
    assert "0.rrd exists already" in refused(capsys, "show", planned, "--rerun", tmp_path / "0.rrd")
    assert "must be an .rrd file" in refused(capsys, "show", planned, "--rerun", tmp_path / "0.png")


def test_a_plan_is_a_page_to_turn_without_a_network(planned, tmp_path, capsys):
    pytest.importorskip("viser")
    cli.main(["show", str(planned), "--out", "plan.html", "--context", "2"])
    assert capsys.readouterr().out == "plan.html\n"
    page = (tmp_path / "plan.html").read_text(encoding="utf-8")
    assert "__VISER_EMBED_DATA__" in page
    assert not re.search(r'(?:src|href)="https?:', page)
