"""An arm that is dragged through inverse kinematics, to pass through a first target and end in a second."""

from collections.abc import Callable, Sequence
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from vigor.motion.inverse_kinematics import damped_least_squares
from vigor.motion.trajectories import resample
from vigor.tasks.stage import Mark, Picture, View, on_plane
from vigor.tasks.task import Task

Array = jax.Array

STEPS = 8
"""Steps of the inverse kinematics for each move."""
DAMPING = 1e-3
"""Damping of the inverse kinematics, in squares of the arm's reach."""
LAG = 0.08
"""Seconds that the arm is behind the pointer, whose places come 20 times a second at most: it moves evenly between."""
RATE = 50
"""Pictures a second of a movement that is played."""


@partial(jax.jit, static_argnames="kinematics")
def follow(
    kinematics: Callable[[Array], Array],
    joints: Array,
    number: Array,
    aim: Array,
    lower: Array,
    upper: Array,
    farthest: Array,
    reach: float,
) -> Array:
    """Joints [J] after pulling one of the arm's points towards an aim [2 or 3], each turned at most so far [J]."""
    pulled = damped_least_squares(
        lambda angles: kinematics(angles)[number], joints, aim, lower, upper, DAMPING * reach**2, STEPS
    )
    move = pulled - joints
    return joints + move * jnp.minimum(1.0, jnp.min(farthest / (1e-9 + jnp.abs(move))))


class DraggedArm:
    """A reacher's arm on its stage. Any of its points can be grabbed; to pull at an elbow changes the posture.

    limits: the range of each joint; speed: the largest of any joint, in radians per second.
    """

    instruction = "Drag the orange ball through target 1, then into target 2."

    def __init__(self, task: Task, view: View, limits: Sequence[tuple[float, float]], speed: float) -> None:
        self.task, self.view = task, view
        self._limits = tuple(jnp.asarray(bound) for bound in np.array(limits, np.float32).T)
        self._speed = np.full(task.promp.dimensions, speed, np.float32)
        self._points = jax.jit(task.kinematics)
        self._start = np.array(task.promp.start or np.zeros(task.promp.dimensions))
        self._space = task.context_dimension // len(task.display.regions(np.zeros(task.context_dimension)))
        self.reset()
        points = self._places(self._start)
        lengths = np.linalg.norm(np.diff(points, axis=0), axis=1)
        self._reach = float(lengths.sum())
        # Points that nothing moves, and those that lie on another, have no grip.
        self.grips = tuple(i for i in range(1, len(points)) if lengths[i - 1] > 0.1 * self._reach / len(points))
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
        pointer = aim[: len(before)]
        self._aim = pointer + (before - pointer) * np.exp(-seconds / LAG)
        farthest = self._speed * seconds
        joints = follow(self.task.kinematics, self._joints, grip, self._aim, *self._limits, farthest, self._reach)
        self._joints = np.asarray(joints, np.float64)

    def _places(self, joints: np.ndarray) -> np.ndarray:
        return np.asarray(self._points(joints), np.float64)

    def aim(self, eye: np.ndarray, through: np.ndarray, context: np.ndarray) -> np.ndarray:
        if self.view.flat:
            return on_plane(eye, through, 0.0)
        return towards(eye, through, self.picture().points[-1], self.marks(context))

    def picture(self) -> Picture:
        return Picture(in_space(self._places(self._joints)))

    def frames(self, trajectory: np.ndarray) -> tuple[list[Picture], float]:
        joints = resample(trajectory, round(RATE * self.task.arm.seconds))
        return [Picture(in_space(points)) for points in self._places(joints)], RATE

    def lift(self, trajectory: np.ndarray) -> np.ndarray:
        return in_space(self._places(trajectory)[:, -1])

    def marks(self, context: np.ndarray) -> tuple[Mark, ...]:
        regions = self.task.display.regions(context)
        return tuple(Mark(part.label, in_space(np.array(part.centre)), part.radius) for part in regions)

    def dragged(self, context: np.ndarray, mark: int, aim: np.ndarray) -> np.ndarray:
        changed = context.copy()
        changed[mark * self._space : (mark + 1) * self._space] = aim[: self._space]
        return changed

    def _distances(self, context: np.ndarray, path: np.ndarray) -> list[float]:
        """Distances beyond the boundary: of the first target where it was closest, of the last at the end."""
        first, last = self.marks(context)
        return [
            max(0.0, float(np.linalg.norm(path - first.position, axis=1).min()) - first.radius),
            max(0.0, float(np.linalg.norm(path[-1] - last.position)) - last.radius),
        ]

    def reached(self, context: np.ndarray, path: np.ndarray, picture: Picture) -> tuple[bool, ...]:
        return tuple(away == 0.0 for away in self._distances(context, path))

    def missing(self, context: np.ndarray, path: np.ndarray, picture: Picture) -> str:
        away = self._distances(context, path)
        return next((f"{part:.2f} m from target {i}" for i, part in enumerate(away, start=1) if part > 0), "")


def towards(eye: np.ndarray, through: np.ndarray, now: np.ndarray, marks: Sequence[Mark]) -> np.ndarray:
    """Point [3] on the ray from an eye [3] through a place [3] that a pointer means: as deep as targets it is near.

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
