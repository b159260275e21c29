"""A plan as a page to turn and play: one HTML file with viser's own page in it, that opens without a network."""

import contextlib
import io
from pathlib import Path
from typing import Any

import numpy as np
import viser

from vigor.basics import files
from vigor.motion.shapes import Sphere
from vigor.reports.drawing import FORBIDDEN
from vigor.reports.viewer import Scene
from vigor.studio import guard
from vigor.studio.rings import wxyz
from vigor.studio.scene import BODY, JOINT, LINK, SKIN, WAITING, about_upright, turn_to
from vigor.studio.traces import rgb
from vigor.tasks.stage import Picture, Stage, View, load_stage
from vigor.tasks.task import Task

FRAMES, REST = 15, 0.8
"""Pictures of a second, and seconds in which a movement stands still at its end."""


def write(path: Path, task: Task, shown: Scene) -> None:
    """Write a context with its movements: paths of all, and the robot that makes the planned ones in turn."""
    stage = load_stage(task)
    with guard.bind("127.0.0.1", 0) as listening:
        with guard.guarded(listening, guard.guard_for("127.0.0.1", listening.getsockname()[1])):
            server = viser.ViserServer(verbose=False)
        try:
            page = _recorded(server, stage, shown)
        finally:
            with contextlib.redirect_stdout(io.StringIO()):  # It says that it has stopped.
                server.stop()
    files.write_text(path, page)


def _recorded(server: Any, stage: Stage, shown: Scene) -> str:
    scene, view, camera = server.scene, stage.view, server.initial_camera
    camera.position, camera.look_at, camera.up, camera.fov = view.camera, view.look_at, view.up, view.field
    scene.configure_default_lights(True, cast_shadow=False)
    scene.configure_environment_map(None)
    scene.add_light_hemisphere("/light", ground_color=(200, 205, 215), intensity=2.5)
    _add_surroundings(scene, stage, shown)
    planned = [item for item in shown.movements if item.name.startswith("solutions/")]
    for movement in shown.movements:
        path = stage.lift(movement.joints)
        thickness = view.link * (0.3 if movement in planned else 0.1)
        segments = np.stack([path[:-1], path[1:]], axis=1).astype(np.float32)
        scene.add_line_segments(f"/{movement.name}", segments, rgb(movement.colour), thickness=thickness)
    robot = _Robot(scene, stage)
    serializer = server.get_scene_serializer()
    for movement in planned:
        pictures, rate = stage.frames(movement.joints)
        for picture in pictures[:: max(1, round(rate / FRAMES))]:
            robot.draw(picture, rgb(movement.colour))
            serializer.insert_sleep(1 / FRAMES)
        serializer.insert_sleep(REST)
    return str(serializer.as_html())


def _add_surroundings(scene: Any, stage: Stage, shown: Scene) -> None:
    """The ground, targets and goals, and what is to be kept out of."""
    view, size = stage.view, 2 * (stage.view.high[0] - stage.view.low[0])
    grey, low = (226, 226, 226), -view.link if view.from_above else -0.002
    lines = {"cell_size": size / 24, "section_size": size / 24, "cell_color": grey, "section_color": grey}
    scene.add_grid("/ground", size, size, position=(view.look_at[0], 0, low), shadow_opacity=0.0, **lines)
    for number, mark in enumerate(stage.layout.marks(shown.context)):
        name = f"/targets/{number}"
        if mark.size is not None:
            box = {"dimensions": (*mark.size, 0.1 * view.link), "wxyz": about_upright(mark.angle)}
            scene.add_box(name, WAITING, position=mark.position, opacity=0.6, **box)
        elif mark.radius:
            scene.add_icosphere(name, mark.radius, WAITING, position=mark.position, opacity=0.45)
            scene.add_label(f"{name}/label", mark.label, font_screen_scale=0.9, anchor="bottom-center")
    for number, shape in enumerate(shown.keep_out):
        name, red = f"/keep out/{number}", rgb(FORBIDDEN)
        if isinstance(shape, Sphere):
            scene.add_icosphere(name, shape.radius, red, position=_in_space(shape.centre), opacity=0.6)
        else:
            low_corner, high_corner = _in_space(shape.low), _in_space(shape.high)
            middle, sides = (low_corner + high_corner) / 2, np.maximum(high_corner - low_corner, view.link)
            scene.add_box(name, red, dimensions=tuple(sides), position=middle, opacity=0.6)


class _Robot:
    """The robot and what it moves, as shapes that are put where a picture has them."""

    def __init__(self, scene: Any, stage: Stage) -> None:
        picture, view = stage.picture(), stage.view
        self._skin = [
            scene.add_mesh_simple(
                f"/robot/{i}", part.vertices.astype(np.float32), part.faces.astype(np.uint32), color=SKIN
            )
            for i, part in enumerate(stage.surfaces)
        ]
        lengths = [] if self._skin else np.linalg.norm(np.diff(picture.points, axis=0), axis=1)
        self._links = [
            scene.add_cylinder(f"/robot/link{i}", _thickness(view, i, len(lengths)), max(length, 1e-3), LINK)
            for i, length in enumerate(lengths)
        ]
        self._joints = [
            scene.add_icosphere(f"/robot/joint{i}", 1.2 * _thickness(view, i, len(lengths)), JOINT)
            for i in range(0 if self._skin else len(picture.points))
        ]
        self._tool = scene.add_icosphere("/robot/tool", 0.6 * view.ball, JOINT)
        self._bodies = [scene.add_frame(f"/bodies/{i}", show_axes=False) for i in range(len(picture.bodies))]
        for i, body in enumerate(picture.bodies):
            for j, block in enumerate(body.blocks):
                scene.add_box(f"/bodies/{i}/{j}", BODY, dimensions=block.size, position=block.centre)

    def draw(self, picture: Picture, colour: tuple[int, int, int]) -> None:
        """Put everything where it is in a picture; the tool has the movement's colour."""
        for part, place, turn in zip(self._skin, picture.places, picture.turns, strict=True):
            part.position, part.wxyz = place, wxyz(turn)
        for link, begin, end in zip(self._links, picture.points[:-1], picture.points[1:], strict=False):
            link.position, link.wxyz = (begin + end) / 2, turn_to(end - begin)
        for joint, place in zip(self._joints, picture.points, strict=False):
            joint.position = place
        for frame, body in zip(self._bodies, picture.bodies, strict=True):
            frame.position, frame.wxyz = (*body.pose[:2], 0.0), about_upright(body.pose[2])
        self._tool.position = picture.points[-1]
        if tuple(self._tool.color) != colour:
            self._tool.color = colour


def _thickness(view: View, number: int, count: int) -> float:
    return view.tool if view.tool_links and number >= count - view.tool_links else view.link


def _in_space(place: Any) -> np.ndarray:
    """A place [2 or 3] in space."""
    return np.append(place, np.zeros(3 - len(place)))
