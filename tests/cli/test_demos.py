"""`vigor demos`: make, import, check and draw demonstrations."""

import pytest

from helpers import EXAMPLE_TASK, refused
from vigor.cli import main as cli
from vigor.demonstrations.dataset import Demonstrations


def test_generate_check_and_show(tmp_path, capsys):
    cli.main(["demos", "generate", EXAMPLE_TASK, "--contexts", "2", "--per-context", "2", "--out", "made"])
    assert "gate-and-obstacle: 4 demonstrations, generated with seed 0" in capsys.readouterr().out
    assert len(Demonstrations.load(tmp_path / "made")) == 4
    cli.main(["demos", "check", "made", "--task", EXAMPLE_TASK])
    assert "generated with seed 0" in capsys.readouterr().out
    cli.main(["demos", "show", "made", "--task", EXAMPLE_TASK, "--out", "picture.png"])
    assert (tmp_path / "picture.png").stat().st_size > 10_000
    assert (tmp_path / "picture_fits.png").stat().st_size > 10_000
    for command in ("check", "show"):
        said = refused(capsys, "demos", command, "made")
        where = "path/to/scene.toml or path/to/file.py:NAME"
        assert said == f"vigor: made holds demonstrations of gate-and-obstacle; give --task {where}"


def test_import(published, capsys):
    cli.main(["demos", "import", "planar-reacher", str(published), "--format", "published", "--out", "human"])
    cli.main(["demos", "check", "human"])
    assert "human" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["check", "nowhere"], "vigor: nowhere does not exist"),
        (["show", "nowhere"], "vigor: nowhere does not exist"),
        (["show", "nowhere", "--out", "x.gif"], "--out must be a .png file, not x.gif"),
        (["import", "planar-reacher", "nowhere", "--format", "published", "--out", "x"], "nowhere"),
        (["import", "planar-reacher", "nowhere", "--format", "csv", "--out", "x"], "nowhere"),
        (["import", "planar-reacher", "nowhere", "--format", "npz", "--out", "x"], "nowhere"),
        (["generate", "planar-reacher", "--contexts", "0", "--out", "x"], "context"),
        (["generate", "planer-reacher", "--out", "x"], "did you mean planar-reacher?"),
    ],
)
def test_bad_input_is_one_sentence_and_writes_nothing(tmp_path, capsys, words, said):
    assert said in refused(capsys, "demos", *words)
    assert list(tmp_path.iterdir()) == []
