"""`vigor demos import` says what is left out, and what would keep more."""

from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from helpers import movement, refused, small
from recorded import lerobot
from vigor.cli import main as cli
from vigor.demonstrations.dataset import Demonstrations
from vigor.planning.plans import Plans

TASK_OF_ROBOT = f"{Path(__file__).parents[1] / 'recorded.py'}:POINTED"

TASK = """
import numpy as np
import vigor
from vigor.motion.kinematics import path
from vigor.motion.descriptors import squared_velocity

def touching(joints, contexts):
    return np.maximum(0.0, np.linalg.norm(joints - contexts[:, None], axis=-1).min(axis=1) - 0.1)

TASK = vigor.Task(
    name="touch",
    promp=vigor.ProMP(bases=4, dimensions=2, steps=25),
    context_names=("x", "y"),
    sample_contexts=lambda rng, count: rng.normal(size=(count, 2)),
    kinematics=path,
    descriptors=(squared_velocity,),
    judge=vigor.Judge(simulate=touching),
)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A task that only a simulation judges, and recordings for it: one plain, one that dashes aside."""
    place = tmp_path_factory.mktemp("import")
    (place / "touch.py").write_text(TASK)
    time = np.linspace(0.0, 1.0, 60)
    aside = np.stack([np.maximum(0.0, 1 - 4 * np.abs(time - 0.5)), 2 * time], axis=1)
    (place / "demonstrations").mkdir()
    (place / "contexts.csv").write_text("0,2\n1,1\n")
    np.savetxt(place / "demonstrations" / "0_plain.csv", movement((0.0, 2.0)), delimiter=",")
    np.savetxt(place / "demonstrations" / "1_aside.csv", aside, delimiter=";")
    return place


def test_the_bases_that_fit_are_named(folder, tmp_path, capsys):
    words = ["demos", "import", f"{folder / 'touch.py'}:TASK", str(folder), "--format", "csv"]
    cli.main([*words, "--out", str(tmp_path / "out")])
    said = capsys.readouterr().out.splitlines()
    assert said[-2].startswith("1_aside.csv is left out: its ProMP misses context 2 by 0.05")
    assert said[-1] == "all 2 would be kept with 6 bases instead of 4"


def test_the_bases_that_fit_are_named_where_nothing_is_kept(folder, tmp_path, capsys):
    np.savez(
        tmp_path / "aside.npz",
        contexts=np.array([[1.0, 1.0]]),
        context_of=np.array([0]),
        trajectories=np.loadtxt(folder / "demonstrations" / "1_aside.csv", delimiter=";")[None],
    )
    words = ("demos", "import", f"{folder / 'touch.py'}:TASK", tmp_path / "aside.npz", "--format", "npz")
    said = refused(capsys, *words, "--out", tmp_path / "out")
    assert "none of the 1 recordings solves touch" in said
    assert said.endswith("; 1 of 1 would be kept with 6 bases instead of 4")
    assert not (tmp_path / "out").exists()


def test_a_lerobot_data_set_is_imported_and_said(tmp_path, capsys):
    lerobot(tmp_path / "set", scale=180 / np.pi)
    words = ["demos", "import", TASK_OF_ROBOT, str(tmp_path / "set"), "--out", str(tmp_path / "out")]
    said = refused(capsys, *words)
    assert "where the robot has it from -3 to 3; --unit deg would fit" in said
    assert not (tmp_path / "out").exists()
    cli.main([*words, "--unit", "deg", "--episodes", "0", "2", "3"])
    said = capsys.readouterr().out
    assert "is a LeRobot data set, v3.0 with 3 recordings of x.pos, y.pos, gripper.pos\n" in said
    assert "contexts are observation.environment_state when an episode begins\n" in said
    assert len(Demonstrations.load(tmp_path / "out")) == 3


def test_recordings_are_not_written_over(tmp_path, capsys):
    lerobot(tmp_path / "set")
    there = sorted(tmp_path.rglob("*"))
    said = refused(capsys, "demos", "import", TASK_OF_ROBOT, tmp_path / "set", "--out", tmp_path / "set")
    assert said.endswith("set holds other files; choose another --out")
    assert sorted(tmp_path.rglob("*")) == there


def test_two_commands_lead_from_a_lerobot_data_set_to_a_plan(tmp_path, capsys):
    ends = lerobot(tmp_path / "set", episodes=30)
    words = small(test_contexts=1, demos_per_context=2, iterations=2)
    cli.main(["train", TASK_OF_ROBOT, "--demos", str(tmp_path / "set"), *words, "--out", str(tmp_path / "run")])
    assert "contexts are observation.environment_state when an episode begins" in capsys.readouterr().out
    kept = Demonstrations.load(tmp_path / "run" / "demonstrations")
    assert len(kept) == 30
    np.testing.assert_allclose(kept.contexts[kept.context_of], ends)
    with suppress(SystemExit):  # What two iterations have learned need not hold.
        cli.main(["plan", str(tmp_path / "run"), "--context", "0.5", "0.5", "--out", str(tmp_path / "plan.json")])
    (plan,) = Plans.load(tmp_path / "plan.json")
    assert plan.context == (0.5, 0.5)
    assert plan.best.joints().shape == (25, 2)
    assert plan.best.situation.constraints.robot.joints == ("x", "y")
