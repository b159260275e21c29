"""One trust-region step of every component of every context (paper, Eq. 1), for any reward on descriptors."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import jax
import jax.numpy as jnp

from vigor.basics.batching import by_chunks, each
from vigor.basics.errors import UserError, check_choices
from vigor.learning import mixture, surrogate
from vigor.learning.mixture import Mixture
from vigor.learning.trust_region import kl_bounded_step, reweight
from vigor.tasks.task import Task

Array = jax.Array
Reward = Callable[[Any, Array], Array]
"""Rewards [n] of descriptors [n, T, features] by a network's parameters."""

TEMPERATURE = 0.3
"""Of weights by reward: how much less a step of one component is rewarded than of another that is e times likelier."""


@dataclass(frozen=True)
class PolicyUpdate:
    """The mixtures and how they are updated."""

    iterations: int = 100
    """Updates of the policies."""
    components: int = 5
    """Gaussians in the mixture of each context."""
    begin: Literal["demonstrations", "normal"] = "demonstrations"
    """Where components begin: at demonstrations that differ, whatever their contexts, or drawn from a standard normal
    distribution (the paper's)."""
    kl_bound: float = 0.2
    """Largest KL divergence of a component's step."""
    surrogate: Literal["gradients", "values"] = "gradients"
    """Quadratic model of the reward from first-order samples, or from values by least squares (the paper's)."""
    samples: int = 100
    """Samples per component for the quadratic model; with gradients a multiple of the number of networks."""
    sharpness: float = 0.0
    """How much policies keep to the middle of what they match: a density to the power 1 / (1 - sharpness). 0 is the
    paper's."""
    weights: Literal["fixed", "rewarded", "closed-form", "kl-bounded"] = "fixed"
    """Component weights: equal throughout (the paper's); by the components' rewards, tempered; or trained, in closed
    form or under the KL bound."""
    chunk: int | None = None
    """Most trajectories that a network scores at once; lower it where memory is short. By default what is fast: 64 on
    a CPU, whose cache they fit, 8192 on a GPU."""

    def __post_init__(self) -> None:
        check_choices(self)
        if min(self.iterations, self.components, self.samples) < 1:
            raise UserError("iterations, components and samples must be positive")
        if max(self.iterations, self.components, self.samples) > 10**6:
            raise UserError("iterations, components and samples must be at most a million")
        if self.chunk is not None and self.chunk < 1:
            raise UserError(f"chunk must be positive, not {self.chunk}")
        if not 0 <= self.sharpness < 1:
            raise UserError(f"sharpness must be from 0 to below 1, not {self.sharpness}")
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


def initial(key: Array, task: Task, settings: PolicyUpdate, shown: Array) -> Mixture:
    """A mixture before the first update; shown: weights [n, D] of demonstrations."""
    settings.check_task(task)
    if settings.begin == "demonstrations":
        return mixture.among(key, shown, settings.components)
    return mixture.initial(key, settings.components, task.promp.weights)


def update(
    key: Array,
    task: Task,
    settings: PolicyUpdate,
    reward: Reward,
    ensemble: Any,
    contexts: Array,
    mixtures: Mixture,
    cost: Callable[[Array], Array] | None = None,
) -> tuple[Mixture, Array]:
    """One step of every component; also the mean rewards [context, component].

    ensemble: parameters [network, ...], whose rewards count equally; contexts: [context, C]; mixtures: [context, ...];
    cost: of a movement's weights [D], taken from every network's reward.
    """
    dimension = task.promp.weights
    count, components = mixtures.means.shape[:2]
    networks = jax.tree.leaves(ensemble)[0].shape[0]
    samples = settings.samples

    def score(network: Any, weights: Array, contexts: Array) -> Array:
        """One network's rewards [n] of weights [n, D] in contexts [n, C]."""
        values = reward(network, jax.vmap(task.describe_weights)(weights, contexts))
        return values if cost is None else values - jax.vmap(cost)(weights)

    if settings.surrogate == "gradients":
        noise = surrogate.design(key, samples, dimension)
        noise = jnp.broadcast_to(noise, (count, components, samples, dimension))

        def value_and_slope(network: Any, weights: Array, contexts: Array) -> tuple[Array, Array]:
            values, pull = jax.vjp(lambda w: score(network, w, contexts), weights)
            return values, pull(jnp.ones_like(values))[0]

        # Samples are dealt out to the networks: [network, context, component, sample / networks, D].
        dealt = jax.vmap(mixture.place)(mixtures, noise).reshape(count, components, networks, -1, dimension)
        flat = jnp.moveaxis(dealt, 2, 0).reshape(networks, -1, dimension)
        owner = jnp.repeat(contexts, flat.shape[1] // count, axis=0)
        values, slopes = each(
            lambda network, w: by_chunks(settings.chunk, partial(value_and_slope, network), w, owner), ensemble, flat
        )

        def collect(dealt: Array) -> Array:
            dealt = dealt.reshape(networks, count, components, samples // networks, *dealt.shape[2:])
            return jnp.moveaxis(dealt, 0, 2).reshape(count, components, samples, *dealt.shape[4:])

        slopes = jnp.einsum("ckij,cksi->cksj", mixtures.roots, collect(slopes), precision="highest")
        model = jax.vmap(jax.vmap(surrogate.from_gradients))(noise, collect(values), slopes)
    else:
        noise = jax.random.normal(key, (count, components, samples, dimension))
        flat = jax.vmap(mixture.place)(mixtures, noise).reshape(-1, dimension)
        owner = jnp.repeat(contexts, components * samples, axis=0)
        scored = jax.vmap(score, (0, None, None))
        values = by_chunks(settings.chunk, lambda w, c: jnp.mean(scored(ensemble, w, c), axis=0), flat, owner)
        model = jax.vmap(jax.vmap(surrogate.from_values))(noise, values.reshape(count, components, samples))

    # For a reward log p / old the step finds q proportional to p old^s, with s the sharpness: its fixed point is
    # p^(1 / (1 - s)). In whitened coordinates log old is -z^2 / 2.
    model = model._replace(curvature=model.curvature + settings.sharpness * jnp.eye(dimension))
    step = jax.vmap(jax.vmap(lambda model: kl_bounded_step(model, settings.kl_bound)))(model)
    means = mixtures.means + jnp.einsum("ckij,ckj->cki", mixtures.roots, step.mean, precision="highest")
    roots = jnp.matmul(mixtures.roots, step.root, precision="highest")
    log_weights = mixtures.log_weights
    if settings.weights == "rewarded":
        log_weights = jax.nn.log_softmax(model.value / (TEMPERATURE * task.promp.steps))
    elif settings.weights != "fixed":
        bound = settings.kl_bound if settings.weights == "kl-bounded" else jnp.inf
        gain = model.value + step.gain - step.kl
        log_weights = jax.vmap(lambda old, value: reweight(old, value, bound))(log_weights, gain)
    return Mixture(log_weights, means, roots), model.value
