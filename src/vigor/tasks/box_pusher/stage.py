"""The box pusher on its stage, in live physics: the rod is dragged, and what it touches moves."""

from collections.abc import Sequence

import jax
import numpy as np

from vigor.basics.engine import mujoco
from vigor.motion import panda
from vigor.motion.trajectories import resample
from vigor.tasks.box_pusher import control, geometry, scene, simulation
from vigor.tasks.layouts import off
from vigor.tasks.stage import Block, Body, Layout, Mark, Missing, Picture, Surface, View, on_plane
from vigor.tasks.task import Task

SPEED = 0.25
"""Largest speed of the rod, in metres per second: plans take three seconds for a push."""
LAG = 0.08
"""Seconds that the rod is behind the pointer."""
KNOB = 0.06
"""Distance from the edge of the goal to the knob that turns it."""
FARTHEST, TURN = 0.25, np.pi / 2
"""Largest distance from where the box starts that a goal can be dragged to, by coordinate, and largest turn."""
HELD = 0.09
"""Height above its tip at which the rod is held, clear of the box."""
ABOVE = geometry.HEIGHT + 0.004
"""Height at which paths are drawn: the box's walls would hide those of the rod's tip."""
START = (0.42, 0.0)
"""Point at which the rod stands at first: in front of the box, outside."""


def _box() -> tuple[Block, ...]:
    """The open box: a bottom and four walls."""
    (x, y), height, wall, bottom = geometry.SIZE, geometry.HEIGHT, geometry.WALL, geometry.BOTTOM
    return (
        Block((x, y, bottom), (0.0, 0.0, bottom / 2)),
        *(Block((wall, y, height), (side * (x - wall) / 2, 0.0, height / 2)) for side in (1, -1)),
        *(Block((x, wall, height), (0.0, side * (y - wall) / 2, height / 2)) for side in (1, -1)),
    )


BOX = _box()


class Goal:
    """The goal of the box, and a knob that turns it."""

    instruction = (
        "Drag the orange ball so that the rod pushes the box onto the green goal. The rod's foot sets it down."
    )

    def __init__(self, task: Task) -> None:
        self._task = task

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        return self._task.sample_contexts(rng, 1)[0]

    def marks(self, context: np.ndarray) -> tuple[Mark, ...]:
        x, y, angle = geometry.goal(context)
        out = geometry.SIZE[0] / 2 + KNOB
        knob = np.array([x + out * np.cos(angle), y + out * np.sin(angle), 0.0])
        return Mark("goal", np.array([x, y, 0.0]), size=geometry.SIZE, angle=float(angle)), Mark("turn", knob)

    def dragged(self, context: np.ndarray, mark: int, aim: np.ndarray) -> np.ndarray:
        centre, angle = geometry.goal(context)[:2], context[2]
        if mark == 0:
            centre = aim[:2]
        elif np.any(aim[:2] != centre):
            angle = np.arctan2(*(aim[:2] - centre)[::-1])
        most = (FARTHEST, FARTHEST, TURN)
        return np.clip(np.array([*(centre - geometry.START), angle]), np.negative(most), most)

    def turned(self, context: np.ndarray, mark: int, rotation: np.ndarray) -> np.ndarray:
        return context

    def reached(self, context: np.ndarray, seen: Sequence[Picture]) -> tuple[bool, ...]:
        there = self.missing(context, seen) is None
        return there, there

    def missing(self, context: np.ndarray, seen: Sequence[Picture]) -> Missing | None:
        box, goal = seen[-1].bodies[0].pose, geometry.goal(context)
        away = float(geometry.corner_distance(box, goal))
        if away <= self._task.judge.success_distance:
            return None
        return Missing(off(seen[-1].bodies[0], self.marks(context)[0]), np.array([(*box[:2], 0), (*goal[:2], 0)]))


class Pusher:
    """A Panda with a rod, pushing a box. Until a recording starts, dragging the rod's foot sets it down elsewhere."""

    grips = (-1, -2)
    placing = (-1,)
    surfaces: Sequence[Surface] = ()
    turns = busy = False
    gripper: float | None = None
    view = View(
        camera=(1.3, 0.35, 0.8),
        look_at=(0.45, 0.0, 0.05),
        up=(0, 0, 1),
        field=0.7,
        flat=True,
        link=0.04,
        ball=0.022,
        low=(0.1, -0.6, 0.0),
        high=(0.8, 0.6, 0.1),
        tool=geometry.ROD,
        tool_links=2,
    )

    def __init__(self, task: Task) -> None:
        self.task = task
        self.layout: Layout = Goal(task)
        self._model = scene.model("capsules")
        self._data = mujoco.MjData(self._model)
        self._points = jax.jit(panda.chain(panda.FLANGE + control.ROD_LENGTH))
        self._start = np.array(START)
        self.reset()

    def turn(self, rotation: np.ndarray) -> None:
        """Nothing: the rod stays upright."""

    def grasp(self, opening: float) -> None:
        """Nothing: the rod has no fingers."""

    def reset(self) -> None:
        self._place(self._start)

    def _place(self, point: np.ndarray) -> None:
        """Set the rod down beside the box's walls, with the box at its start."""
        self._start = self._target = geometry.beside_walls(self._within_reach(point))
        state = simulation.initial_states(self._start[None])[0]
        mujoco.mj_setState(self._model, self._data, state, mujoco.mjtState.mjSTATE_FULLPHYSICS)
        mujoco.mj_forward(self._model, self._data)

    def _within_reach(self, point: np.ndarray) -> np.ndarray:
        radius = np.linalg.norm(point)
        return point * np.clip(radius, *geometry.REACH) / max(radius, 1e-9)

    def advance(self, seconds: float, grip: int, aim: np.ndarray | None, recording: bool) -> None:
        if not recording:
            if aim is not None:
                self._place(aim[:2])
            return
        begun = self._target
        if aim is not None:
            move = (self._within_reach(aim[:2]) - begun) * (1 - np.exp(-seconds / LAG))
            self._target = begun + move * min(1.0, SPEED * seconds / max(float(np.linalg.norm(move)), 1e-9))
        steps = max(1, round(seconds / scene.TIMESTEP))
        for share in np.arange(1, steps + 1) / steps:
            self._data.ctrl[:] = control.joint_angles(begun + share * (self._target - begun))
            mujoco.mj_step(self._model, self._data)

    def aim(self, eye: np.ndarray, through: np.ndarray, context: np.ndarray) -> np.ndarray:
        return on_plane(eye, through, control.HEIGHT + HELD)

    def picture(self) -> Picture:
        return self._picture(self._data.qpos, self._target)

    def _picture(self, places: np.ndarray, asked: np.ndarray) -> Picture:
        """The scene at MuJoCo's positions [14], the arm's joints, then the free joint of the box.

        asked: [2], point that the rod is asked to be at, as plans say it.
        """
        *links, flange, tip = np.asarray(self._points(places[:7]), np.float64)
        grip = tip + (flange - tip) * HELD / np.linalg.norm(flange - tip)
        body = Body(BOX, simulation.box_poses(places[7:14]))
        return Picture(np.array([*links, flange, grip, tip]), asked, (body,))

    def frames(self, trajectory: np.ndarray) -> tuple[list[Picture], float]:
        states = simulation.roll_out(trajectory[None]).states[0, ::2]
        asked = resample(trajectory, len(states))
        return [self._picture(state[1:15], at) for state, at in zip(states, asked, strict=True)], simulation.RATE / 2

    def lift(self, trajectory: np.ndarray) -> np.ndarray:
        return np.pad(trajectory, ((0, 0), (0, 1)), constant_values=ABOVE)
