import numpy as np

from vigor.demonstrations.dataset import Demonstrations
from vigor.demonstrations.repertoire import repertoire
from vigor.motion.kinematics import path
from vigor.motion.promp import ProMP
from vigor.tasks import Task
from vigor.tasks.task import Judge

TASK = Task(
    name="point",
    promp=ProMP(bases=4, dimensions=2, steps=20),
    context_names=("x",),
    sample_contexts=lambda rng, count: rng.normal(size=(count, 1)),
    kinematics=path,
    descriptors=(),
    judge=Judge(distinct=0.2),
)
"""A point in the plane."""


def arcs(*heights: float, contexts: tuple[int, ...] = ()) -> Demonstrations:
    """Movements along x that are bent up or down by so much."""
    time = np.linspace(0, 1, 40)
    recordings = np.stack([np.stack([time, height * np.sin(np.pi * time)], axis=1) for height in heights])
    weights = np.asarray(TASK.promp.fit(recordings))
    context_of = np.array(contexts or [0] * len(heights))
    return Demonstrations("point", np.arange(context_of.max() + 1)[:, None] * 1.0, context_of, weights, None, "made")


def test_ways_are_groups_that_are_far_apart_the_most_usual_first():
    found = repertoire(TASK, arcs(1.0, 1.05, -1.0, 0.95, 1.0, -1.05, -0.95))
    assert found.way.tolist() == [0, 0, 1, 0, 0, 1, 1]
    np.testing.assert_allclose(found.shares(np.arange(7)), [4 / 7, 3 / 7])
    np.testing.assert_allclose(found.shares(np.array([2, 5])), [0, 1])


def test_ways_are_told_by_where_the_arm_is():
    found = repertoire(TASK, arcs(1.0, 1.05, -1.0, 0.95, 1.0, -1.05, -0.95))
    assert found.names == ("way 1, tool high", "way 2, tool low")


def test_one_way_and_rare_ways_need_no_words():
    assert repertoire(TASK, arcs(1.0, 1.0, 1.0)).names == ("way 1",)
    assert repertoire(TASK, arcs(1.0, 1.0, 1.0, -1.0)).names == ("way 1, tool high", "way 2")


def test_demonstrations_are_alike_within_their_context_alone():
    found = repertoire(TASK, arcs(1.0, 1.0, -1.0, -1.0, contexts=(0, 0, 0, 1)), shown=np.array([1]))
    assert found.shown.tolist() == [False, True, False, False]
    own = found.of(np.array([0.0]))
    assert own.tolist() == [0, 1, 2]
    assert found.alike(own).tolist() == [True, True, False]
