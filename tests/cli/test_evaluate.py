"""`vigor evaluate`: the same figures again, others of fresh samples, and those of a run on its way."""

import shutil

import pytest

from helpers import refused
from vigor.cli import main as cli
from vigor.runs import run


def rows(output: str) -> dict[str, list[str]]:
    """Numbers of a table by their label."""
    split = [[cell.strip() for cell in line.strip("│|").replace("|", "│").split("│")] for line in output.splitlines()]
    return {cells[0]: cells[1:] for cells in split if len(cells) == 3}


def test_the_same_seed_finds_the_same(trained, capsys):
    cli.main(["evaluate", str(trained)])
    found, result = rows(capsys.readouterr().out), run.read_result(trained)
    for label, figure in {"success, best component": "success_best", "success, mixture": "success_mixture"}.items():
        assert found[label] == [f"{result[part][figure]:.3f}" for part in ("train", "test")]
    cli.main(["evaluate", str(trained), "--seed", "1"])
    assert rows(capsys.readouterr().out).keys() == found.keys()


def test_a_run_on_its_way_is_evaluated_and_that_is_said(trained, tmp_path, capsys):
    for name in (run.CONFIG, run.POLICIES):
        shutil.copy(trained / name, tmp_path)
    cli.main(["evaluate", str(tmp_path)])
    said = capsys.readouterr()
    assert "success, mixture" in said.out
    assert said.err == f"vigor: the run in {tmp_path} has not finished; this is what it has learned so far\n"
    (tmp_path / run.POLICIES).unlink()
    assert f"the run in {tmp_path} has no policies yet" in refused(capsys, "evaluate", tmp_path)


@pytest.mark.parametrize("words", [["--samples", "0"], ["--samples", "1000000"], ["--seed", "-1"]])
def test_bad_input_is_one_sentence(trained, capsys, words):
    said = refused(capsys, "evaluate", trained, *words)
    assert "--samples must be from 1 to 100,000 and --seed from 0 to 2**32 - 1" in said


def test_a_folder_without_a_run_is_refused(capsys):
    assert "nowhere holds no run" in refused(capsys, "evaluate", "nowhere")
