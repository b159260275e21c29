"""The first part of a run's report: which lines there are, and what they are called."""

import numpy as np

from helpers import POINT
from vigor.evaluation.policies import Movements
from vigor.reports import overview
from vigor.tasks.reachers import panda_reacher


class Straight:
    """Policies whose components go straight ways, each a little higher than the one before."""

    training, components, dimensions = 1, 4, 2
    contexts = np.zeros((3, 2), np.float32)

    def movements(self, task, rows, samples, seed, steps=None):
        count = len(range(*rows.indices(len(self.contexts))))
        path = np.linspace(0.0, 1.0, steps)[:, None] * np.ones(self.dimensions)
        means = np.stack([path + 0.1 * i for i in range(self.components)])
        means = np.broadcast_to(means, (count, *means.shape)).astype(np.float32)
        weights = np.broadcast_to(np.array([0.4, 0.3, 0.2, 0.1]), (count, 4))
        return Movements(weights, means, np.repeat(means[:, :, None], samples, axis=2))


def movements(kinds):
    return overview.movements(POINT, Straight(), range(1, 3), [np.zeros((2, 5, 2), np.float32)], np.array(kinds))


def test_every_way_has_a_thick_line_and_a_key_with_its_weight():
    found = movements([0, 1, 2, 3])
    assert [one.title for one in found.charts] == ["test context 1", "test context 2"]
    assert [label for _, label, _ in found.keys] == ["way 1, 40%", "way 2, 30%", "way 3, 20%", "way 4, 10%", "samples"]
    main = [line for line in found.charts[0].lines if line.kind == "main"]
    assert [line.name for line in main] == [f"way {i + 1}, weight {share}%" for i, share in enumerate((40, 30, 20, 10))]
    assert "Thick: the mean of a way" in found.note


def test_views_of_a_task_in_space_stand_below_each_other():
    task = panda_reacher.TASK
    policies = Straight()
    policies.dimensions, policies.contexts = task.promp.dimensions, np.full((3, 6), 0.3, np.float32)
    found = overview.movements(task, policies, range(1, 3), [], np.arange(4))
    titles = [one.title for one in found.charts]
    contexts = ["test context 1", "test context 2"]
    assert titles == [f"{name}, from {side}" for side in ("above", "the side") for name in contexts]


def test_ways_of_a_kind_share_a_key_and_a_colour_and_the_first_is_thick():
    found = movements([0, 1, 0, 1])
    assert [label for _, label, _ in found.keys] == ["kind 1, 60%", "kind 2, 40%", "samples"]
    lines = [line for line in found.charts[0].lines if line.name]
    kinds = [("main", "kind 1"), ("main", "kind 2"), ("side", "kind 1"), ("side", "kind 2")]
    assert sorted((line.kind, line.key) for line in lines) == kinds
    colours = {key: colour for key, _, colour in found.keys}
    assert all(line.colour == colours[line.key] for line in lines)
    thin = [line for line in found.charts[0].lines if line.kind == "thin"]
    assert {line.key for line in thin} == {"kind 1|samples", "kind 2|samples"}
    assert found.note.startswith("4 ways of 2 kinds. ")
