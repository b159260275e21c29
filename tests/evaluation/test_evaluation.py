"""Evaluation against hand-made policies whose success and solutions are known."""

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import entropy

from vigor.basics.errors import OutOfRange
from vigor.evaluation import evaluation, resemblance
from vigor.evaluation.policies import Policies
from vigor.learning.mixture import Mixture
from vigor.motion.kinematics import path
from vigor.motion.promp import ProMP
from vigor.motion.trajectories import distinct_solutions
from vigor.tasks import Task
from vigor.tasks.task import Judge


def end_at(goal_tolerance: float = 0.2) -> Task:
    """A point that must end near the context."""
    return Task(
        name="end",
        promp=ProMP(bases=3, dimensions=2, steps=10),
        context_names=("x", "y"),
        sample_contexts=lambda rng, n: rng.normal(size=(n, 2)),
        kinematics=path,
        descriptors=(),
        judge=Judge(
            distance=lambda motion: jnp.abs(motion.effector[-1] - motion.context).max(),
            success_distance=goal_tolerance,
            distinct=0.5,
        ),
    )


def policies(task: Task, ends: list[list[tuple[float, float]]], spread: float, log_weights=None) -> Policies:
    """Components [context][component] that move straight to given ends; contexts at the origin."""
    line = np.linspace(0, 1, 30)[:, None]
    means = task.promp.fit(np.array([[line * end for end in row] for row in ends])).astype(np.float32)
    roots = np.broadcast_to(np.eye(6, dtype=np.float32) * spread, (*means.shape, 6))
    weights = np.full(means.shape[:2], -np.log(means.shape[1]), np.float32) if log_weights is None else log_weights
    return Policies(np.zeros((len(ends), 2)), 1, Mixture(weights, means, roots))


def test_success_distance_and_ranking_of_known_components():
    task = end_at()
    judged = evaluation.evaluate(task, policies(task, [[(0, 0), (1, 1)], [(2, 0), (0, 0)]], spread=1e-4))
    assert np.allclose(judged.success, [[1, 0], [0, 1]])
    assert np.allclose(judged.distance, [[0, 1], [2, 0]], atol=0.05)
    for part in (judged.train, judged.test):
        assert part["success_best"] == 1
        assert part["success_mixture"] == pytest.approx(0.5)
        assert part["success_components"] == [1, 0]
        assert part["distance_best"] < 0.05
        assert len(part["contexts"]) == 1


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda task, made: (task, with_means(made, np.nan)), "the movements of context 2 are not finite"),
        (lambda task, made: (task, with_means(made, np.inf)), "the movements of context 2 are not finite"),
        (lambda task, made: (judged_badly(task), made), "the distances of context 1 are not finite"),
    ],
)
def test_what_has_diverged_is_one_sentence_that_names_the_context(change, said):
    """Whatever overflows first; the comparison of solutions would raise an error of its own."""
    task = end_at()
    task, made = change(task, policies(task, [[(0, 0), (1, 1)], [(2, 0), (0, 0)]], spread=1e-4))
    with pytest.raises(OutOfRange, match=said):
        evaluation.evaluate(task, made, samples=2)


def with_means(made: Policies, value: float) -> Policies:
    means = np.array(made.mixtures.means)
    means[1] = value
    return replace(made, mixtures=made.mixtures._replace(means=means))


def judged_badly(task: Task) -> Task:
    far = Judge(simulate=lambda joints, contexts: np.full(len(joints), np.inf), success_distance=0.1, distinct=0.5)
    return replace(task, judge=far)


def test_success_of_a_wide_component_is_its_probability():
    task = end_at()
    judged = evaluation.evaluate(task, policies(task, [[(0, 0)], [(0, 0)]], spread=0.2), samples=4000)
    basis = np.asarray(task.promp.basis(jnp.array([1.0])))[0]
    deviation = 0.2 * np.linalg.norm(basis)
    from scipy.stats import norm

    expected = (2 * norm.cdf(0.2 / deviation) - 1) ** 2
    assert judged.success == pytest.approx(expected, abs=0.03)


def test_success_mixture_follows_the_weights():
    task = end_at()
    log_weights = np.log(np.array([[0.9, 0.1], [0.9, 0.1]], np.float32))
    judged = evaluation.evaluate(task, policies(task, [[(0, 0), (1, 1)]] * 2, 1e-4, log_weights))
    assert judged.test["success_mixture"] == pytest.approx(0.9, abs=1e-6)


def test_versatility_counts_working_and_distinct_components():
    task = end_at(goal_tolerance=3.0)
    ends = [(0, 0), (0.01, 0), (2, 0), (9, 9)]
    found = evaluation.evaluate(task, policies(task, [ends, ends], 1e-4)).versatility[0]
    assert found.working_components == 3
    assert found.distinct_solutions == 2
    assert found.entropy == pytest.approx(entropy([2 / 3, 1 / 3], base=4), abs=1e-6)


def test_a_context_without_success_has_no_versatility():
    task = end_at()
    found = evaluation.evaluate(task, policies(task, [[(5, 5), (9, 9)]] * 2, 1e-4)).versatility[0]
    assert (found.working_components, found.distinct_solutions, found.entropy) == (0, 0, 0)


def test_a_context_is_judged_alike_whatever_is_judged_with_it():
    task = end_at()
    ends = [[(0, 0.02 * i), (0.1, 0.1)] for i in range(70)]  # More than are sampled at a time.
    many = evaluation.evaluate(task, policies(task, ends, 0.2), samples=10)
    few = evaluation.evaluate(task, policies(task, ends[:5], 0.2), samples=10)
    assert many.success.shape == (70, 2)
    assert np.array_equal(many.success[:5], few.success)
    assert np.allclose(many.distance[:5], few.distance)
    assert many.success[69, 0] == 0


@given(st.lists(st.floats(1e-6, 1) | st.just(0.0), min_size=1, max_size=8), st.integers(2, 8))
def test_entropy_agrees_with_scipy(shares, behaviours):
    found = resemblance.normalised_entropy(np.array(shares), behaviours)
    expected = entropy(np.array(shares) / sum(shares), base=behaviours) if sum(shares) > 0 else 0.0
    assert found == pytest.approx(min(1.0, expected), abs=1e-9)


def test_groups_of_trajectories_are_distinct_solutions():
    rng = np.random.default_rng(0)
    centres = np.array([0.0, 5.0, 10.0])
    joints = centres[[0, 1, 2, 0, 1, 2, 0]][:, None, None] + rng.normal(0, 0.1, (7, 12, 3))
    found = distinct_solutions(joints, threshold=2.0)
    assert len(set(found)) == 3
    assert found[0] == found[3] == found[6]
    assert found[1] == found[4]
