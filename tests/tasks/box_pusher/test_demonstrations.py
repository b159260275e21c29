"""Contexts of the box pusher, pushes, and the demonstrations that were found and come with it."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from vigor.demonstrations import dataset as demos
from vigor.demonstrations import preprocessing as recordings
from vigor.demonstrations import splits
from vigor.tasks.box_pusher import (
    TASK,
    geometry,
    mechanics,
    pushes,
    search,
    simulation,
    transfer,
)


def test_contexts_come_in_turn_from_the_sign_combinations():
    contexts = pushes.sample_contexts(np.random.default_rng(0), 6)
    assert geometry.sign_combination(contexts).tolist() == [0, 1, 2, 3, 0, 1]
    away = geometry.initial_distance(contexts)
    assert np.all((away > pushes.NEAREST) & (away < pushes.FARTHEST))
    np.testing.assert_array_equal(contexts[:4], pushes.sample_contexts(np.random.default_rng(0), 4))


def test_mirrored_pushes_end_mirrored():
    weights = pushes.draw(np.random.default_rng(3), np.array([0, 5]))
    outcomes = simulation.outcomes(pushes.paths(weights)) - geometry.goal(np.zeros(3))
    images, expected = geometry.mirrored(weights, outcomes)
    np.testing.assert_array_equal(images[0], weights)
    ends = simulation.outcomes(pushes.paths(images.reshape(-1, weights.shape[1])))
    away = geometry.corner_distance(ends, geometry.goal(expected.reshape(-1, 3))).reshape(4, 2)
    assert away[1].max() < 0.003  # To the side the arm is its own mirror image.
    assert away.max() < 0.01


def test_a_carried_push_keeps_its_begin_and_its_end_in_the_frame_of_the_goal(shipped: demos.Demonstrations):
    weights, own = shipped.weights[:3], shipped.contexts[shipped.context_of[:3]]
    to = np.array([0.03, -0.05, 0.3])
    moved = np.asarray(jax.vmap(transfer.carry, (0, 0, None))(jnp.asarray(weights), jnp.asarray(own), jnp.asarray(to)))
    before, after = pushes.paths(weights), pushes.paths(moved)
    np.testing.assert_allclose(after[:, 0], before[:, 0], atol=0.003)

    def in_frame(points: np.ndarray, poses: np.ndarray) -> np.ndarray:
        x, y = (points - poses[:, :2]).T
        cos, sin = np.cos(poses[:, 2]), np.sin(poses[:, 2])
        return np.stack([cos * x + sin * y, cos * y - sin * x], axis=-1)

    ends = in_frame(after[:, -1], geometry.goal(np.tile(to, (3, 1))))
    np.testing.assert_allclose(ends, in_frame(before[:, -1], geometry.goal(own)), atol=0.003)
    same = jax.vmap(transfer.carry)(jnp.asarray(weights), jnp.asarray(own), jnp.asarray(own))
    np.testing.assert_allclose(same, weights, atol=1e-3)


def test_contexts_that_ask_for_the_same_motion_are_near_however_far_it_goes():
    context, arm = np.array([0.03, -0.04, 0.2]), geometry.SIZE[1] / 2

    def away(other: np.ndarray) -> float:
        return float(transfer.away(jnp.asarray(context), jnp.asarray(other)))

    assert away(3 * context) < 1e-3
    assert away(-context) == pytest.approx(np.pi, abs=1e-3)
    one, other = (np.array([*part[:2], arm * part[2]]) for part in (context, np.array([0.03, -0.04, -0.2])))
    cosine = one @ other / np.linalg.norm(one) / np.linalg.norm(other)
    assert away(context * [1, 1, -1]) == pytest.approx(np.arccos(cosine), rel=1e-5)


def test_images_of_the_task_are_those_of_the_geometry(shipped: demos.Demonstrations):
    weights, contexts = shipped.weights[:2], shipped.contexts[shipped.context_of[:2]]
    images, placed = geometry.mirrored(weights, contexts)
    for number, image in enumerate(transfer.IMAGES, start=1):
        found, context = jax.vmap(image)(jnp.asarray(weights), jnp.asarray(contexts))
        np.testing.assert_allclose(found, images[number], rtol=1e-6)
        np.testing.assert_allclose(context, placed[number], rtol=1e-6)


def test_random_pushes_begin_and_end_at_times_of_their_own():
    paths = pushes.paths(pushes.draw(np.random.default_rng(0), np.zeros(200, int)))
    speed = np.linalg.norm(np.diff(paths, axis=1), axis=-1)
    gone = np.cumsum(speed, axis=1) / speed.sum(axis=1, keepdims=True)
    halfway = np.argmax(gone > 0.5, axis=1)
    assert np.ptp(halfway) > 10
    assert 20 < halfway.mean() < 30


def test_shipped_demonstrations_are_what_they_should_be(shipped: demos.Demonstrations):
    counts = np.bincount(shipped.context_of)
    assert len(counts) >= 24
    assert counts.min() >= 3
    assert len(shipped.contexts) >= len(counts) + 6
    assert len(np.unique(shipped.contexts, axis=0)) == len(shipped.contexts)
    groups = np.bincount(geometry.sign_combination(shipped.contexts[: len(counts)]))
    assert groups.max() - groups.min() <= 1
    movements = demos.trajectories(TASK, shipped)
    assert np.all(geometry.clearance(movements[:, 0]) > 0)
    within = geometry.inside(movements[:, 0])
    assert 0.3 < within.mean() < 0.7
    both = [0 < within[shipped.of(context)].sum() < len(shipped.of(context)) for context in shipped.demonstrated]
    assert np.mean(both) > 0.7
    for context in shipped.demonstrated:
        of = shipped.of(context)
        apart = np.sqrt(((movements[of, None] - movements[None, of]) ** 2).sum(-1).mean(-1))
        assert np.all(apart[~np.eye(len(of), dtype=bool)] > 0.029)
    assert 0.6 < shipped.weights.std() < 1.3


def test_some_shipped_demonstrations_succeed(shipped: demos.Demonstrations):
    some = np.arange(0, len(shipped.weights), 7)
    errors = TASK.distances(demos.trajectories(TASK, shipped)[some], shipped.contexts[shipped.context_of[some]])
    assert np.all(TASK.succeeds(errors))
    assert errors.mean() < 0.0076


def test_training_contexts_are_balanced(shipped: demos.Demonstrations):
    for seed in range(5):
        split = splits.draw(shipped, TASK, seed, 12, 8, 3)
        assert np.bincount(geometry.sign_combination(split.train_contexts)).tolist() == [3, 3, 3, 3]
        assert not set(map(tuple, split.train_contexts)) & set(map(tuple, split.test_contexts))


@pytest.fixture
def near_misses(shipped: demos.Demonstrations, monkeypatch: pytest.MonkeyPatch) -> np.ndarray:
    """The pushes that searches begin at: a context's demonstrations and 1.5 cm of noise. Returns the context."""
    context = int(np.argmax(np.bincount(shipped.context_of)))
    weights = shipped.weights[shipped.of(context)]
    weights = weights + np.random.default_rng(0).normal(0, 0.15, weights.shape)
    outcomes = simulation.outcomes(pushes.paths(weights)) - geometry.goal(np.zeros(3))
    known = pushes.Pushes(weights, outcomes)
    monkeypatch.setattr(pushes, "library", lambda: known)
    return shipped.contexts[context]


def test_generated_demonstrations_differ_and_are_the_same_again(near_misses: np.ndarray, monkeypatch):
    monkeypatch.setattr(search, "TOGETHER", 1)  # One search is enough, and quick.
    small = replace(TASK, sample_contexts=lambda rng, count: np.tile(near_misses, (count, 1)))
    seen: list[tuple[int, int]] = []
    one, two = (
        recordings.generate(small, 0, 1, per_context=2, spare=1, report=lambda *done: seen.append(done))
        for _ in range(2)
    )
    np.testing.assert_array_equal(one.weights, two.weights)
    assert seen == [(0, 1), (1, 1)] * 2
    movements = demos.trajectories(TASK, one)
    assert len(movements) == 2
    assert np.all(TASK.distances(movements, one.contexts[one.context_of]) < 0.012)
    assert np.sqrt(((movements[0] - movements[1]) ** 2).sum(-1).mean()) > 0.99 * search.APART


def test_a_search_comes_nearer(near_misses: np.ndarray, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(search, "GENERATIONS", 4)
    begin = pushes.library().weights[:2]
    goals = np.tile(near_misses, (2, 1))
    found, errors = search.search(np.random.default_rng(0), near_misses, begin)
    np.testing.assert_allclose(errors, TASK.distances(pushes.paths(found), goals), atol=1e-9)
    assert errors.sum() < 0.7 * TASK.distances(pushes.paths(begin), goals).sum()
    assert search.generate(np.random.default_rng(0), np.array([0.5, 0.5, 1.0]), 2) == []


def test_plans_are_chosen_that_differ_in_turn_from_inside_and_outside():
    ways = np.array([0, 0, 0, 2, 4, 5, 6, 4])
    weights = pushes.draw(np.random.default_rng(1), ways)
    weights[1] = weights[0] + 0.01
    errors = np.array([0.0, 0.001, 0.009, 0.005, 0.006, 0.02, 0.004, 0.007])
    chosen = search.choose(weights, errors, 6).tolist()
    assert 5 not in chosen  # Fails.
    assert {0, 1} & set(chosen) == {0}  # Nearly the same.
    for within in (True, False):
        some = [i for i in chosen if (ways[i] < 4) == within]
        assert some == sorted(some)
    assert {ways[i] < 4 for i in chosen[:2]} == {True, False}
    assert search.choose(weights, errors, 2).tolist() == chosen[:2]


def test_mechanics_foretell_what_pushes_do(some_pushes: tuple[np.ndarray, simulation.Rollouts]):
    plans, rollouts = some_pushes
    found = np.asarray(jax.jit(jax.vmap(lambda path: mechanics.poses(path)[-1]))(jnp.asarray(plans)))
    ends = rollouts.poses[:, -1]
    away = geometry.corner_distance(geometry.goal(found), ends)
    moved = geometry.corner_distance(geometry.goal(np.zeros_like(found)), ends)
    assert np.median(away) < 0.008
    assert away.mean() < moved.mean() / 5
