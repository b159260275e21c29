"""Where a planned push takes the box, by mechanics that are differentiable: as quick as kinematics, and as rough.

The box slides so slowly that friction balances what the rod does to it (quasi-static pushing: Mason 1986; Lynch and
Mason 1996). The rod gives way as a spring does between where it is planned and where it is. Where it is stopped by a
wall it slides along it, or sticks. The friction under the box resists forces and torques up to an ellipsoid of them
(Goyal et al. 1991); a box that is pushed harder moves along its normal, until what the spring does is on it again.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from vigor.tasks.box_pusher import geometry

SPRING = 930.0
"""Stiffness of the rod's tip in the plane, in newtons a metre: that of the joints, at the middle of the reach."""
SLIDING = 7.8
"""Force in newtons at which the box slides: weight by friction."""
ARM = 0.114
"""Torque at which the box turns, over the force at which it slides, in metres: it stands on its corners."""
ROD_FRICTION = 0.16
SUBSTEPS = 1
"""Steps of the mechanics to one of the plan."""


class _State(NamedTuple):
    """Box and rod."""

    pose: Float[Array, "3"]
    """Movement of the box so far: place and angle."""
    rod: Float[Array, "2"]
    """Place of the rod, in the box's frame."""


def poses(path: Float[Array, "time 2"]) -> Float[Array, "time 3"]:
    """Poses (x, y, angle) of the box, relative to where it starts, in the course of a planned path."""
    path = path - jnp.asarray(geometry.START)
    between = jnp.linspace(1 / SUBSTEPS, 1.0, SUBSTEPS)[:, None]
    fine = path[:-1, None] + between * (path[1:, None] - path[:-1, None])
    half = jnp.asarray(geometry.SIZE) / 2
    within = jnp.all(jnp.abs(path[0]) < half - geometry.WALL / 2)
    first = _State(jnp.zeros(3), _beside_walls(path[0], within))

    def step(state: _State, planned: Float[Array, "substep 2"]) -> tuple[_State, Float[Array, "3"]]:
        for one in planned:
            state = _pushed(state, one, within)
        return state, state.pose

    _, poses = jax.lax.scan(step, first, fine)
    return jnp.concatenate([jnp.zeros((1, 3)), poses])


def _pushed(state: _State, planned: Float[Array, "2"], within: Array) -> _State:
    """Box and rod when the plan wants the rod elsewhere; within: whether it pushes from inside."""
    wanted = _into(state.pose, planned)
    point, normal = _nearest_wall(state.rod, wanted, within)
    tangent = jnp.array([-normal[1], normal[0]])
    gap = normal @ (wanted - point) - geometry.ROD
    touching = gap < 0
    # The spring, with the box where it is: into the wall, and along it as far as friction holds.
    pressing = jnp.maximum(-gap, 1e-5)
    along = jnp.clip(tangent @ (wanted - state.rod) / pressing, -ROD_FRICTION, ROD_FRICTION)
    force = along * tangent - normal  # For a unit of the normal force.
    torque = _cross(point, force)
    held = SLIDING / SPRING / jnp.sqrt(force @ force + (torque / ARM) ** 2 + 1e-6)
    moved = jnp.maximum(pressing - held, 0.0)  # Of the wall, away from the rod.
    turned = torque / ARM**2
    moved = jnp.where(touching, moved, 0.0) / jnp.maximum(1 + turned * _cross(point, -normal), 0.1)
    x, y, angle = state.pose
    cos, sin = jnp.cos(angle + moved * turned / 2), jnp.sin(angle + moved * turned / 2)
    dx, dy = moved * force
    pose = jnp.stack([x + cos * dx - sin * dy, y + sin * dx + cos * dy, angle + moved * turned])
    # The rod, in the frame of the box as it is now.
    wanted = _into(pose, planned)
    left = jnp.minimum(pressing, held)
    slid = tangent @ wanted - jnp.clip(tangent @ (wanted - state.rod), -ROD_FRICTION * left, ROD_FRICTION * left)
    stopped = slid * tangent + (normal @ point + geometry.ROD) * normal
    return _State(pose, _beside_walls(jnp.where(touching, stopped, wanted), within))


def _into(pose: Float[Array, "3"], point: Float[Array, "2"]) -> Float[Array, "2"]:
    """A point in the frame of a box at a pose."""
    cos, sin = jnp.cos(pose[2]), jnp.sin(pose[2])
    x, y = point - pose[:2]
    return jnp.stack([cos * x + sin * y, cos * y - sin * x])


def _cross(a: Float[Array, "2"], b: Float[Array, "2"]) -> Float[Array, ""]:
    return a[0] * b[1] - a[1] * b[0]


def _nearest_wall(rod: Float[Array, "2"], wanted: Float[Array, "2"], within: Array) -> tuple[Array, Array]:
    """Point of a wall that a rod touches first on its way to where it is wanted, and the direction from there to it."""
    half = jnp.asarray(geometry.SIZE) / 2
    corner = jnp.clip(rod, -half, half)
    off = rod - corner
    far = jnp.sqrt(jnp.maximum(off @ off, 1e-12))
    # From inside: the wall that the rod is wanted beyond.
    room = half - geometry.WALL
    axis = jnp.arange(2) == jnp.argmin(room - jnp.abs(wanted))
    side = jnp.where(wanted < 0, -1.0, 1.0)
    at = jnp.where(axis, side * room, jnp.clip(rod, -room, room))
    return jnp.where(within, at, corner), jnp.where(within, jnp.where(axis, -side, 0.0), off / far)


def _beside_walls(rod: Float[Array, "2"], within: Array) -> Float[Array, "2"]:
    """A rod, out of the walls: inside, or straight out of the nearest."""
    half = jnp.asarray(geometry.SIZE) / 2
    room = half - geometry.WALL - geometry.ROD
    out = half + 0.5 * geometry.ROD
    axis = jnp.arange(2) == jnp.argmax(jnp.abs(rod) - out)
    free = jnp.where(axis & jnp.all(jnp.abs(rod) < out), jnp.sign(rod) * out, rod)
    return jnp.where(within, jnp.clip(rod, -room, room), free)
