"""The problem of a run: contexts, and the demonstrations of some of them."""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key

from vigor.demonstrations.dataset import Demonstrations, trajectories
from vigor.demonstrations.splits import Split
from vigor.learning import invariants
from vigor.learning.invariants import Invariants
from vigor.tasks.task import Task


class Problem(NamedTuple):
    """Everything one run learns from. A batch of runs has a leading axis on every array."""

    key: Key[Array, "*run"]
    """Random key of the run."""
    train_contexts: Float[Array, "*run train_context coordinate"]
    """Contexts with demonstrations."""
    test_contexts: Float[Array, "*run test_context coordinate"]
    """Contexts without."""
    demonstrations: Float[Array, "*run demonstration time feature"]
    """Descriptors of the training contexts' demonstrations, context by context."""
    weights: Float[Array, "*run demonstration weight"]
    """Their movement-primitive weights."""
    trajectories: Float[Array, "*run demonstration time dimension"]
    """Their trajectories."""
    invariants: Invariants
    """What they have in common."""

    @property
    def contexts(self) -> Float[Array, "context coordinate"]:
        """All contexts, training contexts first."""
        return jnp.concatenate([self.train_contexts, self.test_contexts])


def problem(task: Task, demonstrations: Demonstrations, split: Split, seed: int, raw: bool = False) -> Problem:
    """The problem of a run with this seed and split."""
    chosen = split.demonstrations.reshape(-1)
    joints = jnp.asarray(trajectories(task, demonstrations, raw)[chosen], jnp.float32)
    count, each = split.demonstrations.shape
    # Each row is a shift of the contexts: the first leaves every demonstration in its own, the others misplace all.
    placed = (np.arange(count)[:, None] + np.arange(count)) % count
    contexts = jnp.asarray(np.repeat(split.train_contexts[placed], each, axis=1), jnp.float32)
    descriptors = _describe(task, joints, contexts)
    found = np.asarray(descriptors)
    return Problem(
        jax.random.key(seed),
        jnp.asarray(split.train_contexts, jnp.float32),
        jnp.asarray(split.test_contexts, jnp.float32).reshape(-1, task.context_dimension),
        descriptors[0],
        jnp.asarray(demonstrations.weights[chosen], jnp.float32),
        joints,
        invariants.learn(found[0], found[1:], np.asarray(joints), np.repeat(np.arange(count), each)),
    )


@partial(jax.jit, static_argnums=0)
def _describe(
    task: Task, joints: Float[Array, "movement time dimension"], contexts: Float[Array, "shift movement coordinate"]
) -> Float[Array, "shift movement time feature"]:
    """Descriptors of movements in contexts."""
    return jax.vmap(jax.vmap(task.describe), (None, 0))(joints, contexts)


def batch(problems: Sequence[Problem]) -> Problem:
    """A batch of runs [run, ...] that trains as one program."""
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *problems)
