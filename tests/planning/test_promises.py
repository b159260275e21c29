"""Promises of movements, against what is worked out for one movement after the other."""

import jax
import jax.numpy as jnp
import numpy as np

from planned import CONTEXT, LIMITS, PLANAR, movement
from vigor.learning.problem import described
from vigor.planning import constraints, promises

WEIGHTS = np.array([[movement(0), movement(1)], [movement(2), movement(3)]], np.float32)
CONTEXTS = np.array([CONTEXT, np.negative(CONTEXT)])


def test_every_movement_has_its_own_promise_in_its_own_context():
    bounds = constraints.bounds(PLANAR, LIMITS)
    rolled = promises.rolled(PLANAR, bounds, jnp.asarray(WEIGHTS))
    common = described(PLANAR, CONTEXTS, rolled.joints.reshape(-1, *rolled.joints.shape[2:]))[1]
    found = promises.of(PLANAR, CONTEXTS, rolled, common, LIMITS)
    for context, weights, promised in zip(CONTEXTS, WEIGHTS, found, strict=True):
        for own, promise in zip(weights, promised, strict=True):
            joints = np.asarray(PLANAR.promp.rollout(jnp.asarray(own)))
            np.testing.assert_allclose(promise.joints, joints, atol=1e-5)
            assert np.isclose(promise.distance, PLANAR.distances(joints[None], context[None])[0], atol=1e-4)
            tip = np.asarray(jax.jit(PLANAR.kinematics)(joints))[:, -1]
            away = np.linalg.norm(tip - context[2:], axis=1) - PLANAR.display.regions(context)[1].radius
            assert np.isclose(promise.targets["last target"].end, away[-1], atol=1e-4)
            low, high = np.array(LIMITS.robot.position).T
            assert np.isclose(promise.margins["position"], np.minimum(joints - low, high - joints).min(), atol=0.01)
            assert 0 <= promise.predicted <= 1
