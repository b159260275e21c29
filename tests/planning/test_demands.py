"""Demands on the tool: what is read is meant, and margins are what a slow look finds."""

import numpy as np
import pytest

from helpers import quick
from vigor.basics.errors import UserError
from vigor.motion.panda import PANDA
from vigor.motion.promp import rollout
from vigor.planning import demands, pacing
from vigor.planning.demands import Pointing, Via
from vigor.tasks.reachers import panda_reacher, planar_reacher

PLANAR, ARM = planar_reacher.TASK, panda_reacher.TASK
met = quick(demands.met, static_argnums=0)
COURSE = np.linspace(0.0, 1.0, 501, dtype=np.float32)


def test_words_of_the_command_line():
    assert demands.parse_via("0.4,0.1,0.3,0.05@50%") == Via((0.4, 0.1, 0.3), 0.05, 0.5)
    assert demands.parse_via("1, 2, 0.5") == Via((1.0, 2.0), 0.5)
    down = demands.parse_pointing("0,0,-2,10")
    assert (down.direction, down.degrees, down.time) == ((0.0, 0.0, -1.0), 10.0, 1.0)
    assert demands.parse_pointing("1,0,0,10@25%").time == 0.25


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: demands.parse_via("1,2"), "is no via-point; write X,Y,Z,RADIUS"),
        (lambda: demands.parse_via("1,2,3,4,5"), "is no via-point"),
        (lambda: demands.parse_via("1,2,3,0.1@0.5"), "is no via-point"),
        (lambda: demands.parse_via("1,2,3,0.1@"), "is no via-point"),
        (lambda: demands.parse_via("a,2,3,0.1"), "is no via-point"),
        (lambda: demands.parse_via("1,2,3,0.1@150%"), "from 0 to 1 .0% to 100%., not 1.5"),
        (lambda: demands.parse_via("1,2,3,-1"), "a positive radius"),
        (lambda: demands.parse_pointing("0,0,1"), "is no direction"),
        (lambda: demands.parse_pointing("0,0,0,10"), "not all 0"),
        (lambda: demands.parse_pointing("0,0,1,200"), "up to 180 degrees"),
        (lambda: demands.arrays(PLANAR, 2, (Via((0, 0, 0), 1.0),), ()), "via-point 1 has 3 coordinates where"),
        (lambda: demands.arrays(PLANAR, 2, (), (Pointing((0, 0, 1), 9.0),)), "nothing says where the tool of planar"),
    ],
)
def test_what_is_wrong_is_one_sentence(make, said):
    with pytest.raises(UserError, match=said):
        make()


def test_margins_are_those_of_the_tool():
    weights = 0.3 * np.random.default_rng(0).normal(size=ARM.promp.weights).astype(np.float32)
    joints = rollout(ARM.promp, weights, 501)
    tips = np.asarray(ARM.kinematics(joints))[:, -1]
    axes = np.asarray(PANDA.kinematics.frames(ARM.arm.joints(joints)).rotation)[:, 0, :, 2]
    place, down = np.array([0.4, 0.2, 0.5]), np.array([0.0, 0.0, -1.0])
    via = (Via(tuple(place), 0.1), Via(tuple(place), 0.1, 0.3))
    found = met(ARM, demands.arrays(ARM, 3, via, (Pointing(tuple(down), 20.0),)), weights, COURSE)
    away = np.linalg.norm(tips - place, axis=1)
    step = pacing.uniform(np.array([0.3])).phase[0] * 500
    timed = np.interp(step, np.arange(501), away)
    np.testing.assert_allclose(found.via, [0.1 - away.min(), 0.1 - timed], atol=1e-4)
    turned = np.arccos(np.clip(axes[-1] @ down, -1, 1))
    np.testing.assert_allclose(found.pointing, [np.radians(20) - turned], atol=1e-4)


def test_the_cost_is_nothing_where_demands_are_met_and_more_the_farther_they_are_missed():
    cost = quick(demands.cost, static_argnums=0)
    weights = 0.3 * np.random.default_rng(0).normal(size=PLANAR.promp.weights).astype(np.float32)
    tip = np.asarray(PLANAR.kinematics(rollout(PLANAR.promp, weights)))[-1, -1]
    costs = [
        float(cost(PLANAR, demands.arrays(PLANAR, 2, (Via((tip[0], tip[1] + off), 0.1, 1.0),), ()), weights))
        for off in (0.0, 0.3, 0.6)
    ]
    assert costs[0] == 0 < costs[1] < costs[2]
