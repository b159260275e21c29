"""Ranking: which solutions come first, and what each movement promises."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planned import solution
from vigor.basics.errors import UserError
from vigor.learning.mixture import Mixture
from vigor.learning.problem import described
from vigor.learning.starts import Starts
from vigor.motion.promp import rollout
from vigor.motion.shapes import Box, Sphere
from vigor.planning import constraints, ranking
from vigor.planning.constraints import Constraints
from vigor.planning.plans import Plan
from vigor.planning.violations import Violation
from vigor.tasks.box_pusher import TASK as PUSHER
from vigor.tasks.reachers import panda_reacher, planar_reacher

PLANAR, ARM = planar_reacher.TASK, panda_reacher.TASK
CONTEXTS, COMPONENTS, SAMPLES = 2, 3, 4
"""One size for all, so that programs are compiled once."""
REWARDS = np.arange(6.0).reshape(CONTEXTS, COMPONENTS)


def mixtures_of(task, spread=0.01) -> Mixture:
    rng, size = np.random.default_rng(0), task.promp.weights
    return Mixture(
        jnp.log(jnp.tile(jnp.array([0.5, 0.3, 0.2]), (CONTEXTS, 1))),
        jnp.asarray(rng.normal(size=(CONTEXTS, COMPONENTS, size)), jnp.float32),
        jnp.tile(spread * jnp.eye(size), (CONTEXTS, COMPONENTS, 1, 1)),
    )


def ranked(task, limits, mixtures=None, contexts=None) -> tuple[Plan, ...]:
    contexts = task.sample_contexts(np.random.default_rng(0), CONTEXTS) if contexts is None else contexts
    mixtures = mixtures_of(task) if mixtures is None else mixtures
    shown = mixtures.means.reshape(-1, task.promp.weights)
    common = described(task, contexts, rollout(task.promp, shown))[1]
    at = Starts(shown, jnp.repeat(jnp.asarray(contexts), COMPONENTS, axis=0), jnp.ones(shown.shape[1]))
    return ranking.rank(task, contexts, mixtures, REWARDS, common, limits, contexts, at, SAMPLES)


@pytest.fixture(scope="module")
def arm() -> tuple[Plan, ...]:
    shapes = (Sphere((0.5, 0.0, 0.4), 0.1), Box((0.1, 0.1, 0.0), (0.2, 0.2, 0.9)))
    return ranked(ARM, constraints.of_task(ARM, shapes))


@pytest.fixture(scope="module")
def planar() -> tuple[Plan, ...]:
    """Three components, the last nearly the first; all movements start in the second keep-out."""
    mixtures = mixtures_of(PLANAR)
    first = mixtures.means[:, 0]
    alike = mixtures._replace(means=jnp.stack([first, -first, first + 0.001], axis=1))
    return ranked(PLANAR, Constraints(keep_out=(Sphere((50.0, 50.0), 0.25), Sphere((3.0, 0.1), 0.25))), alike)


def test_solutions_that_hold_come_first_then_success_then_reward():
    rows = [
        solution(component=0, success=1.0, violated=Violation("keep-out", "1", 1.0), group=0),
        solution(component=1, success=0.9, reward=1.0, group=0),
        solution(component=2, success=0.2, solves=False, reward=9.0, group=0),
        solution(component=3, success=0.9, reward=2.0, group=3),
    ]
    found = ranking._ranked([replace(row, group=row.component) for row in rows])
    assert [row.component for row in found.values()] == [3, 1, 0, 2]
    assert [row.group for row in found.values()] == [1, 2, 3, 4]


def test_a_way_has_its_best_solution_and_the_weight_of_all():
    rows = [
        solution(component=0, success=0.5, weight=0.2, group=7),
        solution(component=1, success=0.9, weight=0.1, group=7),
        solution(component=2, success=0.7, weight=0.7, group=4),
    ]
    found = ranking._ranked(rows)
    assert {group: (row.component, row.group) for group, row in found.items()} == {7: (1, 1), 4: (2, 2)}
    assert [row.weight for row in found.values()] == pytest.approx([0.3, 0.7])


def test_predictions_are_those_of_the_movement(arm):
    for plan in arm:
        context, rows = np.asarray(plan.context, np.float32), (*plan.solutions, *plan.samples)
        joints = rollout(ARM.promp, jnp.asarray([row.movement for row in rows], jnp.float32))
        paths = np.asarray(jax.jit(ARM.kinematics)(joints))[:, :, -1]
        distances = ARM.distances(joints, np.tile(context, (len(rows), 1)))
        for row, path, distance in zip(rows, paths, distances, strict=True):
            for label, part in (("first target", slice(0, 3)), ("last target", slice(3, 6))):
                away = np.linalg.norm(path - context[part], axis=1) - 0.05
                assert row.targets[label].closest == pytest.approx(away.min(), abs=1e-5)
                assert row.targets[label].end == pytest.approx(away[-1], abs=1e-5)
            assert row.solves == (distance == 0)
            assert row.margins.keys() == {"position", "velocity", "keep-out 1", "keep-out 2", "itself"}
            assert (row.violated is None) == (min(row.margins.values()) >= 0)
            assert row.situation.context == plan.context


def test_weights_and_rewards_stay_with_their_component(arm):
    for number, plan in enumerate(arm):
        for row in plan.solutions:
            assert row.weight == pytest.approx([0.5, 0.3, 0.2][row.component])
            assert row.reward == 3 * number + row.component
        assert len(plan.samples) == SAMPLES
        means = {row.component: np.array(row.movement) for row in plan.solutions}
        for sample in plan.samples:
            assert np.abs(np.array(sample.movement) - means[sample.component]).max() < 0.1
            assert sample.success is None
            assert sample.reward is None


def test_movements_drawn_are_the_same_for_the_same_seed(arm):
    again = ranked(ARM, arm[0].best.situation.constraints)
    for one, other in zip(arm[0].samples, again[0].samples, strict=True):
        assert one.movement == other.movement
        assert one.targets == other.targets
    assert arm[0].samples[0].movement != arm[1].samples[0].movement


def test_alike_solutions_are_one_way(planar):
    for plan in planar:
        assert [row.group for row in plan.solutions] == [1, 2]
        assert {row.component for row in plan.solutions} in ({0, 1}, {1, 2})
        assert {(row.component, row.group) for row in plan.samples} <= {
            (row.component, row.group) for row in plan.solutions
        }


def test_a_start_in_a_keep_out_is_warned_of(planar):
    for plan in planar:
        assert plan.warning == "every movement starts inside keep-out 2; none can avoid it"
        assert plan.best.violated.kind == "keep-out"


def test_a_start_is_warned_of_only_where_it_is_fixed_and_inside():
    inside, outside = (Constraints(keep_out=(Sphere((3.0, y), 0.25),)) for y in (0.0, 1.0))
    anywhere = replace(PLANAR, promp=replace(PLANAR.promp, free_start=True))
    assert ranking._blocked(PLANAR, inside)
    assert ranking._blocked(PLANAR, outside) is None
    assert ranking._blocked(PLANAR, Constraints()) is None
    assert ranking._blocked(anywhere, inside) is None


def test_a_task_whose_simulation_is_missing_is_ranked_by_reward():
    def missing(paths, contexts):
        raise UserError("the box pusher needs MuJoCo")

    task = replace(PUSHER, judge=replace(PUSHER.judge, simulate=missing))
    for plan in ranked(task, Constraints(), contexts=np.array([[0.1, 0.0, 0.2], [0.0, 0.1, 0.1]])):
        assert [row.component for row in plan.solutions] == [2, 1, 0]
        assert all(row.success is None and row.solves is None for row in plan.solutions)
        assert plan.samples[0].distance is None
        assert plan.failure is None


# Contexts beyond those of training

TRAINED = np.array([[0.0, 10.0, 5.0, 1.0], [2.0, 30.0, 5.0, 2.0], [1.0, 20.0, 5.0, 3.0]])


def test_beyond_the_trained_range():
    contexts = np.array([[1.0, 11.0, 5.0, 2.0], [-1.0, 20.0, 5.0, 2.0], [1.0, 80.0, 5.0, 4.0], [1.0, 20.0, 6.0, 2.0]])
    outside, warnings = ranking.beyond(PLANAR, TRAINED, contexts)
    np.testing.assert_allclose(outside[:3], [0.0, 0.5, 2.5])
    assert outside[3] > 1000
    assert warnings[:2] == [None, None]
    assert "first y = 80 lies 2.5 times the trained range (10 to 30) beyond it" in warnings[2]
    assert "last x = 6" in warnings[3]


coordinate = st.floats(-100, 100, allow_subnormal=False)


@given(st.lists(st.tuples(*[coordinate] * 4), min_size=1, max_size=5), st.floats(0.01, 100), coordinate)
def test_how_far_out_does_not_depend_on_units(contexts, unit, shift):
    trained, contexts = TRAINED + np.random.default_rng(0).normal(size=TRAINED.shape), np.array(contexts)
    outside, _ = ranking.beyond(PLANAR, trained, contexts)
    changed, _ = ranking.beyond(PLANAR, unit * trained + shift, unit * contexts + shift)
    np.testing.assert_allclose(outside, changed, rtol=1e-4, atol=1e-6)
    inside = np.all((contexts >= trained.min(axis=0)) & (contexts <= trained.max(axis=0)), axis=1)
    assert np.array_equal(outside == 0, inside)
