"""Where a planned push takes the box, by mechanics that are differentiable: as quick as kinematics, and rougher.

The box slides so slowly that friction balances what the rod does to it (quasi-static pushing; Mason, Mechanics and
planning of manipulator pushing operations, 1986). The rod gives way as a spring does between where it is planned and
where it is. Where a wall stops it, it sticks to the wall or slides along it. Friction under the box resists forces and
torques up to an ellipsoid of them (Lynch and Mason, Stable pushing, 1996). A box that is pushed harder moves along the
ellipsoid's normal until what the spring does is on it again.

This is knowledge of boxes and rods, as kinematics are of arms: of goals and of success it knows nothing.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from vigor.tasks.box_pusher import geometry


class Constants(NamedTuple):
    """Constants of the mechanics."""

    give: float | Float[Array, ""]
    """Way, in metres, by which the rod gives way before the box slides."""
    arm: float | Float[Array, ""]
    """Torque at which the box turns over the force at which it slides, in metres."""
    friction: float | Float[Array, ""]
    """Between rod and box."""


CONSTANTS = Constants(0.0083, 0.116, 0.18)
"""Constants of our box, identified from random pushes (`benchmarks/box_mechanics.py`)."""


class _State(NamedTuple):
    """Box and rod."""

    pose: Float[Array, "3"]
    """Movement of the box so far: place and angle."""
    rod: Float[Array, "2"]
    """Place of the rod, in the box's frame."""


def poses(path: Float[Array, "time 2"], constants: Constants = CONSTANTS) -> Float[Array, "time 3"]:
    """Movements (x, y, angle) of the box in the course of a planned path."""
    path = path - jnp.asarray(geometry.START)
    within = jnp.all(jnp.abs(path[0]) < jnp.asarray(geometry.SIZE) / 2 - geometry.WALL / 2)
    first = _State(jnp.zeros(3), _beside_walls(path[0], within))

    def step(state: _State, planned: Float[Array, "2"]) -> tuple[_State, Float[Array, "3"]]:
        state = _pushed(constants, within, state, planned)
        return state, state.pose

    return jax.lax.scan(step, first, path)[1]


def _pushed(constants: Constants, within: Bool[Array, ""], state: _State, planned: Float[Array, "2"]) -> _State:
    """Box and rod when the plan wants the rod elsewhere; within: whether it pushes from inside."""
    wanted = _into(state.pose, planned)
    point, normal = _wall(state.rod, wanted, within)
    tangent = jnp.array([-normal[1], normal[0]])
    # What the spring does if the box stays: into the wall, and along it as far as friction holds.
    beyond = geometry.ROD - normal @ (wanted - point)
    pressing = jnp.maximum(beyond, 1e-5)
    along = jnp.clip(tangent @ (wanted - state.rod) / pressing, -constants.friction, constants.friction)
    force = along * tangent - normal  # For a unit of the normal force.
    torque = _cross(point, force)
    held = constants.give / jnp.sqrt(force @ force + (torque / constants.arm) ** 2 + 1e-6)
    # The wall goes as far as the spring presses more than is held; the ellipsoid's normal says how the box turns.
    turn = torque / constants.arm**2
    moved = jnp.where(beyond > 0, jnp.maximum(pressing - held, 0.0), 0.0)
    moved = moved / jnp.maximum(1 + turn * _cross(point, -normal), 0.1)
    x, y, angle = state.pose
    dx, dy = _turned(moved * force, angle + moved * turn / 2)
    pose = jnp.stack([x + dx, y + dy, angle + moved * turn])
    # The rod in the frame of the box, where it is now.
    wanted = _into(pose, planned)
    sticks = constants.friction * jnp.minimum(pressing, held)
    slid = tangent @ wanted - jnp.clip(tangent @ (wanted - state.rod), -sticks, sticks)
    stopped = slid * tangent + (normal @ point + geometry.ROD) * normal
    return _State(pose, _beside_walls(jnp.where(beyond > 0, stopped, wanted), within))


def _wall(rod: Float[Array, "2"], wanted: Float[Array, "2"], within: Bool[Array, ""]) -> tuple[Array, Array]:
    """Point of a wall that a rod touches on its way to where it is wanted, and the direction from there to the rod."""
    half = jnp.asarray(geometry.SIZE) / 2
    corner = jnp.clip(rod, -half, half)
    off = rod - corner
    far = jnp.sqrt(jnp.maximum(off @ off, 1e-12))
    # From inside: the wall that it is wanted farthest beyond.
    room = half - geometry.WALL
    axis = jnp.arange(2) == jnp.argmin(room - jnp.abs(wanted))
    side = jnp.where(wanted < 0, -1.0, 1.0)
    at = jnp.where(axis, side * room, jnp.clip(rod, -room, room))
    return jnp.where(within, at, corner), jnp.where(within, jnp.where(axis, -side, 0.0), off / far)


def _beside_walls(rod: Float[Array, "2"], within: Bool[Array, ""]) -> Float[Array, "2"]:
    """A rod, out of the walls: inside, or straight out of the nearest."""
    half = jnp.asarray(geometry.SIZE) / 2
    room = half - geometry.WALL - geometry.ROD
    out = half + 0.5 * geometry.ROD  # Round a corner it is nearer than along a wall.
    axis = jnp.arange(2) == jnp.argmax(jnp.abs(rod) - out)
    free = jnp.where(axis & jnp.all(jnp.abs(rod) < out), jnp.sign(rod) * out, rod)
    return jnp.where(within, jnp.clip(rod, -room, room), free)


def _into(pose: Float[Array, "3"], point: Float[Array, "2"]) -> Float[Array, "2"]:
    """A point in the frame of a box at a pose."""
    return _turned(point - pose[:2], -pose[2])


def _turned(point: Float[Array, "2"], angle: Float[Array, ""]) -> Float[Array, "2"]:
    """A point turned by an angle about the origin."""
    cos, sin = jnp.cos(angle), jnp.sin(angle)
    return jnp.stack([cos * point[0] - sin * point[1], sin * point[0] + cos * point[1]])


def _cross(a: Float[Array, "2"], b: Float[Array, "2"]) -> Float[Array, ""]:
    """The third coordinate of the cross product: the torque of a force b at a."""
    return a[0] * b[1] - a[1] * b[0]
