"""Plans: what holds, why others fail, and short words for all of them."""

import jax.numpy as jnp
import numpy as np
import pytest

from planned import CONTEXT, PLANAR, planar, solution
from vigor.basics.errors import UserError
from vigor.motion.robots import Robot
from vigor.planning.constraints import Constraints
from vigor.planning.plans import Plan, Plans
from vigor.planning.violations import Violation

FAST = Violation("velocity", "elbow", 0.5, 2.3)


@pytest.mark.parametrize(
    ("values", "failure"),
    [
        ({}, None),
        ({"solves": None, "success": None}, None),
        ({"solves": False}, "it does not solve the context"),
        ({"violated": FAST}, "it violates the largest speed of elbow, which would need 2.3 s"),
        (
            {"violated": Violation("keep-out", "1", 0.1), "solves": False},
            "it violates keep-out 1: a link is 0.100 inside, and it does not solve the context",
        ),
    ],
)
def test_what_holds_and_why_not(values, failure):
    one = solution(**values)
    assert one.failure == failure
    assert one.holds == (failure is None)


def test_a_plan_fails_with_its_best_solution():
    assert Plan((0.0,), 0.0, None, (solution(), solution(violated=FAST))).failure is None
    failing = Plan((0.0,), 0.0, None, (solution(violated=FAST), solution(solves=False)))
    assert failing.failure.startswith("no solution holds; of the best, it violates the largest speed of elbow")
    assert failing.best is failing[0] is failing.solutions[0]


def test_plans_are_a_sequence():
    plans = planar()
    assert len(plans) == 2
    assert list(plans) == [plans[0], plans[1]]
    assert len(plans[0]) == 2


def test_words_for_plans_are_short():
    plans = planar()
    assert repr(plans) == "Plans(planar-reacher, 2 contexts, 2 with a solution that holds)"
    assert repr(plans[0]) == "Plan(context (0.5, 2.2, 0.3, -2.8), 2 of 2 solutions hold)"
    assert repr(plans[0].best) == "Solution(component 1, success 0.50, holds)"
    worst = solution(violated=Violation("keep-out", "1", 0.1), solves=False)
    assert len(repr(worst)) < 200
    assert len(repr(Plan((0.123456789,) * 6, 0.0, None, (worst,)))) < 200


def test_joints_are_those_of_the_movement():
    best = planar()[0].best
    np.testing.assert_allclose(best.joints(), PLANAR.promp.rollout(jnp.asarray(best.movement, jnp.float32)), atol=1e-6)
    assert best.joints(7).shape == (7, 5)


def test_a_trajectory_keeps_to_the_limits_of_the_plan_or_to_others():
    best = planar()[0].best
    planned = best.trajectory(rate=50)
    assert planned.joints == tuple("abcde")
    assert planned.seconds == pytest.approx(3.0)
    assert planned.slowed_by is None
    assert best.trajectory(rate=50, seconds=4.0).seconds == pytest.approx(4.0)
    slow = Robot("slow", tuple("vwxyz"), ((-9.0, 9.0),) * 5, (0.1,) * 5, (1.0,) * 5)
    slowed = best.trajectory(rate=50, robot=slow)
    assert slowed.joints == tuple("vwxyz")
    assert "velocity limit" in slowed.slowed_by
    assert np.abs(slowed.velocities).max() <= 0.1
    led = best.trajectory(start_pose=np.ones(5))
    np.testing.assert_array_equal(led.positions[0], np.ones(5))
    assert led.led > 0
    with pytest.raises(UserError, match="violates the limit of a"):
        best.trajectory(start_pose=(9.5, 0, 0, 0, 0))


def test_a_solution_without_a_task_says_so():
    for use in (lambda alone: alone.trajectory(), lambda alone: alone.joints(), lambda alone: alone.plot()):
        with pytest.raises(UserError, match="knows no task"):
            use(solution())
    with pytest.raises(UserError, match="these plans know no task"):
        Plans("some", Constraints(), (Plan(CONTEXT, 0.0, None, (solution(),)),)).load_task()
