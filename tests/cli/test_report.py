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


def test_figures_are_drawn_for_print_too(trained, tmp_path, capsys):
    folder = tmp_path / "run"
    shutil.copytree(trained, folder)
    cli.main(["report", "run", "--figures", "pdf"])
    assert (folder / "figures" / "traces_test.pdf").read_bytes().startswith(b"%PDF")
    assert "figures" in refused(capsys, "report", "run", "--figures", "gif")


def test_a_report_is_opened_in_the_browser(trained, monkeypatch, capsys):
    opened = []
    monkeypatch.setattr("webbrowser.open", lambda address: opened.append(address) or True)
    cli.main(["open", str(trained)])
    assert opened == [(trained / "report.html").resolve().as_uri()]
    assert capsys.readouterr().out == f"{trained / 'report.html'}\n"
    monkeypatch.setattr("webbrowser.open", lambda address: False)
    cli.main(["open", str(trained)])
    assert "No browser was found" in capsys.readouterr().out
    assert "does not exist; write it with: vigor report nowhere" in refused(capsys, "open", "nowhere")


def test_a_folder_without_a_run_is_refused(capsys):
    assert "nowhere holds no run" in refused(capsys, "report", "nowhere")
