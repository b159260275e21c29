"""The tasks as Gymnasium environments: one episode, or thousands at once as one compiled program.

    import gymnasium
    import vigor.baselines.environments

    gymnasium.make("vigor/PlanarReacher-v0")
    gymnasium.make_vec("vigor/PlanarReacher-v0", num_envs=4096)

An observation has the descriptors of the present state and the time step, an action is how far each joint moves in the
step, and an episode has as many steps as the task's movements. Its only reward is at the end: minus the distance from
solving the context. Needs `pip install "vigor-skills[baselines]"`.
"""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from vigor.baselines import stepwise
from vigor.baselines.stepwise import Episode, View
from vigor.basics.errors import UserError
from vigor.basics.install import missing
from vigor.tasks import Task, load_task

try:
    import gymnasium
    from gymnasium.spaces import Box
    from gymnasium.vector import AutoresetMode, VectorEnv
    from gymnasium.vector.utils import batch_space
except ImportError:
    raise missing("environments need Gymnasium", "baselines") from None

NAMES = {"PlanarReacher": "planar-reacher", "PandaReacher": "panda-reacher", "BoxPusher": "box-pusher"}
LARGEST = 1e6
"""Largest number of an observation; Gymnasium wants a bound."""


@partial(jax.jit, static_argnums=(0, 1))
def _begin(task: Task, view: View, contexts: jax.Array) -> tuple[Episode, jax.Array]:
    states = jax.vmap(partial(stepwise.begin, task, view))(contexts)
    return states, _observations(states)


@partial(jax.jit, static_argnums=(0, 1), donate_argnums=2)
def _act(task: Task, view: View, states: Episode, actions: jax.Array) -> tuple[Episode, jax.Array]:
    states = jax.vmap(partial(stepwise.act, task, view))(states, actions)
    return states, _observations(states)


def _observations(states: Episode) -> jax.Array:
    return jnp.clip(jax.vmap(lambda state: state.observation)(states), -LARGEST, LARGEST)


class _Episodes:
    """Episodes of a task that run side by side: what both environments are made of."""

    def __init__(self, task: Task | str, view: View, contexts: np.ndarray | None) -> None:
        self.task = load_task(task) if isinstance(task, str) else task
        self.view = view
        self.contexts = None if contexts is None else self._checked(contexts)
        promp = self.task.promp
        # Five standard deviations of a movement primitive, in a single step.
        self.action_space = Box(-5 * promp.scale, 5 * promp.scale, (promp.dimensions,), np.float32)
        size = stepwise.features(self.task, view)
        self.observation_space = Box(-LARGEST, LARGEST, (size,), np.float32)

    def _checked(self, contexts: Any) -> np.ndarray:
        contexts = np.asarray(contexts, np.float32)
        width = self.task.context_dimension
        if contexts.ndim != 2 or contexts.shape[1] != width or not len(contexts) or not np.all(np.isfinite(contexts)):
            raise UserError(f"contexts of {self.task.name} must be finite numbers [n, {width}]")
        return contexts

    def begin(self, rng: np.random.Generator, count: int, given: Any = None) -> np.ndarray:
        """Start episodes in the contexts given, or in drawn ones; observations [count, features]."""
        if given is not None:
            chosen = np.broadcast_to(self._checked(np.atleast_2d(given)), (count, self.task.context_dimension))
        elif self.contexts is not None:
            chosen = rng.choice(self.contexts, count)
        else:
            chosen = self.task.sample_contexts(rng, count).astype(np.float32)
        self.chosen, self.step = chosen, 0
        self.states, seen = _begin(self.task, self.view, jnp.asarray(chosen))
        return np.array(seen)

    def act(self, actions: np.ndarray) -> tuple[np.ndarray, bool]:
        """Observations [count, features] after actions [count, dimensions], and whether the episodes are over."""
        self.states, seen = _act(self.task, self.view, self.states, jnp.asarray(actions, jnp.float32))
        self.step += 1
        return np.array(seen), self.step == self.task.promp.steps

    def distances(self) -> np.ndarray:
        """Distances [count] of the finished movements from solving their contexts."""
        return self.task.distances(self.states.motion.joints, self.chosen)


class Environment(gymnasium.Env[np.ndarray, np.ndarray]):
    """One episode at a time. `reset(options={"context": [...]})` chooses the context."""

    def __init__(
        self, task: Task | str, frames: int = 1, target_encoding: bool = False, contexts: np.ndarray | None = None
    ) -> None:
        """frames, target_encoding: see `stepwise.View`; contexts: [n, C] to draw from, instead of the task's own."""
        self._episodes = _Episodes(task, View(frames, target_encoding), contexts)
        self.observation_space, self.action_space = self._episodes.observation_space, self._episodes.action_space

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        super().reset(seed=seed)
        seen = self._episodes.begin(self.np_random, 1, (options or {}).get("context"))
        return seen[0], {"context": self._episodes.chosen[0].copy()}

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        seen, over = self._episodes.act(np.asarray(action)[None])
        if not over:
            return seen[0], 0.0, False, False, {}
        distance = float(self._episodes.distances()[0])
        success = bool(self._episodes.task.succeeds(np.asarray(distance)))
        return seen[0], -distance, True, False, {"distance": distance, "success": success}


class VectorEnvironment(VectorEnv):
    """Many episodes side by side. All end at the same step, and the next begin in it.

    `reset(options={"context": [...]})` takes one context [C] for all, or one for each [num_envs, C].
    """

    def __init__(
        self,
        task: Task | str,
        num_envs: int = 1,
        frames: int = 1,
        target_encoding: bool = False,
        contexts: np.ndarray | None = None,
        judge: bool = True,
    ) -> None:
        """judge: find the distances at the end; without, all rewards are 0 and nothing is simulated."""
        self._episodes = _Episodes(task, View(frames, target_encoding), contexts)
        self._judge = judge
        self.num_envs = num_envs
        self.single_observation_space = self._episodes.observation_space
        self.single_action_space = self._episodes.action_space
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.metadata = {"autoreset_mode": AutoresetMode.SAME_STEP}

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        super().reset(seed=seed)
        return self._begin((options or {}).get("context"))

    def _begin(self, given: Any = None) -> tuple[np.ndarray, dict[str, Any]]:
        seen = self._episodes.begin(self.np_random, self.num_envs, given)
        return seen, {"context": self._episodes.chosen.copy()}

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        seen, over = self._episodes.act(actions)
        rewards, never = np.zeros(self.num_envs), np.zeros(self.num_envs, bool)
        if not over:
            return seen, rewards, never, never.copy(), {}
        final: dict[str, Any] = {}
        if self._judge:
            distances = self._episodes.distances()
            rewards = -distances.astype(np.float64)
            final = {"distance": distances, "success": self._episodes.task.succeeds(distances)}
        fresh, info = self._begin()
        return fresh, rewards, ~never, never, info | {"final_obs": seen, "_final_obs": ~never, "final_info": final}


for _name, _task in NAMES.items():
    gymnasium.register(
        f"vigor/{_name}-v0",
        entry_point="vigor.baselines.environments:Environment",
        vector_entry_point="vigor.baselines.environments:VectorEnvironment",
        kwargs={"task": _task},
    )
