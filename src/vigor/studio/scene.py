"""The session as a scene in viser: the robot, what can be dragged, and traces."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import viser
from viser.transforms import SO3

from vigor.motion.shapes import Sphere
from vigor.studio.ghosts import Ghosts
from vigor.studio.grounds import DARK_REACH, REACH, Obstacles, Shadows, draw_reach
from vigor.studio.obstacles import Obstacle
from vigor.studio.rings import Rings, wxyz
from vigor.studio.session import Session
from vigor.studio.shared import Held
from vigor.studio.traces import Traces
from vigor.studio.trail import Trail
from vigor.tasks.stage import Body, Mark, Picture, Surface, View

LINK, JOINT, GRIP = (118, 128, 145), (45, 52, 66), (245, 95, 0)
SKIN, RED = (176, 184, 196), (200, 40, 40)
WAITING, REACHED = (60, 90, 150), (10, 140, 60)
BODY, GOAL, TOOL = (204, 56, 46), (70, 165, 110), (64, 69, 77)
PAPER, SLATE = (232, 232, 232), (55, 58, 64)
"""Colours of the ground's lines on a light page and on a dark one."""
KNOB = 0.4
"""Radius of a knob, in radii of a link."""
STROKE = 0.01
"""Part of a view's height."""
TIPPED = 0.02
"""Slant of a view from above that is put right, as a sine."""
USUAL_ASPECT = 1.1
"""Width over height of a window that the tasks' views are made for."""


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
            client.camera.on_update(partial(fit, view.field))
            if view.from_above:
                client.camera.on_update(partial(_stay_above, view))

        self._ground()
        picture, marks = self._shared.robot.picture, self._shared.stage.layout.marks(self._shared.context)
        self._links, self._joints = self._robot(picture)
        self._skin = [self._surface(number, part) for number, part in enumerate(self._shared.stage.surfaces)]
        self._rings = Rings(server.scene, session, picture, marks)
        self._trail = Trail(server.scene, stroke(view))
        self._ghosts = Ghosts(server.scene, stroke(view))
        self._state: tuple[Any, ...] = (None,) * 4
        self._now: tuple[Any, ...] = ()
        """State that the scene was drawn from last: things that are replaced as a whole, and numbers."""
        self._bodies = [self._body(number, body) for number, body in enumerate(picture.bodies)]
        self._marks = [self._mark(number, mark) for number, mark in enumerate(marks)]
        self._traces = Traces(server.scene, stroke(view))
        self._obstacles = Obstacles(server.scene, view, self._drags)
        self._shadows = Shadows(server.scene, view)
        draw_reach(server.scene, view, picture.points)
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
        self._grid = scene.add_grid(
            "/ground", size, size, cell_size=size / 24, section_size=size / 24, cell_color=PAPER, section_color=PAPER,
            position=(view.look_at[0], 0, -view.link if view.from_above else -0.002), shadow_opacity=0.0,
        )  # fmt: skip

    def darken(self, dark: bool) -> None:
        """Draw the ground for a dark page, or for a light one."""
        self._grid.cell_color = self._grid.section_color = SLATE if dark else PAPER
        stage = self._shared.stage
        draw_reach(self._server.scene, stage.view, stage.picture().points, DARK_REACH if dark else REACH)

    # Shapes

    def _robot(self, picture: Picture) -> tuple[list[Any], list[Any]]:
        """Links and joints."""
        scene, view, count = self._server.scene, self._shared.stage.view, len(picture.points)
        grips = {number % count for number in self._shared.stage.grips}
        ball, tool = max(grips), count - 1 - view.tool_links  # Link i lies between joints i and i + 1.
        links, joints = [], []
        skinned = bool(self._shared.stage.surfaces)
        for i, length in enumerate([] if skinned else np.linalg.norm(np.diff(picture.points, axis=0), axis=1)):
            radius, colour = (view.tool, TOOL) if i >= tool else (view.link, LINK)
            if i == ball - 1:  # The ball shows.
                radius = min(radius, 0.6 * view.ball)
            links.append(scene.add_cylinder(f"/robot/link{i}", radius, max(length, 1e-3), colour))
        for i in range(count):
            radius, colour = (view.tool, TOOL) if i > tool else (1.25 * view.link, JOINT)
            if skinned:  # The links themselves are grabbed.
                radius = 1e-4
            if i == ball:
                radius, colour = view.ball, GRIP
            joint = scene.add_icosphere(f"/robot/joint{i}", radius, colour)
            joints.append(joint)
            if i in grips:
                self._drags(joint, Held("grip", i))
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
            self._outline(name, mark.size)
        elif not mark.radius:
            shape = scene.add_icosphere(name, KNOB * view.link, WAITING)
            scene.add_label(f"{name}/label", mark.label, font_screen_scale=0.8, anchor="top-center")
        elif view.from_above:
            shape = scene.add_cylinder(name, mark.radius, view.link, WAITING, opacity=0.6)
        else:
            shape = scene.add_icosphere(name, mark.radius, WAITING, opacity=0.45)
        if mark.radius:
            label = partial(scene.add_label, f"{name}/label", font_screen_scale=1.0)
            if self._shared.numbered:
                label(str(number + 1), anchor="center-center")
            elif view.from_above:  # Beside the mark: a word would hide the ball that has come to it.
                label(mark.label, position=(0.0, -mark.radius, 0.0), anchor="top-center")
            else:
                label(mark.label, position=(0.0, 0.0, mark.radius), anchor="bottom-center")
        if mark.moves:
            self._drags(shape, Held("mark", number))
        return shape

    def _outline(self, name: str, size: tuple[float, float]) -> None:
        """The edge of a goal once more above the bodies, which would hide it."""
        blocks = [block for body in self._shared.robot.picture.bodies for block in body.blocks]
        top = max([block.centre[2] + block.size[2] / 2 for block in blocks], default=0.0)
        corners = np.array([(x, y, 0.0) for x, y in ((1, 1), (-1, 1), (-1, -1), (1, -1))]) * (*size, 0.0) / 2
        corners[:, 2] = top + 0.002
        edges = np.stack([corners, np.roll(corners, -1, axis=0)], axis=1).astype(np.float32)
        width = 0.1 * self._shared.stage.view.link
        self._server.scene.add_line_segments(f"{name}/outline", edges, REACHED, thickness=width)

    def _surface(self, number: int, part: Surface) -> Any:
        """A link, which is grabbed at the point of the robot that is nearest."""
        scene, vertices = self._server.scene, part.vertices.astype(np.float32)
        mesh = scene.add_mesh_simple(f"/robot/surface{number}", vertices, part.faces.astype(np.uint32), color=SKIN)
        picture, grips = self._shared.robot.picture, list(self._shared.stage.grips)
        middle = picture.turns[number] @ part.vertices.mean(axis=0) + picture.places[number]
        nearest = np.argmin(np.linalg.norm(picture.points[grips] - middle, axis=1))
        self._drags(mesh, Held("grip", grips[int(nearest)]))
        return mesh

    def _drags(self, shape: Any, held: Held) -> None:
        # Not in a pool of threads: a drag's events must stay in order.
        async def drag(event: Any) -> None:
            places = event.client.camera.position, event.start_position, event.end_position
            self._session.drag(event.client_id, event.phase, places, held)

        shape.on_drag("left")(drag)

    # From moment to moment

    def draw(self) -> None:
        """Show the robot, what it moves and the marks as they are now."""
        shared, robot = self._shared, self._shared.robot
        with shared.lock:
            film = robot.film if shared.ghosts else None
            moment = None if film is None else int(film.time * film.rate)
            state = robot.picture, shared.context, shared.obstacles, film
            now = moment, robot.held, robot.recorder.active, len(robot.seen)
            if now == self._now and all(a is b for a, b in zip(state, self._state, strict=True)):
                return
            self._state, self._now = state, now
            beside = [] if film is None else film.beside
            picture, context, obstacles, reached = robot.picture, shared.context, shared.obstacles, shared.reached
            seen = robot.seen if robot.recorder.active else []
            held, missing = robot.held, shared.missing
        self._trail.draw(seen, held, missing)
        self._ghosts.draw(beside)
        poses = [body.pose for body in picture.bodies]
        tool = np.zeros(0) if picture.tool is None else picture.tool.ravel()
        shapes = [np.append(shape.centre, _half(shape)) for shape in obstacles]
        drawn = np.concatenate([picture.points.ravel(), *poses, tool, context, reached, *shapes])
        if np.array_equal(drawn, self._drawn):
            return
        self._drawn, marks = drawn, shared.stage.layout.marks(context)
        with self._server.atomic():
            for joint, place in zip(self._joints, picture.points, strict=True):
                joint.position = place
            for link, begin, end in zip(self._links, picture.points[:-1], picture.points[1:], strict=False):
                link.position, link.wxyz = (begin + end) / 2, turn_to(end - begin)
            for part, place, turn in zip(self._skin, picture.places, picture.turns, strict=True):
                part.position, part.wxyz = place, wxyz(turn)
            self._rings.draw(picture, marks)
            self._obstacles.draw(obstacles)
            self._shade(picture, marks, obstacles)
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

    def _shade(self, picture: Picture, marks: Sequence[Mark], obstacles: Sequence[Obstacle]) -> None:
        """Draw the shadows of the ball that the robot is dragged by, of targets and of obstacles."""
        ball = self._shared.stage.view.ball
        things = [(picture.points[self._shared.stage.grips[-1]], ball)]
        things += [(mark.position, mark.radius) for mark in marks if mark.radius]
        things += [(np.array(shape.centre), min(_half(shape)[:2])) for shape in obstacles]
        self._shadows.draw(np.array([place for place, _ in things]), [float(radius) for _, radius in things])

    def draw_traces(self) -> None:
        """Show demonstrations in grey and ways in their colours."""
        session, shared = self._session, self._shared
        shown = session.recording.traces() if shared.demonstrations else ()
        learned = session.planning.traces() or session.learning.traces()[: shared.most]
        kinds = [kind for kind, wanted in (("way", shared.ways), ("sample", shared.samples)) if wanted]
        with self._server.atomic():
            self._traces.draw([*shown, *(part for part in learned if part.kind in kinds)], session.planning.pointed)

    def look(self, client: Any, name: str) -> None:
        """Turn a page's view: to where it began ("Reset"), from the front or from the top."""
        view = self._shared.stage.view
        look_at = np.array(view.look_at)
        away = float(np.linalg.norm(np.array(view.camera) - look_at))
        eyes = {"Front": look_at + np.array([away, 0.0, 0.0]), "Top": look_at + np.array([0.0, 0.0, away])}
        _point(client, eyes.get(name, np.array(view.camera)), (0, 1, 0) if name == "Top" else view.up, look_at)


def _point(client: Any, eye: Any, up: Any, look_at: Any) -> None:
    """Point a page's camera at a place from an eye; to set the eye moves the place too, so that comes last."""
    camera = client.camera
    with client.atomic():
        camera.position, camera.up_direction = eye, up
        camera.look_at = look_at


def _half(shape: Obstacle) -> np.ndarray:
    """Half the size [3] of an obstacle."""
    return np.full(3, shape.radius) if isinstance(shape, Sphere) else np.subtract(shape.high, shape.low) / 2


def stroke(view: View) -> float:
    """Width that those of lines are multiples of: a part of what is seen, so that they are as thin for every robot."""
    away = np.linalg.norm(np.subtract(view.camera, view.look_at))
    return float(STROKE * 2 * away * np.tan(view.field / 2))


def fit(field: float, camera: Any) -> None:
    """Fit what a page shows to its window, whose shape changes: the panel comes to its side, or a tablet is turned."""
    wanted = field_for(field, camera.aspect)
    if abs(camera.fov - wanted) > 1e-3:
        camera.fov = wanted


def _stay_above(view: View, camera: Any) -> None:
    """Turn a page back to a view from above, if somebody has tipped it over or turned it round."""
    down = np.subtract(camera.look_at, camera.position)
    if np.hypot(*down[:2]) > TIPPED * np.linalg.norm(down) or abs(camera.up_direction[0]) > TIPPED:
        _point(camera.client, view.camera, view.up, view.look_at)
