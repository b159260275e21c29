"""Pictures of the box pusher, without a display: frames, videos, final states, planned and executed paths."""

import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Polygon
from matplotlib.ticker import MaxNLocator

from vigor.basics import files
from vigor.basics.colours import FAINT, INK, PALETTE, QUIET
from vigor.basics.engine import mujoco
from vigor.basics.errors import UserError
from vigor.basics.install import missing
from vigor.motion.panda.model import Arm
from vigor.tasks.box_pusher import geometry, scene, simulation

WIDTH, HEIGHT = 640, 480
FRAMES = 25
"""A second of a video."""
GIF = "fps=10,scale=400:-1,split[a][b];[a]palettegen=max_colors=96[p];[b][p]paletteuse=dither=none"
"""Filters of ffmpeg for a .gif: fewer and smaller pictures, in colours of their own."""
VIEWS = {
    "front": {"lookat": (0.40, 0.0, 0.22), "distance": 1.45, "azimuth": 212.0, "elevation": -28.0},
    "above": {"lookat": (0.55, 0.0, 0.0), "distance": 1.0, "azimuth": 0.0, "elevation": -90.0, "orthographic": 1},
}
OPENINGS = {"front": 45.0, "above": 0.56}
"""Extent of a view from top to bottom: degrees, or metres where it is orthographic."""
BOX, GOAL = "#c73329", "#26a147"


@contextmanager
def renderer(
    model: Any, view: dict[str, Any], size: tuple[int, int] = (WIDTH, HEIGHT), show_arm: bool = True
) -> Iterator[Callable[[Any], np.ndarray]]:
    """A function from a state (MjData) of a model to a picture [height, width, 3], seen by a camera (MjvCamera)."""
    width, height = size
    model.vis.global_.offwidth, model.vis.global_.offheight = max(width, 640), max(height, 480)
    camera, look = mujoco.MjvCamera(), mujoco.MjvOption()
    for name, value in view.items():
        setattr(camera, name, value)
    look.geomgroup[2] = show_arm
    try:
        renderer = mujoco.Renderer(model, height, width)
    except Exception as error:
        raise UserError(f"nothing can be rendered here ({error}); set MUJOCO_GL to egl or osmesa") from None
    with renderer:
        for flag in (mujoco.mjtRndFlag.mjRND_SHADOW, mujoco.mjtRndFlag.mjRND_REFLECTION):
            renderer.scene.flags[flag] = False  # Six times as fast.

        def draw(data: Any) -> np.ndarray:
            renderer.update_scene(data, camera, look)
            return renderer.render()

        yield draw


def frames(
    states: np.ndarray,
    context: np.ndarray,
    view: str = "front",
    arm: Arm | None = None,
    show_arm: bool = True,
    size: tuple[int, int] = (WIDTH, HEIGHT),
) -> Iterator[np.ndarray]:
    """Pictures [height, width, 3] of states [n, state] with the goal of a context [3] in green."""
    model = scene.model(arm)
    data = mujoco.MjData(model)
    x, y, angle = geometry.goal(context)
    data.mocap_pos[0], data.mocap_quat[0] = (x, y, 0), (np.cos(angle / 2), 0, 0, np.sin(angle / 2))
    model.vis.global_.fovy = OPENINGS[view]
    with renderer(model, VIEWS[view], size, show_arm) as draw:
        for state in states:
            mujoco.mj_setState(model, data, state, mujoco.mjtState.mjSTATE_FULLPHYSICS)
            mujoco.mj_forward(model, data)
            yield draw(data)


def video(path: Path, plan: np.ndarray, context: np.ndarray, view: str = "front", arm: Arm | None = None) -> int:
    """Write an mp4 of a plan [T, 2], such as a component's mean, carried out in a context [3]; returns its frames."""
    states = simulation.roll_out(plan[None]).states[0, :: simulation.RATE // FRAMES]
    pictures = list(frames(states, context, view, arm))
    write_film(path, pictures)
    return len(pictures)


def write_film(path: Path, pictures: Sequence[np.ndarray]) -> None:
    """Write an mp4 of pictures [HEIGHT, WIDTH, 3], or a .gif, which is smaller and less smooth."""
    try:
        import imageio_ffmpeg
    except ImportError:
        raise missing("videos need imageio-ffmpeg", "sim") from None

    def write(temporary: Path) -> None:
        # By the program itself: the package's own writer forks, which JAX does not stand.
        raw = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{WIDTH}x{HEIGHT}", "-r", str(FRAMES), "-i", "-"]
        film = ["-vf", GIF] if path.suffix == ".gif" else ["-c:v", "libx264", "-pix_fmt", "yuv420p"]
        command = [imageio_ffmpeg.get_ffmpeg_exe(), "-y", "-loglevel", "error", *raw, *film, str(temporary)]
        subprocess.run(command, input=np.stack(pictures).tobytes(), check=True)

    files.write_whole(path, write)


def final_states(plans: np.ndarray, contexts: np.ndarray, arm: Arm | None = None) -> Figure:
    """The box after plans [n, T, 2] from above, the goals of contexts [n, 3] in green (paper: "final state of the
    Box Pusher task")."""
    rollouts = simulation.roll_out(plans)
    errors = geometry.corner_distance(rollouts.poses[:, -1], geometry.goal(contexts))
    columns = min(len(plans), 3)
    rows = -(-len(plans) // columns)
    figure = Figure(figsize=(2.6 * columns, 2.25 * rows), layout="constrained")
    for ax in figure.subplots(rows, columns, squeeze=False).flat:
        ax.axis("off")
    for i, (ax, error) in enumerate(zip(figure.axes, errors, strict=False)):
        picture = next(frames(rollouts.states[i, -1:], contexts[i], "above", arm, show_arm=False))
        ax.imshow(picture, interpolation="antialiased")
        ax.set_title(f"context {i + 1}: {100 * error:.1f} cm", fontsize=9, color=INK, loc="left")
    return figure


def planned_and_executed(plans: Sequence[np.ndarray] | np.ndarray, context: np.ndarray) -> Figure:
    """Plans [n, T, 2] in one context [3] against what the rod's tip did (paper: "planned and
    executed trajectories")."""
    paths = np.asarray(plans)
    rollouts = simulation.roll_out(paths)
    start, goal = geometry.corners(geometry.goal(np.zeros(3))), geometry.corners(geometry.goal(context))
    shown = np.concatenate([start, goal, *geometry.corners(rollouts.poses[:, -1]), *paths])
    (left, right), (low, high) = np.quantile(shown[:, ::-1], (0, 1), axis=0).T + np.array([-0.02, 0.02])
    size = (3.3 * len(paths), 2.9 * (high - low) / (right - left) + 1.3)
    figure = Figure(figsize=size, layout="compressed")
    axes = figure.subplots(1, len(paths), squeeze=False)[0]
    for i, (ax, plan) in enumerate(zip(axes, paths, strict=True)):
        poses, colour = rollouts.poses[i], PALETTE[i % len(PALETTE)]
        for corners, edge, style, label in (
            (start, QUIET, "--", "box at the start"),
            (goal, GOAL, "-", "goal"),
            (geometry.corners(poses[-1]), BOX, "-", "box at the end"),
        ):
            fill = {"facecolor": GOAL, "alpha": 0.25} if label == "goal" else {"fill": False}
            ax.add_patch(Polygon(corners[:, ::-1], edgecolor=edge, linestyle=style, linewidth=1.2, label=label, **fill))
        ax.plot(*plan.T[::-1], color=colour, linewidth=2.0, label="planned")
        ax.plot(*rollouts.tips[i, :, 1::-1].T, ":", color=INK, linewidth=1.6, label="executed")
        ax.plot(*plan[0, ::-1], "o", color=colour, markersize=5)
        error = geometry.corner_distance(poses[-1], geometry.goal(context))
        ax.set_title(f"{100 * error:.1f} cm from the goal", fontsize=10, color=INK, loc="left")
        ax.set_xlabel("y (m)", fontsize=9, color=INK)
        ax.tick_params(labelsize=8, colors=QUIET, length=0)
        ax.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
        ax.spines[:].set_color(FAINT)
        ax.set(xlim=(right, left), ylim=(low, high), aspect="equal")  # As the robot sees it: x ahead, y to the left.
    axes[0].set_ylabel("x (m)", fontsize=9, color=INK)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5, fontsize=8, frameon=False, labelcolor=INK)
    return figure
