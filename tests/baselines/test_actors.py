"""Actors: movements by one component or by many, and files that come back."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from helpers import POINT
from vigor.baselines import actors, mixture_network, stepwise
from vigor.baselines.actors import Actor, Units
from vigor.baselines.stepwise import View
from vigor.basics import files
from vigor.basics.errors import UserError
from vigor.evaluation import policies
from vigor.evaluation.policies import StepPolicies

UNITS = Units(jnp.zeros(4), jnp.ones(4), jnp.zeros(2), jnp.full(2, 0.1))
CONTEXTS = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.5]])


def actor_of(**changes) -> Actor:
    parameters = mixture_network.random_parameters(jax.random.key(0), 4, 8, 1, 2, 2)
    return replace(Actor(parameters, UNITS, View(), components=2), **changes)


def steady_actor(log_weights=(0.0, 0.0), **changes) -> Actor:
    """Component 0 always moves right, component 1 always up, both nearly without noise."""
    zero = {"weight": jnp.zeros((4, 10)), "bias": jnp.asarray([*log_weights, 1, 0, -30, -30, 0, 1, -30, -30.0])}
    return actor_of(parameters={"layers": [], "output": zero}, **changes)


def movements(actor, samples=5, rows=slice(None)):
    return StepPolicies(CONTEXTS, 1, actor).movements(POINT, rows, samples, seed=0)


def test_a_component_is_held_from_the_first_step_to_the_last():
    found = movements(steady_actor(log_weights=(np.log(3.0), 0.0)))
    np.testing.assert_allclose(found.weights, [[0.75, 0.25]] * 3, rtol=1e-5)
    steps = 0.1 * np.arange(1, POINT.promp.steps + 1)[:, None]
    expected = np.stack([steps * [1, 0], steps * [0, 1]])
    np.testing.assert_allclose(found.means, np.broadcast_to(expected, found.means.shape), atol=1e-5)
    np.testing.assert_allclose(found.samples, np.broadcast_to(expected[:, None], found.samples.shape), atol=0.05)


def test_a_component_can_be_drawn_in_every_step():
    actor = steady_actor(log_weights=(np.log(3.0), 0.0), hold_component=False)
    assert StepPolicies(CONTEXTS, 1, actor).components == 1
    found = movements(actor, samples=200)
    assert found.weights.shape == (3, 1)
    ends = found.samples[:, 0, :, -1] / 0.1
    np.testing.assert_allclose(ends.sum(axis=-1), POINT.promp.steps, atol=0.5)
    np.testing.assert_allclose(ends[..., 0].mean() / POINT.promp.steps, 0.75, atol=0.03)


def test_equal_weights_are_equal_whatever_the_network_says():
    found = movements(steady_actor(log_weights=(3.0, 0.0), train_weights=False))
    np.testing.assert_allclose(found.weights, 0.5)


def test_movements_are_those_of_the_network_in_the_states_it_sees():
    actor = actor_of()
    joints = jnp.asarray(movements(actor).means[1, 1])
    seen = stepwise.observations(POINT, actor.view, joints, jnp.asarray(CONTEXTS[1], jnp.float32))
    found = mixture_network.apply(actor.parameters, actor.units.seen(seen), 2)
    np.testing.assert_allclose(stepwise.actions(POINT, joints), actor.units.actions(found.means[:, 1]), atol=1e-5)


def test_a_contexts_movements_do_not_depend_on_which_others_are_asked_for():
    actor = actor_of()
    for whole, part in zip(movements(actor), movements(actor, rows=slice(1, 2)), strict=True):
        np.testing.assert_allclose(part, whole[1:2], atol=1e-6)


def test_what_is_far_from_the_demonstrations_is_cut():
    np.testing.assert_array_equal(UNITS.seen(jnp.asarray([0.0, 1e9, -1e9, 3.0])), [0, 10, -10, 3])
    np.testing.assert_allclose(UNITS.acted(UNITS.actions(jnp.asarray([3.0, -2.0]))), [3, -2], rtol=1e-6)


def test_units_are_those_of_the_demonstrations_and_constants_count_for_nothing():
    seen, acted = np.random.default_rng(0).normal(3, 2, (500, 4)), np.zeros((500, 2))
    seen[:, 1] = 7
    found = actors.units(seen, acted)
    np.testing.assert_allclose(found.seen(seen)[:, [0, 2, 3]].std(axis=0), 1, rtol=1e-4)
    np.testing.assert_allclose(found.seen(seen)[:, 1], 0, atol=1e-5)
    np.testing.assert_array_equal(found.acted_deviation, 1)


# Files ---------------------------------------------------------------------------------------------------------------


def saved(tmp_path, **changes):
    path = tmp_path / "policies.npz"
    StepPolicies(CONTEXTS, 1, actor_of(**changes)).save(path)
    return path


def test_actors_come_back(tmp_path):
    loaded = policies.load(saved(tmp_path, train_weights=False, activation="tanh"))
    actor = actor_of(train_weights=False, activation="tanh")
    assert (loaded.training, loaded.components, loaded.fits(POINT)) == (1, 2, True)
    for one, other in zip(loaded.movements(POINT, slice(None), 3, 0), movements(actor, 3), strict=True):
        np.testing.assert_array_equal(one, other)


def test_an_actor_does_not_fit_another_task():
    other = replace(POINT, context_names=("x",))
    assert not StepPolicies(CONTEXTS, 1, actor_of()).fits(other)
    assert not StepPolicies(CONTEXTS, 1, actor_of(view=View(frames=2))).fits(POINT)
    assert not StepPolicies(CONTEXTS, 1, actor_of(components=3)).fits(POINT)


WRONG = {
    "no settings": {"settings": np.asarray("{}")},
    "settings of another kind": {"settings": np.asarray('{"view": {"frames": 1}, "speed": 3}')},
    "no JSON": {"settings": np.asarray("{")},
    "an impossible view": {"settings": np.asarray('{"view": {"frames": -1}}')},
    "text": {"weight0": np.asarray("x")},
    "no number": {"weight0": np.full((4, 8), np.nan)},
    "a missing layer": {"weight0": None},
    "no units": {"seen_mean": None},
}


@pytest.mark.parametrize("change", WRONG.values(), ids=WRONG.keys())
def test_damaged_files_are_refused_by_name(tmp_path, change):
    path = saved(tmp_path)
    arrays = {name: value for name, value in (files.read_arrays(path) | change).items() if value is not None}
    files.write_arrays(path, arrays)
    with pytest.raises(UserError, match=r"policies\.npz"):
        policies.load(path)


def test_policies_need_contexts():
    with pytest.raises(UserError, match="contexts"):
        StepPolicies(CONTEXTS, 4, actor_of())
