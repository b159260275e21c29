"""GAIL (paper, appendix B.2): a policy learns by reinforcement to look demonstrated, step by step.

A discriminator learns to tell demonstrated pairs of observation and action from the policy's own; PPO of
stable-baselines3 maximises the reward -log(1 - D) = softplus(logit). It acts in all contexts of the run, as VIGOR's
policies do; only training contexts have demonstrations.

The state of a run is a tree of arrays as with every method: PPO's networks and moments are put into
stable-baselines3 before a step and taken out after it, and every random number comes from the seed and the step. So a
run resumes exactly, and nothing is ever unpickled. Needs `pip install "vigor-skills[baselines]"`.
"""

import importlib
import itertools
import math
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp

from vigor.baselines import mixture_network, steps
from vigor.baselines.actors import Actor
from vigor.baselines.steps import Shown
from vigor.baselines.stepwise import View
from vigor.basics.errors import UserError, check_choices
from vigor.basics.install import missing
from vigor.learning import networks
from vigor.learning.networks import Architecture, Parameters
from vigor.learning.problem import Problem
from vigor.tasks.task import Task

Array = jax.Array

_START = 2**31 - 1


@dataclass(frozen=True)
class GAILSettings:
    """Settings of GAIL."""

    view: View = View()
    timesteps: int = 1_000_000
    """Steps that the policy acts in all."""
    policy_steps: int = 2048
    """Steps between two updates of the policy, rounded to whole episodes."""
    layers: int = 2
    """Hidden layers of the discriminator."""
    width: int = 32
    """Neurons per hidden layer of the discriminator."""
    batch: int = 128
    """Pairs of each class per gradient step of the discriminator."""
    policy_layers: int = 2
    """Hidden layers of the policy, and of its value function."""
    policy_width: int = 32
    """Neurons per hidden layer of either."""
    policy_batch: int = 128
    """Steps per gradient step of the policy."""
    learning_rate: float = 3e-4
    """Learning rate of Adam, for policy and discriminator."""
    discriminator_steps: int = 4
    """Gradient steps of the discriminator for every update of the policy."""
    contexts: Literal["all", "training"] = "all"
    """Contexts that the policy acts in while it learns: all, as with VIGOR, or those with demonstrations."""
    vectorised: bool = True
    """All episodes of an update side by side as one program; otherwise one after the other, in a plain environment."""

    def __post_init__(self) -> None:
        check_choices(self)
        sizes = (self.layers, self.width, self.batch, self.policy_layers, self.policy_width)
        if min(*sizes, self.timesteps, self.policy_steps, self.discriminator_steps) < 1 or self.policy_batch < 2:
            raise UserError("layers, widths, batches and steps must be positive, and policy_batch at least 2")
        if max(*sizes, self.policy_batch) > 10**4 or self.policy_steps > 10**6:
            raise UserError("layers, widths and batches must be at most 10,000, and policy_steps at most a million")
        if not 0 < self.learning_rate < math.inf:
            raise UserError("learning_rate must be positive and finite")

    @property
    def steps(self) -> int:
        """Updates of the policy, which are the steps of a run."""
        return -(-self.timesteps // self.policy_steps)

    @property
    def discriminator(self) -> Architecture:
        return Architecture(network="mlp", layers=self.layers, width=self.width, dropout=0.0)


class GAILState(NamedTuple):
    """Everything a step changes."""

    iteration: Array
    """Updates done."""
    policy: dict[str, Any]
    """Policy and value function, by the names that stable-baselines3 gives their parameters."""
    moments: dict[str, dict[str, Any]]
    """First and second moments of their Adam, by torch's names for them."""
    discriminator: Parameters
    optimiser: Any


def reward(discriminator: Parameters, settings: GAILSettings, seen: Array, acted: Array) -> Array:
    """-log(1 - D) [n] of standardised observations [n, features] and actions [n, dimensions]."""
    return jax.nn.softplus(_logits(discriminator, settings, jnp.concatenate([seen, acted], axis=1)))


def _logits(discriminator: Parameters, settings: GAILSettings, pairs: Array) -> Array:
    """Logits [n] of pairs [n, features + dimensions]: sequences of a single step."""
    return networks.logits(discriminator, settings.discriminator, pairs[:, None])[:, 0]


def improve(
    key: Array, discriminator: Parameters, optimiser: Any, settings: GAILSettings, demonstrated: Array, own: Array
) -> tuple[Parameters, Any]:
    """Gradient steps on the cross-entropy between demonstrated pairs [n, pair] and the policy's own [m, pair]."""

    def loss(discriminator: Parameters, true: Array, false: Array) -> Any:
        errors = -_logits(discriminator, settings, true), _logits(discriminator, settings, false)
        return sum(jnp.mean(jax.nn.softplus(error)) for error in errors)

    def step(carry: tuple[Parameters, Any], key: Array) -> tuple[tuple[Parameters, Any], None]:
        discriminator, optimiser = carry
        key_true, key_false = jax.random.split(key)
        true = jax.random.choice(key_true, demonstrated, (settings.batch,))
        false = jax.random.choice(key_false, own, (settings.batch,))
        updates, optimiser = _adam(settings).update(jax.grad(loss)(discriminator, true, false), optimiser)
        return (jax.tree.map(jnp.add, discriminator, updates), optimiser), None

    keys = jax.random.split(key, settings.discriminator_steps)
    return jax.lax.scan(step, (discriminator, optimiser), keys)[0]


def _adam(settings: GAILSettings) -> Any:
    import optax  # To load it takes as long as to plan, which does without.

    return optax.adam(settings.learning_rate)


def _ppo() -> Any:
    """The only part that needs more than JAX."""
    try:
        return importlib.import_module("vigor.baselines.gail_ppo")
    except ImportError:
        raise missing("GAIL needs stable-baselines3", "baselines") from None


def prepare(task: Task, settings: GAILSettings, problems: Problem) -> Shown:
    """The demonstrations of a batch of runs [run, ...], step by step."""
    _ppo()  # What is missing is said before anything is done.
    return steps.prepare(task, settings.view, problems)


@partial(jax.jit, static_argnums=(0, 1))
def start(task: Task, settings: GAILSettings, shown: Shown) -> GAILState:
    """A batch of runs [run, ...] before the first step, with the initial networks of stable-baselines3."""
    seen, acted = shown.seen.shape[-1], shown.acted.shape[-1]

    def one(key: Array) -> GAILState:
        key, key_discriminator = jax.random.split(jax.random.fold_in(key, _START))
        sizes = [seen] + [settings.policy_width] * settings.policy_layers
        shapes = {
            f"mlp_extractor.{net}.{2 * i}": (after, before, math.sqrt(2))
            for net in ("policy_net", "value_net")
            for i, (before, after) in enumerate(itertools.pairwise(sizes))
        }
        shapes |= {"action_net": (acted, sizes[-1], 0.01), "value_net": (1, sizes[-1], 1.0)}
        policy = {"log_std": jnp.zeros(acted)}
        for number, (name, (outputs, inputs, gain)) in enumerate(shapes.items()):
            made = jax.nn.initializers.orthogonal(gain)
            policy[f"{name}.weight"] = made(jax.random.fold_in(key, number), (outputs, inputs))
            policy[f"{name}.bias"] = jnp.zeros(outputs)
        moments = {name: jax.tree.map(jnp.zeros_like, policy) for name in ("exp_avg", "exp_avg_sq")}
        discriminator = networks.random_parameters(key_discriminator, settings.discriminator, seen + acted)
        zero = jnp.zeros((), jnp.int32)
        return GAILState(zero, policy, moments, discriminator, _adam(settings).init(discriminator))

    return jax.vmap(one)(shown.key)


def advance(task: Task, settings: GAILSettings, shown: Shown, states: GAILState, count: int) -> GAILState:
    """Take a batch of runs [run, ...] through some steps, one run after the other."""
    after = []
    for run in range(states.iteration.shape[0]):
        own, state = jax.tree.map(lambda leaf, run=run: leaf[run], (shown, states))
        for _ in range(count):
            state = _ppo().update(task, settings, own, state)
        after.append(state)
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *after)


def actor(task: Task, settings: GAILSettings, shown: Shown, states: GAILState) -> Actor:
    """The actors of a batch of runs, [run, ...]: a mixture of one Gaussian, whose deviation is the same everywhere."""
    policy = states.policy
    layers = [
        {"weight": jnp.swapaxes(policy[f"{name}.weight"], -1, -2), "bias": policy[f"{name}.bias"]}
        for name in (*(f"mlp_extractor.policy_net.{2 * i}" for i in range(settings.policy_layers)), "action_net")
    ]
    means, (low, high) = layers[-1], mixture_network.LOG_DEVIATIONS
    share = (jnp.clip(policy["log_std"], low + 1e-3, high - 1e-3) - low) / (high - low)
    still, one = jnp.zeros_like(means["weight"]), jnp.zeros_like(means["weight"][..., :1])
    output = {
        "weight": jnp.concatenate([one, means["weight"], still], axis=-1),
        "bias": jnp.concatenate([one[..., 0, :], means["bias"], jax.scipy.special.logit(share)], axis=-1),
    }
    return Actor({"layers": layers[:-1], "output": output}, shown.units, settings.view, activation="tanh")
