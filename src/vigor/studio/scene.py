"""The session as a scene in viser: the robot, what can be dragged, and traces."""

from typing import Any

import numpy as np
import viser
from viser.transforms import SO3

from vigor.basics.colours import PALETTE
from vigor.studio.session import Session
from vigor.studio.shared import Trace
from vigor.tasks.stage import Body, Mark, Picture

LINK, JOINT, GRIP = (118, 128, 145), (45, 52, 66), (245, 95, 0)
WAITING, REACHED = (60, 90, 150), (10, 140, 60)
BODY, GOAL, TOOL = (204, 56, 46), (70, 165, 110), (64, 69, 77)
KNOB = 0.4
"""Radius of a knob, in radii of a link."""
GREY = (125, 125, 125)
USUAL_ASPECT = 1.1
"""Width over height of a window that the tasks' views are made for."""


def rgb(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def turn_to(direction: np.ndarray) -> np.ndarray:
    """Quaternion [4] that turns the upright axis into a direction [3]."""
    x, y, z = direction
    return (SO3.from_z_radians(np.arctan2(y, x)) @ SO3.from_y_radians(np.arctan2(np.hypot(x, y), z))).wxyz


def about_upright(angle: float) -> np.ndarray:
    """Quaternion [4] that turns about the upright axis."""
    return SO3.from_z_radians(angle).wxyz


def field_for(field: float, aspect: float) -> float:
    """Field of view, in radians, that shows as much across a narrow window as one of the usual shape does."""
    return float(2 * np.arctan(np.tan(field / 2) * max(1.0, USUAL_ASPECT / aspect)))


class Scene:
    """Draws a session, and tells it what is dragged."""

    def __init__(self, server: viser.ViserServer, session: Session) -> None:
        self._server, self._session, self._shared = server, session, session.shared
        view = self._shared.stage.view
        camera = server.initial_camera
        camera.position, camera.look_at, camera.up, camera.fov = view.camera, view.look_at, view.up, view.field

        @server.on_client_connect
        def _(client: Any) -> None:
            client.camera.fov = field_for(view.field, client.camera.aspect)

        self._ground()
        picture, marks = self._shared.robot.picture, self._shared.stage.marks(self._shared.context)
        self._links, self._joints = self._robot(picture)
        self._bodies = [self._body(number, body) for number, body in enumerate(picture.bodies)]
        self._marks = [self._mark(number, mark) for number, mark in enumerate(marks)]
        self._traces: list[Any] = []
        self._drawn = np.zeros(0)
        """Numbers that the scene was drawn from last."""
        self.draw()

    def _ground(self) -> None:
        scene, view = self._server.scene, self._shared.stage.view
        scene.configure_default_lights(True, cast_shadow=False)
        # Where there is no graphics card, the light of viser's surroundings takes ten seconds to work out.
        scene.configure_environment_map(None)
        scene.add_light_hemisphere("/light", ground_color=(200, 205, 215), intensity=2.5)
        size = 2 * (view.high[0] - view.low[0])
        scene.add_grid(
            "/ground", size, size, cell_size=size / 24, section_size=size / 24, cell_color=(232, 232, 232),
            section_color=(232, 232, 232), position=(view.look_at[0], 0, -view.link if view.from_above else -0.002),
            shadow_opacity=0.0,
        )  # fmt: skip

    # Shapes

    def _robot(self, picture: Picture) -> tuple[list[Any], list[Any]]:
        """Links and joints."""
        scene, view, count = self._server.scene, self._shared.stage.view, len(picture.points)
        grips = {number % count for number in self._shared.stage.grips}
        ball, tool = max(grips), count - 1 - view.tool_links  # Link i lies between joints i and i + 1.
        links, joints = [], []
        for i, length in enumerate(np.linalg.norm(np.diff(picture.points, axis=0), axis=1)):
            radius, colour = (view.tool, TOOL) if i >= tool else (view.link, LINK)
            if i == ball - 1:  # The ball shows.
                radius = min(radius, 0.6 * view.ball)
            links.append(scene.add_cylinder(f"/robot/link{i}", radius, max(length, 1e-3), colour))
        for i in range(count):
            radius, colour = (view.tool, TOOL) if i > tool else (1.25 * view.link, JOINT)
            if i == ball:
                radius, colour = view.ball, GRIP
            joint = scene.add_icosphere(f"/robot/joint{i}", radius, colour)
            joints.append(joint)
            if i in grips:
                self._drags(joint, grip=i)
        return links, joints

    def _body(self, number: int, body: Body) -> Any:
        scene, name = self._server.scene, f"/bodies/{number}"
        frame = scene.add_frame(name, show_axes=False)
        for i, block in enumerate(body.blocks):
            scene.add_box(f"{name}/block{i}", BODY, dimensions=block.size, position=block.centre)
        return frame

    def _mark(self, number: int, mark: Mark) -> Any:
        scene, view, name = self._server.scene, self._shared.stage.view, f"/marks/{number}"
        shape: Any
        if mark.size is not None:
            shape = scene.add_box(name, GOAL, dimensions=(*mark.size, 0.1 * view.link), opacity=0.8)
        elif not mark.radius:
            shape = scene.add_icosphere(name, KNOB * view.link, WAITING)
            scene.add_label(f"{name}/label", mark.label, font_screen_scale=0.8, anchor="top-center")
        elif view.from_above:
            shape = scene.add_cylinder(name, mark.radius, view.link, WAITING, opacity=0.6)
        else:
            shape = scene.add_icosphere(name, mark.radius, WAITING, opacity=0.45)
        if mark.radius:
            scene.add_label(f"{name}/label", str(number + 1), font_screen_scale=1.2, anchor="center-center")
        self._drags(shape, mark=number)
        return shape

    def _drags(self, shape: Any, **what: int) -> None:
        # Not in a pool of threads: a drag's events must stay in order.
        async def drag(event: Any) -> None:
            places = event.client.camera.position, event.start_position, event.end_position
            self._session.drag(event.client_id, event.phase, places, **what)

        shape.on_drag("left")(drag)

    # From moment to moment

    def draw(self) -> None:
        """Show the robot, what it moves and the marks as they are now."""
        shared = self._shared
        with shared.lock:
            picture, context, reached = shared.robot.picture, shared.context, shared.reached
        poses = [body.pose for body in picture.bodies]
        drawn = np.concatenate([picture.points.ravel(), *poses, context, reached])
        if np.array_equal(drawn, self._drawn):
            return
        self._drawn, marks = drawn, shared.stage.marks(context)
        with self._server.atomic():
            for joint, place in zip(self._joints, picture.points, strict=True):
                joint.position = place
            for link, begin, end in zip(self._links, picture.points[:-1], picture.points[1:], strict=True):
                link.position, link.wxyz = (begin + end) / 2, turn_to(end - begin)
            for frame, (x, y, angle) in zip(self._bodies, poses, strict=True):
                frame.position, frame.wxyz = (x, y, 0.0), about_upright(angle)
            for shape, mark, there in zip(self._marks, marks, reached, strict=True):
                shape.position = mark.position
                if mark.size is not None:
                    shape.wxyz = about_upright(mark.angle)
                colour = WAITING if mark.size is None else GOAL
                if there and (mark.radius or mark.size is not None):
                    colour = REACHED
                if tuple(shape.color) != colour:
                    shape.color = colour

    def draw_traces(self) -> None:
        """Show demonstrations in grey and components in their colours."""
        session = self._session
        traces = [*session.recording.traces(), *(session.planning.traces() or session.learning.traces())]
        with self._server.atomic():
            for i, trace in enumerate(traces):
                self._trace(i, trace)
            for old in self._traces[len(traces) :]:
                old.remove()
            del self._traces[len(traces) :]

    def _trace(self, i: int, trace: Trace) -> None:
        link = self._shared.stage.view.link
        segments = np.stack([trace.points[:-1], trace.points[1:]], axis=1).astype(np.float32)
        segments[..., 2] += 0.001 * i * link
        grey = trace.colour is None
        colour = GREY if grey else rgb(PALETTE[(trace.colour or 0) % len(PALETTE)])
        thickness = link * (0.12 if grey else 0.25 + 0.5 * min(trace.weight, 1.0))
        handle = self._server.scene.add_line_segments(f"/traces/{i}", segments, colour, thickness=thickness)
        self._traces[i : i + 1] = [handle]
