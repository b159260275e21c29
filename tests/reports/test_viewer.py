"""Recordings for Rerun: whole, with every movement in its place."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from helpers import POINT, movement
from recorded import GRIPPING
from vigor.basics.errors import UserError
from vigor.demonstrations.dataset import Demonstrations
from vigor.motion.shapes import Box, Sphere
from vigor.reports import viewer
from vigor.reports.viewer import Movement, Scene
from vigor.tasks.reachers.panda_reacher import TASK as PANDA


def places(path: Path) -> set[str]:
    """Places in the viewer's tree that a file has something at."""
    said = subprocess.run(
        [Path(sys.executable).with_name("rerun"), "rrd", "print", path], capture_output=True, text=True, check=True
    )
    found = re.findall(r"(/context\\? \d[^\n]*?) - data columns", said.stdout + said.stderr)
    return {place.replace("\\", "") for place in found}


def test_demonstrations_are_shown_by_context(tmp_path: Path):
    recordings = [movement((1.0, 0.0)), movement((0.0, 1.0)), movement((0.0, 1.05))]
    shown = Demonstrations.from_recordings(POINT, np.eye(2), recordings, [0, 1, 1])
    viewer.write(tmp_path / "shown.rrd", POINT, viewer.of_demonstrations(POINT, shown), 3.0)
    found = places(tmp_path / "shown.rrd")
    for place in ("1/demonstrations/1", "2/demonstrations/1", "2/demonstrations/2"):
        for part in ("path", "effector", "joints/dimension 1", "joints/dimension 2"):
            assert f"/context {place}/{part}" in found
    assert not any("/context 1/demonstrations/2" in place for place in found)
    assert [path.name for path in tmp_path.iterdir()] == ["shown.rrd"]


def test_an_arm_moves_among_targets_and_keep_outs(tmp_path: Path):
    context = PANDA.sample_contexts(np.random.default_rng(0), 1)[0]
    joints = np.repeat(np.array([PANDA.promp.start]), 20, axis=0)
    shapes = (Sphere((0.5, 0.0, 0.5), 0.1), Box((0.0, 0.0, 0.0), (0.1, 0.1, 0.1)))
    scene = Scene(context, (Movement("solutions/1", joints, "#ff0000"),), shapes)
    viewer.write(tmp_path / "arm.rrd", PANDA, [scene], 8.0)
    found = places(tmp_path / "arm.rrd")
    wanted = {
        "first target",
        "last target",
        "keep out/1",
        "keep out/2",
        "solutions/1/arm",
        "solutions/1/joints/panda_joint6",
    }
    assert {f"/context 1/{place}" for place in wanted} <= found


def test_a_gripper_is_shown_beside_the_joints_and_nothing_is_said(tmp_path: Path, capfd):
    scene = Scene(np.zeros(2), (Movement("solutions/1", movement((1.0, 1.0)), "#ff0000"),))
    viewer.write(tmp_path / "shown.rrd", GRIPPING, [scene], 3.0)
    assert not "".join(capfd.readouterr())
    found = places(tmp_path / "shown.rrd")
    assert {f"/context 1/solutions/1/joints/{name}" for name in ("x", "claw")} <= found


def test_another_ending_is_refused(tmp_path: Path):
    with pytest.raises(UserError, match=r"--rerun must be an \.rrd file"):
        viewer.write(tmp_path / "shown.png", POINT, [], 1.0)


def test_without_the_package_it_is_said_what_to_install(tmp_path: Path, monkeypatch):
    monkeypatch.setitem(sys.modules, "rerun", None)
    with pytest.raises(UserError, match=r"rerun-sdk; install it with: pip install .*\[viewer\]"):
        viewer.write(tmp_path / "shown.rrd", POINT, [], 1.0)
