"""Files of scenes: TOML that a person writes, and JSON that a run keeps, with the robot and all that is decided.

Opening one runs nothing, and fetches nothing.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vigor.basics import files
from vigor.basics.errors import UserError
from vigor.basics.serialisation import from_json, to_json
from vigor.motion.catalogue import find
from vigor.motion.robots import Robot
from vigor.motion.screws import Vector
from vigor.tasks.scenes.scene import Criterion, Pose, Scene, SceneObject
from vigor.tasks.task import Gripper

FORMAT, VERSION = "vigor-scene", 1
LARGEST = 2**20
"""Most bytes of a file that a person has written."""
ENDINGS = (".urdf", ".xml", ".mjcf")
"""Endings of files of robots."""
SENTENCE = re.compile(
    r"(?P<when>pass|end) within (?P<within>[\d.]+) ?(?P<unit>mm|cm|m)( and (?P<degrees>[\d.]+) degrees?)? of "
    r"(?P<object>.+)"
)
METRES = {"mm": 0.001, "cm": 0.01, "m": 1.0}


@dataclass(frozen=True)
class _Object:
    pose: Pose = "position"


@dataclass(frozen=True)
class Written:
    """A scene as a person writes it."""

    robot: str
    """Name of a robot, or a file beside the scene."""
    base: str | None = None
    tool: str | None = None
    tool_offset: Vector = (0.0, 0.0, 0.0)
    velocity: float | None = None
    acceleration: float | None = None
    collisions: bool = True
    """Whether the links are enclosed in capsules, from their meshes, so that plans avoid collisions."""
    start: Any = "demonstrations"
    seconds: float | None = None
    success: tuple[str, ...] = ()
    objects: Mapping[str, _Object] = field(default_factory=dict)
    gripper: Gripper | None = None


def read(path: Path) -> Scene:
    """The scene of a file, written by a person or kept by a run; every mistake is one sentence with the file's name."""
    try:
        return from_values(files.read_json(path)) if path.suffix == ".json" else _written(path)
    except UserError as error:
        said = str(error)
        raise UserError(said if said.startswith(str(path)) else f"{path}: {said}") from None


def _written(path: Path) -> Scene:
    files.check_plain(path, LARGEST)
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(f"it is not a readable TOML file: {error}") from None
    words = from_json(Written, values)
    return Scene(
        name=path.stem,
        robot=_robot(path, words),
        objects=tuple(SceneObject(name, item.pose) for name, item in words.objects.items()),
        gripper=words.gripper,
        success=tuple(map(_criterion, words.success)),
        seconds=words.seconds,
        start=_start(words.start),
    )


def _robot(path: Path, words: Written) -> Robot:
    """The robot by its name, or by its path from where the scene lies."""
    file = Path(words.robot).suffix.lower() in ENDINGS
    robot = Robot.load(
        path.parent / words.robot if file else words.robot,
        words.base,
        words.tool,
        words.tool_offset,
        velocity=words.velocity,
        acceleration=words.acceleration,
        capsules=words.collisions,
    )
    for said in robot.unread:  # Plans would not know of such a link, and nobody would notice.
        raise UserError(f"there is no {said}; put it there, or write collisions = false")
    return robot


def robot_file(path: Path, name: str) -> Path:
    """The file of a scene's robot, by its name if the scene itself does not say it."""
    return next(iter(beside(path)), None) or find(_said(path) or name).path


def beside(path: Path) -> list[Path]:
    """Files that a scene's file refers to: that of its robot, if it is named by its path from where the scene lies."""
    said = _said(path)
    return [path.parent / said] if Path(said).suffix.lower() in ENDINGS else []


def _said(path: Path) -> str:
    """The robot as a scene's file names it; empty if it does not."""
    if path.suffix != ".toml" or not path.is_file():
        return ""
    try:
        files.check_plain(path, LARGEST)
        said = tomllib.loads(path.read_text(encoding="utf-8")).get("robot", "")
    except (OSError, ValueError, RecursionError, UserError):  # Whoever reads it says what is wrong.
        return ""
    return said if isinstance(said, str) else ""


def _start(value: Any) -> tuple[float, ...] | None:
    if value == "demonstrations":
        return None
    if not isinstance(value, list) or not all(type(number) in (int, float) for number in value):
        raise UserError('start must be "demonstrations", or a list of joints')
    return tuple(map(float, value))


def _criterion(text: str) -> Criterion:
    """A condition of success from words such as "end within 2 cm and 10 degrees of cup"."""
    match = SENTENCE.fullmatch(text.strip())
    try:
        if match is None:
            raise ValueError
        degrees = None if match["degrees"] is None else float(match["degrees"])
        within = float(match["within"]) * METRES[match["unit"]]
    except ValueError:
        raise UserError(
            f"success cannot be {text!r:.80}; write 'end within 2 cm of cup', or 'pass within 2 cm and 10 degrees of "
            "cup'"
        ) from None
    return Criterion("pass" if match["when"] == "pass" else "end", match["object"], within, degrees)


def from_values(values: Any) -> Scene:
    """A scene of what `as_json` made of it."""
    if not isinstance(values, dict) or values.get("format") != FORMAT:
        raise UserError("it holds no scene")
    if (version := values.get("version")) != VERSION:
        raise UserError(f"it has version {version!s:.20}; this program reads version {VERSION}")
    return from_json(Scene, {name: value for name, value in values.items() if name not in ("format", "version")})


def as_json(scene: Scene) -> dict[str, Any]:
    """A scene for a run to keep."""
    return {"format": FORMAT, "version": VERSION, **to_json(scene)}
