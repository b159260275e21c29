"""Arms that are dragged through inverse kinematics: the two reachers."""

from collections.abc import Callable, Sequence
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from vigor.studio.recording import RATE
from vigor.studio.stage import Mark, Picture, View, on_plane
from vigor.tasks.reachers import planar_reacher
from vigor.tasks.task import Task

Array = jax.Array

ITERATIONS = 8
DAMPING = 1e-3
"""Of the inverse kinematics, in squared units of the arm's reach."""
LAG = 0.08
"""Seconds that the arm is behind the pointer, whose places come 20 times a second at most: it moves evenly between."""


@partial(jax.jit, static_argnames="kinematics")
def follow(
    kinematics: Callable[[Array], Array],
    joints: Array,
    point: Array,
    aim: Array,
    lower: Array,
    upper: Array,
    most: Array,
    reach: float,
) -> Array:
    """Joints [J] after pulling one of the arm's points towards an aim [2 or 3], each at most so far [J] from before.

    Damped least squares: moves J^T (J J^T + damping)^-1 error. Of all ways to move the point it is the shortest, so
    that the joints beyond and the rest of the posture stay as they are.
    """

    def place(angles: Array) -> Array:
        return kinematics(angles)[point]

    def step(_: int, angles: Array) -> Array:
        jacobian = jax.jacrev(place)(angles)
        damped = jacobian @ jacobian.T + DAMPING * reach**2 * jnp.eye(aim.shape[0])
        move = jacobian.T @ jnp.linalg.solve(damped, aim - place(angles))
        return jnp.clip(angles + move * jnp.minimum(1.0, 0.3 / (1e-9 + jnp.linalg.norm(move))), lower, upper)

    move = jax.lax.fori_loop(0, ITERATIONS, step, joints) - joints
    return joints + move * jnp.minimum(1.0, jnp.min(most / (1e-9 + jnp.abs(move))))


class Arm:
    """A reacher's arm. Any of its points can be grabbed; to pull at an elbow changes the posture."""

    def __init__(self, task: Task, view: View, limits: Sequence[tuple[float, float]], speed: float) -> None:
        self.task, self.view = task, view
        self._limits = tuple(jnp.asarray(bound) for bound in np.array(limits, np.float32).T)
        self._speed = np.full(task.promp.dimensions, speed, np.float32)
        self._points = jax.jit(task.kinematics)
        self._start = np.array(task.promp.start or np.zeros(task.promp.dimensions))
        self._space = task.context_dimension // len(task.display.regions(np.zeros(task.context_dimension)))
        self.reset()
        points = self._places(self._start)
        self._reach = float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())
        # Points that nothing moves, and those that lie on another, have no grip.
        apart = np.linalg.norm(np.diff(points, axis=0), axis=1) > 0.1 * self._reach / len(points)
        self.grips = tuple(i for i in range(1, len(points)) if apart[i - 1])
        self.advance(0.0, len(points) - 1, self.picture().points[-1], False)  # Compiles.

    @property
    def pose(self) -> np.ndarray:
        return self._joints

    def reset(self) -> None:
        self._joints = self._start
        self._aim: np.ndarray | None = None

    def advance(self, seconds: float, grip: int, aim: np.ndarray | None, recording: bool) -> None:
        if aim is None:
            self._aim = None
            return
        # The aim follows the pointer smoothly from where the point is.
        before = self._places(self._joints)[grip] if self._aim is None else self._aim
        own = aim[: len(before)]
        self._aim = own + (before - own) * np.exp(-seconds / LAG)
        most = self._speed * seconds
        self._joints = np.asarray(
            follow(self.task.kinematics, self._joints, grip, self._aim, *self._limits, most, self._reach), np.float64
        )

    def _places(self, joints: np.ndarray) -> np.ndarray:
        return np.asarray(self._points(joints), np.float64)

    def aim(self, eye: np.ndarray, through: np.ndarray, context: np.ndarray) -> np.ndarray:
        if self.view.flat:
            return on_plane(eye, through, 0.0)
        return towards(eye, through, self.picture().points[-1], self.marks(context))

    def picture(self) -> Picture:
        return Picture(in_space(self._places(self._joints)))

    def frames(self, trajectory: np.ndarray) -> tuple[list[Picture], float]:
        when = np.linspace(0, len(trajectory) - 1, round(RATE * self.task.arm.seconds))
        joints = np.stack([np.interp(when, np.arange(len(trajectory)), column) for column in trajectory.T], axis=1)
        return [Picture(in_space(points)) for points in self._places(joints)], RATE

    def lift(self, trajectory: np.ndarray) -> np.ndarray:
        return in_space(self._places(trajectory)[:, -1])

    def marks(self, context: np.ndarray) -> tuple[Mark, ...]:
        regions = self.task.display.regions(context)
        return tuple(Mark(part.label, in_space(np.array(part.centre)), part.radius) for part in regions)

    def dragged(self, context: np.ndarray, mark: int, aim: np.ndarray) -> np.ndarray:
        moved = context.copy()
        moved[mark * self._space : (mark + 1) * self._space] = aim[: self._space]
        return moved

    def _distances(self, context: np.ndarray, path: np.ndarray) -> list[float]:
        """Beyond the boundary: of the first target the closest, of the last at the end."""
        first, last = self.marks(context)
        return [
            max(0.0, float(np.linalg.norm(path - first.position, axis=1).min()) - first.radius),
            max(0.0, float(np.linalg.norm(path[-1] - last.position)) - last.radius),
        ]

    def reached(self, context: np.ndarray, path: np.ndarray, picture: Picture) -> tuple[bool, ...]:
        return tuple(away == 0.0 for away in self._distances(context, path))

    def miss(self, context: np.ndarray, path: np.ndarray, picture: Picture) -> float:
        return sum(self._distances(context, path))


def towards(eye: np.ndarray, through: np.ndarray, now: np.ndarray, marks: Sequence[Mark]) -> np.ndarray:
    """Where on the ray from an eye [3] through a place [3] a pointer means: at the depth of targets that it is near.

    A mouse has no depth. Away from the targets the end effector keeps the depth that it has now.
    """
    ray = (through - eye) / max(float(np.linalg.norm(through - eye)), 1e-9)
    depths = np.array([(place - eye) @ ray for place in (now, *(mark.position for mark in marks))])
    besides = [np.linalg.norm(eye + depth * ray - mark.position) for depth, mark in zip(depths[1:], marks, strict=True)]
    near = [np.exp(-((beside / (1.5 * mark.radius)) ** 2)) for beside, mark in zip(besides, marks, strict=True)]
    return eye + ray * np.average(depths, weights=[0.02, *near])


def in_space(points: np.ndarray) -> np.ndarray:
    """Points [..., 2 or 3] as [..., 3]."""
    return np.pad(points, [(0, 0)] * (points.ndim - 1) + [(0, 3 - points.shape[-1])])


def planar(task: Task) -> Arm:
    """The planar arm, from above."""
    view = View((1.0, 0.0, 10.5), (1.0, 0.0, 0.0), (0, 1, 0), 0.8, True, 0.09, 0.16, (-6.0, -6.0, 0.0), (6.0, 6.0, 0.0))
    return Arm(task, view, planar_reacher.LIMITS, 6.0)


def panda(task: Task) -> Arm:
    """The Panda, from the side and a little from above."""
    view = View(
        (1.6, -1.2, 0.95), (0.25, 0.0, 0.42), (0, 0, 1), 0.7, False, 0.04, 0.03, (-0.9, -0.9, 0.0), (0.9, 0.9, 1.2)
    )
    assert task.arm.robot is not None
    return Arm(task, view, task.arm.robot.position[: task.promp.dimensions], min(task.arm.robot.velocity))
