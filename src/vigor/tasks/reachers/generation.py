"""Demonstrations for a user who has none: a redundant arm passes a first target and ends in a second, in many ways.

Each movement takes a posture of its own at each target, found by inverse kinematics from a random posture, and goes
there as a person would: smoothly, with a timing of its own, sometimes hesitating, sometimes a little too far.
"""

import itertools
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import numpy as np
import scipy  # Its parts are loaded when they are used.

from vigor.basics.errors import UserError
from vigor.motion.inverse_kinematics import damped_least_squares

Array = jax.Array

CANDIDATES = 6
"""Pairs of postures that each movement chooses the most convenient one from."""
BATCH = 16
"""Movements that are solved for at a time, so that the solver is compiled once."""
ATTEMPTS = 20
"""Batches with too few postures in reach after which a context is given up."""
SURVEY = 40
"""Steps at which a recording is looked at."""
MARGIN = 0.15
"""Distance that joints keep from their limits, in radians, since ProMPs go a little beyond what they are fitted to."""
DAMPING, STEPS = 1e-3, 40
"""Damping and steps of the inverse kinematics."""
DETOUR = 1.8
"""Longest path of the end effector between rest and targets, in straight distances."""


def reacher(
    kinematics: Callable[[Array], Array],
    rest: tuple[float, ...],
    limits: tuple[tuple[float, float], ...],
    postures: Callable[[np.random.Generator, int], np.ndarray],
    first: slice,
    second: slice,
    radius: float,
    wander: float,
    floor: float = -np.inf,
) -> Callable[[np.random.Generator, np.ndarray, int], list[np.ndarray]]:
    """The `generate` of a task: recordings [T, joints] that leave `rest`, pass `first` and end in `second`.

    postures(rng, n) draws the postures [n, joints] that a movement prefers; `wander` is how far joints sway from the
    shortest path; no point of the arm gets below `floor`.
    """
    start = np.asarray(rest)
    lower, upper = np.asarray(limits).T + np.array([[MARGIN], [-MARGIN]])

    def solve(rng: np.random.Generator, preferred: np.ndarray, target: np.ndarray) -> np.ndarray:
        """Postures near the preferred ones [n, joints] with the end effector inside the target."""
        offset = rng.normal(size=(len(preferred), len(target)))
        offset *= 0.6 * radius * rng.uniform(size=(len(offset), 1)) / np.linalg.norm(offset, axis=1, keepdims=True)
        return _on_processor(_solve, kinematics, preferred, target + offset, lower, upper)

    survey = partial(_effort, kinematics, first, second, radius, floor)

    def draw(rng: np.random.Generator, context: np.ndarray) -> list[np.ndarray]:
        """At most BATCH recordings."""
        first_choice, second_choice = np.repeat(postures(rng, 2 * BATCH).reshape(2, BATCH, -1), CANDIDATES, axis=1)
        jitter = rng.normal(scale=0.2, size=(2, *first_choice.shape))
        at_first = solve(rng, first_choice + jitter[0], context[first])
        # Some keep their posture on the way to the second target, others change it.
        change = np.repeat(rng.uniform(size=BATCH) < 0.5, CANDIDATES)[:, None]
        at_second = solve(rng, np.where(change, second_choice, at_first) + jitter[1], context[second])
        recordings = [
            np.clip(movement(rng, start, via, goal, wander), lower, upper)
            for via, goal in zip(at_first, at_second, strict=True)
        ]
        effort = survey(recordings, context).reshape(BATCH, CANDIDATES)
        return [
            recordings[index * CANDIDATES + candidate]
            for index, candidate in enumerate(effort.argmin(axis=1))
            if np.isfinite(effort[index, candidate])
        ]

    def generate(rng: np.random.Generator, context: np.ndarray, count: int) -> list[np.ndarray]:
        recordings: list[np.ndarray] = []
        for _ in range(ATTEMPTS + count // BATCH):
            recordings += draw(rng, context)
            if len(recordings) >= count:
                return recordings[:count]
        raise UserError(f"the arm cannot reach both targets of context {np.round(context, 3).tolist()}; choose another")

    return generate


def _effort(
    kinematics: Callable[[Array], Array],
    first: slice,
    second: slice,
    radius: float,
    floor: float,
    recordings: list[np.ndarray],
    context: np.ndarray,
) -> np.ndarray:
    """Effort [n] of recordings, the travel of joints times that of the end effector; infinite for those that miss a
    target, go a long way round or get below the floor."""
    joints = np.stack([item[np.linspace(0, len(item) - 1, SURVEY, dtype=int)] for item in recordings])
    points = _on_processor(_points, kinematics, joints)
    effector = points[:, :, -1]
    straight = np.linalg.norm(context[first] - effector[0, 0]) + np.linalg.norm(context[second] - context[first])
    length = np.linalg.norm(np.diff(effector, axis=1), axis=-1).sum(axis=1)
    possible = (
        (np.linalg.norm(effector - context[first], axis=-1).min(axis=1) < radius)
        & (np.linalg.norm(effector[:, -1] - context[second], axis=-1) < radius)
        & (length < DETOUR * straight)
        & np.all(points[:, :, 1:, -1] >= floor, axis=(1, 2))
    )
    travel = np.linalg.norm(np.diff(joints, axis=1), axis=-1).sum(axis=1)
    return np.where(possible, travel * length, np.inf)


def movement(
    rng: np.random.Generator, rest: np.ndarray, via: np.ndarray, goal: np.ndarray, wander: float
) -> np.ndarray:
    """A recording [T, joints] from rest through a via posture to a goal posture, T between 63 and 159."""
    passing = rng.uniform(0.45, 0.75)
    arrival = rng.uniform(0.94, 0.98)
    beyond = goal + rng.uniform(0.0, 0.06) * (goal - via)
    times = np.array([0.0, passing, arrival, 1.0])
    poses = np.stack([rest, via, beyond, goal])
    # A joint that goes on in its direction keeps moving through the via posture; one that turns stops there.
    slopes = np.diff(poses, axis=0)[:2] / np.diff(times)[:2, None]
    onward = np.where(slopes[0] * slopes[1] > 0, np.sign(slopes[0]) * np.min(np.abs(slopes), axis=0), 0.0)
    still = np.zeros_like(rest)
    velocities = [still, onward * rng.uniform(0.3, 1.0), still, still]
    knots = [[pose, velocity, still] for pose, velocity in zip(poses, velocities, strict=True)]
    time = np.linspace(0.0, 1.0, 200)
    path = scipy.interpolate.BPoly.from_derivatives(times, knots)(time)
    for begin, end in itertools.pairwise(times[:3]):
        share = np.clip((time - begin) / (end - begin), 0.0, 1.0)[:, None]
        sway, lead = rng.normal(scale=wander, size=(2, len(rest)))
        path = path + np.sin(np.pi * share) ** 2 * (sway + lead * np.cos(np.pi * share))
    path = _paced(rng, path, int(rng.integers(60, 141)))
    return np.concatenate([np.tile(rest, (int(rng.integers(3, 20)), 1)), path])


def _paced(rng: np.random.Generator, path: np.ndarray, steps: int) -> np.ndarray:
    """The same path [n, joints] in so many steps, at a more even speed and with a hesitation somewhere."""
    time = np.linspace(0.0, 1.0, len(path))
    travelled = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(path, axis=0), axis=1))])
    waited = np.cumsum(np.exp(-(((time - rng.uniform(0.3, 0.7)) / 0.05) ** 2) / 2))
    clock = time + rng.uniform(0.2, 1.5) * travelled / travelled[-1] + rng.uniform(0.0, 0.3) * waited / waited[-1]
    when = np.interp(np.linspace(0.0, clock[-1], steps), clock, time)
    return np.stack([np.interp(when, time, joint) for joint in path.T], axis=1)


def _on_processor(function: Callable[..., Array], *arguments: Any) -> np.ndarray:
    """A function's value in double precision on the processor: a seed gives the same movements on every device."""
    with jax.enable_x64(True), jax.default_device(jax.local_devices(backend="cpu")[0]):
        return np.asarray(function(*arguments))


@partial(jax.jit, static_argnames="kinematics")
def _solve(kinematics: Callable[[Array], Array], postures: Array, aims: Array, lower: Array, upper: Array) -> Array:
    """Postures [n, joints] near those given, with the end effector at aims [n, 2 or 3] where these can be reached."""

    def solve(posture: Array, aim: Array) -> Array:
        return damped_least_squares(lambda joints: kinematics(joints)[-1], posture, aim, lower, upper, DAMPING, STEPS)

    return jax.vmap(solve)(postures, aims)


@partial(jax.jit, static_argnames="kinematics")
def _points(kinematics: Callable[[Array], Array], joints: Array) -> Array:
    return kinematics(joints)
