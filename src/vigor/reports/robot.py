"""A robot as a table in a terminal, and as a figure."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from matplotlib.figure import Figure
from rich.table import Table
from rich.text import Text

from vigor.basics.colours import INK
from vigor.basics.errors import UserError
from vigor.motion.kinematics import Chain
from vigor.motion.robots import Robot
from vigor.reports import drawing
from vigor.reports.terminal import console

SAMPLES = 10_000
"""Random poses that the reach is looked for in."""
WIDTH = 80
"""Columns of a table."""


class Reach(NamedTuple):
    """Where the end effector comes, in metres from the base."""

    farthest: float
    low: np.ndarray
    """[3]"""
    high: np.ndarray
    """[3]"""


def reach(robot: Robot) -> Reach:
    """Reach of a robot by random poses: a little less than it really is."""
    tips = np.asarray(jax.jit(_chain(robot))(jnp.asarray(robot.random_poses(SAMPLES), jnp.float32)))[:, -1]
    return Reach(float(np.linalg.norm(tips, axis=1).max()), tips.min(axis=0), tips.max(axis=0))


def show(robot: Robot) -> None:
    """Joints with their limits, links, reach, pairs that are checked for collisions, and what is missing."""
    chain = _chain(robot)
    count = f"{len(robot.joints)} joint{'s' if len(robot.joints) > 1 else ''}"
    console.print(
        f"{robot.name}: {count} from {chain.base} to {chain.tool.name}",
        style="bold",
        width=WIDTH,
    )
    console.print(_joints(robot), width=WIDTH)
    found = reach(robot)
    spans = ", ".join(f"{name} {a:.2f} to {b:.2f}" for name, a, b in zip("xyz", found.low, found.high, strict=True))
    _line("reach", f"{found.farthest:.2f} m from {chain.base}; {spans} ({SAMPLES:,} random poses)")
    _line("links", ", ".join(link.name for link in chain.links))
    if robot.capsules:
        _line("capsules", f"{len(robot.capsules)} around {len({item.link for item in robot.capsules})} links")
    for one, others in _pairs(robot).items():
        _line("could touch", f"{one} and {', '.join(others)}")
    for words in (*robot.missing, *robot.unread):
        _line("missing", words)


def _chain(robot: Robot) -> Chain:
    if robot.kinematics is None:
        raise UserError(f"the robot {robot.name} has limits alone, and no kinematics to show")
    return robot.kinematics


def _joints(robot: Robot) -> Table:
    table = Table()
    for name in ("joint", "type", "lower", "upper", "velocity", "acceleration"):
        table.add_column(name, justify="left" if name in ("joint", "type") else "right", overflow="fold")
    accelerations = robot.acceleration or (np.inf,) * len(robot.joints)
    rows = zip(robot.joints, robot.slides, robot.position, robot.velocity, accelerations, strict=True)
    for name, slides, (low, high), speed, push in rows:
        kind = "slides, m" if slides else "turns, rad"
        numbers = (f"{value:.4g}" if np.isfinite(value) else "-" for value in (low, high, speed, push))
        table.add_row(name, kind, *numbers)
    return table


def _pairs(robot: Robot) -> dict[str, list[str]]:
    """Links that could touch each other."""
    found: dict[str, list[str]] = {}
    for one, two in robot.pairs:
        others = found.setdefault(robot.capsules[one].link, [])
        if robot.capsules[two].link not in others:
            others.append(robot.capsules[two].link)
    return found


def _line(label: str, words: str) -> None:
    console.print(Text.assemble((f"{label}:", "bold"), f" {words}"), width=WIDTH, soft_wrap=False)


def figure(robot: Robot) -> Figure:
    """A robot in space with all joints as near to zero as their limits let them: its capsules, joints and tool."""
    chain = _chain(robot)
    low, high = np.array(robot.position).T
    pose = jnp.asarray(np.clip(0.0, low, high), jnp.float32)
    links = [item.link for item in robot.capsules]
    points = np.asarray(chain(pose))
    position, rotation = map(np.asarray, chain.frames(pose, links))
    ends = [
        np.stack([position[i] + rotation[i] @ end for end in (item.capsule.start, item.capsule.end)])
        for i, item in enumerate(robot.capsules)
    ]
    sides = [
        own + side * item.capsule.radius for own, item in zip(ends, robot.capsules, strict=True) for side in (-1, 1)
    ]
    made, ax = drawing.space(np.concatenate([points, *sides]))
    carriers = {link.name: link.joint for link in chain.links}
    for own, item in zip(ends, robot.capsules, strict=True):
        _draw_capsule(ax, own, item.capsule.radius, drawing.colour(carriers[item.link]))
    ax.plot(*points.T, color=INK, linewidth=2.2, marker="o", markersize=4, zorder=5)
    tool = chain.frames(pose)
    size = 0.12 * np.ptp(points, axis=0).max()
    for axis, colour in zip(np.asarray(tool.rotation[0]).T, ("#d62728", "#2ca02c", "#1f77b4"), strict=True):
        ax.plot(*np.stack([points[-1], points[-1] + size * axis]).T, color=colour, linewidth=2.0, zorder=6)
    drawing.finish(made, f"{robot.name}: {chain.base} to {chain.tool.name}", [])
    return made


def _draw_capsule(ax: Any, ends: np.ndarray, radius: float, colour: str) -> None:
    """A shaded surface around a line [2, 3]."""
    frame = np.linalg.svd(ends[1:] - ends[:1])[2]
    around, down = np.meshgrid(np.linspace(0, 2 * np.pi, 21), np.linspace(0, np.pi, 14))
    ball = np.stack([np.cos(down), np.cos(around) * np.sin(down), np.sin(around) * np.sin(down)], axis=-1) @ frame
    forward = np.sign((ends[1] - ends[0]) @ frame[0]) or 1.0
    centres = np.where((np.cos(down) * forward > 0)[..., None], ends[1], ends[0])
    ax.plot_surface(*np.moveaxis(centres + radius * ball, -1, 0), color=colour, alpha=0.35, linewidth=0, zorder=3)
