"""Plans carried out in simulation: many at a time on all cores, each the same however many there are.

The arm is that of capsules: its outcomes are those of Menagerie's, and there is nothing to download.
"""

import os
from dataclasses import dataclass

import numpy as np

from vigor.basics.engine import mujoco
from vigor.motion.panda.model import Arm
from vigor.tasks.box_pusher import control, geometry, scene

SECONDS, HOLD = 3.0, 0.5
"""Seconds of a movement, and of the rest after it before the box is looked at."""
RATE = 100
"""Moments per second that are kept of a rollout."""
BLOCK = 64
"""Rollouts at a time, to bound memory."""


@dataclass(frozen=True, eq=False)
class Rollouts:
    """Outcomes of n plans, at F moments: the start, then RATE a second until the end of the hold."""

    states: np.ndarray
    """[n, F, state]: MuJoCo's full physics state."""
    tips: np.ndarray
    """[n, F, 3]: where the rod's tip was."""

    @property
    def quaternions(self) -> np.ndarray:
        """[n, F, 4]: how the box was turned."""
        return self.states[..., 11:15]

    @property
    def poses(self) -> np.ndarray:
        """[n, F, 3]: place and angle of the box."""
        return box_poses(self.states[..., 8:15])

    @property
    def heights(self) -> np.ndarray:
        """[n, F]: of the box's underside above the table, at its centre."""
        return self.states[..., 10]

    @property
    def tilts(self) -> np.ndarray:
        """[n, F]: angle between the box's upright axis and the vertical."""
        _, x, y, _ = np.moveaxis(self.quaternions, -1, 0)
        return np.arccos(np.clip(1 - 2 * (x**2 + y**2), -1, 1))


def box_poses(joint: np.ndarray) -> np.ndarray:
    """Poses [..., 3] of the box from its free joint in MuJoCo [..., 7]: a place in space and a quaternion."""
    w, x, y, z = np.moveaxis(joint[..., 3:], -1, 0)
    angle = np.arctan2(2 * (w * z + x * y), 1 - 2 * (y**2 + z**2))
    return np.concatenate([joint[..., :2], angle[..., None]], axis=-1)


def roll_out(paths: np.ndarray, arm: Arm = "capsules") -> Rollouts:
    """Carry out planned paths [n, T, 2] of the rod's tip, each with the box at its start.

    A rod that would start in a wall of the box is set down beside it: a start in the wall would fire the box away.
    """
    paths = np.asarray(paths, float)
    parts = [_roll_out(paths[first : first + BLOCK], arm) for first in range(0, len(paths), BLOCK)]
    states, tips = zip(*parts, strict=True) if parts else ((np.zeros((0, 1, 28)),), (np.zeros((0, 1, 3)),))
    return Rollouts(np.concatenate(states), np.concatenate(tips))


def _cores() -> int:
    """Cores that this process may use: those that it was told to in OMP_NUM_THREADS, or all."""
    told = os.environ.get("OMP_NUM_THREADS", "")
    if told.isdecimal() and int(told):
        return int(told)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _roll_out(paths: np.ndarray, arm: Arm) -> tuple[np.ndarray, np.ndarray]:
    model = scene.model(arm)
    steps, hold = round(SECONDS / scene.TIMESTEP), round(HOLD / scene.TIMESTEP)
    controls = control.follow(paths, steps, hold)
    begin = initial_states(paths[:, 0], arm)
    threads = min(_cores(), len(paths))
    data = [mujoco.MjData(model) for _ in range(threads)]
    with mujoco.rollout.Rollout(nthread=threads if threads > 1 else 0) as pool:
        states, sensors = pool.rollout(model, data, begin, controls)
    every = round(1 / (RATE * scene.TIMESTEP))
    # A sensor's value belongs to the state before its step.
    return (
        np.concatenate([begin[:, None], states[:, every - 1 :: every]], axis=1),
        np.concatenate([sensors[:, ::every], sensors[:, -1:]], axis=1),
    )


def initial_states(points: np.ndarray, arm: Arm = "capsules") -> np.ndarray:
    """States [n, state] at rest with the rod at points [n, 2] and the box at its start."""
    model = scene.model(arm)
    kind = mujoco.mjtState.mjSTATE_FULLPHYSICS
    begin = np.zeros((len(points), mujoco.mj_stateSize(model, kind)))
    data = mujoco.MjData(model)
    for state, joints in zip(begin, control.joint_angles(geometry.beside_walls(points)), strict=True):
        data.qpos[:7] = joints
        mujoco.mj_getState(model, data, state, kind)
    return begin


def outcomes(paths: np.ndarray, arm: Arm = "capsules") -> np.ndarray:
    """Poses [n, 3] of the box after planned paths [n, T, 2]."""
    return roll_out(paths, arm).poses[:, -1]


def distances(paths: np.ndarray, contexts: np.ndarray) -> np.ndarray:
    """Mean distance [n] of the box's corners from where contexts [n, 3] want them, after planned paths [n, T, 2]."""
    return geometry.corner_distance(outcomes(paths), geometry.goal(contexts))
