"""Decisions that demonstrations make for a scene: the movement primitive, its duration, and where contexts lie."""

from functools import partial

import jax
import numpy as np

from vigor.motion import rotations
from vigor.motion.promp import ProMP
from vigor.tasks.scenes.scene import NUMBERS, Decided, Scene

STEPS = 50
"""Time steps of a movement."""
FEWEST, MOST = 6, 20
"""Basis functions for each dimension."""
CLOSE = 0.005
"""Metres of the tool, as a root mean square over steps, to which recordings are fitted."""
USUAL = 0.9
"""Share of the recordings that must be fitted so closely, and keep to the robot's largest speeds."""
OVERLAP = 0.6
"""Deviation of a basis function, in distances between two of them."""
SAME = 0.02
"""Most that a joint may differ where recordings begin in the same pose."""
SHORTEST = 1.0
"""Least seconds of a movement unless the scene says less."""
SPARE = 1.25
"""Seconds of a movement, in times of those that recordings usually need: other contexts may need more."""


def promp(scene: Scene) -> ProMP:
    """The movement primitive of a scene; before anything is decided, one that starts anywhere."""
    if scene.decided is None:
        return _promp(scene, FEWEST, None)
    return _promp(scene, scene.decided.bases, scene.decided.start)


def _promp(scene: Scene, bases: int, start: tuple[float, ...] | None) -> ProMP:
    free = start is None
    low, high = -0.01, 1.01
    apart = (high - low) / (bases + (-1 if free else 1))
    return ProMP(bases, scene.dimensions, STEPS, start, free, span=(low, high), width=(OVERLAP * apart) ** 2)


def decide(scene: Scene, movements: np.ndarray, contexts: np.ndarray) -> Decided:
    """Decisions from demonstrated movements [n, T, dimensions] and their contexts [m, C].

    Movements start in one pose if all of them do. There are as few basis functions as fit nine tenths of the
    movements closely. A movement takes as long as nine tenths of them need within the robot's largest speeds.
    """
    start = _start(scene, movements)
    few, bases = FEWEST, MOST
    while few < bases:  # More fit more closely, so that those that suffice are found by halves.
        half = (few + bases) // 2
        close = np.quantile(_errors(scene, _promp(scene, half, start), movements), USUAL) <= CLOSE
        few, bases = (few, half) if close else (half + 1, bases)
    seconds = _seconds(scene, movements) if scene.seconds is None else scene.seconds
    return Decided(bases, start, seconds, tuple(map(tuple, np.asarray(contexts, float).tolist())))


def _start(scene: Scene, movements: np.ndarray) -> tuple[float, ...] | None:
    """The pose [dimension] that all movements start from, if they do."""
    first = movements[:, 0]
    middle = first.mean(axis=0)
    if scene.start is not None:
        return (*scene.start, *middle[len(scene.start) :].tolist())
    return tuple(middle.tolist()) if np.max(np.abs(first - middle)) <= SAME else None


def _errors(scene: Scene, promp: ProMP, movements: np.ndarray) -> np.ndarray:
    """Distance [n] of the tool, in fits of movements [n, T, dimensions], from where it was."""
    weights = promp.fit(movements).reshape(len(movements), promp.bases, promp.dimensions)
    basis, offset = promp.parts(movements.shape[1])
    fitted = basis @ weights + offset
    places = [_tool(scene, part[..., : len(scene.robot.joints)].astype(np.float32)) for part in (fitted, movements)]
    return np.sqrt(np.mean(np.sum((np.asarray(places[0]) - np.asarray(places[1])) ** 2, axis=-1), axis=-1))


@partial(jax.jit, static_argnums=0)
def _tool(scene: Scene, joints: jax.Array) -> jax.Array:
    chain = scene.robot.kinematics
    assert chain is not None
    return chain(joints)[..., -1, :]


def _seconds(scene: Scene, movements: np.ndarray) -> float:
    """Seconds that movements [n, T, dimensions] usually need within the robot's largest speeds, and some to spare."""
    steps = movements.shape[1] - 1
    speeds = np.max(np.abs(np.diff(movements[..., : len(scene.robot.joints)], axis=1)), axis=1) * steps
    needed = np.max(speeds / np.array(scene.robot.velocity), axis=1)
    return max(SHORTEST, round(SPARE * float(np.quantile(needed, USUAL)), 1))


def sample_contexts(scene: Scene, rng: np.random.Generator, count: int) -> np.ndarray:
    """Contexts [count, C] within what demonstrations span: positions in their box, headings in their arc, orientations
    on the way from one to another."""
    assert scene.decided is not None
    known = np.array(scene.decided.contexts)
    parts = []
    for item in scene.objects:
        own = known[:, scene.part(item.name)]
        drawn = rng.uniform(own[:, :3].min(axis=0), own[:, :3].max(axis=0), (count, 3))
        if item.pose == "position and heading":
            begin, width = rotations.narrowest_arc(own[:, 3])
            drawn = np.column_stack([drawn, begin + rng.uniform(0.0, width, count)])
        elif item.pose == "pose":
            pairs, shares = rng.integers(len(own), size=(count, 2)), rng.uniform(size=count)
            turned = [rotations.between(own[i, 3:], own[j, 3:], s) for (i, j), s in zip(pairs, shares, strict=True)]
            drawn = np.column_stack([drawn, turned])
        assert drawn.shape[1] == len(NUMBERS[item.pose])
        parts.append(drawn)
    return np.concatenate(parts, axis=1)
