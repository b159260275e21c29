"""Demands on the tool: places that it must pass, and directions that it must point in, at a time or at any.

A time is a share of the movement's, as its export runs at an even pace: 0 where it leaves, 1 where it comes to rest.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from vigor.basics.errors import UserError
from vigor.basics.files import NUMBER
from vigor.motion.shapes import LARGEST
from vigor.planning import bodies, pacing
from vigor.tasks.task import Task

Array = jax.Array

SPARE = 0.3
"""Part of what is allowed that the cost keeps free, so that samples around a plan do what is demanded as well."""
STEPS = 5.0
"""Steps that it costs as much as to miss a demand by as much again as it allows."""
ANY = -1.0
"""Phase that stands for any."""


@dataclass(frozen=True)
class Via:
    """A place that the tool must come near."""

    point: tuple[float, ...]
    """[2 or 3], in metres"""
    radius: float
    """Largest distance from it, in metres."""
    time: float | None = None
    """Share of the movement's time at which it must be there; None for any."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "point", tuple(map(float, self.point)))
        good = len(self.point) in (2, 3) and all(abs(value) <= LARGEST for value in self.point)
        if not good or not 0 < self.radius <= LARGEST:
            raise UserError("a via-point needs a place of 2 or 3 finite coordinates and a positive radius")
        _check_time(self.time)


@dataclass(frozen=True)
class Pointing:
    """A direction that the tool must point in, with its z axis."""

    direction: tuple[float, float, float]
    """In the frame of the robot's base; any length."""
    degrees: float
    """Largest angle to it."""
    time: float | None = 1.0
    """Share of the movement's time at which it must; None for any. By default at the end."""

    def __post_init__(self) -> None:
        length = math.hypot(*self.direction)
        if len(self.direction) != 3 or not 0 < length <= LARGEST or not 0 < self.degrees <= 180:
            raise UserError("pointing needs a direction of 3 finite numbers, not all 0, and an angle up to 180 degrees")
        object.__setattr__(self, "direction", tuple(float(value) / length for value in self.direction))
        _check_time(self.time)


def _check_time(time: float | None) -> None:
    if time is not None and not 0 <= time <= 1:
        raise UserError(f"a time is a share of the movement's, from 0 to 1 (0% to 100%), not {time:g}")


def parse_via(text: str) -> Via:
    """A via-point as the command line names it: X,Y,Z,RADIUS or X,Y,Z,RADIUS@TIME%, in the plane without Z."""
    numbers, time = _parse(text)
    if len(numbers) not in (3, 4):
        raise UserError(f"{text!r:.80} is no via-point; write X,Y,Z,RADIUS or X,Y,Z,RADIUS@50%, in the plane without Z")
    return Via(numbers[:-1], numbers[-1], time)


def parse_pointing(text: str) -> Pointing:
    """A direction as the command line names it: X,Y,Z,DEGREES or X,Y,Z,DEGREES@TIME%."""
    numbers, time = _parse(text)
    if len(numbers) != 4:
        raise UserError(f"{text!r:.80} is no direction; write X,Y,Z,DEGREES or X,Y,Z,DEGREES@50%")
    return Pointing((numbers[0], numbers[1], numbers[2]), numbers[3], 1.0 if time is None else time)


def _parse(text: str) -> tuple[tuple[float, ...], float | None]:
    """Numbers, and the share of time after them if there is one; no numbers for what cannot be read."""
    values, at, time = text.partition("@")
    words = [word.strip() for word in values.split(",")]
    share = time.strip().removesuffix("%")
    if not all(map(NUMBER.fullmatch, words)) or (at and not (NUMBER.fullmatch(share) and time.strip().endswith("%"))):
        return (), None
    return tuple(map(float, words)), float(share) / 100 if at else None


class Demands(NamedTuple):
    """Demands as arrays, so that others of the same number need no new compilation."""

    points: Array
    """[via, 2 or 3]"""
    radii: Array
    """[via]"""
    passed: Array
    """[via]: phase at which each is looked at, or ANY."""
    directions: Array
    """[pointing, 3]"""
    angles: Array
    """[pointing], in radians"""
    pointed: Array
    """[pointing]: phase, or ANY."""


class Met(NamedTuple):
    """Margins by which a movement does what is demanded; negative where it does not."""

    via: Any
    """[via], in metres"""
    pointing: Any
    """[pointing], in radians"""


def arrays(task: Task, space: int, via: Sequence[Via], pointing: Sequence[Pointing]) -> Demands:
    """Demands as arrays, or a sentence about why they do not fit a task in so many coordinates."""
    for number, item in enumerate(via, start=1):
        if len(item.point) != space:
            raise UserError(f"via-point {number} has {len(item.point)} coordinates where {task.name} has {space}")
    if pointing and bodies.placed(task) is None:
        raise UserError(f"nothing says where the tool of {task.name} points; its robot needs kinematics")
    made = (
        np.array([item.point for item in via], np.float32).reshape(-1, space),
        np.array([item.radius for item in via], np.float32),
        np.array(phases([item.time for item in via]), np.float32),
        np.array([item.direction for item in pointing], np.float32).reshape(-1, 3),
        np.array([math.radians(item.degrees) for item in pointing], np.float32),
        np.array(phases([item.time for item in pointing]), np.float32),
    )
    return Demands(*jax.device_put(made))


def phases(times: Sequence[float | None]) -> np.ndarray:
    """Phases [n] at shares of the time, by an even pace."""
    known = pacing.uniform(np.array([0.0 if time is None else time for time in times])).phase
    return np.where([time is None for time in times], ANY, known) if len(times) else np.zeros(0)


def met(task: Task, demanded: Demands, weights: Array, course: Array) -> Met:
    """Margins of a movement [D]; course: phases [T] at which what may be at any time is looked for."""
    via, pointing = jnp.zeros(0), jnp.zeros(0)
    if demanded.radii.shape[0]:

        def away(phase: Array) -> Array:
            """Distances [phase, via] of the tool."""
            tip = task.kinematics(task.promp.at(weights, phase))[..., -1, :]
            return jnp.sqrt(jnp.sum((tip[:, None] - demanded.points) ** 2, axis=-1) + 1e-12)

        via = demanded.radii - _at(away, demanded.passed, course)
    if demanded.angles.shape[0]:

        def turned(phase: Array) -> Array:
            """Angles [phase, direction] of the tool."""
            axis = bodies.tool_axis(task, task.promp.at(weights, phase))[:, None]
            across = jnp.cross(axis, demanded.directions)
            apart = jnp.sqrt(jnp.sum(across**2, axis=-1) + 1e-12)
            return jnp.arctan2(apart, jnp.sum(axis * demanded.directions, axis=-1))

        pointing = demanded.angles - _at(turned, demanded.pointed, course)
    return Met(via, pointing)


def _at(missed: Callable[[Array], Array], phase: Array, course: Array) -> Array:
    """Values [demand] of a function [phase, demand] at the phase of each, or the smallest in the course."""
    return jnp.where(phase == ANY, jnp.min(missed(course), axis=0), jnp.diagonal(missed(jnp.clip(phase, 0.0, 1.0))))


def cost(task: Task, demanded: Demands, weights: Array) -> Array:
    """Units by which a movement [D] misses demands: as much again as each allows. Differentiable."""
    found = met(task, demanded, weights, jnp.linspace(0.0, 1.0, task.promp.steps))
    far, turned = (
        jax.nn.relu(SPARE - margin / allowed)
        for margin, allowed in ((found.via, demanded.radii), (found.pointing, demanded.angles))
    )
    return STEPS * (jnp.sum(far) + jnp.sum(turned))
