"""The body of a task's robot: lines with radii around them, from capsules where they are known, else from joint to
joint."""

from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from vigor.motion import collisions
from vigor.motion.robots import Robot
from vigor.tasks.task import Task

Array = jax.Array


class Body(NamedTuple):
    """Lines that a robot consists of."""

    starts: Array
    """[..., part, 2 or 3]"""
    ends: Array
    """[..., part, 2 or 3]"""
    radii: Array
    """[part]: those of capsules; 0 for bare lines, whose thickness is the robot's."""


@lru_cache(maxsize=64)
def placed(task: Task) -> Robot | None:
    """The task's robot, if its kinematics are known and have its links where the task has them; else None."""
    robot = task.arm.robot
    if robot is None or robot.kinematics is None:
        return None
    with jax.ensure_compile_time_eval():
        links, joints, known = task.kinematics, task.arm.joints, robot.kinematics
        # Compiled as one: by itself every operation would be a program.
        both = jax.jit(lambda pose: (links(pose), known(joints(pose))))
        own, there = both(np.linspace(0.1, 0.7, task.promp.dimensions))
    # The end effector may be another one: capsules are around the links.
    same = own.shape == there.shape and np.allclose(own[:-1], there[:-1], atol=1e-4)
    return robot if same else None


def enclosed(task: Task) -> Robot | None:
    """The task's robot, if its capsules are known and lie where the task has its links; else None."""
    robot = placed(task)
    return robot if robot is not None and robot.capsules else None


def tool_axis(task: Task, joints: Array) -> Array:
    """Direction [..., 3] of the tool's z axis at joints [..., dimensions]; of a task whose robot is `placed`."""
    robot = placed(task)
    assert robot is not None
    assert robot.kinematics is not None
    return robot.kinematics.frames(task.arm.joints(joints)).rotation[..., 0, :, 2]


def body(task: Task, joints: Array) -> Body:
    """The moving parts of the robot of a task at joints [..., dimensions]."""
    robot = enclosed(task)
    if robot is None:
        points = task.kinematics(joints)
        # A single point is a link without length.
        starts, ends = (points, points) if points.shape[-2] == 1 else (points[..., :-1, :], points[..., 1:, :])
        return Body(starts, ends, jnp.zeros(starts.shape[-2]))
    moving = _moving(robot)
    starts, ends = collisions.ends(moving, task.arm.joints(joints))
    return Body(starts, ends, jnp.asarray([item.capsule.radius for item in moving.capsules]))


@lru_cache(maxsize=64)
def _moving(robot: Robot) -> Robot:
    """The robot with the capsules alone that a joint moves: what stands on the base cannot keep out of anything."""
    chain = robot.kinematics
    assert chain is not None
    return replace(robot, capsules=tuple(item for item in robot.capsules if chain.link(item.link).joint), pairs=())


def itself(task: Task, joints: Array) -> Array:
    """Distances [..., pair] of parts of the robot that could touch each other at joints [..., dimensions]."""
    robot = enclosed(task)
    if robot is None:
        return jnp.zeros((*joints.shape[:-1], 0), joints.dtype)
    return collisions.pair_clearances(robot, task.arm.joints(joints))
