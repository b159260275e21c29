"""One update of GAIL with stable-baselines3: episodes rewarded by the discriminator, then PPO.

This is the only file that imports stable-baselines3 and torch.
"""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import torch
from gymnasium.spaces import Box
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.vec_env import DummyVecEnv, VecEnv, VecEnvWrapper

from vigor.baselines import gail
from vigor.baselines.environments import Environment, VectorEnvironment
from vigor.baselines.gail import GAILSettings, GAILState
from vigor.baselines.steps import Shown
from vigor.tasks.task import Task

_reward = jax.jit(gail.reward, static_argnums=1)
_improve = jax.jit(gail.improve, static_argnums=3)


class Vectorised(VecEnv):
    """A `VectorEnvironment` as stable-baselines3 wants it."""

    def __init__(self, environment: VectorEnvironment) -> None:
        self._environment = environment
        super().__init__(environment.num_envs, environment.single_observation_space, environment.single_action_space)

    def reset(self) -> np.ndarray:
        seen, _ = self._environment.reset(seed=self._seeds[0])
        self._reset_seeds()
        return seen

    def step_async(self, actions: np.ndarray) -> None:
        self._actions = actions

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        seen, rewards, over, _, info = self._environment.step(self._actions)
        last = [{"terminal_observation": final} for final in info["final_obs"]] if over[0] else ({},) * self.num_envs
        return seen, rewards, over, list(last)

    def close(self) -> None:
        self._environment.close()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        return [getattr(self._environment, attr_name)] * self.num_envs

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        setattr(self._environment, attr_name, value)

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> list[Any]:
        return [getattr(self._environment, method_name)(*method_args, **method_kwargs)]

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        return [False] * self.num_envs


class Rewarded(VecEnvWrapper):
    """Environments whose rewards are the discriminator's, seen and acted in standard units."""

    units: Any
    """Units as `actors.Units` has them, as numpy arrays."""
    discriminator: Any

    def __init__(self, venv: VecEnv, settings: GAILSettings) -> None:
        observations, actions = (
            Box(-10.0, 10.0, space.shape, np.float32) for space in (venv.observation_space, venv.action_space)
        )
        super().__init__(venv, observations, actions)
        self._settings = settings

    def reset(self) -> np.ndarray:
        self._seen = self.units.seen(self.venv.reset())
        return self._seen

    def step_async(self, actions: np.ndarray) -> None:
        self._acted = actions
        self.venv.step_async(self.units.actions(actions))

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        seen, _, over, infos = self.venv.step_wait()
        rewards = np.array(_reward(self.discriminator, self._settings, self._seen, self._acted))
        self._seen = self.units.seen(seen)
        return self._seen, rewards, over, infos


class Discriminate(BaseCallback):
    """Trains the discriminator on the episodes that the policy has just made."""

    def __init__(
        self, key: jax.Array, rewarded: Rewarded, optimiser: Any, settings: GAILSettings, demonstrated: Any
    ) -> None:
        super().__init__()
        self.optimiser = optimiser
        self._key, self._rewarded, self._settings, self._demonstrated = key, rewarded, settings, demonstrated

    def _on_step(self) -> bool:
        return True

    def _on_rollout_end(self) -> None:
        buffer = self.locals["rollout_buffer"]
        own = np.concatenate([buffer.observations, buffer.actions], axis=-1)
        self._rewarded.discriminator, self.optimiser = _improve(
            self._key,
            self._rewarded.discriminator,
            self.optimiser,
            self._settings,
            self._demonstrated,
            own.reshape(-1, own.shape[-1]),
        )


@contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """Random numbers of torch and numpy from a seed, and one thread: with more, networks so small are slower."""
    threads, before = torch.get_num_threads(), np.random.get_state()  # noqa: NPY002 stable-baselines3 draws from it.
    torch.set_num_threads(1)
    try:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            np.random.seed(seed)  # noqa: NPY002
            yield
    finally:
        np.random.set_state(before)  # noqa: NPY002
        torch.set_num_threads(threads)


@lru_cache(maxsize=16)
def _learner(task: Task, settings: GAILSettings, contexts: tuple[tuple[float, ...], ...]) -> tuple[PPO, Rewarded]:
    """PPO, and environments in these contexts; an update is a whole number of episodes."""
    episodes, steps = max(1, round(settings.policy_steps / task.promp.steps)), task.promp.steps
    chosen = np.asarray(contexts, np.float32)
    view = (settings.view.frames, settings.view.target_encoding, chosen)
    plain: VecEnv
    if settings.vectorised:
        plain = Vectorised(VectorEnvironment(task, episodes, *view, judge=False))
    else:
        plain, steps = DummyVecEnv([lambda: Environment(task, *view)]), episodes * steps
    rewarded = Rewarded(plain, settings)
    layers = [settings.policy_width] * settings.policy_layers
    adam = {"eps": 1e-5, "fused": True}  # The epsilon of stable-baselines3, and Adam as one call.
    with _seeded(0), warnings.catch_warnings():  # Every update brings its own networks.
        warnings.filterwarnings("ignore", "You have specified a mini-batch size")  # The last of a pass is smaller.
        ppo = PPO(
            "MlpPolicy",
            rewarded,
            learning_rate=settings.learning_rate,
            n_steps=steps,
            batch_size=settings.policy_batch,
            policy_kwargs={"net_arch": {"pi": layers, "vf": layers}, "optimizer_kwargs": adam},
            device="cpu",
        )
    ppo.set_logger(Logger(folder=None, output_formats=[]))  # Its own leaves a folder behind.
    return ppo, rewarded


def _contexts(settings: GAILSettings, shown: Shown) -> tuple[tuple[float, ...], ...]:
    """The contexts that the policy acts in."""
    parts = [shown.train_contexts] + ([shown.test_contexts] if settings.contexts == "all" else [])
    return tuple(map(tuple, np.concatenate(parts).tolist()))


def update(task: Task, settings: GAILSettings, shown: Shown, state: GAILState) -> GAILState:
    """One run after another update."""
    key_seed, key = jax.random.split(jax.random.fold_in(shown.key, state.iteration))
    seed = int(jax.random.randint(key_seed, (), 0, 2**31 - 1))
    demonstrated = jnp.concatenate(shown.standardised(), axis=1)
    ppo, rewarded = _learner(task, settings, _contexts(settings, shown))
    _put(ppo, state)
    rewarded.units, rewarded.discriminator = jax.tree.map(np.asarray, shown.units), state.discriminator
    rewarded.seed(seed)
    callback = Discriminate(key, rewarded, state.optimiser, settings, demonstrated)
    with _seeded(seed):
        ppo.learn(ppo.n_steps * rewarded.num_envs, callback, log_interval=2)  # One rollout: nothing is logged.
    policy, moments = _take(ppo)
    return GAILState(state.iteration + 1, policy, moments, rewarded.discriminator, callback.optimiser)


def _put(ppo: PPO, state: GAILState) -> None:
    """Networks and moments into PPO."""
    policy, moments = jax.tree.map(lambda leaf: torch.from_numpy(np.array(leaf)), (state.policy, state.moments))
    ppo.policy.load_state_dict(policy)
    optimiser = ppo.policy.optimizer
    passes = ppo.n_epochs * -(-ppo.n_steps * ppo.n_envs // ppo.batch_size)
    count = torch.tensor(float(passes * int(state.iteration)))
    known = {
        i: {"step": count.clone(), **{moment: values[name] for moment, values in moments.items()}}
        for i, (name, _) in enumerate(ppo.policy.named_parameters())
    }
    optimiser.load_state_dict({"state": known, "param_groups": optimiser.state_dict()["param_groups"]})


def _take(ppo: PPO) -> tuple[dict[str, np.ndarray], dict[str, dict[str, np.ndarray]]]:
    """Networks and moments out of PPO."""
    known = ppo.policy.optimizer.state
    named = dict(ppo.policy.named_parameters())
    policy = {name: value.detach().numpy().copy() for name, value in named.items()}
    moments = {
        moment: {name: known[value][moment].numpy().copy() for name, value in named.items()}
        for moment in ("exp_avg", "exp_avg_sq")
    }
    return policy, moments
