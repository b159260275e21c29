"""Constraints of a plan: a robot's limits and the robot itself, places that no link may enter, demands on the tool, and
where and how a movement begins and ends.

A constraint is a cost on the way to a plan, which pushes samples away from violations, and a margin of the plan itself:
how far its worst moment is from a violation; negative where there is one.
"""

from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from vigor.basics.batching import by_chunks, each
from vigor.basics.errors import UserError
from vigor.motion.distances import along_line, point_to_box
from vigor.motion.robots import Robot
from vigor.motion.shapes import LARGEST, Box, Sphere, in_plane
from vigor.planning import demands
from vigor.planning.bodies import Body, body, enclosed, itself
from vigor.planning.demands import Demands, Met, Pointing, Via
from vigor.tasks.task import Task

Array = jax.Array

STRENGTH = 60.0
"""Cost of a whole unit of violation in every step; a network's logit of a step is rarely above 5."""
SPARE = 0.05
"""Part of a unit that the cost keeps free, so that samples around a plan stay outside as well."""
CLEAR = 0.2
"""The same around a keep-out, as a part of its size: what comes less near is less often left inside."""
APART, TOUCH = 0.005, 0.1
"""Metres that the cost keeps links of a robot apart, and that a link is inside another for a whole unit."""
SPARSE = 4
"""Steps of a movement for one at which the cost looks at a robot against itself, which takes long."""
WAY = 3.0
"""Steps that it costs as much as to pass a keep-out's size."""
SAME = 1e-5
"""Difference of a joint that is rounding."""
MIN_SECONDS, MAX_SECONDS = 0.01, 3600.0
"""Bounds of a duration that can be meant."""
FINE = 10
"""Margins are looked for at this many times the steps of the ProMP."""
_ALONG = 5
"""Points of a link that the cost looks at."""


@dataclass(frozen=True)
class Constraints:
    """Constraints of the plans for a context; by default none."""

    robot: Robot | None = None
    """Robot whose joint and velocity limits count."""
    seconds: float = 3.0
    """Duration of a movement, with the rest at its end."""
    keep_out: tuple[Sphere | Box, ...] = ()
    """Shapes that no link may enter."""
    via: tuple[Via, ...] = ()
    """Places that the tool must pass."""
    pointing: tuple[Pointing, ...] = ()
    """Directions that the tool must point in."""
    hold: float = 0.0
    """Seconds at the end in which nothing moves."""
    start: tuple[float, ...] | None = None
    """Pose [joint] that movements begin in; None for that of the task."""

    def __post_init__(self) -> None:
        if not MIN_SECONDS <= self.seconds <= MAX_SECONDS:
            raise UserError(f"a movement takes from {MIN_SECONDS:g} to {MAX_SECONDS:g} seconds, not {self.seconds:g}")
        if not 0 <= self.hold <= self.seconds - MIN_SECONDS:
            raise UserError(f"a movement of {self.seconds:g} seconds cannot hold still for {self.hold:g} of them")
        if self.start is not None and not np.all(np.abs(self.start) <= LARGEST):
            raise UserError("a start must be finite numbers, one for each joint")

    def __bool__(self) -> bool:
        return self.robot is not None or self.elsewhere

    @property
    def elsewhere(self) -> bool:
        """Whether movements may have to go elsewhere than was shown."""
        return bool(self.keep_out or self.via or self.pointing)

    @property
    def moving(self) -> float:
        """Seconds in which something moves."""
        return self.seconds - self.hold


def of_task(
    task: Task, keep_out: tuple[Sphere | Box, ...] = (), seconds: float | None = None, **others: Any
) -> Constraints:
    """The limits of a task's robot, if it has one, and shapes to keep out of, in the plane their sections with it;
    others: further fields of the constraints."""
    if keep_out and _space(task) == 2:
        keep_out = tuple(map(in_plane, keep_out))
    return Constraints(task.arm.robot, task.arm.seconds if seconds is None else seconds, tuple(keep_out), **others)


@lru_cache(maxsize=64)
def begun(task: Task, start: tuple[float, ...] | None) -> Task:
    """The task with movements that begin in a pose [joint]; as it is without one.

    A gripper begins as in the task. What a start changes is compiled anew.
    """
    if start is None:
        return task
    begin = tuple(posed(task, start).tolist())
    return replace(task, promp=replace(task.promp, begin=begin)).with_origin(task.origin, task.digest)


def posed(task: Task, joints: tuple[float, ...], tolerance: float = SAME) -> np.ndarray:
    """The pose [dimensions] of a task in which its robot has such joints [joint], within a tolerance."""
    rest = np.array(task.promp.start or np.zeros(task.promp.dimensions))
    pose = np.concatenate([joints[: len(rest)], rest[len(joints) :]])
    with jax.ensure_compile_time_eval():
        there = np.asarray(task.arm.joints(jnp.asarray(pose, jnp.float32)))
    names = [f"joint{i}" for i in range(1, len(there) + 1)] if task.arm.robot is None else task.arm.robot.joints
    if len(joints) != len(there):
        raise UserError(f"a start of {task.name} has {len(there)} numbers ({', '.join(names)}), not {len(joints)}")
    away = np.abs(there - joints)
    if np.max(away) > tolerance * (1 + np.max(np.abs(joints))):
        worst = int(np.argmax(away))
        raise UserError(f"movements of {task.name} cannot begin with {names[worst]} at {joints[worst]:g}")
    return pose


def _space(task: Task) -> int:
    """2 for an arm in the plane, 3 for one in space."""
    joints = jax.ShapeDtypeStruct((task.promp.dimensions,), jnp.float32)
    return jax.eval_shape(task.kinematics, joints).shape[-1]


class Bounds(NamedTuple):
    """Constraints as arrays, so that others of the same number need no new compilation."""

    position: Array
    """[joint, 2]; [0, 2] without a robot."""
    speed: Array
    """[joint]: largest change of a joint over a whole movement at a constant speed."""
    centres: Array
    """[shape, 2 or 3]"""
    halves: Array
    """[shape, 2 or 3]: half the edges of boxes, 0 for spheres."""
    radii: Array
    """[shape]: of spheres, 0 for boxes, both with the thickness added of a robot without capsules."""
    demanded: Demands
    """Demands on the tool."""


def bounds(task: Task, constraints: Constraints) -> Bounds:
    """Constraints as arrays, or a sentence about why they do not fit the task."""
    robot, shapes = constraints.robot, constraints.keep_out
    joints = jax.ShapeDtypeStruct((task.promp.dimensions,), jnp.float32)
    moved = jax.eval_shape(task.arm.joints, joints).shape[-1]
    space = _space(task)
    if robot is not None and len(robot.joints) != moved:
        raise UserError(f"{robot.name} has {len(robot.joints)} joints where {task.name} moves {moved}; name those")
    for number, shape in enumerate(shapes, start=1):
        if len(shape.centre) != space:
            raise UserError(f"keep-out {number} has {len(shape.centre)} coordinates where {task.name} has {space}")
    capsules = enclosed(task)  # Also without limits: programs cannot find it out while they are traced.
    thickness = 0.0 if robot is None or capsules is not None else robot.thickness
    rows = [
        (shape.centre, (0.0,) * space, shape.radius)
        if isinstance(shape, Sphere)
        else (shape.centre, tuple(high - middle for high, middle in zip(shape.high, shape.centre, strict=True)), 0.0)
        for shape in shapes
    ]
    centres, halves, radii = zip(*rows, strict=True) if rows else ((), (), ())
    arrays = (
        np.array([] if robot is None else robot.position, np.float32).reshape(-1, 2),
        np.array([] if robot is None else robot.velocity, np.float32) * np.float32(constraints.moving),
        np.array(centres, np.float32).reshape(-1, space),
        np.array(halves, np.float32).reshape(-1, space),
        np.array(radii, np.float32) + np.float32(thickness),
        demands.arrays(task, space, constraints.via, constraints.pointing),
    )
    return Bounds(*jax.device_put(arrays))  # Without a program for every array, as jnp.asarray has.


def without_joints(limits: Bounds) -> Bounds:
    """The same without limits of joints, for programs that are the same for every robot."""
    return limits._replace(position=jnp.zeros((0, 2)), speed=jnp.zeros(0))


def cost(task: Task, limits: Bounds, weights: Array) -> Array:
    """Cost of a movement's violations, to be taken from its reward; weights: [D]. Differentiable.

    A unit is a radian, the largest speed, the size of a keep-out, `TOUCH` between links, or what a demand allows.
    """
    steps = task.promp.steps
    joints = task.promp.rollout(weights)
    violations = jnp.zeros(())
    if limits.speed.shape[0]:
        moved = task.arm.joints(joints)
        low, high = limits.position.T
        speed = jnp.abs(jnp.diff(moved, axis=0)) * (steps - 1) / limits.speed
        violations += jnp.sum(jax.nn.relu(low - moved + SPARE) + jax.nn.relu(moved - high + SPARE))
        violations += jnp.sum(jax.nn.relu(speed - 1 + SPARE))
        apart = itself(task, joints[::-SPARSE])
        violations += SPARSE * jnp.sum(jax.nn.relu(APART - apart)) / TOUCH
    if limits.radii.shape[0]:
        starts, ends, radii = body(task, joints)
        along = jnp.linspace(0.0, 1.0, _ALONG)[:, None, None, None]
        points = (1 - along) * starts + along * ends  # [along, T, link, 2 or 3]
        violations += jnp.sum(_depths(limits, radii, points[:, :-1], points[:, 1:])) / _ALONG
    return STRENGTH * (violations + demands.cost(task, limits.demanded, weights))


class Margins(NamedTuple):
    """Margins of movements from violating constraints at their worst moment; negative where they do."""

    position: Array
    """[..., joint], in radians"""
    velocity: Array
    """[..., joint], as a part of the largest speed"""
    clearance: Array
    """[..., shape], in metres"""
    itself: Array
    """[...]: between links of the robot, in metres; infinite where none could touch."""
    met: Met
    """Demands on the tool."""


@partial(jax.jit, static_argnums=0)
def margins(task: Task, limits: Bounds, weights: Array) -> Margins:
    """Margins of movements; weights: [n, D]."""
    one = partial(_margins, task, limits)
    return by_chunks(0, lambda some: each(one, some), weights)


def _margins(task: Task, limits: Bounds, weights: Array) -> Margins:
    phase = jnp.linspace(0.0, 1.0, FINE * task.promp.steps)
    joints = task.promp.at(weights, phase)
    shapes, moved = limits.radii.shape[0], limits.speed.shape[0]
    position = velocity = jnp.zeros(moved)
    if moved:

        def angles(z: Array) -> Array:
            return task.arm.joints(task.promp.at(weights, z))

        place, speed = jax.jvp(angles, (phase,), (jnp.ones_like(phase),))
        low, high = limits.position.T
        position = jnp.min(jnp.minimum(place - low, high - place), axis=0)
        velocity = 1 - jnp.max(jnp.abs(speed), axis=0) / limits.speed
    clearance = jnp.min(clearances(limits, body(task, joints)), axis=(0, 1)) if shapes else jnp.zeros(0)
    apart = jnp.min(itself(task, joints), initial=jnp.inf) if moved else jnp.asarray(jnp.inf)
    return Margins(position, velocity, clearance, apart, demands.met(task, limits.demanded, weights, phase))


def clearances(limits: Bounds, parts: Body) -> Array:
    """Distances [..., part, shape] of the parts of a robot to keep-outs; negative inside."""
    starts, ends = (end[..., None, :] for end in (parts.starts, parts.ends))
    return along_line(partial(_outside, limits), starts, ends) - parts.radii[:, None]


def _outside(limits: Bounds, points: Array) -> Array:
    """Distance [..., shape] of points [..., 1, 2 or 3] to the surfaces of the shapes; negative inside."""
    return point_to_box(points, limits.centres, limits.halves) - limits.radii


def _depths(limits: Bounds, radii: Array, before: Array, after: Array) -> Array:
    """Depths [..., shape], in sizes of the shapes, of balls in them that go from `before` to `after`, [..., 2 or 3].

    radii: [part], of the balls by the last axis but the coordinates.

    It is looked where the way passes a shape's centre most closely, so that a fast arm does not go unseen. The way
    counts beside the time: else it would pay to pass through quickly.
    """
    before, way = before[..., None, :], (after - before)[..., None, :]
    length = jnp.sqrt(jnp.sum(way**2, axis=-1) + 1e-12)
    share = jnp.sum((limits.centres - before) * way, axis=-1) / length**2
    share = jax.lax.stop_gradient(jnp.clip(share, 0.0, 1.0))
    size = limits.radii + jnp.max(limits.halves, axis=-1)
    depth = (radii[:, None] - _outside(limits, before + share[..., None] * way)) / size
    return jax.nn.relu(depth + CLEAR) * (1 + WAY * length / size)
