"""An MLP whose output is a mixture of Gaussians with diagonal covariances: what behavioural cloning and actors are.

Parameters are a tree of arrays: {"layers": [{"weight", "bias"}, ...], "output": {"weight", "bias"}}.
"""

import math
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp

Array = jax.Array
Parameters = dict[str, Any]
Activation = Literal["leaky_relu", "tanh"]

LOG_DEVIATIONS = (-5.0, 2.0)
"""Range of the logarithm of standard deviations; without one the likelihood of so few demonstrations has no bound."""


class Gaussians(NamedTuple):
    """A mixture for each of n inputs."""

    log_weights: Array
    """[n, component]"""
    means: Array
    """[n, component, D]"""
    log_deviations: Array
    """[n, component, D]"""


def random_parameters(key: Array, inputs: int, width: int, layers: int, components: int, outputs: int) -> Parameters:
    """Weights drawn from N(0, 1 / inputs of the layer), no biases."""
    sizes = [inputs] + [width] * layers
    made = []
    for number, (before, after) in enumerate(zip(sizes, [*sizes[1:], components * (1 + 2 * outputs)], strict=True)):
        weight = jax.random.normal(jax.random.fold_in(key, number), (before, after)) / math.sqrt(before)
        made.append({"weight": weight, "bias": jnp.zeros(after)})
    return {"layers": made[:-1], "output": made[-1]}


def apply(
    parameters: Parameters,
    inputs: Array,
    components: int,
    train_weights: bool = True,
    activation: Activation = "leaky_relu",
) -> Gaussians:
    """Mixtures for inputs [n, I]; their weights are equal unless they are trained."""
    hidden = inputs
    for layer in parameters["layers"]:
        hidden = getattr(jax.nn, activation)(hidden @ layer["weight"] + layer["bias"])
    output = hidden @ parameters["output"]["weight"] + parameters["output"]["bias"]
    logits, numbers = output[:, :components], output[:, components:]
    means, deviations = jnp.split(numbers.reshape(len(inputs), components, -1), 2, axis=-1)
    low, high = LOG_DEVIATIONS
    log_weights = jax.nn.log_softmax(logits if train_weights else jnp.zeros_like(logits))
    return Gaussians(log_weights, means, low + (high - low) * jax.nn.sigmoid(deviations))


def log_likelihoods(gaussians: Gaussians, points: Array) -> Array:
    """Log density [n] of points [n, D]."""
    standard = (points[:, None] - gaussians.means) * jnp.exp(-gaussians.log_deviations)
    densities = -0.5 * jnp.sum(standard**2 + 2 * gaussians.log_deviations + math.log(2 * math.pi), axis=-1)
    return jax.scipy.special.logsumexp(gaussians.log_weights + densities, axis=1)


def entropies(gaussians: Gaussians) -> Array:
    """Entropy [n] of the categorical plus the mean of the components' entropies, but for a constant."""
    weights, spread = jnp.exp(gaussians.log_weights), jnp.sum(gaussians.log_deviations, axis=-1)
    return jnp.sum(weights * (spread - gaussians.log_weights), axis=1)
