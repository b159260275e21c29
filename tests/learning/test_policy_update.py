"""The policy update: exact for quadratic rewards, within its bound, and the same in chunks of any size."""

from dataclasses import replace
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from helpers import POINT, assert_same, quick
from vigor.basics.errors import UserError
from vigor.learning import mixture, networks, policy_update
from vigor.learning.mixture import Mixture
from vigor.learning.networks import Architecture
from vigor.learning.policy_update import PolicyUpdate
from vigor.learning.problem import described
from vigor.learning.starts import Starts
from vigor.learning.surrogate import Quadratic
from vigor.learning.trust_region import kl_bounded_step
from vigor.motion import descriptors
from vigor.motion.kinematics import path
from vigor.motion.promp import ProMP
from vigor.tasks.task import Judge, Task

STEPS, CONTEXTS = 15, 5
QUADRATIC = Task(
    name="quadratic",
    promp=ProMP(bases=3, dimensions=2, steps=STEPS, start=(0.1, -0.2), scale=0.8),
    context_names=("x", "y"),
    sample_contexts=lambda rng, count: rng.normal(size=(count, 2)),
    kinematics=path,
    descriptors=(lambda motion: (motion.joints - motion.context) ** 2, descriptors.joint_angles),
    judge=Judge(distance=lambda motion: jnp.zeros(())),
)
"""With linear networks the reward is a quadratic function of the weights, of which both models are exact."""
MLP = Architecture(network="mlp", layers=1, width=6)


def reward(parameters, descriptors):
    """The sum of the logits."""
    return jnp.sum(networks.logits(parameters, MLP, descriptors), axis=-1)


def linear_networks(rng, count):
    """Networks whose hidden units are all positive, and the slopes [network, feature] of their logits."""
    inner, outer = 0.05 * rng.normal(size=(count, 5, MLP.width)), 0.3 * rng.normal(size=(count, MLP.width, 1))
    parameters = {
        "layers": [{"weight": inner, "bias": np.full((count, MLP.width), 40.0)}],
        "output": {"weight": outer, "bias": np.zeros((count, 1))},
    }
    return jax.tree.map(lambda leaf: jnp.asarray(leaf, jnp.float32), parameters), (inner @ outer)[:, :4, 0]


def some_mixtures(rng, contexts, components):
    roots = 0.3 * rng.normal(size=(contexts, components, 6, 6)) + np.eye(6)
    return Mixture(np.full((contexts, components), np.log(1 / components)), rng.normal(size=roots.shape[:3]), roots)


@partial(quick, static_argnums=0)
def compiled_update(settings, ensemble, contexts, mixtures):
    return policy_update.update(jax.random.key(0), QUADRATIC, settings, reward, ensemble, contexts, mixtures)


def update_quadratic(settings, contexts, mixtures, ensemble):
    arguments = jax.tree.map(lambda leaf: jnp.asarray(leaf, jnp.float32), (ensemble, contexts, mixtures))
    return compiled_update(settings, *arguments)


def expected_update(mean, root, context, slopes, bound):
    """Mean and covariance after the exact step on sum over steps of a . (x - context)^2 + b . x, x = B w + start."""
    basis = np.asarray(QUADRATIC.promp.basis(jnp.linspace(0.0, 1.0, STEPS)), np.float64) * QUADRATIC.promp.scale
    a, b = slopes[:2], slopes[2:]
    gradient, hessian = np.zeros((3, 2)), np.zeros((3, 2, 3, 2))
    for i in range(2):
        offset = basis @ mean.reshape(3, 2)[:, i] + QUADRATIC.promp.start[i] - context[i]
        gradient[:, i] = basis.T @ (2 * a[i] * offset + b[i])
        hessian[:, i, :, i] = 2 * a[i] * basis.T @ basis
    model = Quadratic(jnp.zeros(()), root.T @ gradient.reshape(6), -root.T @ hessian.reshape(6, 6) @ root)
    step = quick(kl_bounded_step)(jax.tree.map(lambda leaf: jnp.asarray(leaf, jnp.float32), model), bound)
    new_root = root @ np.asarray(step.root)
    return mean + root @ np.asarray(step.mean), new_root @ new_root.T


EXACT = pytest.mark.parametrize(
    "settings",
    [
        PolicyUpdate(components=2, surrogate="gradients", samples=24, kl_bound=0.5),
        PolicyUpdate(components=2, surrogate="values", samples=60, kl_bound=0.5),
    ],
    ids=["gradients", "values"],
)


@EXACT
def test_update_is_exact_for_a_quadratic_reward(settings):
    rng = np.random.default_rng(0)
    ensemble, slopes = linear_networks(rng, 2)
    contexts, mixtures = rng.normal(size=(3, 2)), some_mixtures(rng, 3, 2)
    after, _ = update_quadratic(settings, contexts, mixtures, ensemble)
    for c in range(3):
        for k in range(2):
            mean, covariance = expected_update(
                mixtures.means[c, k], mixtures.roots[c, k], contexts[c], slopes.mean(axis=0), 0.5
            )
            np.testing.assert_allclose(after.means[c, k], mean, atol=5e-3)
            np.testing.assert_allclose(after.roots[c, k] @ after.roots[c, k].T, covariance, atol=2e-2)


@pytest.mark.parametrize("sharpness", [0.3, 0.9])
def test_without_reward_sharpness_alone_draws_components_together(sharpness):
    # The step finds the old density to the power of 1 + sharpness.
    rng = np.random.default_rng(2)
    ensemble = jax.tree.map(jnp.zeros_like, linear_networks(rng, 2)[0])
    contexts, mixtures = rng.normal(size=(3, 2)), some_mixtures(rng, 3, 2)
    settings = PolicyUpdate(components=2, samples=24, kl_bound=100.0, sharpness=sharpness)
    after, _ = update_quadratic(settings, contexts, mixtures, ensemble)
    covariances, old = after.roots @ np.swapaxes(after.roots, 2, 3), mixtures.roots @ np.swapaxes(mixtures.roots, 2, 3)
    np.testing.assert_allclose(after.means, mixtures.means, atol=1e-4)
    np.testing.assert_allclose(covariances, old / (1 + sharpness), atol=1e-4)


@EXACT
def test_chunks_do_not_change_the_update(settings):
    """Neither those that fit a processor's cache nor others, the last of which is filled up."""
    rng = np.random.default_rng(1)
    ensemble, _ = linear_networks(rng, 2)
    contexts, mixtures = rng.normal(size=(3, 2)), some_mixtures(rng, 3, 2)
    usual, seven = (update_quadratic(replace(settings, chunk=chunk), contexts, mixtures, ensemble) for chunk in (0, 7))
    assert_same(seven, usual, rtol=1e-3, atol=1e-3)


# Component weights and bounds ----------------------------------------------------------------------------------------

SHOWN = Starts(jax.random.normal(jax.random.key(9), (6, 8)), jnp.zeros((6, 2)), jnp.ones(8))
"""Weights of demonstrations."""
COMMON = described(POINT, np.array([[0.0, 0.0], [1.0, 0.0]]), POINT.promp.rollout(SHOWN.weights))[1]
SETTINGS = PolicyUpdate(components=2, samples=12, kl_bound=0.5)


@pytest.fixture(scope="module")
def updated():
    """One policy update with every kind of component weights, from unequal weights and networks as they come."""
    key_mixtures, key_networks, key_contexts = jax.random.split(jax.random.key(1), 3)
    keys, dimension = jax.random.split(key_mixtures, CONTEXTS), POINT.promp.weights
    mixtures = quick(jax.vmap(lambda key: mixture.normal(key, SETTINGS.components, dimension)))(keys)
    mixtures = mixtures._replace(log_weights=jnp.log(jnp.broadcast_to(jnp.asarray([0.3, 0.7]), (CONTEXTS, 2))))
    fresh = quick(jax.vmap(lambda key: networks.random_parameters(key, MLP, POINT.features)))(
        jax.random.split(key_networks, 2)
    )
    ensemble = jax.tree.map(lambda leaf: 10 * leaf, fresh)
    contexts = jax.random.normal(key_contexts, (CONTEXTS, 2))

    def update(kind):
        settings = replace(SETTINGS, weights=kind)
        return quick(partial(policy_update.update, jax.random.key(0), POINT, settings, reward))(
            ensemble, contexts, mixtures
        )

    return mixtures, {kind: update(kind) for kind in ("fixed", "rewarded")}


def test_fixed_weights_stay(updated):
    before, after = updated
    np.testing.assert_array_equal(after["fixed"][0].log_weights, before.log_weights)


def test_rewarded_weights_are_those_of_the_rewards(updated):
    _, after = updated
    mixtures, rewards = after["rewarded"]
    tempered = np.exp(np.asarray(rewards) / (policy_update.TEMPERATURE * POINT.promp.steps))
    np.testing.assert_allclose(np.exp(mixtures.log_weights), tempered / tempered.sum(axis=1, keepdims=True), rtol=1e-4)


def test_the_networks_are_shown_components_with_weights_of_any_size_equally(updated):
    before, _ = updated
    shown = policy_update.with_equal_weights(replace(SETTINGS, weights="rewarded"), before)
    assert np.ptp(shown.log_weights) == 0
    assert_same(shown._replace(log_weights=0), before._replace(log_weights=0), rtol=0)
    assert policy_update.with_equal_weights(SETTINGS, before) is before


def test_weights_do_not_change_the_components(updated):
    _, after = updated
    assert_same(after["rewarded"][0].means, after["fixed"][0].means, rtol=1e-5)


def test_components_move_no_further_than_the_bound(updated):
    before, after = updated
    new, dimension = after["fixed"][0], before.means.shape[-1]
    for context in range(CONTEXTS):
        for component in range(2):
            root = np.linalg.solve(
                np.asarray(before.roots[context, component], np.float64), new.roots[context, component]
            )
            shift = np.linalg.solve(
                np.asarray(before.roots[context, component], np.float64),
                np.asarray(new.means[context, component] - before.means[context, component]),
            )
            covariance = root @ root.T
            log_determinant = np.linalg.slogdet(covariance)[1]
            kl = 0.5 * (np.trace(covariance) - dimension - log_determinant + shift @ shift)
            assert 0.9 * SETTINGS.kl_bound < kl <= SETTINGS.kl_bound * 1.001


# Settings ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrong",
    [
        {"iterations": 0},
        {"components": 0},
        {"samples": 0},
        {"samples": 10**7},
        {"kl_bound": 0.0},
        {"kl_bound": float("inf")},
        {"kl_bound": float("nan")},
        {"surrogate": "splines"},
        {"begin": "nowhere"},
        {"weights": "free"},
        {"chunk": -1},
        {"sharpness": 1.0},
    ],
    ids=str,
)
def test_impossible_settings_are_refused(wrong):
    with pytest.raises(UserError, match=next(iter(wrong))):
        PolicyUpdate(**wrong)


first_mixture = quick(policy_update.first_mixture, static_argnums=(1, 2))


def test_components_begin_at_demonstrations_or_anywhere():
    settings = PolicyUpdate(components=3, begin="demonstrations")
    means = np.asarray(first_mixture(jax.random.key(0), POINT, settings, SHOWN, COMMON, jnp.zeros(2)).means)
    assert all(any(np.array_equal(mean, one) for one in np.asarray(SHOWN.weights)) for mean in means)
    anywhere = first_mixture(jax.random.key(0), POINT, replace(settings, begin="normal"), SHOWN, COMMON, jnp.zeros(2))
    assert_same(anywhere, mixture.normal(jax.random.key(0), 3, 8))


def test_the_values_surrogate_needs_enough_samples():
    """A quadratic function of 8 weights has 45 numbers, and the fit needs one more."""
    enough = PolicyUpdate(surrogate="values", samples=46)
    first = partial(policy_update.first_mixture, jax.random.key(0), POINT)
    assert jax.eval_shape(lambda: first(enough, SHOWN, COMMON, jnp.zeros(2))).means.shape == (6, 8)
    for few in (45, 20):
        with pytest.raises(UserError, match="at least 46 samples"):
            first(replace(enough, samples=few), SHOWN, COMMON, jnp.zeros(2))
    # Gradients tell more than values.
    replace(enough, surrogate="gradients", samples=5).check_task(POINT)


def test_samples_must_be_dealt_out_evenly():
    with pytest.raises(UserError, match="multiple of the number of networks"):
        PolicyUpdate(samples=11).check_networks(2)
    PolicyUpdate(samples=12).check_networks(2)
    PolicyUpdate(samples=11, surrogate="values").check_networks(2)


@pytest.mark.parametrize("model", ["gradients", "values"])
def test_a_cost_is_taken_from_the_reward(model):
    rng = np.random.default_rng(0)
    ensemble, _ = linear_networks(rng, 2)
    settings = PolicyUpdate(surrogate=model, samples=60, kl_bound=1e-3)
    mixtures = jax.tree.map(lambda leaf: jnp.asarray(leaf, jnp.float32), some_mixtures(rng, 2, 2))
    contexts = jnp.zeros((2, 2))

    @quick
    def step(slope):
        return policy_update.update(
            jax.random.key(0), QUADRATIC, settings, reward, ensemble, contexts, mixtures, lambda w: slope * w[0]
        )

    (free, rewards), (pushed, less) = step(0.0), step(1000.0)
    np.testing.assert_allclose(less, rewards - 1000 * mixtures.means[..., 0], rtol=0.2, atol=300)
    assert np.all(pushed.means[..., 0] < free.means[..., 0])


PLANE = replace(QUADRATIC, promp=ProMP(bases=1, dimensions=2, steps=3), descriptors=(descriptors.joint_angles,))
"""Movements of two weights, which alone say what a movement is."""
MODES = np.array([[4.0, 0.0], [-4.0, 0.0]])


def log_two_modes(_, descriptors):
    """Log density of two equal modes of deviation 1, of the weights that the last step shows."""
    scale = jnp.asarray(PLANE.promp.rollout(jnp.ones(2)) - PLANE.promp.rollout(jnp.zeros(2)))[-1]
    away = (descriptors[:, -1] - jnp.asarray(PLANE.promp.rollout(jnp.zeros(2)))[-1]) / scale
    squared = jnp.sum((away[:, None] - jnp.asarray(MODES, jnp.float32)) ** 2, axis=-1)
    return jax.scipy.special.logsumexp(-0.5 * squared, axis=1)


@partial(quick, static_argnums=(0, 1))
def search_modes(settings, less_density, key):
    """A mixture after 200 steps on the reward of two modes, from five components apart from each other."""
    key_start, key_steps = jax.random.split(key)
    first = mixture.normal(key_start, settings.components, 2)
    first = jax.tree.map(lambda leaf: leaf[None], first._replace(means=3 * first.means))

    def step(mixtures, key):
        contexts, nothing = jnp.zeros((1, 2)), jnp.zeros(1)
        return policy_update.update(
            key, PLANE, settings, log_two_modes, nothing, contexts, mixtures, less_density=less_density
        )[0], None

    found = jax.lax.scan(step, first, jax.random.split(key_steps, 200))[0]
    return found.means[0], found.roots[0] @ found.roots[0].swapaxes(1, 2)


@pytest.mark.parametrize("surrogate", ["gradients", "values"])
def test_less_its_own_density_a_mixture_finds_both_modes_of_a_reward(surrogate):
    settings = PolicyUpdate(components=5, surrogate=surrogate, samples=60, kl_bound=0.5)
    means, covariances = map(np.asarray, search_modes(settings, True, jax.random.key(0)))
    nearest = np.argmin(np.linalg.norm(means[:, None] - MODES, axis=-1), axis=1)
    assert set(nearest) == {0, 1}
    for mode in (0, 1):  # Components of a mode share it: together they have its mean and deviation.
        own = nearest == mode
        together = covariances[own].mean(axis=0) + np.cov(means[own].T, bias=True)
        np.testing.assert_allclose(np.sqrt(np.diagonal(together)), 1.0, atol=0.05)
        np.testing.assert_allclose(means[own].mean(axis=0), MODES[mode], atol=0.1)
    # Without it the steps multiply the old density by exp(reward): after 200 the deviation is 1 / sqrt(200).
    _, covariances = map(np.asarray, search_modes(settings, False, jax.random.key(0)))
    np.testing.assert_allclose(np.sqrt(np.diagonal(covariances, axis1=1, axis2=2)), 200**-0.5, rtol=0.2)


def test_a_mixture_that_is_what_it_should_be_stays_however_few_its_samples():
    """Reward and density are looked at in the same points, so that their errors cancel."""
    settings = PolicyUpdate(components=1, samples=3, kl_bound=0.5)
    # The other mode is eight deviations away.
    mode = mixture.Mixture(jnp.zeros((1, 1)), jnp.asarray(MODES[None, :1], jnp.float32), jnp.eye(2)[None, None])

    update = partial(policy_update.update, less_density=True)
    stepped = quick(update, static_argnums=(1, 2, 3))(
        jax.random.key(0), PLANE, settings, log_two_modes, jnp.zeros(1), jnp.zeros((1, 2)), mode
    )[0]
    np.testing.assert_allclose(stepped.means, mode.means, atol=1e-4)
    np.testing.assert_allclose(stepped.roots @ stepped.roots.swapaxes(-1, -2), jnp.eye(2)[None, None], atol=1e-4)
