"""Practice as a whole: it keeps what succeeds beside the demonstrations, and goes on exactly after a kill."""

from dataclasses import replace

import numpy as np
import pytest

import vigor
from helpers import POINT
from vigor.basics.errors import UserError
from vigor.demonstrations import dataset
from vigor.learning import problem
from vigor.practice import practice
from vigor.practice.account import PracticeSettings
from vigor.tasks.task import Judge

QUICK = {"components": 2, "samples": 10, "networks": 2, "width": 4, "layers": 1, "epochs": 12, "progress": False}
PRACTICE = {"contexts": 6, "rounds": 2, "samples": 2, "progress": False}


def contents(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run that has hardly learned."""
    sizes = {"train_contexts": 2, "test_contexts": 2, "demos_per_context": 2, "iterations": 4}
    return vigor.train(POINT, **sizes, **QUICK, out=tmp_path_factory.mktemp("runs") / "point")


@pytest.fixture(scope="module")
def practised(run):
    """The result, and the files of the run before and after."""
    before = contents(run.folder)
    return run.practise(**PRACTICE), before


def test_practice_leaves_the_run_as_it_was_and_a_new_one_beside_it(run, practised):
    better, before = practised
    assert contents(run.folder) == before
    assert better.folder == run.folder.with_name("point-practised")
    assert better.result["test"]["contexts"][0]["context"] == run.result["test"]["contexts"][0]["context"]
    assert better.plan([0.5, 0.5])[0].best.trajectory(rate=50)
    assert run.practice is None


def test_own_movements_are_marked_and_succeed_and_demonstrations_stay(run, practised):
    better, _ = practised
    learned = better.demonstrations
    own, contexts = learned.own, learned.contexts[learned.context_of]
    assert np.all(POINT.succeeds(POINT.distances(dataset.trajectories(POINT, learned)[own], contexts[own])))
    shown = {tuple(weights) for weights in run.demonstrations.weights}
    assert {tuple(weights) for weights in learned.weights[~own]} <= shown
    assert np.sum(~own) == 2 * 2
    assert "own movements" in repr(learned)


def test_the_account_adds_up(run, practised):
    account = practised[0].practice
    assert account.rollouts == sum(one.rollouts for one in account.rounds)
    assert sum(one.contexts for one in account.rounds) == 6
    assert sum(one.contexts - one.solved_after for one in account.rounds) == len(account.cannot)
    assert all(one.solved <= one.solved_after for one in account.rounds)
    assert account.own == practised[0].demonstrations.own.sum()
    words = str(account)
    assert f"{account.rollouts} movements were tried" in words
    assert "of other contexts" in words


def test_practice_that_was_killed_ends_as_if_it_had_not_been(run, practised, tmp_path):
    whole, out = practised[0], tmp_path / "again"
    kills = [lambda: True, lambda: (out / "practice" / "1" / "run" / "result.json").exists()]  # In rounds 1 and 2.

    def trial(joints, contexts):
        if kills and kills[0]():
            kills.pop(0)
            raise KeyboardInterrupt
        return POINT.distances(joints, contexts)

    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            run.practise(**PRACTICE, out=out, trial=trial)
        assert not (out / "config.json").exists()
    for place in ("practice", "practice/1"):
        (out / place / ".round.json.ab12cd34.vigor-part.json").touch()
    again = run.practise(**PRACTICE, out=out, trial=trial)
    for name in ("policies.npz", "ensembles.safetensors", "starts.safetensors"):
        assert (again.folder / name).read_bytes() == (whole.folder / name).read_bytes()
    assert not list(out.rglob("*.vigor-part*"))
    assert not again.practice.judged
    assert "of other contexts" not in str(again.practice)


def test_a_folder_that_a_link_names_is_not_emptied(tmp_path):
    mine, out = tmp_path / "mine", tmp_path / "out"
    mine.mkdir()
    (mine / "file").touch()
    (out / "practice" / "1").mkdir(parents=True)
    (out / "practice" / "1" / "run").symlink_to(mine)
    practice._publish(out, 1)
    assert [path.name for path in mine.iterdir()] == ["file"]


def test_the_report_says_what_was_practised(practised):
    page = practised[0].report().read_text(encoding="utf-8")
    assert "Practice" in page
    assert "own movements" in page


def test_what_cannot_be_practised_is_said_and_nothing_is_written(run, practised, tmp_path):
    free = replace(POINT, judge=Judge())
    unjudged = replace(run, task=free)
    with pytest.raises(UserError, match="nothing says how a movement of point went"):
        unjudged.practise(**PRACTICE, out=tmp_path / "x")
    with pytest.raises(UserError, match="already holds a run"):
        run.practise(**PRACTICE)
    with pytest.raises(UserError, match="at least as many as rounds"):
        run.practise(1, 2)
    assert not (tmp_path / "x").exists()
    practice._begin(tmp_path / "y", PracticeSettings(), run.setup)
    with pytest.raises(UserError, match="with other settings"):
        practice._begin(tmp_path / "y", PracticeSettings(seed=1), run.setup)


def test_demonstrations_weigh_as_much_as_own_movements():
    own = np.array([False, True, True, True, True, False, True])
    rows = problem._weighed(own)
    assert np.sum(own[rows]) == np.sum(~own[rows]) == 5
    assert set(rows) == set(range(7))
    assert problem._weighed(np.array([False, False, True])).tolist() == [0, 1, 2]
    assert problem._weighed(np.array([True, True])).tolist() == [0, 1]


def test_a_larger_set_takes_as_many_steps(run):
    changed = practice._as_many_steps(run.setup.settings, 4.0)
    assert changed.density_ratio.training.epochs == 3
    assert changed.density_ratio.training.warmup == 3
    assert practice._as_many_steps(run.setup.settings, 100.0).density_ratio.training.epochs == 1
