"""Arms that are dragged through inverse kinematics, and the stage of any task that says nothing of its own."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import scipy  # Its parts are loaded when they are used.

from vigor.motion.description import Solid, meshes
from vigor.motion.inverse_kinematics import ARM, damped_least_squares
from vigor.motion.kinematics import Frame
from vigor.motion.robots import Robot
from vigor.motion.shapes import Capsule
from vigor.motion.trajectories import resample
from vigor.tasks.layouts import Regions, in_space
from vigor.tasks.stage import Layout, Mark, Picture, Surface, View, on_plane
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
SPEED = 6.0
"""Largest speed of joints that have no limit, in radians per second."""
GRASP = 0.6
"""Seconds that a gripper takes from closed to open."""
CORNERS = 200
"""Contexts that are drawn to see how large a task is."""


@partial(jax.jit, static_argnames=("kinematics", "turn"))
def follow(
    kinematics: Callable[[Array], Array],
    turn: Callable[[Array], Array] | None,
    joints: Array,
    number: Array,
    aim: Array,
    lower: Array,
    upper: Array,
    farthest: Array,
    reach: float,
) -> Array:
    """Joints [J] after pulling one of the arm's points towards an aim [2 or 3], each turned at most so far [J].

    turn: those of the tool's axes [3, 1 or 3] that count, by the joints; the aim ends with them, [3 + 3 or 9].
    """

    def told(angles: Array) -> Array:
        place = kinematics(angles)[number]
        return place if turn is None else jnp.concatenate([place, ARM * turn(angles).T.reshape(-1)])

    pulled = damped_least_squares(told, joints, aim, lower, upper, DAMPING * reach**2, STEPS)
    move = pulled - joints
    return joints + move * jnp.minimum(1.0, jnp.min(farthest / (1e-9 + jnp.abs(move))))


@dataclass(frozen=True, eq=False)
class Skin:
    """Surfaces of an arm's links, and where they are."""

    surfaces: tuple[Surface, ...]
    place: Callable[[Array], tuple[Array, Array]]
    """Positions [..., surface, 3] and rotations [..., surface, 3, 3] by poses [..., dimensions]; a JAX function."""


def skin_of(robot: Robot, joints: Callable[[Array], Array], surfaces: Mapping[str, Surface]) -> Skin | None:
    """The skin of a robot from surfaces by link; joints: those of the robot by poses [..., dimensions]."""
    chain = robot.kinematics
    if chain is None or not surfaces:
        return None

    def place(poses: Array) -> tuple[Array, Array]:
        frames = chain.frames(joints(poses), list(surfaces))
        return frames.position, frames.rotation

    return Skin(tuple(surfaces.values()), place)


def capsules(robot: Robot) -> dict[str, Surface]:
    """Surfaces of the capsules around a robot's links, by link."""
    found: dict[str, Surface] = {}
    for link in dict.fromkeys(item.link for item in robot.capsules):
        own = [_solid(item.capsule) for item in robot.capsules if item.link == link]
        joined = meshes.surface(own, Path(robot.name))
        found[link] = Surface(np.array(joined.vertices), np.array(joined.faces))
    return found


def _solid(capsule: Capsule) -> Solid:
    """A capsule as a solid, whose own lies along z."""
    start, end = np.array(capsule.start), np.array(capsule.end)
    length = float(np.linalg.norm(end - start))
    matrix = np.eye(4)
    matrix[:3, 3] = (start + end) / 2
    if length:
        turn, _ = scipy.spatial.transform.Rotation.align_vectors([(end - start) / length], [(0.0, 0.0, 1.0)])
        matrix[:3, :3] = turn.as_matrix()
    return Solid("capsule", Frame.of(matrix), (capsule.radius, length))


def _last_axes(turn: Callable[[Array], Array], count: int, joints: Array) -> Array:
    """The last of the tool's axes [3, count]."""
    return turn(joints)[:, -count:]


class DraggedArm:
    """An arm on its stage. Any of its points can be grabbed; to pull at an elbow changes the posture.

    limits: the range of each dimension; speeds: the largest of each, per second; start: where movements begin. turn:
    the tool's axes [..., 3, 3] by poses [..., dimensions], if its orientation matters; an arm with fewer than six
    joints turns the last of them, the tool's direction, alone.
    """

    placing = ()

    def __init__(
        self,
        task: Task,
        view: View,
        layout: Layout,
        limits: Sequence[tuple[float, float]],
        speeds: Sequence[float],
        start: np.ndarray | None = None,
        turn: Callable[[Array], Array] | None = None,
        skin: Skin | None = None,
    ) -> None:
        self.task, self.view, self.layout, self.turns = task, view, layout, turn is not None
        self._skin, self._counted = skin, 1 if len(limits) - (task.arm.gripper is not None) < 6 else 3
        self._turn = None if turn is None else partial(_last_axes, turn, self._counted)
        self.surfaces: Sequence[Surface] = () if skin is None else skin.surfaces
        self._limits = tuple(jnp.asarray(bound) for bound in np.array(limits, np.float32).T)
        self._speeds = np.minimum(np.asarray(speeds, np.float32), SPEED)
        self._points = jax.jit(task.kinematics)
        self._axes = None if turn is None else jax.jit(turn)
        self._place = None if skin is None else jax.jit(skin.place)
        self._start = home(task) if start is None else start
        self.gripper = None if task.arm.gripper is None else 1.0
        self.reset()
        points = self.picture().points
        lengths = np.linalg.norm(np.diff(points, axis=0), axis=1)
        self._reach = float(lengths.sum()) or 1.0
        # Points that nothing moves, and those that lie on another, have no grip.
        far = (i for i in range(1, len(points) - 1) if lengths[i - 1] > 0.1 * self._reach / len(points))
        self.grips = (*far, len(points) - 1)
        self.advance(0.0, len(points) - 1, points[-1], False)  # Compiles.

    @property
    def busy(self) -> bool:
        return self.gripper is not None and abs(self._joints[-1] - self.gripper) > 1e-6

    def reset(self) -> None:
        self._joints = self._start
        self._aim: np.ndarray | None = None
        self._wanted = self._rotation()
        if self.gripper is not None:
            self.gripper = float(self._start[-1])

    def grasp(self, opening: float) -> None:
        if self.gripper is not None:
            self.gripper = opening

    def turn(self, rotation: np.ndarray) -> None:
        self._wanted = rotation

    def _rotation(self) -> np.ndarray | None:
        """The tool's axes [3, 3], if its orientation matters."""
        return None if self._axes is None else np.asarray(self._axes(self._joints), np.float64)

    def advance(self, seconds: float, grip: int, aim: np.ndarray | None, recording: bool) -> None:
        if self.gripper is not None and self.busy:
            step = np.clip(self.gripper - self._joints[-1], -seconds / GRASP, seconds / GRASP)
            self._joints = np.append(self._joints[:-1], self._joints[-1] + step)
        if aim is None:
            self._aim = None
            return
        # The aim follows the pointer smoothly from where the point is.
        before = self._places(self._joints)[grip] if self._aim is None else self._aim
        pointer = aim[: len(before)]
        self._aim = pointer + (before - pointer) * np.exp(-seconds / LAG)
        turn, wanted = (self._turn if grip == self.grips[-1] else None), self._aim
        if turn is not None and self._wanted is not None:
            wanted = np.append(wanted, ARM * self._wanted[:, -self._counted :].T)
        bounds = *self._limits, self._speeds * seconds, self._reach
        self._joints = np.asarray(follow(self.task.kinematics, turn, self._joints, grip, wanted, *bounds), np.float64)
        if turn is None:
            self._wanted = self._rotation()

    def _places(self, joints: np.ndarray) -> np.ndarray:
        return np.asarray(self._points(joints), np.float64)

    def aim(self, eye: np.ndarray, through: np.ndarray, context: np.ndarray) -> np.ndarray:
        if self.view.flat:
            return on_plane(eye, through, 0.0)
        return towards(eye, through, self.picture().points[-1], self.layout.marks(context))

    def picture(self) -> Picture:
        return self._pictures(self._joints[None])[0]

    def _pictures(self, poses: np.ndarray) -> list[Picture]:
        """Pictures of poses [n, dimensions]."""
        points = in_space(self._places(poses))
        axes = [None] * len(poses) if self._axes is None else np.asarray(self._axes(poses))
        if self._place is None:
            return [Picture(at, pose, tool=tool) for at, pose, tool in zip(points, poses, axes, strict=True)]
        places, turns = (np.asarray(part, np.float64) for part in self._place(poses))
        rows = zip(points, poses, axes, places, turns, strict=True)
        return [Picture(at, pose, (), tool, place, turn) for at, pose, tool, place, turn in rows]

    def frames(self, trajectory: np.ndarray) -> tuple[list[Picture], float]:
        return self._pictures(resample(trajectory, max(2, round(RATE * self.task.arm.seconds)))), RATE

    def lift(self, trajectory: np.ndarray) -> np.ndarray:
        return in_space(self._places(trajectory)[:, -1])


def towards(eye: np.ndarray, through: np.ndarray, now: np.ndarray, marks: Sequence[Mark]) -> np.ndarray:
    """Point [3] on the ray from an eye [3] through a place [3] that a pointer means: as deep as targets it is near.

    A mouse has no depth. Away from the targets the end effector keeps the depth that it has now.
    """
    ray = (through - eye) / max(float(np.linalg.norm(through - eye)), 1e-9)
    depths = np.array([(place - eye) @ ray for place in (now, *(mark.position for mark in marks))])
    besides = [np.linalg.norm(eye + depth * ray - mark.position) for depth, mark in zip(depths[1:], marks, strict=True)]
    near = [np.exp(-((beside / (1.5 * mark.radius)) ** 2)) for beside, mark in zip(besides, marks, strict=True)]
    return eye + ray * np.average(depths, weights=[0.02, *near])


def stage_of(task: Task) -> DraggedArm:
    """The stage of a task that has none of its own: its regions, and its kinematics as an arm or a point."""
    layout = Regions(task)
    points = np.asarray(task.kinematics(jnp.asarray(home(task), jnp.float32)))
    view = view_of(in_space(points), places(layout), points.shape[-1] == 2)
    robot = task.arm.robot
    skin = None if robot is None else skin_of(robot, task.arm.joints, capsules(robot))
    return DraggedArm(task, view, layout, *moved(task), skin=skin)


def home(task: Task) -> np.ndarray:
    """Pose [dimensions] where movements begin, zeros if that is free."""
    return np.zeros(task.promp.dimensions) if task.promp.start is None else np.array(task.promp.start)


def moved(task: Task) -> tuple[list[tuple[float, float]], list[float]]:
    """Range and largest speed of each dimension, by the task's robot if its joints are the dimensions."""
    robot, count = task.arm.robot, task.promp.dimensions
    if robot is None or len(robot.joints) != count:
        return [(-np.inf, np.inf)] * count, [SPEED] * count
    return list(robot.position), list(robot.velocity)


def places(layout: Layout) -> np.ndarray:
    """Places [n, 3] where marks of contexts can be."""
    rng = np.random.default_rng(0)
    drawn = [layout.draw(rng) for _ in range(CORNERS)]
    return np.array([mark.position for context in drawn for mark in layout.marks(context)]).reshape(-1, 3)


def view_of(points: np.ndarray, around: np.ndarray, flat: bool) -> View:
    """A view of an arm at points [n, 3] among places [m, 3]: from above in the plane, else from the side."""
    everything = np.concatenate([points, around])
    low, high = everything.min(axis=0), everything.max(axis=0)
    middle, size = (low + high) / 2, float(np.max(high - low))
    reach = float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())
    size = max(size, reach if flat else 1.2 * reach, 1e-3)
    thin = 0.018 * size if flat else 0.03 * size
    x, y, z = map(float, middle)
    low_corner, high_corner = (x - size, y - size, min(0.0, float(low[2]))), (x + size, y + size, z + size)
    if flat:
        bounds = (*low_corner[:2], 0.0), (*high_corner[:2], 0.0)
        return View((x, y, 1.9 * size), (x, y, 0.0), (0, 1, 0), 0.8, True, thin, 1.6 * thin, *bounds)
    z = max(z, 0.3 * size)
    camera = (x + 1.1 * size, y - 0.95 * size, z + 0.5 * size)
    return View(camera, (x, y, z), (0, 0, 1), 0.7, False, thin, 0.75 * thin, low_corner, high_corner)
