"""GAIL: a small task in the plane, learned far above chance; the parts it is made of."""

import sys
from dataclasses import replace
from importlib.util import find_spec

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from helpers import POINT, assert_same, member, movement, quick, stacked
from vigor.baselines import gail, steps
from vigor.baselines.gail import GAILSettings
from vigor.basics.errors import UserError
from vigor.basics.settings import with_values
from vigor.evaluation import evaluation, policies
from vigor.learning.problem import Problem
from vigor.learning.starts import Starts
from vigor.motion.promp import ProMP
from vigor.tasks import Judge

pytestmark = pytest.mark.skipif(not find_spec("stable_baselines3"), reason="stable-baselines3 is not installed")


def offset(motion):
    return motion.effector - motion.context


TASK = replace(
    POINT,
    promp=ProMP(bases=3, dimensions=2, steps=8),
    descriptors=(offset,),
    judge=Judge(lambda motion: jnp.maximum(0.0, jnp.linalg.norm(motion.effector[-1] - motion.context) - 0.25)),
)
"""A point that sees where its goal is must end within .25 of it, in 8 steps."""
SETTINGS = GAILSettings(policy_steps=512, learning_rate=2e-3, discriminator_steps=16)
SMALL = replace(SETTINGS, policy_steps=32, policy_width=8, width=8, policy_batch=16)
IMPROVED = 10


def problem(seed=0) -> Problem:
    """Straight movements to goals on a circle; test goals lie between them and closer."""
    rng = np.random.default_rng(seed)
    around = np.arange(8) * np.pi / 4
    goals, others = (r * np.stack([np.cos(a), np.sin(a)], axis=1) for r, a in ((1, around), (0.8, around + 0.4)))
    shown = [TASK.promp.fit(np.stack([movement(goal + rng.normal(0, 0.03, 2)) for _ in range(3)])) for goal in goals]
    weights = np.concatenate(shown)
    arrays = (jnp.asarray(array, jnp.float32) for array in (goals, others, goals, np.zeros(())))
    at = Starts(jnp.asarray(weights, jnp.float32), jnp.asarray(np.repeat(goals, 3, axis=0), jnp.float32), jnp.ones(()))
    paths = TASK.promp.rollout(jnp.asarray(weights, jnp.float32))
    return Problem(jax.random.key(seed), *arrays, at, paths, jnp.zeros(()))


def success(settings, data, states):
    own = problem()
    actor = member(gail.actor(TASK, settings, data, states), 0)
    judged = evaluation.evaluate(TASK, policies.of(np.asarray(own.contexts), 8, actor), samples=50)
    return judged.train["success_best"], judged.test["success_best"]


@pytest.fixture(scope="module")
def data():
    return steps.prepare(TASK, SETTINGS.view, stacked([problem()]))


@pytest.fixture(scope="module")
def begun(data):
    return gail.start(TASK, SMALL, data)


def test_a_small_task_is_solved_far_above_chance(data):
    states = gail.start(TASK, SETTINGS, data)
    assert max(success(SETTINGS, data, states)) < 0.05
    states = gail.advance(TASK, SETTINGS, data, states, IMPROVED)
    assert states.iteration == IMPROVED
    assert min(success(SETTINGS, data, states)) > 0.5


def test_updates_one_by_one_are_updates_at_once_and_depend_on_the_seed(data, begun):
    together = gail.advance(TASK, SMALL, data, begun, 2)
    apart = gail.advance(TASK, SMALL, data, gail.advance(TASK, SMALL, data, begun, 1), 1)
    assert_same(together, apart, rtol=0)
    other = steps.prepare(TASK, SMALL.view, stacked([problem(1)]))
    both = jax.tree.map(lambda *parts: jnp.concatenate(parts), data, other)
    batch = gail.advance(TASK, SMALL, both, gail.start(TASK, SMALL, both), 2)
    assert_same(member(batch, 0), member(together, 0), atol=1e-4)
    assert np.abs(batch.policy["action_net.weight"][0] - batch.policy["action_net.weight"][1]).max() > 1e-3


def test_a_plain_environment_serves_as_well(data, begun):
    from vigor.baselines import gail_ppo

    settings = replace(SMALL, vectorised=False)
    after = gail.advance(TASK, settings, data, begun, 1)
    assert np.abs(after.policy["log_std"] - begun.policy["log_std"]).max() > 0
    ppo, rewarded = gail_ppo._learner(TASK, settings, gail_ppo._contexts(settings, member(data, 0)))
    assert rewarded.num_envs == 1
    assert ppo.n_steps == 32


def test_it_acts_in_all_contexts_or_in_those_with_demonstrations(data):
    from vigor.baselines import gail_ppo

    own = problem()
    for contexts, expected in (("all", own.contexts), ("training", own.train_contexts)):
        found = gail_ppo._contexts(replace(SMALL, contexts=contexts), member(data, 0))
        np.testing.assert_array_equal(found, expected)


def test_the_random_numbers_and_threads_of_others_are_left_alone(data, begun):
    import torch

    torch.manual_seed(5)
    np.random.seed(5)  # noqa: NPY002
    before = torch.get_rng_state(), np.random.get_state()[1].copy(), torch.get_num_threads()  # noqa: NPY002
    gail.advance(TASK, SMALL, data, begun, 1)
    assert torch.equal(torch.get_rng_state(), before[0])
    np.testing.assert_array_equal(np.random.get_state()[1], before[1])  # noqa: NPY002
    assert torch.get_num_threads() == before[2]


def test_the_actor_acts_as_the_policy_of_stable_baselines(data, begun):
    from vigor.baselines import gail_ppo

    after = gail.advance(TASK, SMALL, data, begun, 1)
    own = member(data, 0)
    ppo, _ = gail_ppo._learner(TASK, SMALL, gail_ppo._contexts(SMALL, own))
    actor = member(gail.actor(TASK, SMALL, data, after), 0)
    for seen in np.asarray(own.seen[:10]):
        found = actor.decide(jnp.asarray(seen))
        standard = np.asarray(own.units.seen(jnp.asarray(seen)))
        mean, _ = ppo.predict(standard, deterministic=True)
        np.testing.assert_allclose(found.means[0, 0], mean, atol=1e-5)
        np.testing.assert_allclose(found.log_deviations[0, 0], after.policy["log_std"][0], atol=1e-4)


def test_what_is_put_into_ppo_comes_out_again(data, begun):
    from vigor.baselines import gail_ppo

    state = member(gail.advance(TASK, SMALL, data, begun, 1), 0)
    ppo, _ = gail_ppo._learner(TASK, SMALL, gail_ppo._contexts(SMALL, member(data, 0)))
    assert {name: value.shape for name, value in state.policy.items()} == {
        name: tuple(value.shape) for name, value in ppo.policy.state_dict().items()
    }
    gail_ppo._put(ppo, state)
    policy, moments = gail_ppo._take(ppo)
    assert_same((policy, moments), (state.policy, state.moments), rtol=0)


def test_networks_begin_as_those_of_stable_baselines(begun):
    for name, value in begun.policy.items():
        weight = np.asarray(value[0], np.float64)
        if not name.endswith("weight"):
            assert not weight.any()
            continue
        gain = {"action_net.weight": 0.01, "value_net.weight": 1.0}.get(name, np.sqrt(2))
        small = weight @ weight.T if weight.shape[0] <= weight.shape[1] else weight.T @ weight
        np.testing.assert_allclose(small, gain**2 * np.eye(len(small)), atol=1e-5)


def test_the_discriminator_tells_demonstrations_from_others():
    settings = replace(SMALL, discriminator_steps=200)
    rng = np.random.default_rng(0)
    shown, own = (jnp.asarray(rng.normal(shift, 1, (300, 5)), jnp.float32) for shift in (1.5, -1.5))
    architecture = settings.discriminator
    fresh = gail.networks.random_parameters(jax.random.key(0), architecture, 5)
    improve = quick(gail.improve, static_argnums=3)
    after, _ = improve(jax.random.key(1), fresh, gail._adam(settings).init(fresh), settings, shown, own)
    liked, disliked = (np.asarray(gail.reward(after, settings, pairs[:, :3], pairs[:, 3:])) for pairs in (shown, own))
    assert np.all(liked >= 0)
    assert np.all(disliked >= 0)
    assert np.mean(liked > np.log(2)) > 0.9
    assert np.mean(disliked < np.log(2)) > 0.9


def test_without_stable_baselines_a_run_says_what_to_install(monkeypatch):
    monkeypatch.delitem(sys.modules, "vigor.baselines.gail_ppo", raising=False)
    monkeypatch.setitem(sys.modules, "stable_baselines3", None)
    with pytest.raises(UserError, match=r"GAIL needs stable-baselines3; install it with: pip install"):
        gail.prepare(TASK, SMALL, stacked([problem()]))


@pytest.mark.parametrize(
    "wrong",
    [
        {"timesteps": 0},
        {"policy_steps": 0},
        {"layers": 0},
        {"policy_width": 10**5},
        {"policy_batch": 1},
        {"learning_rate": float("nan")},
        {"frames": 0},
        {"contexts": "some"},
    ],
    ids=str,
)
def test_impossible_settings_are_one_sentence(wrong):
    with pytest.raises(UserError) as refusal:
        with_values(GAILSettings(), **wrong)
    assert "\n" not in str(refusal.value)
