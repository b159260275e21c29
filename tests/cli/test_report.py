"""`vigor report`: a run's report and figures are made again."""

import shutil

from helpers import refused
from vigor.cli import main as cli


def test_what_was_lost_is_made_again(trained, tmp_path, capsys):
    folder = tmp_path / "run"
    shutil.copytree(trained, folder)
    shutil.rmtree(folder / "figures")
    (folder / "report.html").unlink()
    cli.main(["report", "run"])
    assert capsys.readouterr().out == "run/report.html\n"
    for name in ("learning_curves.png", "traces_train.png", "traces_test.png", "distances_test.png"):
        assert (folder / "figures" / name).read_bytes() == (trained / "figures" / name).read_bytes()
    assert (folder / "report.html").read_text() == (trained / "report.html").read_text()


def test_a_folder_without_a_run_is_refused(capsys):
    assert "nowhere holds no run" in refused(capsys, "report", "nowhere")
