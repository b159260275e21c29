"""Shares of a mixture's components: as often as people go their way, tempered by predicted success. Beyond the paper.

Every demonstration votes, the more the nearer the context that it is of, for the components that do what it does:

    w_k = s_k^3 sum_i v_i softmax_k(log m_k - d_ik^2 / 2),   v_i = softmax_i(-c_i / REACH),

up to a factor, with s_k the predicted success of a component, m_k its merit by reward and predicted success, d_ik its
difference from the demonstration in units of ALIKE times the smallest difference of two ways, and c_i the distance of
the demonstration's context, in deviations. Only components that go a demonstration's way, by the smallest difference of
two ways, have its vote, or else the one that comes nearest. So reward decides among components of the same way alone,
however large it is, and how often a way is gone is what people show. A component that is like nothing anybody did is
hardly drawn.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from vigor.learning import starts
from vigor.learning.invariants import Invariants
from vigor.learning.mixture import Mixture
from vigor.learning.starts import Starts
from vigor.tasks.task import Task

CAUTION = 3.0
"""Power of the predicted success in the weights: a component that fails in half its samples is hardly drawn."""
REACH = 0.5
"""Distance of two contexts, in deviations, at which the demonstrations of one count e times less in the other."""
ALIKE = 0.7
"""Deviation of a vote's reach among movements, as a share of the smallest difference of two ways."""


def weighed(
    task: Task,
    at: Starts,
    common: Invariants,
    contexts: Float[Array, "context coordinate"],
    mixtures: Mixture,
    success: Float[Array, "context component"],
) -> Mixture:
    """Mixtures [context, ...] whose components are drawn as often as demonstrations vote for them.

    mixtures: with the components' merit by reward as log weights; success: predicted.
    """

    def one(context: Float[Array, " coordinate"], own: Mixture, success: Float[Array, " component"]) -> Array:
        caution = CAUTION * jnp.log(jnp.maximum(success, 1e-6))
        return log_shares(task, at, common, context, own.means, own.log_weights + caution) + caution

    return mixtures._replace(log_weights=jax.nn.log_softmax(jax.vmap(one)(contexts, mixtures, success)))


def log_shares(
    task: Task,
    at: Starts,
    common: Invariants,
    context: Float[Array, " coordinate"],
    means: Float[Array, "component weight"],
    merit: Float[Array, " component"],
) -> Float[Array, " component"]:
    """Logarithms of the shares of all votes that components with these means get in a context."""
    voters = starts.in_context(task, at, context, len(means))
    shown, learned = (task.promp.rollout(weights) for weights in (voters.weights, means))
    apart = jnp.mean(jnp.sum((shown[:, None] - learned) ** 2, axis=-1), axis=-1)
    distinct = common.distinct if task.judge.distinct is None else task.judge.distinct
    alike = jnp.maximum(ALIKE * distinct, 1e-6)
    far = jnp.sqrt(starts.apart(task, voters.contexts, context) / len(context)) / REACH
    theirs = apart <= jnp.maximum(distinct**2, jnp.min(apart, axis=-1, keepdims=True))
    votes = jax.nn.log_softmax(jnp.where(theirs, merit - apart / (2 * alike**2), -jnp.inf), axis=-1)
    return jax.nn.logsumexp(jax.nn.log_softmax(-far)[:, None] + votes, axis=0)
