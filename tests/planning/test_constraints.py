"""Constraints: margins are what a slow search finds, and the cost leads out of violations."""

from dataclasses import replace
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import POINT, quick
from vigor.basics.errors import UserError
from vigor.motion import collisions
from vigor.motion.distances import along_line
from vigor.motion.panda import PANDA
from vigor.motion.promp import rollout
from vigor.motion.robots import Robot
from vigor.motion.shapes import Box, Sphere
from vigor.planning import bodies, constraints, violations
from vigor.planning.constraints import Constraints
from vigor.planning.demands import Met
from vigor.planning.violations import Violation
from vigor.tasks.reachers import panda_reacher, planar_reacher

PLANAR, ARM = planar_reacher.TASK, panda_reacher.TASK
SHAPES = (Sphere((0.3, -0.2), 0.4), Box((-1.0, 0.2), (0.5, 0.9)))
BOUNDS = constraints.bounds(PLANAR, Constraints(keep_out=SHAPES))
place = st.tuples(*[st.floats(-2, 2, allow_subnormal=False)] * 2)

outside = quick(lambda points: constraints._outside(BOUNDS, points[..., None, :]))
closest = quick(lambda a, b: along_line(partial(constraints._outside, BOUNDS), a[..., None, :], b[..., None, :]))


def weights_of(task, count=3, seed=0, scale=0.5):
    return scale * np.random.default_rng(seed).normal(size=(count, task.promp.weights)).astype(np.float32)


@settings(deadline=None)
@given(place)
def test_distance_to_a_sphere_and_a_box(point):
    sphere, box = np.asarray(outside(jnp.asarray(point, jnp.float32)))
    assert sphere == pytest.approx(np.hypot(point[0] - 0.3, point[1] + 0.2) - 0.4, abs=1e-5)
    nearest = np.clip(point, (-1.0, 0.2), (0.5, 0.9))
    away = np.linalg.norm(np.asarray(point) - nearest)
    depth = min(point[0] + 1.0, 0.5 - point[0], point[1] - 0.2, 0.9 - point[1])
    assert box == pytest.approx(away if away > 0 else -depth, abs=1e-5)


@settings(deadline=None)
@given(place, place)
def test_the_closest_point_of_a_link_is_found(a, b):
    a, b = np.asarray(a, np.float32), np.asarray(b, np.float32)
    along = np.linspace(0, 1, 2001, dtype=np.float32)[:, None]
    searched = np.asarray(outside(jnp.asarray((1 - along) * a + along * b))).min(axis=0)
    found = np.asarray(closest(jnp.asarray(a), jnp.asarray(b)))
    assert np.all(found <= searched + 1e-5)
    assert np.all(found >= searched - np.linalg.norm(b - a) / 2000 - 1e-5)


@pytest.mark.parametrize("task", [PLANAR, ARM, POINT], ids=lambda task: task.name)
def test_clearance_of_a_movement(task):
    space = 3 if task is ARM else 2
    shapes = (Sphere((0.4, 0.3, 0.5)[:space], 0.1), Box((-0.5,) * space, (-0.2,) * space))
    limits = constraints.bounds(task, Constraints(task.arm.robot, 3.0, shapes))
    weights = weights_of(task)
    found = np.asarray(constraints.margins(task, limits, weights).clearance)
    if task is ARM:  # By its capsules, but for those of the base, which lie in the box.
        joints = ARM.arm.joints(rollout(task.promp, jnp.asarray(weights), constraints.FINE * task.promp.steps))
        moving = replace(PANDA, capsules=tuple(item for item in PANDA.capsules if item.link != "link0"), pairs=())
        np.testing.assert_allclose(found, jnp.min(collisions.clearances(moving, joints, shapes), axis=1), atol=1e-5)
        return
    points = np.asarray(task.kinematics(rollout(task.promp, jnp.asarray(weights), constraints.FINE * task.promp.steps)))
    if points.shape[-2] > 1:
        along = np.linspace(0, 1, 200)[:, None, None, None, None]
        points = (1 - along) * points[..., :-1, :] + along * points[..., 1:, :]
    thickness = task.arm.robot.thickness if task.arm.robot else 0.0
    to_sphere = np.linalg.norm(points - shapes[0].centre, axis=-1) - 0.1 - thickness
    beyond = np.maximum(np.maximum(np.array(shapes[1].low) - points, points - shapes[1].high), 0.0)
    to_box = np.linalg.norm(beyond, axis=-1) - thickness
    axes = tuple(i for i in range(to_sphere.ndim) if i != to_sphere.ndim - 3)
    np.testing.assert_allclose(found[:, 0], to_sphere.min(axis=axes), atol=6e-3)
    inside = to_box.min(axis=axes) <= -thickness
    np.testing.assert_allclose(found[~inside, 1], to_box.min(axis=axes)[~inside], atol=6e-3)
    assert np.all(found[inside, 1] <= -thickness + 1e-6)


def test_margins_of_joints():
    limits = constraints.bounds(ARM, constraints.of_task(ARM, seconds=2.0))
    weights = weights_of(ARM)
    found = constraints.margins(ARM, limits, weights)
    joints = np.asarray(rollout(ARM.promp, jnp.asarray(weights), 5000), np.float64)
    joints = np.concatenate([joints, np.zeros((*joints.shape[:2], 1))], axis=-1)
    low, high = np.array(PANDA.position).T
    np.testing.assert_allclose(found.position, np.minimum(joints - low, high - joints).min(axis=1), atol=1e-4)
    speed = np.abs(np.diff(joints, axis=1)).max(axis=1) * 4999 / 2.0
    np.testing.assert_allclose(found.velocity, 1 - speed / np.array(PANDA.velocity), atol=5e-3)


slope = quick(jax.value_and_grad(constraints.cost, argnums=2), static_argnums=0)


def test_the_cost_is_nothing_far_from_violations_and_leads_out_of_them():
    # The bent arm turns about its base; its tip passes through the sphere.
    weights = jnp.full((5, 5), 0.4).at[:, 0].set(jnp.linspace(0.2, 2.0, 5)).reshape(-1)
    tip = np.asarray(PLANAR.kinematics(rollout(PLANAR.promp, weights)))[20, -1]
    limits = constraints.bounds(PLANAR, Constraints(keep_out=(Sphere(1.05 * tip, 0.3),)))
    away = constraints.bounds(PLANAR, Constraints(keep_out=(Sphere((50.0, 50.0), 0.3),)))
    assert slope(PLANAR, away, weights)[0] == 0
    first = slope(PLANAR, limits, weights)[0]
    assert first > 0
    for _ in range(200):
        weights = weights - 2e-4 * slope(PLANAR, limits, weights)[1]
    assert slope(PLANAR, limits, weights)[0] < 0.3 * first
    assert constraints.margins(PLANAR, limits, weights[None]).clearance[0, 0] > -0.05


depths = quick(lambda limits, before, after: constraints._depths(limits, jnp.zeros(1), before, after))


def folded(weights: np.ndarray) -> jax.Array:
    """Weights that turn the Panda's elbow and wrist inwards at the end, until its hand is in its forearm."""
    return jnp.zeros((ARM.promp.bases, 6)).at[-3:, 3].set(weights[0]).at[-3:, 5].set(weights[1]).reshape(-1)


def test_a_robot_that_touches_itself_violates_and_the_cost_leads_it_apart():
    limits = constraints.of_task(ARM, seconds=60.0)
    bound = constraints.bounds(ARM, limits)
    weights = folded((-0.7, -1.9))
    found = jax.tree.map(lambda leaf: np.asarray(leaf)[0], constraints.margins(ARM, bound, weights[None]))
    assert found.position.min() > 0
    joints = ARM.arm.joints(rollout(ARM.promp, weights, constraints.FINE * ARM.promp.steps))
    assert found.itself == pytest.approx(float(jnp.min(collisions.self_clearance(PANDA, joints))), abs=1e-5)
    broken = violations.violation(limits, found)
    assert (broken.kind, broken.amount) == ("itself", -found.itself)
    for _ in range(60):
        weights = weights - 2e-4 * slope(ARM, bound, weights)[1]
    assert constraints.margins(ARM, bound, weights[None]).itself[0] > 0


def test_capsules_count_only_where_they_lie_at_the_links_of_the_task():
    assert bodies.enclosed(ARM) is PANDA
    lifted = replace(ARM, kinematics=lambda joints: ARM.kinematics(joints) + jnp.array([0.0, 0.0, 1.0]))
    assert bodies.enclosed(lifted) is None
    assert bodies.itself(lifted, jnp.zeros(6)).shape == (0,)


def test_a_fast_arm_does_not_pass_a_keep_out_unseen():
    limits = constraints.bounds(POINT, Constraints(keep_out=(Sphere((1.0, 0.0), 0.05),)))
    assert depths(limits, jnp.array([[0.0, 0.01]]), jnp.array([[2.0, 0.01]]))[0, 0] > 0.8


def test_it_does_not_pay_to_pass_a_keep_out_quickly():
    limits = constraints.bounds(POINT, Constraints(keep_out=(Sphere((0.0, 0.0), 0.5),)))

    def through(steps):
        """Cost of the same way through the middle of the sphere, in so many steps."""
        points = np.linspace([-1.0, 0.0], [1.0, 0.0], steps + 1, dtype=np.float32)
        return sum(depths(limits, points[i : i + 1], points[i + 1 : i + 2]).item() for i in range(steps))

    assert through(1) > through(8)


def test_limits_of_joints_cost():
    limits = constraints.bounds(ARM, constraints.of_task(ARM))
    still = np.zeros(ARM.promp.weights, np.float32)
    far = np.where(np.arange(len(still)) == 2, np.float32(6.0), still)
    assert slope(ARM, limits, still)[0] == 0
    assert slope(ARM, limits, far)[0] > 1


def margins_of(limits, weights):
    """Margins of one movement."""
    found = constraints.margins(ARM, constraints.bounds(ARM, limits), weights)
    return jax.tree.map(lambda leaf: np.asarray(leaf)[0], found)


def test_the_violated_constraint_is_named():
    limits = constraints.of_task(ARM, (Sphere((0.0, 0.0, 0.2), 0.1),), seconds=0.1)
    weights = np.zeros((1, ARM.promp.weights), np.float32)
    weights[0, 1] = 1.0
    found = margins_of(limits, weights)
    assert violations.smallest(limits, found).keys() == {"position", "velocity", "itself", "keep-out 1"}
    inside = -violations.smallest(limits, found)["keep-out 1"]
    assert inside > 0.1
    assert found.velocity.min() < 0
    # More time would not mend it, so it is named before the speed.
    assert violations.violation(limits, found) == Violation("keep-out", "1", inside)
    fast = violations.violation(replace(limits, keep_out=()), found._replace(clearance=np.zeros(0)))
    assert (fast.kind, fast.name) == ("velocity", "panda_joint2")
    slower = replace(limits, seconds=fast.seconds * 1.01)
    assert margins_of(slower, weights).velocity.min() == pytest.approx(0.01, abs=2e-3)
    assert violations.violation(slower, margins_of(slower, weights)).kind == "keep-out"
    weights[0, 1] = 5.0
    found = margins_of(slower, weights)
    assert found.clearance[0] < 0
    beyond = violations.violation(slower, found)
    assert (beyond.kind, beyond.name, beyond.seconds) == ("position", "panda_joint2", None)


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        (Violation("position", "elbow", 0.25), "the limit of elbow by 0.250"),
        (Violation("keep-out", "2", 0.1), "keep-out 2: a link is 0.100 inside"),
        (Violation("itself", "Panda", 0.02), "Panda itself: a link is 0.020 inside another"),
        (Violation("via", "1", 0.05), "via-point 1: the tool stays 0.050 too far away"),
        (Violation("pointing", "2", np.pi / 36), "direction 2: the tool is turned 5.0 degrees too far"),
        (Violation("velocity", "elbow", 0.5, 2.34), "the largest speed of elbow, which would need 2.3 s"),
    ],
)
def test_a_violation_in_words(broken, said):
    assert str(broken) == said


@pytest.mark.parametrize("part", ["position", "velocity", "clearance", "itself"])
def test_what_is_not_a_number_violates(part):
    limits = constraints.of_task(ARM, (Sphere((5.0, 5.0, 5.0), 0.1),))
    good = constraints.Margins(np.ones(7), np.ones(7), np.ones(1), np.ones(()), Met(np.ones(1), np.ones(1)))
    assert violations.violation(limits, good) is None
    values = getattr(good, part).copy()
    values.flat[-1] = np.nan
    assert violations.violation(limits, good._replace(**{part: values})) is not None


def test_a_task_without_a_robot_has_no_constraints():
    assert not constraints.of_task(PLANAR)
    assert constraints.of_task(ARM)


def test_shapes_in_space_are_cut_by_the_plane_of_the_arm():
    limits = constraints.of_task(PLANAR, (Sphere((3.0, -2.0, 0.0), 0.25), Box((0, 0, -1), (1, 1, 1))))
    assert limits.keep_out == (Sphere((3.0, -2.0), 0.25), Box((0.0, 0.0), (1.0, 1.0)))
    kept = (Sphere((0.3, 0.2, 0.1), 0.25),)
    assert constraints.of_task(ARM, kept).keep_out == kept


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Constraints(seconds=0.0), "from 0.01 to 3600 seconds, not 0"),
        (lambda: Constraints(seconds=1e-12), "seconds, not 1e-12"),
        (lambda: Constraints(seconds=1e9), r"seconds, not 1e\+09"),
        (lambda: Constraints(seconds=np.nan), "seconds, not nan"),
        (lambda: constraints.bounds(PLANAR, Constraints(keep_out=(Sphere((0.0, 0.0, 0.0), 1.0),))), "3 coordinates"),
        (lambda: constraints.bounds(PLANAR, Constraints(robot=PANDA)), "7 joints where planar-reacher moves 5"),
        (lambda: Constraints(seconds=1.0, hold=1.0), "of 1 seconds cannot hold still for 1 of them"),
        (lambda: Constraints(start=(np.nan,)), "a start must be finite numbers"),
        (lambda: constraints.begun(PLANAR, (0.0, 1.0)), "has 5 numbers .joint1, joint2.*, not 2"),
        (lambda: constraints.begun(ARM, (0.0,) * 6 + (0.3,)), "cannot begin with panda_joint7 at 0.3"),
    ],
)
def test_what_does_not_fit_is_one_sentence(make, said):
    with pytest.raises(UserError, match=said):
        make()


def test_a_joint_that_turns_without_end_has_no_margin():
    free = Robot("free", tuple("abcde"), ((-np.inf, np.inf),) * 5, (1.0,) * 5)
    limits = Constraints(robot=free)
    found = constraints.margins(PLANAR, constraints.bounds(PLANAR, limits), weights_of(PLANAR, 1))
    own = jax.tree.map(lambda leaf: np.asarray(leaf)[0], found)
    assert violations.smallest(limits, own).keys() == {"velocity"}


def test_a_rest_at_the_end_leaves_less_time_to_move():
    weights = weights_of(ARM, 1, scale=0.2)
    whole, held = constraints.of_task(ARM, seconds=4.0), constraints.of_task(ARM, seconds=5.0, hold=1.0)
    np.testing.assert_allclose(margins_of(held, weights).velocity, margins_of(whole, weights).velocity)
    fast = violations.violation(replace(held, seconds=1.1), margins_of(replace(held, seconds=1.1), weights))
    assert fast.kind == "velocity"
    assert fast.seconds == pytest.approx(1.0 + 0.1 * (1 + fast.amount), rel=1e-5)


def test_a_movement_begins_where_it_is_told_and_keeps_its_second_half():
    start = (0.3, -0.2, 0.1, 0.5, -0.4)
    task = constraints.begun(PLANAR, start)
    assert constraints.begun(PLANAR, None) is PLANAR
    weights = jnp.asarray(weights_of(PLANAR, 1)[0])
    led, own = np.asarray(rollout(task.promp, weights, 101)), np.asarray(rollout(PLANAR.promp, weights, 101))
    np.testing.assert_allclose(led[0], start, atol=1e-6)
    np.testing.assert_allclose(led[50:], own[50:], atol=1e-6)
    assert np.all(np.abs(np.diff(led - own, axis=0)) < 0.05 * np.max(np.abs(start - own[0])))
