"""The session as a scene in viser: the robot, what can be dragged, and traces."""

from typing import Any

import numpy as np
import viser

from vigor.basics.colours import PALETTE
from vigor.studio.session import Session, Trace
from vigor.studio.stage import Mark, Picture
from vigor.tasks.box_pusher import geometry

LINK, JOINT, GRIP = (118, 128, 145), (45, 52, 66), (245, 95, 0)
WAITING, REACHED = (60, 90, 150), (10, 140, 60)
BOX, GOAL, ROD = (204, 56, 46), (70, 165, 110), (64, 69, 77)
GREY = (125, 125, 125)


def rgb(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def turn_to(direction: np.ndarray) -> np.ndarray:
    """Quaternion [4] that turns the upright axis into a direction [3]."""
    x, y, z = direction / max(float(np.linalg.norm(direction)), 1e-12)
    if z < -1 + 1e-9:
        return np.array([0.0, 1.0, 0.0, 0.0])
    turn = np.array([1 + z, -y, x, 0.0])
    return turn / np.linalg.norm(turn)


def about_upright(angle: float) -> np.ndarray:
    return np.array([np.cos(angle / 2), 0.0, 0.0, np.sin(angle / 2)])


class Scene:
    """Draws a session, and tells it what is dragged."""

    def __init__(self, server: viser.ViserServer, session: Session) -> None:
        self._server, self._session = server, session
        self._links: list[Any] = []
        self._joints: list[Any] = []
        self._marks: list[Any] = []
        self._box: Any = None
        self._shown = np.zeros(0)
        self._traces: list[Any] = []
        view = session.stage.view
        camera = server.initial_camera
        camera.position, camera.look_at, camera.up, camera.fov = view.camera, view.look_at, view.up, view.field
        self._ground()
        self._robot(session.picture)
        for number, mark in enumerate(session.stage.marks(session.context)):
            self._marks.append(self._mark(number, mark))
        self.draw()

    def _ground(self) -> None:
        scene, view = self._server.scene, self._session.stage.view
        scene.configure_default_lights(True, cast_shadow=False)
        size = 2 * (view.high[0] - view.low[0])
        scene.add_grid(
            "/ground", size, size, cell_size=size / 24, section_size=size / 24, cell_color=(232, 232, 232),
            section_color=(232, 232, 232), position=(view.look_at[0], 0, -view.link if view.from_above else -0.002),
            shadow_opacity=0.0,
        )  # fmt: skip

    # The robot

    def _robot(self, picture: Picture) -> None:
        scene, view, points = self._server.scene, self._session.stage.view, picture.points
        grips = {number % len(points) for number in self._session.stage.grips}
        ball = max(grips)
        rod = len(points) if picture.box is None else len(points) - 3  # The first link that is the rod.
        for i, length in enumerate(np.linalg.norm(np.diff(points, axis=0), axis=1)):
            radius, colour = (geometry.ROD, ROD) if i >= rod else (view.link, LINK)
            if i == ball - 1:  # The ball shows.
                radius = min(radius, 0.6 * view.ball)
            self._links.append(scene.add_cylinder(f"/robot/link{i}", radius, max(length, 1e-3), colour))
        for i in range(len(points)):
            radius = view.ball if i == ball else geometry.ROD if i > ball else view.link * 1.25
            joint = scene.add_icosphere(f"/robot/joint{i}", radius, GRIP if i == ball else ROD if i > ball else JOINT)
            self._joints.append(joint)
            if i in grips:
                self._drags(joint, grip=i)
        if picture.box is not None:
            self._box = scene.add_frame("/box", show_axes=False)
            (x, y), wall, height = np.array(geometry.SIZE), geometry.WALL, geometry.HEIGHT
            for name, dimensions, place in (
                ("bottom", (x, y, geometry.BOTTOM), (0, 0, geometry.BOTTOM / 2)),
                ("front", (wall, y, height), (x / 2 - wall / 2, 0, height / 2)),
                ("back", (wall, y, height), (wall / 2 - x / 2, 0, height / 2)),
                ("left", (x, wall, height), (0, y / 2 - wall / 2, height / 2)),
                ("right", (x, wall, height), (0, wall / 2 - y / 2, height / 2)),
            ):
                scene.add_box(f"/box/{name}", BOX, dimensions=dimensions, position=place)

    def _mark(self, number: int, mark: Mark) -> Any:
        scene, view, name = self._server.scene, self._session.stage.view, f"/marks/{number}"
        shape: Any
        if mark.angle is not None:
            shape = scene.add_box(name, GOAL, dimensions=(*geometry.SIZE, 0.004), opacity=0.8)
        elif not mark.radius:
            shape = scene.add_icosphere(name, 0.016, WAITING)
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
        """Show the robot and the marks as they are now."""
        session = self._session
        with session.lock:
            picture, context, reached = session.picture, session.context, session.reached
        box = () if picture.box is None else picture.box
        shown = np.concatenate([picture.points.ravel(), box, context, reached])
        if np.array_equal(shown, self._shown):
            return
        self._shown, marks = shown, session.stage.marks(context)
        with self._server.atomic():
            for joint, place in zip(self._joints, picture.points, strict=True):
                joint.position = place
            for link, begin, end in zip(self._links, picture.points[:-1], picture.points[1:], strict=True):
                link.position, link.wxyz = (begin + end) / 2, turn_to(end - begin)
            if picture.box is not None:
                x, y, angle = picture.box
                self._box.position, self._box.wxyz = (x, y, 0.0), about_upright(angle)
            for shape, mark, there in zip(self._marks, marks, reached, strict=True):
                shape.position = mark.position
                if mark.angle is not None:
                    shape.wxyz = about_upright(mark.angle)
                if mark.radius or mark.angle is not None:
                    colour = REACHED if there else GOAL if mark.angle is not None else WAITING
                    if tuple(shape.color) != colour:
                        shape.color = colour

    def draw_traces(self) -> None:
        """Show demonstrations in grey and components in their colours."""
        session = self._session
        traces = [*session.demonstrations(), *(session.planned() or session.learned)]
        with self._server.atomic():
            for i, trace in enumerate(traces):
                self._trace(i, trace)
            for old in self._traces[len(traces) :]:
                old.remove()
            del self._traces[len(traces) :]

    def _trace(self, i: int, trace: Trace) -> None:
        link = self._session.stage.view.link
        segments = np.stack([trace.points[:-1], trace.points[1:]], axis=1).astype(np.float32)
        segments[..., 2] += 0.001 * i * link
        grey = trace.component is None
        colour = GREY if grey else rgb(PALETTE[(trace.component or 0) % len(PALETTE)])
        thickness = link * (0.12 if grey else 0.25 + 0.5 * min(trace.weight, 1.0))
        handle = self._server.scene.add_line_segments(f"/traces/{i}", segments, colour, thickness=thickness)
        self._traces[i : i + 1] = [handle]
