"""Joint angles and speeds of a movement that is played, with their limits, as SVG."""

import jax.numpy as jnp
import numpy as np

from vigor.basics.colours import PALETTE
from vigor.studio.film import Film
from vigor.tasks.task import Task

SIZE = (270, 84)
"""Width and height of a chart, which is as wide as there is room."""
POINTS = 60
"""Moments that are drawn."""


def courses(task: Task, poses: np.ndarray, rate: float) -> tuple[np.ndarray, np.ndarray, bool]:
    """Angles and speeds [T, joint] of poses [T, dimensions], so many a second, and whether they are parts of limits.

    With a robot, an angle is from -1 to 1 between its limits, and a speed a part of the largest; else in radians.
    """
    robot = task.arm.robot
    joints = np.asarray(task.arm.joints(jnp.asarray(poses, jnp.float32)), np.float64)
    speeds = np.gradient(joints, axis=0) * rate if len(joints) > 1 else np.zeros_like(joints)
    if robot is None or len(robot.joints) != joints.shape[1]:
        return joints, speeds, False
    endless = np.array([[-np.pi], [np.pi]])
    low, high = np.where(np.isfinite(limits := np.array(robot.position, float).T), limits, endless)
    return 2 * (joints - low) / np.maximum(high - low, 1e-9) - 1, speeds / np.array(robot.velocity), True


def chart(title: str, values: np.ndarray, limited: bool, share: float) -> str:
    """Values [T, joint] over time; limited: dashed lines at 1 and -1 are limits; share: of the time, where we are."""
    width, height = SIZE
    largest = max(1.15 if limited else 1e-3, 1.08 * float(np.abs(values).max(initial=0.0)))
    some = values[np.linspace(0, len(values) - 1, POINTS).astype(int)]
    x, y = np.linspace(0, width, POINTS), height / 2 * (1 - some / largest)
    lines = [
        f'<polyline points="{" ".join(f"{a:.0f},{b:.1f}" for a, b in zip(x, column, strict=True))}" fill="none" '
        f'stroke="{PALETTE[i % len(PALETTE)]}" stroke-width="1.4"/>'
        for i, column in enumerate(y.T)
    ]
    dashes = [
        f'<line x1="0" x2="{width}" y1="{at:.1f}" y2="{at:.1f}" stroke="#d64541" stroke-dasharray="4 3"/>'
        for at in (height / 2 * (1 - side / largest) for side in (1, -1))
        if limited
    ]
    now = f'<line x1="{share * width:.0f}" x2="{share * width:.0f}" y1="0" y2="{height}" stroke="currentColor"/>'
    inner = "".join([*dashes, *lines, now])
    style = "width:100%;border:1px solid rgba(128,128,128,.3)"
    svg = f'<svg viewBox="0 0 {width} {height}" style="{style}">{inner}</svg>'
    return f'<div style="font-size:.75em;padding:0 1.2em .3em">{title}<br>{svg}</div>'


def charts(task: Task, film: Film) -> str:
    """Both charts of what is played."""
    values, speeds, limited = courses(task, film.poses, film.rate)
    if limited:
        titles = "angle of each joint, between its limits", "speed, as a part of the largest"
    elif len(film.seen[0].points) == values.shape[1] + 1:  # As many joints as links.
        titles = "angle of each joint, in radians", "speed, in radians a second"
    else:
        titles = "each coordinate", "its speed, a second"
    share = film.time / max(film.seconds, 1e-9)
    parts = zip(titles, (values, speeds), strict=True)
    return "".join(chart(title, part, limited, share) for title, part in parts)
