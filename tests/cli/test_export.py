"""`vigor export`: files beside the plan, limits of another robot, and what is refused or warned of."""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from helpers import refused
from vigor.cli import main as cli
from vigor.demonstrations.formats import lerobot
from vigor.demonstrations.formats.episodes import Reading
from vigor.planning.plans import Plans


@pytest.fixture
def plan(planned, tmp_path) -> Path:
    """A plan of a test's own."""
    return Path(shutil.copy(planned, tmp_path / "held.json"))


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("csv", "held_2_1.csv"),
        ("json", "held_2_1.trajectory.json"),
        ("ros2", "held_2_1.yaml"),
        ("mcap", "held_2_1"),
        ("lerobot", "held_2_1_lerobot"),
    ],
)
def test_it_is_written_beside_the_plan(plan, tmp_path, capsys, kind, name):
    words = ["export", plan, "--format", kind, "--context", 2, "--rate", 10]
    cli.main(list(map(str, words)))
    assert (tmp_path / name).exists()
    assert (
        f"{tmp_path / name}: 31 samples, 3.00 s; no limits are known, give a --urdf; largest jerk "
        in capsys.readouterr().out
    )
    assert f"{name} exists already; choose another place" in refused(capsys, *words)


def two_joints(velocity: float) -> str:
    """A URDF with two joints that turn without end."""
    joints = [
        f'<link name="{name}"/><joint name="{name}" type="continuous"><parent link="base"/><child link="{name}"/>'
        f'<limit velocity="{velocity}" effort="1"/></joint>'
        for name in "xy"
    ]
    return f"<robot name='xy'><link name='base'/>{''.join(joints)}</robot>"


def test_a_run_is_exported_with_the_limits_of_a_urdf(trained, tmp_path, capsys):
    (tmp_path / "xy.urdf").write_text(two_joints(velocity=0.1))
    robot = ["--urdf", "xy.urdf", "--acceleration", "1.0"]
    cli.main(["export", str(trained), "--format", "csv", "--out", "moved.csv", *robot])
    table = np.genfromtxt(tmp_path / "moved.csv", delimiter=",", names=True)
    assert f"; slowed from 3.00 s to {table['time'][-1]:.2f} s by the velocity limit of " in capsys.readouterr().out
    assert np.abs(table["x_velocity"]).max() <= 0.1
    assert table["time"][-1] > 3


def test_a_plan_is_an_episode_each_that_begins_where_the_robot_is(planned, tmp_path, capsys):
    pose = ("0.01", "-0.015")
    words = ["--context", "0", "--rate", "30", "--start-pose", *pose, "--unit", "deg", "--names", "a.pos", "b.pos"]
    cli.main(["export", str(planned), "--format", "lerobot", "--out", "set", *words])
    read = lerobot.read(tmp_path / "set", Reading())
    assert read.columns == ("a.pos", "b.pos")
    assert len(read.episodes) == 2
    for item, solution in zip(read.episodes, (plan.best for plan in Plans.load(planned)), strict=True):
        np.testing.assert_allclose(np.deg2rad(item.values[0]), [0.01, -0.015], atol=1e-7)
        moved = solution.trajectory(30).positions
        np.testing.assert_allclose(np.deg2rad(item.values[-len(moved) :]), moved, atol=1e-6)


def test_optimal_pacing_is_faster(trained, tmp_path, capsys):
    (tmp_path / "xy.urdf").write_text(two_joints(velocity=0.5))
    lengths = {}
    for pacing in ("uniform", "optimal"):
        words = ["--urdf", "xy.urdf", "--acceleration", "1.0", "--seconds", "0.1", "--pacing", pacing]
        cli.main(["export", str(trained), "--format", "csv", "--out", f"{pacing}.csv", *words])
        table = np.genfromtxt(tmp_path / f"{pacing}.csv", delimiter=",", names=True)
        lengths[pacing] = table["time"][-1]
        assert np.abs(table["x_velocity"]).max() <= 0.5
        assert np.abs(table["y_acceleration"]).max() <= 1.0
    assert lengths["optimal"] < lengths["uniform"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--context", "3"], "--context must be from 1 to 2, not 3"),
        (["--context", "0"], "belong to --format lerobot"),
        (["--unit", "deg"], "belong to --format lerobot"),
        (["--solution", "0"], "--solution must be from 1 to 2, not 0"),
        (["--joints", "a"], "--joints and --acceleration belong to a robot that --urdf describes"),
        (["--urdf", "no.urdf"], "no.urdf does not exist"),
        (["--start-pose", "9", "9"], "no limits are known to lead it there by"),
        (["--rate", "0"], "rate"),
        (["--seconds", "-1"], "seconds"),
    ],
)
def test_bad_input_is_one_sentence_and_writes_nothing(planned, tmp_path, capsys, words, said):
    before = sorted(planned.parent.iterdir())
    assert said in refused(capsys, "export", planned, "--format", "csv", *words)
    assert sorted(planned.parent.iterdir()) == before
    assert not list(tmp_path.iterdir())


def test_what_is_no_plan_is_refused(tmp_path, capsys):
    assert "nothing.json does not exist" in refused(capsys, "export", "nothing.json", "--format", "csv")
    assert f"{tmp_path} holds no run" in refused(capsys, "export", tmp_path, "--format", "csv")


def test_what_is_predicted_to_fail_is_exported_with_a_warning(plan, tmp_path, capsys):
    cli.main(["export", str(plan), "--format", "csv"])
    assert capsys.readouterr().err == ""
    plans = Plans.load(plan)
    best, *others = plans[0].solutions
    failing = replace(plans[0], solutions=(replace(best, solves=False), *others))
    replace(plans, plans=(failing, *plans.plans[1:])).save(plan)
    cli.main(["export", str(plan), "--format", "csv", "--out", "again.csv"])
    assert "this movement is predicted to fail" in capsys.readouterr().err
    assert (tmp_path / "again.csv").read_text() == (tmp_path / "held_1_1.csv").read_text()
