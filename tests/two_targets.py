"""A small problem of Algorithm 1: a point must pass a first circle and end in a second."""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np

from helpers import quick
from vigor.basics.settings import with_values
from vigor.learning.algorithm import VigorSettings
from vigor.learning.problem import Problem, described
from vigor.learning.starts import starts
from vigor.motion import descriptors
from vigor.motion.kinematics import path
from vigor.motion.promp import ProMP
from vigor.tasks.reachers import reaching
from vigor.tasks.task import Judge, Task

STEPS, TRAINING, CONTEXTS, EACH = 15, 3, 5, 5
"""Time steps, training contexts, all contexts, demonstrations of each training context."""
VIA, GOAL = slice(0, 2), slice(2, 4)
TASK = Task(
    name="two targets",
    promp=ProMP(bases=3, dimensions=2, steps=STEPS),
    context_names=("via x", "via y", "goal x", "goal y"),
    sample_contexts=lambda rng, count: np.array([1.0, 0.5, 0.5, -0.5]) + rng.uniform(-0.3, 0.3, (count, 4)),
    kinematics=path,
    descriptors=(
        descriptors.distance_to(VIA),
        descriptors.distance_to(GOAL),
        descriptors.squared_velocity,
        descriptors.squared_acceleration,
    ),
    judge=Judge(distance=lambda motion: reaching.distance_to_boundaries(motion, VIA, GOAL, 0.2)),
)
SETTINGS = with_values(
    VigorSettings(),
    components=2,
    samples=12,
    kl_bound=0.5,
    layers=1,
    width=16,
    kernel=3,
    dropout=0.1,
    networks=2,
    learning_rate=3e-3,
    epochs=20,
    warmup=5,
    patience=5,
    validation=0.1,
)
rollout = quick(TASK.promp.rollout)


@quick
def describe(weights, contexts):
    """Descriptors [n, T, features] of weights [n, D] in contexts [n, C]."""
    return jax.vmap(TASK.describe_weights)(weights, contexts)


def demonstrations(rng, contexts, each):
    """Weights [n, D] of random movements, bent so that they pass both targets, and their contexts [n, C]."""
    centres = np.linspace(*TASK.promp.span, 5)
    bumps = np.exp(-((np.array([[0.5], [1.0]]) - centres) ** 2) / (2 * TASK.promp.width))
    basis = (bumps / bumps.sum(axis=1, keepdims=True))[:, 2:]
    owners = np.repeat(contexts, each, axis=0)
    wild = 0.3 * rng.normal(size=(len(owners), 3, 2))
    bent = wild + np.linalg.pinv(basis) @ (owners.reshape(-1, 2, 2) - basis @ wild)
    return bent.reshape(len(owners), 6).astype(np.float32), owners


@cache
def problem() -> Problem:
    """Three training contexts with five demonstrations each, and two test contexts."""
    rng = np.random.default_rng(0)
    contexts = TASK.sample_contexts(rng, CONTEXTS).astype(np.float32)
    weights, owners = demonstrations(rng, contexts[:TRAINING], EACH)
    assert np.all(TASK.succeeds(TASK.distances(rollout(weights), owners)))
    descriptors, common = described(TASK, contexts[:TRAINING], rollout(weights))
    contexts = jnp.asarray(contexts)
    return Problem(
        jax.random.key(1),
        contexts[:TRAINING],
        contexts[TRAINING:],
        contexts[:TRAINING],
        descriptors,
        starts(TASK, weights, owners),
        rollout(weights),
        common,
    )


def owner_of(described: np.ndarray) -> np.ndarray:
    """Number [n] of the context that each movement with descriptors [n, T, features] belongs to.

    Every movement starts at the origin: the first step's distance to the first target tells the context.
    """
    gaps = np.abs(described[:, :1, 0] - np.linalg.norm(problem().contexts[:, VIA], axis=-1))
    assert np.all(gaps.min(axis=1) < 1e-3)
    return gaps.argmin(axis=1)
