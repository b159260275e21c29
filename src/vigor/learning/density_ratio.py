"""Density-ratio estimation on sequences of descriptors: small networks that tell demonstrations from policy samples.

A network maps descriptors [time, feature] to a logit per step. Trained by logistic regression (paper, Eq. 2 and 3) its
summed logits estimate log p(descriptors) / q(descriptors), demonstrations p over policies q: the reward of the policy
update. Functions take one network; `jax.vmap` lifts them over the ensemble and over runs.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from vigor.basics.errors import UserError, check_choices
from vigor.learning import invariants, network_training, networks
from vigor.learning.invariants import Invariants
from vigor.learning.network_training import Network, NetworkTraining
from vigor.learning.networks import Parameters


@dataclass(frozen=True)
class DensityRatio:
    """The ensemble of networks, and how it is trained in an iteration; Adam's state lives through all iterations."""

    training: NetworkTraining = NetworkTraining(batch=128)
    loss: Literal["stepwise", "trajectory"] = "stepwise"
    """Classify every step (paper, Eq. 3) or the sum over all steps (Eq. 2)."""
    scaled: bool = True
    """Networks see descriptors on scales of what demonstrations have in common; otherwise as they are (the paper's)."""
    invariants: bool = True
    """Reward also, beside the logits, the log density of what demonstrations have in common."""
    ratio: bool = True
    """Reward the log density ratio, the sum of the logits; without it the invariants count alone: an ablation that
    shows what the networks do."""
    decay: float = 0.1
    """Share of the learning rate that is left in the last iteration, which it falls to in a straight line."""

    def __post_init__(self) -> None:
        check_choices(self)
        if not 0 <= self.decay <= 1:
            raise UserError(f"decay must be from 0 to 1, not {self.decay}")
        if not self.ratio and not self.invariants:
            raise UserError("nothing is rewarded without both the ratio and the invariants; leave one of them")


def view(
    settings: DensityRatio, common: Invariants, descriptors: Float[Array, "*batch time feature"]
) -> Float[Array, "*batch time feature"]:
    """Descriptors as the networks see them; common: what demonstrations have in common."""
    return invariants.seen(common, descriptors) if settings.scaled else descriptors


def reward(
    settings: DensityRatio,
    common: Invariants,
    parameters: Parameters,
    descriptors: Float[Array, "sample time feature"],
) -> Float[Array, " sample"]:
    """One network's reward of descriptors: the log density ratio, the sum of the logits, and that of the invariants."""
    total = jnp.zeros(descriptors.shape[0])
    if settings.ratio:
        seen = view(settings, common, descriptors)
        total += jnp.sum(networks.logits(parameters, settings.training.architecture, seen), axis=-1)
    if settings.invariants:
        total += invariants.log_density(common, descriptors)
    return total


def loss(
    step_logits: Float[Array, "sample time"],
    demonstrated: Float[Array, " sample"],
    weights: Float[Array, " sample"],
    settings: DensityRatio,
) -> Float[Array, ""]:
    """Binary cross-entropy of logits (paper, Eq. 3; Eq. 2 on their sum), weighted by trajectory.

    demonstrated: 1 for demonstrations and 0 for policy samples.
    """
    if settings.loss == "trajectory":
        step_logits = jnp.sum(step_logits, axis=1, keepdims=True)
    errors = jax.nn.softplus(step_logits) - demonstrated[:, None] * step_logits
    return jnp.sum(weights * jnp.mean(errors, axis=1)) / jnp.sum(weights)


Rows = tuple[Float[Array, "sample time feature"], Float[Array, " sample"], Float[Array, " sample"]]
"""Descriptors, labels and weights."""


class Classes(NamedTuple):
    """Descriptors of both classes; of many networks with a leading axis."""

    demonstrations: Float[Array, "*network demonstration time feature"]
    policy: Float[Array, "*network sample time feature"]
    """Policy samples, and whatever else is not demonstrated."""
    shares: Float[Array, "*network sample"]
    """Weight of each of them."""

    def seen(self, view: Callable[[Array], Array]) -> "Classes":
        """Both classes as the networks see them."""
        return self._replace(demonstrations=view(self.demonstrations), policy=view(self.policy))

    def rows(self) -> Rows:
        """Samples, labels and weights of both classes together; each class weighs the same whatever its number."""
        n, m = self.demonstrations.shape[0], self.policy.shape[0]
        labels = jnp.concatenate([jnp.ones(n), jnp.zeros(m)])
        shares = self.shares / jnp.maximum(jnp.sum(self.shares), 1e-6)
        weights = jnp.concatenate([jnp.full(n, 1 / max(n, 1)), shares])
        return jnp.concatenate([self.demonstrations, self.policy]), labels, weights


def train(
    key: PRNGKeyArray,
    network: Network,
    settings: DensityRatio,
    training_samples: Classes,
    validation: Classes,
    rate: float | Float[Array, ""] = 1.0,
) -> tuple[Network, Int[Array, ""]]:
    """Train one network for one iteration of Algorithm 1; vmap for an ensemble. Also returns the epochs trained.

    Since networks live through all iterations, validation demonstrations must be the same in every iteration: drawn
    anew each time, they would be known from earlier training, and the loss on them would not tell when the network
    starts to learn the demonstrations by heart. rate: share of the learning rate.
    """

    def batch_loss(step_logits: Float[Array, "sample time"], rows: Rows) -> Float[Array, ""]:
        _, labels, weights = rows
        return loss(step_logits, labels, weights, settings)

    fit = network_training.train(
        key,
        network_training.begin(network),
        settings.training,
        batch_loss,
        training_samples.rows(),
        validation.rows(),
        rate=rate,
    )
    return network_training.end(settings.training, fit), fit.epoch
