"""Contexts of episodes: from the file, from a table, or read off the movement; and it is said which."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from helpers import movement
from recorded import POINTED, goals, gripped, lerobot
from vigor.basics.errors import UserError
from vigor.demonstrations import contexts, importers
from vigor.demonstrations.formats.episodes import Episode, Episodes, Reading

TWO = replace(POINTED, context_names=("first x", "first y", "last x", "last y"))


def episodes(around: list[dict[str, list[float]]]) -> Episodes:
    items = [
        Episode(f"episode {i}", movement((1.0, 0.0)), None, {name: np.array(row) for name, row in own.items()})
        for i, own in enumerate(around)
    ]
    return Episodes(Path("some"), "some", ("x", "y"), tuple(items))


def found(task, around, grippers=None, **options):
    given = episodes(around)
    recordings = [item.values for item in given.episodes]
    return contexts.find(task, given, recordings, grippers or [None] * len(recordings), Reading(**options))


def test_the_same_contexts_are_one_in_the_order_of_the_episodes():
    known, of, said = found(POINTED, [{"state": row} for row in ([3.0, 1], [1, 2], [3 + 1e-9, 1], [1, 2])])
    np.testing.assert_allclose(known, [[3, 1], [1, 2]])
    assert of.tolist() == [0, 1, 0, 1]
    assert said == "contexts are state when an episode begins"


def test_poses_are_matched_by_name():
    around = {"/objects/last": [3.0, 4, 0, 0, 0, 0, 1], "/objects/first": [1.0, 2, 0, 0, 0, 0, 1]}
    known, _, said = found(TWO, [around])
    np.testing.assert_array_equal(known, [[1, 2, 3, 4]])
    assert said == "contexts are /objects/first and /objects/last when an episode begins"
    np.testing.assert_array_equal(found(POINTED, [around], context_keys="/objects/last")[0], [[3, 4]])


def test_what_may_be_meant_in_two_ways_is_asked_about():
    with pytest.raises(UserError, match="it has a, b: give --contexts-file FILE"):
        found(POINTED, [{"a": [1.0, 2], "b": [3.0, 4]}])
    with pytest.raises(UserError, match="has no 'c'; it has a, b"):
        found(POINTED, [{"a": [1.0, 2], "b": [3.0, 4]}], context_keys=("c",))
    with pytest.raises(UserError, match="a and b of some have 4 numbers where a context has 2 numbers: x, y"):
        found(POINTED, [{"a": [1.0, 2], "b": [3.0, 4]}], context_keys=("a", "b"))


def test_a_table_has_a_row_for_every_episode(tmp_path: Path):
    (tmp_path / "two.csv").write_text("x,y\n1,2\n3,4\n")
    known, of, said = found(POINTED, [{}, {}], contexts_file=tmp_path / "two.csv")
    np.testing.assert_array_equal(known[of], [[1, 2], [3, 4]])
    assert said == f"contexts are from {tmp_path / 'two.csv'}"
    with pytest.raises(UserError, match=r"must hold numbers \[3 episodes, 2\]: x, y; it has \(2, 2\)"):
        found(POINTED, [{}] * 3, contexts_file=tmp_path / "two.csv")


def test_contexts_are_read_off_the_movement():
    gripper = np.where(np.arange(40) < 20, 1.0, 0.0)
    known, _, said = found(TWO, [{}], [gripper], context_from=("gripper", "end"))
    np.testing.assert_allclose(known, [[*movement((1.0, 0.0))[20], 1.0, 0.0]], atol=1e-6)
    assert said == "contexts are read off the movement: where the gripper closes and where the movement ends"


@pytest.mark.parametrize(
    ("task", "gripper", "places", "says"),
    [
        (POINTED, None, ("gripper",), "have no gripper; name it with --gripper"),
        (POINTED, np.zeros(40), ("gripper",), "the gripper of episode 0 never closes"),
        (TWO, None, ("end",), "has 4 numbers .first x, first y, last x, last y., and end give 2"),
    ],
)
def test_what_the_movement_does_not_say_is_asked_for(task, gripper, places, says):
    with pytest.raises(UserError, match=says):
        found(task, [{}], [gripper], context_from=places)


def test_a_gripper_says_where_the_context_is(tmp_path: Path):
    lerobot(tmp_path / "set", environment=False)
    read = importers.recordings(POINTED, tmp_path / "set", Reading(context_from="gripper"))
    for number, (goal, context) in enumerate(zip(goals(4), read.contexts[read.context_of], strict=True)):
        state = gripped(goal, 40 + number % 3)
        np.testing.assert_allclose(context, state[np.argmax(state[:, 2] == 0), :2], atol=1e-6)
    with pytest.raises(UserError, match="give one of these"):
        Reading(context_from="end", contexts_file=Path("a.csv"))
