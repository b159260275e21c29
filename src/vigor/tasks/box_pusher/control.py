"""From a planned path in the plane to joint angles: the rod points down at a fixed height.

With joints 3 and 5 at zero the arm moves in a vertical plane through its base, which joint 1 turns towards the point.
In that plane shoulder, elbow and wrist are a chain of two links, whose angles follow from the law of cosines.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from scipy.interpolate import CubicSpline

from vigor.motion.panda import FLANGE, LOWER, OFFSET, SHOULDER, UPPER
from vigor.motion.promp import ProMP
from vigor.tasks.box_pusher.geometry import REACH, START

PROMP = ProMP(bases=7, dimensions=2, steps=50, start=START, free_start=True, scale=0.1)
"""Plans: paths of the rod's tip. Weights are relative to where the box starts and in units of 10 cm, about half the
box. Those of random pushes have a deviation of .9, so that mixtures that begin as standard normal distributions cover
the box and what is around it."""

ROD_LENGTH = 0.2
"""Length from the flange to the tip."""
HEIGHT = 0.02
"""Height of the tip above the table."""
YAW = -0.7853
"""Joint 7, which only turns the rod about its axis."""


def joint_angles(points: Any) -> Any:
    """Joint angles [..., 7] that hold the rod's tip at points [..., 2]; those out of reach are drawn into it.

    Takes arrays of numpy, or of JAX and differentiable.
    """
    xp: Any = jnp if isinstance(points, jax.Array) else np
    radius = xp.clip(xp.linalg.norm(points, axis=-1), *REACH)
    forward, up = radius - OFFSET, HEIGHT + ROD_LENGTH + FLANGE - SHOULDER
    upper, lower = np.hypot(*UPPER), np.hypot(*LOWER)
    upper_lean, lower_lean = np.arctan2(*UPPER), np.arctan2(*LOWER)  # From the vertical.
    bend = xp.arccos((forward**2 + up**2 - upper**2 - lower**2) / (2 * upper * lower))
    lean = xp.arctan2(forward, up) - xp.arctan2(lower * xp.sin(bend), upper + lower * xp.cos(bend))
    turn, shoulder, elbow = (
        xp.arctan2(points[..., 1], points[..., 0]),
        lean - upper_lean,
        lower_lean - upper_lean - bend,
    )
    still = xp.zeros_like(turn)
    return xp.stack([turn, shoulder, still, elbow, still, shoulder - elbow, still + YAW], axis=-1)


def follow(paths: np.ndarray, steps: int, hold: int) -> np.ndarray:
    """Joint targets [n, steps + hold, 7] of planned paths [n, T, 2]: evenly in time, then still at the last point."""
    paths = np.asarray(paths, float)
    smooth = CubicSpline(np.linspace(0.0, 1.0, paths.shape[1]), paths, axis=1)(np.linspace(0.0, 1.0, steps))
    return np.pad(joint_angles(smooth), ((0, 0), (0, hold), (0, 0)), "edge")
