import jax.numpy as jnp
import numpy as np

from helpers import POINT
from vigor.evaluation import ways
from vigor.evaluation.policies import Movements, Policies
from vigor.learning.mixture import Mixture
from vigor.motion.trajectories import apart

SIZE = POINT.promp.weights


def policies(*means: np.ndarray, weights: list[float]) -> Policies:
    """Contexts with components at means [component, D]."""
    count, components = len(means), len(weights)
    roots = np.broadcast_to(np.eye(SIZE, dtype=np.float32), (count, components, SIZE, SIZE))
    shares = np.broadcast_to(np.log(np.array(weights, np.float32)), (count, components))
    mixtures = Mixture(jnp.asarray(shares), jnp.asarray(np.stack(means), jnp.float32), jnp.asarray(roots))
    return Policies(np.zeros((count, 2)), 1, mixtures)


def test_the_likeliest_of_a_way_has_the_weight_of_all():
    one, other = np.ones(SIZE), -np.ones(SIZE)
    near = 1.001 * one
    found, which = ways.likeliest(POINT, policies(np.stack([one, other, near]), weights=[0.2, 0.3, 0.5]), 0.1)
    assert found.components == 2
    assert sorted(which[0].tolist()) == [1, 2]
    kept = {
        tuple(mean.tolist()): weight
        for mean, weight in zip(*map(np.asarray, (found.mixtures.means[0], found.mixtures.log_weights[0])), strict=True)
    }
    assert kept.keys() == {tuple(np.float32(near).tolist()), tuple(other.tolist())}
    np.testing.assert_allclose(sorted(np.exp(list(kept.values()))), [0.3, 0.7], rtol=1e-5)


def test_all_contexts_have_as_many_components_as_the_one_with_most_ways():
    one = np.stack([np.ones(SIZE), 1.001 * np.ones(SIZE), 1.003 * np.ones(SIZE)])
    two = np.stack([np.ones(SIZE), -np.ones(SIZE), 1.001 * np.ones(SIZE)])
    found, which = ways.likeliest(POINT, policies(one, two, weights=[0.5, 0.25, 0.25]), 0.1)
    assert found.mixtures.means.shape == (2, 2, SIZE)
    np.testing.assert_allclose(np.exp(found.mixtures.log_weights).sum(axis=1), 1, rtol=1e-5)
    np.testing.assert_array_equal(which, [[0, 2], [0, 1]])  # Those that differ most.
    np.testing.assert_allclose(found.mixtures.means[0], one[[0, 2]], rtol=1e-6)


def test_one_way_is_one_component():
    found, which = ways.likeliest(POINT, policies(np.ones((2, SIZE)), weights=[0.4, 0.6]), 0.1)
    assert found.components == 1
    assert which.tolist() == [[1]]
    np.testing.assert_allclose(found.mixtures.log_weights, 0)


def test_one_number_is_one_way_in_all_contexts_the_likeliest_first():
    one, other, third = np.ones(SIZE), -np.ones(SIZE), 3 * np.ones(SIZE)
    shift = 5 * np.ones(SIZE)  # Farther than ways are from each other.
    learned = policies(np.stack([one, other, third]), shift + np.stack([third, one, other]), weights=[0.1, 0.6, 0.3])
    found, order = ways.aligned(POINT, learned)
    np.testing.assert_array_equal(order, [[1, 0, 2], [2, 1, 0]])
    means = np.asarray(found.mixtures.means)
    np.testing.assert_allclose(means[1] - means[0], shift[None] + np.zeros((3, 1)), rtol=1e-5)
    np.testing.assert_allclose(np.exp(found.mixtures.log_weights), [[0.6, 0.1, 0.3], [0.3, 0.6, 0.1]], rtol=1e-5)


def test_ways_that_are_alike_are_of_one_kind():
    values = np.array([0.0, 4.0, 0.1, 9.0, 4.1])
    means = np.broadcast_to(values[:, None, None], (2, 5, 7, 2)) + np.array([0.0, 20.0])[:, None, None, None]
    moved = Movements(np.array([[0.1, 0.2, 0.1, 0.1, 0.5], [0.1, 0.4, 0.1, 0.1, 0.3]]), means, means[:, :, None])
    assert ways.kinds(moved, 3).tolist() == [1, 0, 1, 2, 0]
    assert ways.kinds(moved, 5).tolist() == [0, 1, 2, 3, 4]


def test_distances_of_points_are_differences_of_trajectories():
    paths = np.random.default_rng(0).normal(size=(2, 7, 3))
    one, other = apart(paths)
    expected = np.sqrt(np.mean(np.sum((paths[0] - paths[1]) ** 2, axis=-1)))
    np.testing.assert_allclose(np.linalg.norm(one - other), expected)
