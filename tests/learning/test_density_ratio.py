"""The loss and the classes by hand, and training against log ratios that are known."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from scipy.special import expit

from helpers import FEATURES, assert_same, constant_network, logits, output_gradient, quick, some_descriptors
from vigor.basics.errors import UserError
from vigor.basics.settings import with_values
from vigor.learning import agreement, density_ratio, invariants, network_training
from vigor.learning.density_ratio import Classes, DensityRatio
from vigor.learning.network_training import Network


def settings_of(**values):
    return with_values(DensityRatio(), dropout=0.0, **values)


SMALL = settings_of(layers=2, width=6, kernel=3, networks=3, learning_rate=1e-3)

new_network = quick(network_training.new_network, static_argnums=(1, 2))
compiled_train = quick(density_ratio.train, static_argnums=2)
reward = quick(density_ratio.reward, static_argnums=0)


def network(settings, seed=0, features=FEATURES):
    return new_network(jax.random.key(seed), settings.training, features)


def classes(demonstrations, policy):
    """Both classes, every policy sample counting the same."""
    return Classes(demonstrations, policy, np.ones(len(policy), np.float32))


def samples_of(both):
    return np.concatenate([both.demonstrations, both.policy])


def train(seed, state, settings, samples, validation=None):
    """Network and epochs after training; without validation samples all epochs are trained."""
    if validation is None:
        validation = jax.tree.map(lambda leaf: leaf[:0], samples)
    return compiled_train(jax.random.key(seed), state, settings, samples, validation)


def common():
    """Invariants of some descriptors."""
    shown = np.asarray(some_descriptors(6, seed=1))
    return agreement.learn(shown, shown[None, ::-1] + 1.0, np.zeros((6, 3, 1)), np.arange(6)[:, None] // 3)


def test_reward_is_the_sum_of_logits():
    parameters, descriptors = network(SMALL).parameters, some_descriptors()
    settings = with_values(SMALL, scaled=False, invariants=False)
    rewards = reward(settings, common(), parameters, descriptors)
    assert rewards.shape == (4,)
    np.testing.assert_allclose(
        rewards, np.sum(logits(parameters, SMALL.training.architecture, descriptors), axis=1), rtol=1e-5, atol=1e-5
    )


def test_reward_adds_the_invariants_and_networks_see_scaled_descriptors():
    parameters, descriptors = network(SMALL).parameters, some_descriptors()
    seen = invariants.seen(common(), descriptors)
    ratio = np.sum(logits(parameters, SMALL.training.architecture, seen), axis=1)
    likely = invariants.log_density(common(), descriptors)
    found = reward(SMALL, common(), parameters, descriptors)
    np.testing.assert_allclose(found, ratio + likely, rtol=1e-4, atol=1e-4)
    alone = reward(with_values(SMALL, ratio=False), common(), parameters, descriptors)
    np.testing.assert_allclose(alone, likely, rtol=1e-4, atol=1e-4)
    both = classes(descriptors, descriptors + 1).seen(lambda values: 2 * values)
    np.testing.assert_allclose(samples_of(both), 2 * np.concatenate([descriptors, descriptors + 1]))


def test_something_must_be_rewarded():
    with pytest.raises(UserError, match="nothing is rewarded"):
        with_values(SMALL, ratio=False, invariants=False)


def test_loss_is_weighted_cross_entropy():
    rng = np.random.default_rng(0)
    step_logits = rng.normal(size=(5, 3))
    labels, weights = np.array([1, 1, 0, 0, 0]), np.array([0.5, 0.5, 0.2, 0.4, 0.4])

    def entropy(values):
        return -np.where(labels[:, None] == 1, np.log(expit(values)), np.log(expit(-values))).mean(axis=1)

    for kind, values in (("stepwise", step_logits), ("trajectory", step_logits.sum(axis=1, keepdims=True))):
        found = density_ratio.loss(
            *(jnp.asarray(part, jnp.float32) for part in (step_logits, labels, weights)),
            with_values(SMALL, loss=kind),
        )
        np.testing.assert_allclose(found, np.average(entropy(values), weights=weights), rtol=1e-5)


def test_loss_is_finite_for_confident_networks():
    extreme = jnp.asarray([[1e6], [-1e6]])
    assert np.isfinite(density_ratio.loss(extreme, jnp.asarray([0.0, 1.0]), jnp.ones(2), SMALL))


def test_rows_are_both_classes_with_labels_and_weights():
    demonstrations, policy, shares = some_descriptors(2), some_descriptors(3, seed=1), np.array([1.0, 0.0, 3.0])
    samples, labels, weights = Classes(demonstrations, policy, shares).rows()
    np.testing.assert_array_equal(samples, np.concatenate([demonstrations, policy]))
    np.testing.assert_array_equal(labels, [1, 1, 0, 0, 0])
    np.testing.assert_allclose(weights, [0.5, 0.5, 0.25, 0, 0.75])


# One step of training ------------------------------------------------------------------------------------------------

ONE_EPOCH = settings_of(network="mlp", layers=1, width=4, epochs=1, warmup=1)


def gradient_of(parameters, samples):
    """The gradient of the training loss by the output layer."""
    after, _ = train(0, Network(parameters, optax.adam(1.0).init(parameters)), ONE_EPOCH, samples)
    return output_gradient(after.optimiser)


@pytest.mark.parametrize(("demonstrations", "policy"), [(3, 40), (20, 2)])
def test_both_classes_weigh_the_same(demonstrations, policy):
    gradient = gradient_of(
        constant_network(4, 0.0),
        classes(jnp.zeros((demonstrations, 3, FEATURES)), jnp.ones((policy, 3, FEATURES))),
    )
    np.testing.assert_allclose(gradient["bias"], 0.0, atol=1e-6)


def test_policy_samples_count_by_their_shares():
    """Samples that do not count leave no trace, and one that counts twice is as two."""
    demonstrations, policy = some_descriptors(3, steps=3), some_descriptors(40, steps=3, seed=1)
    shares = np.tile(np.array([1, 0, 2, 1], np.float32), 10)
    parameters = network(ONE_EPOCH).parameters
    found = gradient_of(parameters, Classes(demonstrations, policy, 0.3 * shares))
    repeated = classes(demonstrations, np.repeat(policy, shares.astype(int), axis=0))
    assert_same(found, gradient_of(parameters, repeated), rtol=1e-4, atol=1e-6)


# Known ratios --------------------------------------------------------------------------------------------------------

SHIFT = np.array([0.4, 0.7, 1.0, 1.3])
"""Policy samples are N(0, 1) at every step, demonstrations N(SHIFT, 1), all steps independent."""
LEARNER = settings_of(layers=1, width=24, kernel=3, learning_rate=5e-3, batch=256, epochs=25, warmup=10, patience=5)


def gaussian_classes(demonstrations, policy, seed=0):
    rng = np.random.default_rng(seed)
    p = rng.normal(SHIFT, 1, (demonstrations, len(SHIFT)))
    q = rng.normal(0, 1, (policy, len(SHIFT)))
    return classes(p[..., None].astype(np.float32), q[..., None].astype(np.float32))


def learned(settings, demonstrations=2_000, policy=2_000):
    """Logits [n, T] on fresh samples of both classes, and the true ratio of every step."""
    samples, held = gaussian_classes(demonstrations, policy), gaussian_classes(200, 200, seed=1)
    after, epochs = train(0, network(settings, features=1), settings, samples, held)
    assert settings.training.warmup <= epochs <= settings.training.epochs
    fresh = samples_of(gaussian_classes(500, 500, seed=2))
    return np.asarray(logits(after.parameters, settings.training.architecture, fresh)), step_ratios(fresh)


def step_ratios(samples):
    """log N(x | SHIFT, 1) - log N(x | 0, 1) at every step: [n, T]."""
    return samples[..., 0] * SHIFT - SHIFT**2 / 2


def seen(settings):
    """Steps [T, T] that each step's logit can see: its ratio is the sum over them."""
    architecture = settings.training.architecture
    gap = np.subtract.outer(np.arange(len(SHIFT)), np.arange(len(SHIFT)))
    reach = (architecture.layers + 1) * (architecture.kernel // 2)
    return {"mlp": gap == 0, "cnn": abs(gap) <= reach, "lstm": gap >= 0}[architecture.network].astype(float)


def assert_ratio(found, expected, error):
    assert np.corrcoef(np.ravel(found), np.ravel(expected))[0, 1] > 0.97
    assert np.mean(np.abs(found - expected)) < error


@pytest.mark.parametrize("kind", ["mlp", "cnn", "lstm"])
def test_stepwise_training_finds_the_ratio_of_what_each_step_sees(kind):
    settings = with_values(LEARNER, network=kind)
    found, ratios = learned(settings)
    assert_ratio(found, ratios @ seen(settings).T, 0.3)


def test_trajectory_training_finds_the_ratio_of_whole_trajectories():
    found, ratios = learned(with_values(LEARNER, loss="trajectory"))
    assert_ratio(found.sum(axis=1), ratios.sum(axis=1), 0.3)


def test_unequal_numbers_do_not_shift_the_ratio():
    found, ratios = learned(with_values(LEARNER, network="mlp"), 400, 3_600)
    # A network that took the classes at their numbers would be off by log 9 = 2.2.
    assert abs(np.mean(found - ratios)) < 0.15


# Iterations ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def iterations():
    """A network before training, and network and epochs after one iteration and after two."""
    settings = with_values(SMALL, dropout=0.3, epochs=4, warmup=1, patience=1, batch=16)
    samples = classes(some_descriptors(20), some_descriptors(20, seed=1))
    begun = network(settings)
    once = train(0, begun, settings, samples)
    return begun, once, train(1, once[0], settings, samples)


def test_the_optimiser_lives_through_iterations_and_every_one_trains_all_its_epochs(iterations):
    _, (once, epochs), (twice, more_epochs) = iterations
    assert epochs == more_epochs == 4
    steps = [int(optax.tree.get(state.optimiser, "count")) for state in (once, twice)]
    assert steps == [4 * 3, 2 * 4 * 3]


@pytest.mark.parametrize(
    "wrong",
    [{"loss": "squared"}, {"decay": -0.1}, {"decay": 1.1}, {"decay": float("nan")}],
    ids=str,
)
def test_impossible_settings_are_refused(wrong):
    with pytest.raises(UserError, match=next(iter(wrong))):
        DensityRatio(**wrong)
