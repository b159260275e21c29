"""Plans: how solutions are ranked, what they promise, and the file that holds them."""

import json
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vigor.basics.errors import UserError
from vigor.learning.mixture import Mixture
from vigor.motion.shapes import Box, Sphere
from vigor.planning import constraints
from vigor.planning import plans as solutions
from vigor.planning.constraints import Constraints
from vigor.planning.plans import Plans, Solution
from vigor.tasks.box_pusher import TASK as PUSHER
from vigor.tasks.reachers import panda_reacher, planar_reacher

PLANAR, ARM = planar_reacher.TASK, panda_reacher.TASK
COMPONENTS = 3


def mixtures_of(task, contexts=2, spread=0.01):
    rng, size = np.random.default_rng(0), task.promp.weights
    return Mixture(
        jnp.log(jnp.tile(jnp.array([0.5, 0.3, 0.2]), (contexts, 1))),
        jnp.asarray(rng.normal(size=(contexts, COMPONENTS, size)), jnp.float32),
        jnp.tile(spread * jnp.eye(size), (contexts, COMPONENTS, 1, 1)),
    )


def made_for(task, limits=None, samples=0, rewards=None):
    contexts = task.sample_contexts(np.random.default_rng(0), 2)
    limits = constraints.of_task(task) if limits is None else limits
    rewards = np.arange(6.0).reshape(2, 3) if rewards is None else rewards
    plans = solutions.judge(task, contexts, mixtures_of(task), rewards, limits, contexts, samples)
    return Plans(task.name, limits, plans, "runs/some", task)


@pytest.fixture(scope="module")
def arm() -> Plans:
    shapes = (Sphere((0.5, 0.0, 0.4), 0.1), Box((0.1, 0.1, 0.0), (0.2, 0.2, 0.9)))
    return made_for(ARM, constraints.of_task(ARM, shapes), samples=4)


def row(**values) -> Solution:
    plain = Solution((0.0,), 0, 1.0, 0.0, 0.5, 0.0, True, 0, {}, {}, None)
    return replace(plain, **values)


def test_solutions_that_hold_come_first_then_success_then_reward():
    rows = [
        row(component=0, success=1.0, violated="keep-out 1: a link is 1 inside"),
        row(component=1, success=0.9, reward=1.0),
        row(component=2, success=0.2, solves=False, reward=9.0),
        row(component=3, success=0.9, reward=2.0, group=5),
    ]
    ranked, _ = solutions._rank(rows)
    assert [solution.component for solution in ranked] == [3, 1, 0, 2]
    assert [solution.group for solution in ranked] == [1, 2, 2, 2]


def test_a_plan_fails_with_the_constraint_that_its_best_solution_violates():
    def plan(*rows):
        return solutions.Plan((0.0,), 0.0, None, solutions._rank(list(rows))[0])

    broken = row(violated="velocity: a is too fast")
    missed = row(solves=False)
    assert plan(row(), broken).failure is None
    assert plan(broken, missed).failure == "violates velocity: a is too fast"
    assert "no solution is predicted to solve" in plan(missed).failure
    assert plan(row(solves=None)).failure is None


def test_predictions_are_those_of_the_movement(arm):
    for plan in arm.plans:
        context = np.asarray(plan.context)
        for solution in (*plan.solutions, *plan.samples):
            joints = ARM.promp.rollout(jnp.asarray(solution.movement))
            path = np.asarray(ARM.kinematics(joints))[:, -1]
            for label, part in (("first target", slice(0, 3)), ("last target", slice(3, 6))):
                away = np.linalg.norm(path - context[part], axis=1) - 0.05
                assert solution.targets[label]["closest"] == pytest.approx(away.min(), abs=1e-5)
                assert solution.targets[label]["end"] == pytest.approx(away[-1], abs=1e-5)
            distance = ARM.distances(joints[None], context[None].astype(np.float32))[0]
            assert solution.solves == (distance == 0)
            assert solution.margins.keys() == {"position", "velocity", "keep-out 1", "keep-out 2"}
            assert (solution.violated is None) == (min(solution.margins.values()) >= 0)


def test_weights_and_rewards_stay_with_their_component(arm):
    for number, plan in enumerate(arm.plans):
        for solution in plan.solutions:
            assert solution.weight == pytest.approx([0.5, 0.3, 0.2][solution.component])
            assert solution.reward == 3 * number + solution.component
        assert len(plan.samples) == 4
        means = {solution.component: np.array(solution.movement) for solution in plan.solutions}
        for sample in plan.samples:
            assert np.abs(np.array(sample.movement) - means[sample.component]).max() < 0.1
            assert sample.success is None


def test_alike_solutions_share_a_number():
    mixtures = mixtures_of(PLANAR, 1)
    means = mixtures.means.at[0, 2].set(mixtures.means[0, 0] + 0.001)
    contexts = PLANAR.sample_contexts(np.random.default_rng(0), 1)
    (plan,) = solutions.judge(PLANAR, contexts, mixtures._replace(means=means), None, Constraints(), contexts)
    groups = {solution.component: solution.group for solution in plan.solutions}
    assert groups[0] == groups[2] != groups[1]


@pytest.mark.parametrize(("centre", "inside"), [((3.0, 0.1), True), ((3.0, 1.0), False)])
def test_a_start_in_a_keep_out_is_warned_of(centre, inside):
    far = Sphere((50.0, 50.0), 0.25)
    made = made_for(PLANAR, Constraints(keep_out=(far, Sphere(centre, 0.25))))
    for plan in made.plans:
        assert plan.warning == ("every movement starts inside keep-out 2; none can avoid it" if inside else None)


def test_a_start_that_the_weights_choose_is_not_warned_of():
    anywhere = replace(PLANAR, promp=replace(PLANAR.promp, free_start=True))
    assert solutions._blocked(PLANAR, Constraints(keep_out=(Sphere((3.0, 0.0), 0.25),)))
    assert solutions._blocked(anywhere, Constraints(keep_out=(Sphere((3.0, 0.0), 0.25),))) is None


def test_plans_come_back_from_their_file(arm, tmp_path):
    arm.save(tmp_path / "plan.json")
    back = solutions.load(tmp_path / "plan.json")
    back.save(tmp_path / "again.json")
    assert (tmp_path / "plan.json").read_bytes() == (tmp_path / "again.json").read_bytes()
    with pytest.raises(FileExistsError):
        back.save(tmp_path / "again.json", new=True)
    assert back.constraints == arm.constraints
    assert back.plans[1].solutions[0].__dict__ == arm.plans[1].solutions[0].__dict__
    read = json.loads((tmp_path / "plan.json").read_text())
    for entry in read["contexts"]:
        assert len(entry["success"]) == len(entry["distance"]) == len(entry["weights"]) == COMPONENTS


def test_a_robot_without_bounds_comes_back(tmp_path):
    free = constraints.Robot("free", tuple("abcde"), ((-np.inf, np.inf),) * 5, (1.0,) * 5)
    made_for(PLANAR, Constraints(free, 4.0)).save(tmp_path / "plan.json")
    assert solutions.load(tmp_path / "plan.json").constraints == Constraints(free, 4.0)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda read: read.pop("format"), "holds no plans"),
        (lambda read: read.update(version=9), "version 9"),
        (lambda read: read.pop("contexts"), "damaged"),
        (lambda read: read["contexts"][0]["success"].pop(), "damaged"),
        (lambda read: read["contexts"][0]["solutions"][0].pop("targets"), "damaged"),
        (lambda read: read["contexts"][0]["solutions"][0].update(movement=[1.0]), "48 finite weights"),
        (lambda read: read["contexts"][0].update(context=[1.0]), "6 numbers"),
        (lambda read: read.update(robot={"name": "x"}), "damaged"),
        (lambda read: read.update(keep_out=[{"radius": 1}]), "damaged"),
        (lambda read: read.update(seconds="long"), "damaged"),
        (lambda read: read.update(task="beside.py:TASK"), "only files by their whole path are run"),
    ],
)
def test_a_damaged_file_is_one_sentence(arm, tmp_path, change, said):
    arm.save(tmp_path / "plan.json")
    read = json.loads((tmp_path / "plan.json").read_text())
    change(read)
    (tmp_path / "plan.json").write_text(json.dumps(read))
    with pytest.raises(UserError, match=said):
        solutions.load(tmp_path / "plan.json")


def test_a_task_whose_simulation_is_missing_is_ranked_by_reward(monkeypatch):
    def missing(paths, contexts):
        raise UserError("the box pusher needs MuJoCo")

    contexts = np.array([[0.1, 0.0, 0.2], [0.0, 0.1, 0.1]])
    plans = solutions.judge(
        replace(PUSHER, judge=replace(PUSHER.judge, simulate=missing)),
        contexts,
        mixtures_of(PUSHER),
        np.arange(6.0).reshape(2, 3),
        Constraints(),
        contexts,
        samples=1,
    )
    for plan in plans:
        assert [solution.component for solution in plan.solutions] == [2, 1, 0]
        assert all(solution.success is None and solution.solves is None for solution in plan.solutions)
        assert plan.samples[0].distance is None


TRAINED = np.array([[0.0, 10.0, 5.0, 1.0], [2.0, 30.0, 5.0, 2.0], [1.0, 20.0, 5.0, 3.0]])
name_of = PLANAR.context_names


def test_beyond_the_trained_range():
    contexts = np.array([[1.0, 11.0, 5.0, 2.0], [-1.0, 20.0, 5.0, 2.0], [1.0, 80.0, 5.0, 4.0], [1.0, 20.0, 6.0, 2.0]])
    outside, warnings = solutions.beyond(PLANAR, TRAINED, contexts)
    np.testing.assert_allclose(outside[:3], [0.0, 0.5, 2.5])
    assert outside[3] > 1000
    assert warnings[:2] == [None, None]
    assert "first y = 80 lies 2.5 times the trained range (10 to 30) beyond it" in warnings[2]
    assert "last x = 6" in warnings[3]


coordinate = st.floats(-100, 100, allow_subnormal=False)


@given(st.lists(st.tuples(*[coordinate] * 4), min_size=1, max_size=5), st.floats(0.01, 100), coordinate)
def test_how_far_out_does_not_depend_on_units(contexts, unit, shift):
    trained, contexts = TRAINED + np.random.default_rng(0).normal(size=TRAINED.shape), np.array(contexts)
    outside, _ = solutions.beyond(PLANAR, trained, contexts)
    changed, _ = solutions.beyond(PLANAR, unit * trained + shift, unit * contexts + shift)
    np.testing.assert_allclose(outside, changed, rtol=1e-4, atol=1e-6)
    inside = np.all((contexts >= trained.min(axis=0)) & (contexts <= trained.max(axis=0)), axis=1)
    assert np.array_equal(outside == 0, inside)


def test_movements_drawn_are_the_same_for_the_same_seed(arm):
    again = made_for(ARM, arm.constraints, samples=4)
    assert [s.movement for s in again.plans[0].samples] == [s.movement for s in arm.plans[0].samples]
    assert jax.tree.leaves(again.plans[0].samples[0].targets) == jax.tree.leaves(arm.plans[0].samples[0].targets)
