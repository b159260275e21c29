"""Generated demonstrations: they solve their contexts in many ways, and the same for the same seed."""

import math
from dataclasses import replace

import numpy as np
import pytest

from vigor.basics.errors import UserError
from vigor.demonstrations import dataset as demos
from vigor.demonstrations import preprocessing as recordings
from vigor.demonstrations.dataset import Demonstrations
from vigor.demonstrations.summary import summarise
from vigor.motion.panda import PANDA as PANDA_LIMITS
from vigor.tasks.reachers import generation, planar_reacher
from vigor.tasks.reachers.panda_reacher import REST
from vigor.tasks.reachers.panda_reacher import TASK as PANDA
from vigor.tasks.reachers.planar_reacher import TASK as PLANAR
from vigor.tasks.task import Source, Task

TASKS = {"planar": PLANAR, "panda": PANDA}


@pytest.fixture(scope="module", params=TASKS)
def generated(request: pytest.FixtureRequest) -> tuple[Task, Demonstrations]:
    task = TASKS[request.param]
    return task, recordings.generate(task, seed=3, contexts=3, per_context=10, spare=4)


def planar_effector(joints: np.ndarray) -> np.ndarray:
    """End effector [..., 2] of joints [..., 5], as a sum of complex numbers."""
    links = np.exp(1j * np.cumsum(joints, axis=-1)).sum(axis=-1)
    return np.stack([links.real, links.imag], axis=-1)


def panda_effector(joints: np.ndarray) -> np.ndarray:
    """End effector [..., 3] of joints [..., 6], as a product of modified Denavit-Hartenberg matrices."""
    quarter = math.pi / 2
    lengths = [0, 0, 0, 0.0825, -0.0825, 0, 0.088]
    twists = [0, -quarter, quarter, quarter, -quarter, quarter, quarter]
    offsets = [0.333, 0, 0.316, 0, 0.384, 0, 0]
    frame = np.broadcast_to(np.eye(4), (*joints.shape[:-1], 4, 4))
    angles = np.concatenate([joints, np.zeros((*joints.shape[:-1], 1))], axis=-1)
    for i, (a, twist, d) in enumerate(zip(lengths, twists, offsets, strict=True)):
        c, s = np.cos(angles[..., i]), np.sin(angles[..., i])
        ct, st, zero, one = np.cos(twist), np.sin(twist), np.zeros_like(c), np.ones_like(c)
        rows = [
            [c, -s, zero, a * one],
            [s * ct, c * ct, -st * one, -d * st * one],
            [s * st, c * st, ct * one, d * ct * one],
            [zero, zero, zero, one],
        ]
        frame = frame @ np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)
    return (frame @ np.array([0, 0, 0.212, 1.0]))[..., :3]


def reaches(task: Task, joints: np.ndarray, contexts: np.ndarray, slack: float) -> np.ndarray:
    """Whether trajectories [n, T, dimensions] pass the first target of their context and end in the second: [n]."""
    effector, radius = (planar_effector(joints), 0.5) if task is PLANAR else (panda_effector(joints), 0.05)
    first, second = np.split(contexts, 2, axis=1)
    passes = np.linalg.norm(effector - first[:, None], axis=-1).min(axis=1) <= radius + slack
    return passes & (np.linalg.norm(effector[:, -1] - second, axis=-1) <= radius + slack)


def test_all_succeed(generated: tuple[Task, Demonstrations]):
    task, set_ = generated
    assert set_.context_of.tolist() == np.repeat(np.arange(3), 10).tolist()
    assert set_.contexts.shape == (7, task.context_dimension)
    assert set_.source == "generated with seed 3"
    contexts = set_.contexts[set_.context_of]
    assert np.all(task.distances(demos.trajectories(task, set_), contexts) == 0)
    assert np.all(reaches(task, demos.trajectories(task, set_), contexts, slack=1e-5))
    assert set_.recordings is not None
    for recording, context in zip(set_.recordings, contexts, strict=True):
        assert reaches(task, recording[None], context[None], slack=0.0)


def test_versatile(generated: tuple[Task, Demonstrations]):
    task, set_ = generated
    summary = summarise(task, set_)
    assert np.all(summary.solutions >= 4)
    assert np.all(summary.spread > 1.5 * task.judge.distinct)
    if task is PLANAR:
        # In every context the arm bends to either side at its end.
        curls = demos.trajectories(task, set_)[:, -1, 2:].sum(axis=1).reshape(3, 10)
        assert np.all((curls.min(axis=1) < -0.5) & (curls.max(axis=1) > 0.5))


def test_natural(generated: tuple[Task, Demonstrations]):
    """As large and as smooth as what people demonstrated (weights' deviation 1.9 and .79)."""
    task, set_ = generated
    assert set_.recordings is not None
    low, high = {"planar-reacher": (1.5, 2.6), "panda-reacher": (0.6, 0.95)}[task.name]
    assert low < set_.weights.std() < high
    start = np.zeros(5) if task is PLANAR else np.array(REST)
    for recording in set_.recordings:
        assert 40 <= len(recording) <= 160
        # The recordings begin with the last step at rest, and go on from there without a jump.
        np.testing.assert_allclose(recording[0], start, atol=0.05)
        assert np.abs(np.diff(recording, axis=0)).max() < 0.3
    movements = demos.trajectories(task, set_)
    effector = planar_effector(movements) if task is PLANAR else panda_effector(movements)
    first, second = np.split(set_.contexts[set_.context_of], 2, axis=1)
    straight = np.linalg.norm(first - effector[:, 0], axis=1) + np.linalg.norm(second - first, axis=1)
    assert np.all(np.linalg.norm(np.diff(effector, axis=1), axis=-1).sum(axis=1) < 2.2 * straight)
    if task is PANDA:
        lower, upper = np.array(PANDA_LIMITS.position[:6]).T
        assert np.all((movements > lower) & (movements < upper))
        assert effector[..., 2].min() > 0.05


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_the_same_for_the_same_seed(task: Task):
    one, two, other = (recordings.generate(task, seed, contexts=1, per_context=2, spare=1) for seed in (5, 5, 6))
    np.testing.assert_array_equal(one.contexts, two.contexts)
    np.testing.assert_array_equal(one.weights, two.weights)
    for a, b in zip(one.recordings or (), two.recordings or (), strict=True):
        np.testing.assert_array_equal(a, b)
    assert np.all(one.contexts != other.contexts)
    assert not np.allclose(one.weights, other.weights)


def test_a_movement_passes_its_postures():
    rng = np.random.default_rng(0)
    rest, via, goal = np.zeros(3), np.array([1.0, -1.0, 0.5]), np.array([2.0, 0.0, 0.2])
    for _ in range(20):
        recording = generation.movement(rng, rest, via, goal, wander=0.2)
        assert np.all(recording[:3] == 0)
        assert 63 <= len(recording) <= 159
        np.testing.assert_allclose(recording[-1], goal, atol=1e-12)
        assert np.linalg.norm(recording - via, axis=1).min() < 0.1
        assert np.abs(np.diff(recording, n=2, axis=0)).max() < 0.05


def test_says_what_cannot_be_generated():
    with pytest.raises(UserError, match="cannot reach both targets"):
        planar_reacher.TASK.source.generate(np.random.default_rng(0), np.array([0.0, 2.0, 0.0, 9.0]), 1)  # type: ignore[misc]
    with pytest.raises(UserError, match="has no generator"):
        recordings.generate(replace(PLANAR, source=Source()), 0)
    with pytest.raises(UserError, match="at least 1"):
        recordings.generate(PLANAR, 0, contexts=0)
    still = replace(PLANAR, source=Source(lambda rng, context, count: [np.zeros((10, 5))] * count))
    with pytest.raises(UserError, match=r"only 0 of 2 demonstrations of context .* another seed"):
        recordings.generate(still, 0, contexts=1, per_context=2)
