"""Robots by name: all that are listed can be loaded, and others are one sentence."""

import pytest

import vigor
from helpers import SHARED
from vigor.basics.errors import UserError
from vigor.motion import catalogue

MENAGERIE = SHARED / "models" / "mujoco_menagerie"
pytest.importorskip("cmeel", reason="example-robot-data is not installed")


@pytest.mark.parametrize("name", catalogue.ARMS)
def test_every_name_is_an_arm(name):
    robot = vigor.robot(name)
    assert robot.name == name
    assert robot.kinematics.base == catalogue.ARMS[name].base
    assert robot.kinematics.tool.name == catalogue.ARMS[name].tool
    assert robot.missing == ("largest accelerations",)


def test_another_tool_can_be_chosen():
    assert vigor.robot("panda", tool="panda_link8").kinematics.tool.name == "panda_link8"


def test_unknown_names_are_one_sentence():
    with pytest.raises(UserError, match=r"no robot 'so-101' \(did you mean so101\?\); a file is named by its path"):
        vigor.robot("so-101")
    with pytest.raises(UserError, match=r"no robot 'zzz'; known are baxter-left, .* xarm7, z1"):
        vigor.robot("zzz")


def test_a_missing_package_is_one_sentence(monkeypatch):
    def missing(name):
        raise catalogue.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(catalogue.metadata, "distribution", missing)
    with pytest.raises(UserError, match=r'needs example-robot-data; install it with: pip install ".*\[robots\]"'):
        vigor.robot("ur5")


@pytest.mark.skipif(not MENAGERIE.exists(), reason="the Menagerie's Panda is not beside the repository")
def test_robots_of_the_menagerie_have_names_too(monkeypatch):
    pytest.importorskip("mujoco_menagerie")
    monkeypatch.setenv("MENAGERIE_ROOT", str(MENAGERIE))
    robot = vigor.robot("franka_emika_panda", base="link0", tool="hand", velocity=2.0)
    assert (robot.name, len(robot.joints)) == ("franka_emika_panda", 7)
