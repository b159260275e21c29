"""Moments of a movement: joints, slopes and the robot's body at some phases, and whether the way between is free."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from vigor.basics.errors import UserError
from vigor.planning import bodies, constraints, violations
from vigor.planning.constraints import Bounds, Constraints, Margins
from vigor.planning.demands import Met
from vigor.tasks.task import Task

Array = jax.Array

FINE = 40
"""Multiple of the ProMP's steps at which the largest speed and acceleration are looked for."""
TURN = 0.1
"""Most radians of a joint between two moments, for a way between them that is hardly longer than a straight one."""
BENT = 1.1
"""Length of such a way over that of a straight one."""
TOUCH = 1e-4
"""Metres of a way that need not be looked at more closely."""
PARTS = 10
"""Parts of a way that is looked at more closely."""
MOST = 10**4
"""Most ways that are."""


class Moments(NamedTuple):
    """A movement at some phases, [T, ...]."""

    place: Any
    """[T, joint]"""
    slope: Any
    """[T, joint]: derivative by the phase."""
    bend: Any
    """[T, joint]: second derivative."""
    points: Any
    """[T, points, 2 or 3]"""
    parts: Any
    """[T, part, 2, 2 or 3]: both ends of the parts of the robot's body."""
    clearances: Any
    """[T, part, keep-out]"""
    itself: Any
    """[T, pair]: between parts of the robot."""


@partial(jax.jit, static_argnums=0)
def _move(task: Task, limits: Bounds, weights: Array, phases: Array) -> Moments:
    """A movement [D] at phases [T]."""

    def place(phase: Array) -> Array:
        return task.arm.joints(task.promp.at(weights, phase))

    def slope(phase: Array) -> Array:
        return jax.jvp(place, (phase,), (jnp.ones_like(phase),))[1]

    joints = task.promp.at(weights, phases)
    first, second = jax.jvp(slope, (phases,), (jnp.ones_like(phases),))
    body = bodies.body(task, joints)
    return Moments(
        place(phases),
        first,
        second,
        task.kinematics(joints),
        jnp.stack([body.starts, body.ends], axis=-2),
        constraints.clearances(limits, body),
        bodies.itself(task, joints),
    )


def sample(task: Task, limits: Bounds, weights: Array, phases: np.ndarray) -> Moments:
    """`_move` at any number of phases [T], in blocks of one size: one program whatever their number."""
    size = FINE * task.promp.steps
    padded = np.resize(phases, (-(-len(phases) // size), size))
    parts = [_move(task, limits, weights, jnp.asarray(block)) for block in padded]
    found = Moments(*(np.concatenate(part)[: len(phases)] for part in zip(*parts, strict=True)))
    if not all(np.all(np.isfinite(part)) for part in found):
        raise UserError("this movement is not finite; export another solution")
    return found


def check_way(
    at: Callable[[np.ndarray], Moments], limits: Constraints, phases: np.ndarray, what: str = "this movement"
) -> Moments:
    """The movement at phases [T]; refused by such a name if it violates a limit that more time does not mend.

    Where what is known of two moments does not rule out a violation between them, it is looked at more closely.
    """
    first = found = at(phases)
    if np.max(np.abs(np.diff(first.place, axis=0))) > 10 * TURN:
        raise UserError(f"{what} is wilder than any robot's; export another solution")
    _check_moments(limits, first, what)
    spans = phases[None] if limits.keep_out or first.itself.size else np.zeros((0, 2))
    while len(spans):
        parts = found.place, found.parts, found.clearances, found.itself
        doubtful = _doubtful(*(part.reshape(*spans.shape, *part.shape[1:]) for part in parts))
        spans = np.linspace(spans[:, :-1][doubtful], spans[:, 1:][doubtful], PARTS + 1, axis=1)
        if len(spans) > MOST:
            raise UserError(f"{what} stays too near to a keep-out or to itself; export another solution")
        if len(spans):
            found = at(spans.reshape(-1))
            _check_moments(limits, found, what)
    return first


def _doubtful(place: np.ndarray, parts: np.ndarray, clearances: np.ndarray, itself: np.ndarray) -> np.ndarray:
    """Whether a part may enter a keep-out or another part between one moment and the next, [span, T - 1].

    place: [span, T, joint], parts: [span, T, part, 2, 2 or 3], clearances: [span, T, part, keep-out], itself: [span, T,
    pair]. A point that goes from one place to another enters nothing if its way is no longer than the clearances of
    both together; and no point of a part goes farther than both its ends. Two parts go at most twice as far.
    """
    way = BENT * np.max(np.linalg.norm(np.diff(parts, axis=1), axis=-1), axis=-1)  # [span, T - 1, part]
    near = np.any(clearances[:, :-1] + clearances[:, 1:] < way[..., None], axis=(-2, -1))
    near |= np.any(itself[:, :-1] + itself[:, 1:] < 2 * np.max(way, axis=-1, keepdims=True), axis=-1)
    turned = np.any(np.abs(np.diff(place, axis=1)) > TURN, axis=-1)
    return turned | (near & (np.max(way, axis=-1) > TOUCH))


def _check_moments(limits: Constraints, found: Moments, what: str) -> None:
    """Refuse a movement that at one of the moments violates a limit of position, a keep-out, or itself."""
    low, high = np.array([] if limits.robot is None else limits.robot.position).reshape(-1, 2).T
    inside = np.minimum(found.place - low, high - found.place) if limits.robot is not None else np.zeros((1, 0))
    itself = found.itself.min(initial=np.inf)
    free = Met(np.zeros(0), np.zeros(0))  # Demands need times, which a path has not.
    margins = Margins(inside.min(axis=0), jnp.ones(len(low)), found.clearances.min(axis=(0, 1)), itself, free)
    broken = violations.violation(limits, margins)
    if broken is not None:
        raise UserError(f"{what} violates {broken}; export another solution")
