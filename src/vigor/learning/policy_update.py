"""One trust-region step of every component of every context (paper, Eq. 1), for any reward on descriptors."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from vigor.basics.batching import by_chunks, each
from vigor.basics.errors import UserError, check_choices
from vigor.learning import mixture, starts, surrogate
from vigor.learning.invariants import Invariants
from vigor.learning.mixture import Mixture
from vigor.learning.starts import Starts
from vigor.learning.surrogate import Quadratic
from vigor.learning.trust_region import kl_bounded_step
from vigor.tasks.task import Task

Reward = Callable[[Any, Float[Array, "sample time feature"]], Float[Array, " sample"]]
"""Rewards of descriptors by a network's parameters."""

TEMPERATURE = 0.3
"""Softmax temperature of weights by reward: how much less a step of one component is rewarded than one of another that
is e times likelier."""


@dataclass(frozen=True)
class PolicyUpdate:
    """The mixtures and how they are updated."""

    iterations: int = 100
    """Updates of the policies."""
    components: int = 30
    """Gaussians in the mixture of each context; one a demonstration if these are fewer and mixtures begin there."""
    begin: Literal["demonstrations", "likeliest", "normal"] = "demonstrations"
    """Start of the components: at demonstrations, carried into their context where the task says how, from the nearest
    contexts; at those which, carried, are likeliest by what demonstrations have in common; or drawn from a standard
    normal distribution (the paper's)."""
    room: float = 1.0
    """Room of a component that begins at a demonstration, as a share of how far demonstrations of different contexts
    are apart: little keeps it near what was shown or carried."""
    kl_bound: float = 0.2
    """Largest KL divergence of a component's step."""
    surrogate: Literal["gradients", "values"] = "gradients"
    """Quadratic model of the reward from first-order samples, or from values by least squares (the paper's)."""
    samples: int = 100
    """Samples per component for the quadratic model; with gradients a multiple of the number of networks."""
    sharpness: float = 0.0
    """Preference for the middle of what is matched: a density to the power 1 / (1 - sharpness). 0 is the paper's."""
    weights: Literal["fixed", "rewarded"] = "fixed"
    """Component weights: equal throughout (the paper's), or by the components' rewards and predicted success."""
    chunk: int = 0
    """Most trajectories that a network scores at once; lower it where memory is short. 0 for what is fast: 64 on a
    CPU, whose cache they fit, 8192 on a GPU."""

    def __post_init__(self) -> None:
        check_choices(self)
        if min(self.iterations, self.components, self.samples) < 1:
            raise UserError("iterations, components and samples must be positive")
        if max(self.iterations, self.components, self.samples) > 10**6:
            raise UserError("iterations, components and samples must be at most a million")
        if self.chunk < 0:
            raise UserError(f"chunk must be positive, or 0 for what is fast, not {self.chunk}")
        if not 0 <= self.sharpness < 1:
            raise UserError(f"sharpness must be from 0 to below 1, not {self.sharpness}")
        if not 0 < self.room < math.inf:
            raise UserError(f"room must be positive and finite, not {self.room}")
        if not 0 < self.kl_bound < math.inf:
            raise UserError(f"kl_bound must be positive and finite, not {self.kl_bound}")

    def check_networks(self, networks: int) -> None:
        """Refuse a number of samples that cannot be dealt out to the networks."""
        if self.surrogate == "gradients" and self.samples % networks:
            raise UserError(f"samples ({self.samples}) must be a multiple of the number of networks ({networks})")

    def check_task(self, task: Task) -> None:
        """Refuse fewer samples than a quadratic model of the task's weights needs."""
        needed = task.promp.weights * (task.promp.weights + 3) // 2 + 2
        if self.surrogate == "values" and self.samples < needed:
            raise UserError(
                f"a quadratic model from values of {task.promp.weights} weights needs at least {needed} samples, not "
                f"{self.samples}; raise --samples or use --surrogate gradients"
            )


def first_mixture(
    key: PRNGKeyArray,
    task: Task,
    settings: PolicyUpdate,
    at: Starts,
    common: Invariants,
    context: Float[Array, " coordinate"],
) -> Mixture:
    """A context's mixture before the first update; at: demonstrations, where it may begin; common: their invariants."""
    settings.check_task(task)
    if settings.begin == "normal":
        return mixture.normal(key, settings.components, task.promp.weights)
    if settings.begin == "likeliest":
        own = starts.likeliest(task, at, common, context, settings.components)
    else:
        own = starts.in_context(task, at, context, settings.components)
    return starts.mixture(key, own._replace(room=settings.room * own.room), settings.components)


def with_equal_weights(settings: PolicyUpdate, mixtures: Mixture) -> Mixture:
    """Mixtures as the networks are shown them: components that fail must be seen, or their mistakes are forgotten."""
    if settings.weights == "fixed":
        return mixtures
    return mixtures._replace(log_weights=jnp.zeros_like(mixtures.log_weights))


def update(
    key: PRNGKeyArray,
    task: Task,
    settings: PolicyUpdate,
    reward: Reward,
    ensemble: Any,
    contexts: Float[Array, "context coordinate"],
    mixtures: Mixture,
    cost: Callable[[Float[Array, " weight"]], Float[Array, ""]] | None = None,
    less_density: bool = False,
) -> tuple[Mixture, Float[Array, "context component"]]:
    """One step of every component; also the components' mean rewards.

    ensemble: parameters [network, ...], whose rewards count equally; mixtures: [context, ...]; cost: of a movement's
    weights, taken from every network's reward; less_density: subtract the mixtures' own log density, for a reward that
    is a log density itself and not a ratio (then components repel each other, and the mixture finds exp(reward)).
    """

    def score(
        network: Any, weights: Float[Array, "sample weight"], contexts: Float[Array, "sample coordinate"]
    ) -> Float[Array, " sample"]:
        """Rewards by one network of weights in their contexts."""
        values = reward(network, jax.vmap(task.describe_weights)(weights, contexts))
        return values if cost is None else values - jax.vmap(cost)(weights)

    model_of = _from_gradients if settings.surrogate == "gradients" else _from_values
    model = model_of(key, settings, score, ensemble, contexts, mixtures)
    if less_density:
        model = jax.tree.map(jnp.subtract, model, _of_density(key, settings.samples, mixtures))
    # For a reward log p / old the step finds q proportional to p old^s, with s the sharpness: its fixed point is
    # p^(1 / (1 - s)). In whitened coordinates log old is -z^2 / 2.
    model = model._replace(curvature=model.curvature + settings.sharpness * jnp.eye(task.promp.weights))
    step = jax.vmap(jax.vmap(lambda model: kl_bounded_step(model, settings.kl_bound)))(model)
    means = mixtures.means + jnp.einsum("ckij,ckj->cki", mixtures.roots, step.mean, precision="highest")
    roots = jnp.matmul(mixtures.roots, step.root, precision="highest")
    log_weights = mixtures.log_weights
    if settings.weights == "rewarded":
        log_weights = jax.nn.log_softmax(model.value / (TEMPERATURE * task.promp.steps))
    return Mixture(log_weights, means, roots), model.value


def _of_density(key: PRNGKeyArray, samples: int, mixtures: Mixture) -> Quadratic:
    """Quadratic models [context, component, ...] of the mixtures' own log density around each of their components.

    From the same points as a reward's gradients, so that a mixture that is what it should be stays as it is.
    """
    components, dimension = mixtures.means.shape[1:]
    design = surrogate.design(key, samples, dimension)
    noise = jnp.broadcast_to(design, (components, *design.shape))

    def one(own: Mixture) -> Quadratic:
        values, pull = jax.vjp(partial(mixture.log_density, own), noise)
        return jax.vmap(surrogate.from_gradients)(noise, values, pull(jnp.ones_like(values))[0])

    return jax.vmap(one)(mixtures)


Score = Callable[[Any, Float[Array, "sample weight"], Float[Array, "sample coordinate"]], Float[Array, " sample"]]
"""Rewards by a network's parameters of weights in their contexts."""


def _from_gradients(
    key: PRNGKeyArray,
    settings: PolicyUpdate,
    score: Score,
    ensemble: Any,
    contexts: Float[Array, "context coordinate"],
    mixtures: Mixture,
) -> Quadratic:
    """Quadratic models [context, component, ...] from values and gradients; samples are dealt out to the networks."""
    (count, components, dimension), samples = mixtures.means.shape, settings.samples
    networks = jax.tree.leaves(ensemble)[0].shape[0]
    noise = surrogate.design(key, samples, dimension)
    noise = jnp.broadcast_to(noise, (count, components, samples, dimension))

    def value_and_slope(
        network: Any, weights: Float[Array, "sample weight"], contexts: Float[Array, "sample coordinate"]
    ) -> tuple[Float[Array, " sample"], Float[Array, "sample weight"]]:
        values, pull = jax.vjp(lambda w: score(network, w, contexts), weights)
        return values, pull(jnp.ones_like(values))[0]

    # [network, context, component, sample / networks, D]
    dealt = jax.vmap(mixture.place)(mixtures, noise).reshape(count, components, networks, -1, dimension)
    flat = jnp.moveaxis(dealt, 2, 0).reshape(networks, -1, dimension)
    owner = jnp.repeat(contexts, flat.shape[1] // count, axis=0)
    values, slopes = each(
        lambda network, w: by_chunks(settings.chunk, partial(value_and_slope, network), w, owner), ensemble, flat
    )

    def collect(dealt: Float[Array, "network scored ..."]) -> Float[Array, "context component sample ..."]:
        dealt = dealt.reshape(networks, count, components, samples // networks, *dealt.shape[2:])
        return jnp.moveaxis(dealt, 0, 2).reshape(count, components, samples, *dealt.shape[4:])

    slopes = jnp.einsum("ckij,cksi->cksj", mixtures.roots, collect(slopes), precision="highest")
    return jax.vmap(jax.vmap(surrogate.from_gradients))(noise, collect(values), slopes)


def _from_values(
    key: PRNGKeyArray,
    settings: PolicyUpdate,
    score: Score,
    ensemble: Any,
    contexts: Float[Array, "context coordinate"],
    mixtures: Mixture,
) -> Quadratic:
    """Quadratic models [context, component, ...] from values by least squares; every network scores every sample.

    Components share their random directions, so that one factorisation serves them all: it is what takes the time.
    """
    (count, components, dimension), samples = mixtures.means.shape, settings.samples
    noise = jax.random.normal(key, (samples, dimension))
    shared = jnp.broadcast_to(noise, (count, components, samples, dimension))
    flat = jax.vmap(mixture.place)(mixtures, shared).reshape(-1, dimension)
    owner = jnp.repeat(contexts, components * samples, axis=0)
    scored = jax.vmap(score, (0, None, None))
    values = by_chunks(settings.chunk, lambda w, c: jnp.mean(scored(ensemble, w, c), axis=0), flat, owner)
    return surrogate.from_values(noise, values.reshape(count, components, samples))
