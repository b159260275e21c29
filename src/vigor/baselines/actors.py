"""Actors: policies that act step by step, one for all contexts.

An actor is an MLP from what it sees to a Gaussian mixture over actions. A movement is made by one component, held from
the first step to the last, so that components are behaviours that can be compared with those of other methods (paper,
appendix B.2); or by a component drawn anew in every step.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from vigor.baselines import mixture_network, stepwise
from vigor.baselines.mixture_network import Activation, Gaussians
from vigor.baselines.stepwise import Episode, View
from vigor.basics.contents import Contents, Numbers
from vigor.basics.errors import UserError
from vigor.basics.files import parse_json
from vigor.basics.serialisation import from_json, to_json
from vigor.tasks.task import Task

Array = jax.Array


class Units(NamedTuple):
    """Units that a network sees and acts in: mean and deviation of demonstrated observations and actions."""

    seen_mean: Array
    """[features]"""
    seen_deviation: Array
    """[features]"""
    acted_mean: Array
    """[dimensions]"""
    acted_deviation: Array
    """[dimensions]"""

    def seen(self, observations: Array) -> Array:
        """Observations [..., features] as a network sees them: at most 10 deviations away, it knows nothing beyond."""
        return ((observations - self.seen_mean) / self.seen_deviation).clip(-10.0, 10.0)

    def acted(self, actions: Array) -> Array:
        """Actions [..., dimensions] as a network gives them."""
        return (actions - self.acted_mean) / self.acted_deviation

    def actions(self, acted: Array) -> Array:
        """The actions that a network means."""
        return self.acted_mean + self.acted_deviation * acted


def units(observations: Array, actions: Array) -> Units:
    """The units of demonstrated observations [n, features] and actions [n, dimensions]."""

    def deviation(values: Array) -> Array:
        found = jnp.std(values, axis=0)
        return jnp.where(found > 1e-6, found, 1.0)  # What never changes says nothing.

    return Units(jnp.mean(observations, axis=0), deviation(observations), jnp.mean(actions, axis=0), deviation(actions))


_SETTINGS = ("view", "components", "train_weights", "hold_component", "activation")


@partial(jax.tree_util.register_dataclass, data_fields=["parameters", "units"], meta_fields=list(_SETTINGS))
@dataclass(frozen=True)
class Actor:
    """A network, the units it sees and acts in, and what it sees. Only the first two are arrays."""

    parameters: mixture_network.Parameters
    units: Units
    view: View
    components: int = 1
    train_weights: bool = True
    hold_component: bool = True
    activation: Activation = "leaky_relu"

    def decide(self, observation: Array) -> Gaussians:
        """The mixture over standardised actions for an observation [features], as a batch of one."""
        known = self.units.seen(observation)[None]
        return mixture_network.apply(self.parameters, known, self.components, self.train_weights, self.activation)


def first_weights(task: Task, actor: Actor, context: Array) -> Array:
    """Probability [component] of every component at the start in a context [C]."""
    weights = jnp.exp(actor.decide(stepwise.begin(task, actor.view, context).observation).log_weights[0])
    return weights if actor.hold_component else jnp.ones(1)


def move(task: Task, actor: Actor, context: Array, component: int | Array, key: Array, spread: float | Array) -> Array:
    """A trajectory [T, dimensions] in a context [C] by one component.

    spread: how much of the noise the actions have, 1 for a sample and 0 for none.
    """

    def step(state: Episode, key: Array) -> tuple[Episode, None]:
        key_component, key_noise = jax.random.split(key)
        log_weights, means, log_deviations = (part[0] for part in actor.decide(state.observation))
        chosen = component if actor.hold_component else jax.random.categorical(key_component, log_weights)
        noise = spread * jax.random.normal(key_noise, means.shape[1:])
        action = means[chosen] + jnp.exp(log_deviations[chosen]) * noise
        return stepwise.act(task, actor.view, state, actor.units.actions(action)), None

    begun = stepwise.begin(task, actor.view, context)
    return jax.lax.scan(step, begun, jax.random.split(key, task.promp.steps))[0].motion.joints


@partial(jax.jit, static_argnums=(0, 4))
def movements(task: Task, actor: Actor, contexts: Array, keys: Array, samples: int) -> tuple[Array, Array, Array]:
    """Weights [context, component], movements without noise [context, component, T, dimensions], and samples
    [context, component, sample, T, dimensions], from a random key for every context."""

    def one(context: Array, key: Array) -> tuple[Array, Array, Array]:
        weights = first_weights(task, actor, context)
        components = jnp.arange(len(weights))
        many = jax.random.split(key, (len(weights), samples + 1))
        spreads = jnp.arange(samples + 1) > 0
        by_sample = jax.vmap(partial(move, task, actor, context), in_axes=(None, 0, 0))
        made = jax.vmap(by_sample, in_axes=(0, 0, None))(components, many, spreads.astype(jnp.float32))
        return weights, made[:, 0], made[:, 1:]

    return jax.vmap(one)(contexts, keys)


def fits(task: Task, actor: Actor) -> bool:
    """Whether an actor's arrays fit together, and the task."""
    context = jax.ShapeDtypeStruct((task.context_dimension,), jnp.float32)
    try:
        made = jax.eval_shape(lambda context: move(task, actor, context, 0, jax.random.key(0), 1.0), context)
    except Exception:  # Whatever a network of other shapes makes of them.
        return False
    return made.shape == (task.promp.steps, task.promp.dimensions)


# Files


SETTINGS = "settings"
"""Name of the array that holds an actor's settings, as JSON."""


@dataclass(frozen=True)
class _Settings:
    """All of an actor but its arrays."""

    view: View
    components: int
    train_weights: bool
    hold_component: bool
    activation: Activation


def contents(arrays: Mapping[str, np.ndarray]) -> Contents:
    """Description of an actor's arrays, for as many layers as there are."""
    described: dict[str, Numbers] = {}
    for i in range(sum(name.startswith("weight") for name in arrays)):
        described |= {f"weight{i}": Numbers((f"in {i}", f"in {i + 1}")), f"bias{i}": Numbers((f"in {i + 1}",))}
    for part, axis in (("seen", "feature"), ("acted", "dimension")):
        described |= {f"{part}_mean": Numbers((axis,)), f"{part}_deviation": Numbers((axis,), 1e-6)}
    return described


def to_arrays(actor: Actor) -> dict[str, np.ndarray]:
    """An actor as arrays by name, its settings as JSON."""
    settings = to_json(_Settings(**{name: getattr(actor, name) for name in _SETTINGS}))
    layers = [*actor.parameters["layers"], actor.parameters["output"]]
    named = {f"{part}{i}": layer[part] for i, layer in enumerate(layers) for part in ("weight", "bias")}
    named |= actor.units._asdict()
    return {SETTINGS: np.asarray(json.dumps(settings)), **{name: np.asarray(value) for name, value in named.items()}}


def from_arrays(arrays: Mapping[str, np.ndarray]) -> Actor:
    """The actor that `to_arrays` was given; the arrays are as `contents` describes them."""
    text = arrays[SETTINGS]
    if text.dtype.kind != "U" or text.shape != ():
        raise UserError("the settings of the actor must be a text")
    settings = from_json(_Settings, parse_json(str(text)))
    depth = sum(name.startswith("weight") for name in arrays)
    layers = [{part: arrays[f"{part}{i}"] for part in ("weight", "bias")} for i in range(depth)]
    if not layers:
        raise UserError("the actor has no layers")
    known = Units(*jax.device_put([arrays[name] for name in Units._fields]))
    layers = jax.device_put(layers)
    parts = {name: getattr(settings, name) for name in _SETTINGS}
    return Actor({"layers": layers[:-1], "output": layers[-1]}, known, **parts)
