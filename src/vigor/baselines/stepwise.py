"""A task acted step by step: what a policy sees in every state, and where its actions lead.

An action is how far the joints move in one step, so T actions from the start pose are a trajectory of T steps, judged
as any other. With a movement primitive of free start (the box pusher) the first action is the first pose, seen from the
start (paper, appendix C.3). Pure functions of one episode; `jax.vmap` lifts them over thousands.
"""

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp

from vigor.basics.errors import UserError
from vigor.motion.descriptors import Motion, describe
from vigor.tasks.task import Task

Array = jax.Array


@dataclass(frozen=True)
class View:
    """View of a state that a policy has: its descriptors and the time step."""

    frames: int = 1
    """States seen at once: the present one and those just before it."""
    target_encoding: bool = False
    """See also which targets have been reached."""

    def __post_init__(self) -> None:
        if not 1 <= self.frames <= 1000:
            raise UserError("frames must be from 1 to 1,000")


class Episode(NamedTuple):
    """An episode after some actions."""

    step: Array
    """Actions so far."""
    motion: Motion
    """[T, ...]: the movement so far; steps yet to come hold the start pose."""
    frames: Array
    """[frames, features]: what was seen last, the newest at the end; zeros before the first."""

    @property
    def observation(self) -> Array:
        """[frames * features]"""
        return self.frames.reshape(-1)


def start_pose(task: Task) -> Array:
    return jnp.zeros(task.promp.dimensions) if task.promp.start is None else jnp.asarray(task.promp.start)


def begin(task: Task, view: View, context: Array) -> Episode:
    """The first state in a context [C]: at rest in the start pose."""
    still = jnp.broadcast_to(start_pose(task), (task.promp.steps, task.promp.dimensions))
    motion, step = task.motion(still, context), jnp.zeros((), jnp.int32)
    seen = _see(task, view, motion, step)
    return Episode(step, motion, jnp.zeros((view.frames, *seen.shape)).at[-1].set(seen))


def act(task: Task, view: View, state: Episode, action: Array) -> Episode:
    """The state after moving the joints by an action [dimensions]."""
    row, motion = state.step, state.motion
    pose = motion.joints[jnp.maximum(row - 1, 0)] + action
    motion = motion._replace(
        joints=motion.joints.at[row].set(pose), points=motion.points.at[row].set(task.kinematics(pose))
    )
    seen = _see(task, view, motion, row + 1)
    return Episode(row + 1, motion, jnp.concatenate([state.frames[1:], seen[None]]))


def _see(task: Task, view: View, motion: Motion, step: Array) -> Array:
    """Descriptors of the pose after some actions, then the share of the time that is over: [features].

    Where the first action chooses the first pose there are two copies of the descriptors, one for the first step and
    one for all others; the one that is not in use is zero.
    """
    descriptors = task.descriptors
    if view.target_encoding:
        if task.reached is None:
            raise UserError(f"{task.name} has no targets to encode; leave out --target-encoding")
        descriptors = (*descriptors, task.reached)
    # Descriptors look back but never ahead, so the poses yet to come do not matter.
    seen = describe(motion, descriptors)[jnp.maximum(step - 1, 0)]
    if task.promp.free_start:
        first = step == 0
        seen = jnp.concatenate([jnp.where(first, seen, 0.0), jnp.where(first, 0.0, seen)])
    return jnp.append(seen, step / task.promp.steps)


def features(task: Task, view: View) -> int:
    """Length of an observation."""
    context = jax.ShapeDtypeStruct((task.context_dimension,), jnp.float32)
    return jax.eval_shape(lambda context: begin(task, view, context).observation, context).shape[0]


def actions(task: Task, joints: Array) -> Array:
    """The actions [T, dimensions] that make a trajectory [T, dimensions]."""
    return jnp.diff(joints, axis=0, prepend=start_pose(task)[None])


def observations(task: Task, view: View, joints: Array, context: Array) -> Array:
    """Observations [T, features] before every action of a trajectory [T, dimensions]."""

    def step(state: Episode, action: Array) -> tuple[Episode, Array]:
        return act(task, view, state, action), state.observation

    return jax.lax.scan(step, begin(task, view, context), actions(task, joints))[1]
