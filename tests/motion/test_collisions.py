"""Collisions: capsules where they belong, pairs that could touch, and the built-in Panda's."""

import math
from collections import Counter
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from helpers import SHARED, quick
from vigor.basics.errors import UserError
from vigor.motion.collisions import clearances, pair_clearances, self_clearance, touching
from vigor.motion.kinematics import Chain, Frame, Joint, Link
from vigor.motion.loading import with_pairs
from vigor.motion.panda import PANDA
from vigor.motion.robots import LinkCapsule, Robot
from vigor.motion.shapes import Box, Capsule, Plane, Sphere
from vigor.tasks.reachers.panda_reacher import REST

MENAGERIE = SHARED / "models" / "mujoco_menagerie"

FORWARD = Frame((1.0, 0.0, 0.0))
ROD = Capsule((0.2, 0.0, 0.0), (0.8, 0.0, 0.0), 0.1)
# Three rods of length 1 in a plane, the first of which stands still.
RODS = Robot(
    "rods",
    ("elbow", "wrist"),
    ((-math.pi, math.pi),) * 2,
    (1.0, 1.0),
    kinematics=Chain(
        (Joint(FORWARD), Joint(FORWARD, coordinate=1)),
        Link("tool", 2, FORWARD),
        (Link("first", 0), Link("second", 1), Link("third", 2)),
    ),
    capsules=tuple(LinkCapsule(name, ROD) for name in ("first", "second", "third")),
)
FOLDED = np.radians([[0.0, 0.0], [90.0, 90.0], [150.0, 120.0]])
PAIRED = replace(RODS, pairs=((0, 2),))
clearance = quick(lambda q: self_clearance(PAIRED, q))


def test_only_links_with_a_joint_between_can_touch():
    assert with_pairs(RODS) == PAIRED


def test_the_clearance_is_that_of_the_nearest_pair():
    """The third rod is straight ahead of the first, parallel to it, or comes down beside its end."""
    beside = 0.2 - (1 + np.cos(np.radians(150)))
    np.testing.assert_allclose(clearance(jnp.asarray(FOLDED)), [1.4 - 0.2, 1.0 - 0.2, beside - 0.2], atol=1e-6)


def test_pairs_that_always_touch_are_left_out():
    fat = Capsule((0.5, 0.0, 0.0), (0.5, 0.0, 0.0), 2.0)
    wide = replace(RODS, capsules=(LinkCapsule("first", fat), *RODS.capsules[1:], LinkCapsule("third", ROD)))
    assert touching(wide) == {(0, 2): 1.0, (0, 3): 1.0}
    assert with_pairs(wide).pairs == ()
    np.testing.assert_array_equal(self_clearance(wide, jnp.zeros((5, 2))), np.full(5, np.inf))


def test_the_whole_arm_keeps_clear_of_shapes():
    shapes = (Sphere((0.5, 1.0, 0.0), 0.2), Box((2.0, 0.5, -1.0), (3.0, 0.6, 1.0)), Plane((0.0, 0.0, 1.0), -1.0))
    shapes += (Capsule((-1.0, -1.0, 0.0), (5.0, -1.0, 0.0), 0.3),)
    found = quick(lambda q: clearances(RODS, q, shapes))(jnp.zeros((3, 2)))
    expected = [1.0 - 0.2 - 0.1, 0.5 - 0.1, 1.0 - 0.1, 1.0 - 0.3 - 0.1]
    np.testing.assert_allclose(found, [expected] * 3, atol=1e-5)


def test_the_gradient_leads_apart():
    poses = jnp.asarray(FOLDED)
    slopes = quick(jax.grad(lambda q: jnp.sum(self_clearance(PAIRED, q))))(poses)
    assert np.all(np.asarray(clearance(poses + 0.01 * slopes) > clearance(poses))[1:])


def test_a_robot_without_capsules_is_one_sentence():
    with pytest.raises(UserError, match="has no capsules"):
        self_clearance(replace(RODS, capsules=()), jnp.zeros(2))


def test_the_panda_does_not_touch_itself_at_rest_and_does_when_folded():
    rest = jnp.array([*REST, 0.0])
    folded = rest.at[3].set(-3.0).at[5].set(0.0).at[1].set(-1.7)
    found = quick(lambda q: self_clearance(PANDA, q))(jnp.stack([rest, folded]))
    assert found[0] > 0
    assert found[1] < 0


def test_pairs_of_the_panda_never_are_neighbours():
    numbers = [int(item.link[-1]) for item in PANDA.capsules]
    assert all(numbers[two] - numbers[one] > 1 for one, two in PANDA.pairs)
    assert set(numbers) == set(range(8))


@pytest.mark.slow
@pytest.mark.skipif(not MENAGERIE.exists(), reason="the Menagerie's Panda is not beside the repository")
def test_the_panda_has_the_capsules_of_its_meshes(monkeypatch):
    """Capsules that benchmarks/panda_capsules.py writes."""
    import panda_capsules

    monkeypatch.setenv("MENAGERIE_ROOT", str(MENAGERIE))
    made = panda_capsules.rounded()
    assert Counter(item.link for item in made.capsules) == Counter(item.link for item in PANDA.capsules)
    assert made.pairs == PANDA.pairs
    poses = jnp.asarray(PANDA.random_poses(50), jnp.float32)
    np.testing.assert_allclose(pair_clearances(made, poses), pair_clearances(PANDA, poses), atol=1e-3)
