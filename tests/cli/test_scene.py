"""A scene on the command line: from a file and recordings to a run, a plan and a trajectory, wherever the run lies."""

import json
import shutil
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

import scenery
from helpers import SMALL, made_once, refused
from vigor import api
from vigor.cli import main as cli
from vigor.planning.plans import Plans
from vigor.tasks import load_task

pytest.importorskip("yourdfpy")
CUP = ["0.42", "0.1", "0.1", "0.2"]


def train(folder: Path) -> None:
    place = scenery.write(folder)
    recorded = scenery.record(folder, contexts=3, each=2)
    api.train(str(place), recorded, test_contexts=1, out=folder / "run", progress=False, **SMALL)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return made_once(tmp_path_factory, "scene", train)


def test_a_run_has_its_scene_and_goes_anywhere(folder, tmp_path, capsys):
    moved = shutil.copytree(folder / "run", tmp_path / "elsewhere" / "run")
    config = json.loads((moved / "config.json").read_text())
    assert config["task"] == str((folder / "small.toml").resolve())
    for name in ("task", "demos"):  # Neither the file nor the recordings are needed any more.
        config[name] = "/gone/small.toml"
    (moved / "config.json").write_text(json.dumps(config))
    with suppress(SystemExit):  # So little training may find no solution that holds.
        cli.main(["plan", str(moved), "--context", *CUP])
    plans = Plans.load(moved / "plans" / "1.json")
    assert plans.load_task().arm.gripper.channel == "claw"
    assert "cup" in plans[0].best.targets
    given = Plans.load(moved / "plans" / "1.json", str(moved / "scene.json"))
    assert given[0].best.movement == plans[0].best.movement

    plan, out = str(moved / "plans" / "1.json"), str(tmp_path / "moved.csv")
    cli.main(["export", plan, "--format", "csv", "--rate", "20", "--seconds", "9", "--out", out])
    table = np.genfromtxt(tmp_path / "moved.csv", delimiter=",", names=True)
    assert table.dtype.names[1:4] == ("pan", "lift", "bend")
    assert table.dtype.names[-1] == "claw"
    assert 0 <= table["claw"].min() < table["claw"].max() <= 100


def test_recordings_are_checked_as_they_are(folder, capsys):
    recorded, scene = folder / "recorded", folder / "small.toml"
    cli.main(["demos", "check", str(recorded), "--task", str(scene)])
    shown = capsys.readouterr().out
    assert "small: 6 demonstrations" in shown
    assert "success" in shown
    (folder / "unjudged.toml").write_text(scene.read_text().replace("success =", "# success ="))
    cli.main(["demos", "check", str(recorded), "--task", str(folder / "unjudged.toml")])
    assert "success" not in capsys.readouterr().out
    said = refused(capsys, "demos", "check", recorded)
    assert "recorded holds no set of demonstrations; to read recordings in another format, give --task" in said


def test_what_a_scene_has_not_decided_plans_nothing(folder, tmp_path, capsys):
    task = load_task(str(folder / "small.toml"))
    assert task.settle is not None
    said = refused(capsys, "train", folder / "small.toml", "--out", tmp_path / "run")
    assert "has no demonstrations of its own; give some with --demos" in said
    config = json.loads((folder / "run" / "config.json").read_text())
    shutil.copytree(folder / "run", tmp_path / "changed")
    scene = (tmp_path / "changed" / "scene.json").read_text()
    (tmp_path / "changed" / "scene.json").write_text(scene.replace('"bases": ', '"bases": 1'))
    assert config["task_digest"]
    said = refused(capsys, "plan", tmp_path / "changed", "--context", *CUP)
    assert "needs its scene, scene.json of its run, which is not there or has changed" in said
