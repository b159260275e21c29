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
from vigor.learning import agreement
from vigor.learning.invariants import Invariants
from vigor.learning.starts import Starts, starts
from vigor.motion.promp import rollout
from vigor.tasks.task import Task


class Problem(NamedTuple):
    """Everything one run learns from. A batch of runs has a leading axis on every array."""

    key: Key[Array, "*run"]
    """Random key of the run."""
    train_contexts: Float[Array, "*run train_context coordinate"]
    """Contexts with demonstrations of their own."""
    test_contexts: Float[Array, "*run test_context coordinate"]
    """Contexts without."""
    shown_contexts: Float[Array, "*run shown_context coordinate"]
    """Training contexts, and those of the mirror images of their demonstrations."""
    demonstrations: Float[Array, "*run demonstration time feature"]
    """Descriptors of demonstrations and their images, as many of every shown context, context by context. Where there
    are own movements of practice among them, demonstrations come again until they weigh as much as these."""
    starts: Starts
    """Their movement-primitive weights and contexts, where mixtures begin."""
    trajectories: Float[Array, "*run demonstration time dimension"]
    """Their trajectories."""
    invariants: Invariants
    """Invariants: what they have in common."""

    @property
    def contexts(self) -> Float[Array, "context coordinate"]:
        """All contexts, training contexts first."""
        return jnp.concatenate([self.train_contexts, self.test_contexts])


def problem(task: Task, demonstrations: Demonstrations, split: Split, seed: int, raw: bool = False) -> Problem:
    """The problem of a run with this seed and split. Raw recordings have no mirror images."""
    chosen = split.demonstrations.reshape(-1)
    weights, contexts = demonstrations.weights[chosen], demonstrations.contexts[demonstrations.context_of[chosen]]
    joints = trajectories(task, demonstrations, raw)[chosen]
    if task.transfer.images and not raw:
        weights, contexts = (np.asarray(part) for part in _with_images(task, weights, contexts))
        joints = np.asarray(rollout(task.promp, weights))
    shown = contexts[:: split.demonstrations.shape[1]]
    joints = np.asarray(joints, np.float32)
    descriptors, common = described(task, shown, joints)
    if demonstrations.own is not None:
        descriptors = descriptors[_weighed(np.resize(demonstrations.own[chosen], len(descriptors)))]
    arrays = {
        "train_contexts": split.train_contexts.astype(np.float32),
        "test_contexts": np.asarray(split.test_contexts, np.float32).reshape(-1, task.context_dimension),
        "shown_contexts": shown.astype(np.float32),
        "demonstrations": descriptors,
        "trajectories": joints,
    }
    at = starts(task, weights, contexts)
    return Problem(key=jax.random.key(seed), starts=at, invariants=common, **jax.device_put(arrays))


def _weighed(own: np.ndarray) -> np.ndarray:
    """Rows of movements, of which some are own [n]: all, and demonstrations again while they are fewer than these."""
    shown, found = np.flatnonzero(~own), np.flatnonzero(own)
    return (
        np.arange(len(own))
        if not len(shown)
        else np.concatenate([np.resize(shown, max(len(shown), len(found))), found])
    )


@partial(jax.jit, static_argnums=0)
def _with_images(
    task: Task, weights: Float[Array, "demonstration weight"], contexts: Float[Array, "demonstration coordinate"]
) -> tuple[Float[Array, "shown weight"], Float[Array, "shown coordinate"]]:
    """Weights and contexts of demonstrations and of their mirror images."""
    images = [jax.vmap(image)(weights, contexts) for image in task.transfer.images]
    parts = zip((weights, contexts), *images, strict=True)
    return tuple(jnp.concatenate(part) for part in parts)  # type: ignore[return-value]


def described(
    task: Task, contexts: np.ndarray, joints: Float[Array | np.ndarray, "demonstration time dimension"]
) -> tuple[Float[Array, "demonstration time feature"], Invariants]:
    """Descriptors of demonstrations in their contexts [context, C], and what they have in common.

    joints: as many of every context, context by context.
    """
    count, each = len(contexts), len(joints) // len(contexts)
    # Each row is a shift of the contexts: the first leaves every demonstration in its own, the others misplace all.
    shifted = (agreement.spread(np.arange(count))[:, None] + np.arange(count)) % count
    placed = np.repeat(np.asarray(contexts, np.float32)[shifted], each, axis=1)
    own, *others = np.asarray(_describe(task, joints, placed))
    misplaced = np.stack(others) if others else np.zeros((0, *own.shape))
    placed_in = np.repeat(np.asarray(contexts), each, axis=0)
    common = agreement.learn(own, misplaced, np.asarray(joints), placed_in, task.finest)
    return jax.device_put(own), common


@partial(jax.jit, static_argnums=0)
def _describe(
    task: Task, joints: Float[Array, "movement time dimension"], contexts: Float[Array, "shift movement coordinate"]
) -> Float[Array, "shift movement time feature"]:
    """Descriptors of movements in contexts."""
    return jax.vmap(jax.vmap(task.describe), (None, 0))(joints, contexts)


@jax.jit
def single(problems: Problem) -> list[Problem]:
    """The runs of a batch [run, ...], each by itself."""
    return [jax.tree.map(lambda leaf, run=run: leaf[run], problems) for run in range(problems.train_contexts.shape[0])]


@jax.jit
def batch(problems: Sequence[Problem]) -> Problem:
    """A batch of runs [run, ...] that trains as one program."""
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *problems)
