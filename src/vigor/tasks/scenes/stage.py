"""A scene on its stage: its robot, dragged by the tool and turned, among objects that are moved and turned."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from scipy.spatial.transform import Rotation

from vigor.basics.errors import UserError
from vigor.motion.description import meshes
from vigor.motion.description.reading import read
from vigor.motion.inverse_kinematics import ARM, damped_least_squares
from vigor.tasks import arms
from vigor.tasks.layouts import effector, length
from vigor.tasks.scenes import deciding, files
from vigor.tasks.scenes.scene import Criterion, Scene, SceneObject, place
from vigor.tasks.stage import Mark, Missing, Picture, Surface
from vigor.tasks.task import Task

SMALLEST = 0.02
"""Radius in metres of the ball that an object is shown as, at least."""
DETAILED = 4000
"""Faces of a link from which its parts are shown by their convex hulls."""
NEAR, FAR, LOW, HIGH = 0.3, 0.6, 0.03, 0.3
"""Where objects are put before anything is shown: distance from the base and height, as parts of the arm's reach."""
TILT = 0.4
"""Radians by which an object with a whole pose is tilted there, at most."""
TRIES, SEEDS, CLOSE = 60, 16, 0.01
"""Places that are tried, poses that each is looked for from, and by how much one that is found may be missed."""


class Objects:
    """The objects of a scene, with its conditions of success."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self.instruction = _instruction(scene)
        self._reach = reach(scene)
        self._near = np.array([home(scene), *scene.robot.random_poses(SEEDS - 1)], np.float32)

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        """A context [C] among the demonstrated ones or, before there are any, where the tool can reach."""
        if self._scene.decided is not None:
            return deciding.sample_contexts(self._scene, rng, 1)[0]
        return np.concatenate([self._put(rng, item) for item in self._scene.objects])

    def _put(self, rng: np.random.Generator, item: SceneObject) -> np.ndarray:
        """Numbers of an object somewhere in front of the robot; within reach, if such a place is found."""
        for _ in range(TRIES):
            far, side = rng.uniform(NEAR, FAR) * self._reach, rng.uniform(-0.9, 0.9)
            position = np.array([far * np.cos(side), far * np.sin(side), rng.uniform(LOW, HIGH) * self._reach])
            tilt = rng.uniform(0.0, TILT) if item.pose == "pose" else 0.0
            turn = Rotation.from_euler("zyx", [rng.uniform(-0.5, 0.5), tilt, 0.0])
            aim = np.append(position, -ARM * turn.as_matrix()[:, 2])
            if np.min(_reached(self._scene, self._near, aim[None].astype(np.float32))[1]) < CLOSE:
                break
        return _numbers(item, position, turn)

    def marks(self, context: np.ndarray) -> tuple[Mark, ...]:
        return tuple(self._mark(item, context) for item in self._scene.objects)

    def _mark(self, item: SceneObject, context: np.ndarray) -> Mark:
        own = self._scene.part(item.name)
        at = place(self._scene, item, jnp.asarray(context, jnp.float32))
        close = [wanted.within for wanted in self._scene.success if wanted.object == item.name]
        turns = {"position": "", "position and heading": "heading", "pose": "pose"}[item.pose]
        radius, rotation = max([*close, SMALLEST]), np.asarray(at.rotation, np.float64)
        return Mark(item.name, context[own][:3], radius, turns=turns, rotation=rotation)  # type: ignore[arg-type]

    def dragged(self, context: np.ndarray, mark: int, aim: np.ndarray) -> np.ndarray:
        own = self._scene.part(self._scene.objects[mark].name)
        return np.concatenate([context[: own.start], aim, context[own.start + 3 :]])

    def turned(self, context: np.ndarray, mark: int, rotation: np.ndarray) -> np.ndarray:
        item = self._scene.objects[mark]
        own = self._scene.part(item.name)
        numbers = _numbers(item, context[own][:3], Rotation.from_matrix(rotation))
        return np.concatenate([context[: own.start], numbers, context[own.stop :]])

    def reached(self, context: np.ndarray, seen: Sequence[Picture]) -> tuple[bool, ...]:
        missed = {wanted.object for wanted in self._scene.success if self._miss(wanted, context, seen) is not None}
        asked = {wanted.object for wanted in self._scene.success}
        return tuple(item.name in asked - missed for item in self._scene.objects)

    def missing(self, context: np.ndarray, seen: Sequence[Picture]) -> Missing | None:
        missed = (self._miss(wanted, context, seen) for wanted in self._scene.success)
        return next((part for part in missed if part is not None), None)

    def _miss(self, wanted: Criterion, context: np.ndarray, seen: Sequence[Picture]) -> Missing | None:
        """Way in which a movement misses a condition; None if it does not."""
        item = next(item for item in self._scene.objects if item.name == wanted.object)
        mark, path = self._mark(item, context), effector(seen)
        away = np.linalg.norm(path - mark.position, axis=1)
        angles = np.array([_angle(picture, mark) for picture in seen])
        beyond = np.maximum(0.0, away - wanted.within)
        tilted = np.maximum(0.0, angles - (180.0 if wanted.degrees is None else wanted.degrees))
        step = int(np.argmin(beyond + np.deg2rad(tilted))) if wanted.when == "pass" else len(path) - 1
        if beyond[step] + tilted[step] == 0:
            return None
        far = length(beyond[step]) if beyond[step] else ""
        turned = f"{tilted[step]:.0f} degrees" if tilted[step] else ""
        said = " and ".join(part for part in (far, turned) if part)
        return Missing(f"{said} from {item.name}", np.array([path[step], mark.position]))


def _angle(picture: Picture, mark: Mark) -> float:
    """Degrees between the tool's direction and the one into an object."""
    if picture.tool is None:
        return 0.0
    return float(np.rad2deg(np.arccos(np.clip(-picture.tool[:, 2] @ mark.rotation[:, 2], -1.0, 1.0))))


def _numbers(item: SceneObject, position: np.ndarray, turn: Rotation) -> np.ndarray:
    """Numbers of an object in a context."""
    if item.pose == "position":
        return position
    if item.pose == "pose":
        return np.append(position, turn.as_quat())
    matrix = turn.as_matrix()
    return np.append(position, np.arctan2(matrix[1, 0], matrix[0, 0]))


def _instruction(scene: Scene) -> str:
    """A sentence about what a movement has to do."""
    if not scene.success:
        return "Drag the orange ball as the tool should move; nothing says yet what counts as success."
    words = {"pass": "to {}", "end": "and end at {}"}
    parts = [words[wanted.when].format(wanted.object) for wanted in scene.success]
    way = ", ".join(parts).replace(", and", " and") if len(parts) > 1 else f"to {scene.success[0].object}"
    turned = " The ring around it turns the tool." if oriented(scene) else ""
    return f"Drag the orange ball {way}.{turned}"


def oriented(scene: Scene) -> bool:
    """Whether the tool's orientation matters."""
    return any(wanted.degrees is not None for wanted in scene.success) or any(item.turns for item in scene.objects)


def reach(scene: Scene) -> float:
    """Length of the arm, in metres."""
    assert scene.robot.kinematics is not None
    points = np.asarray(scene.robot.kinematics(jnp.zeros(len(scene.robot.joints))))
    return float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())


def home(scene: Scene) -> np.ndarray:
    """Joints [joint] that a movement starts from: those decided or written, else a bent arm whose tool points down."""
    count = len(scene.robot.joints)
    given = scene.start if scene.decided is None else scene.decided.start
    if given is not None:
        return np.array(given[:count])
    aims = [(x, 0.0, z) for x in (0.3, 0.4, 0.5) for z in (0.15, 0.25, 0.35)]
    down = np.array([np.append(reach(scene) * np.array(aim), (0.0, 0.0, -ARM)) for aim in aims], np.float32)
    found, missed = _reached(scene, scene.robot.random_poses(SEEDS).astype(np.float32), down)
    low, high = (np.clip(part, -np.pi, np.pi) for part in np.array(scene.robot.position).T)
    bent = np.sum(((found - (low + high) / 2) / (high - low)) ** 2, axis=-1)
    best = np.argmin(bent + 1e3 * np.maximum(0.0, missed - CLOSE))
    return found.reshape(-1, count)[best].astype(np.float64)


def _reached(scene: Scene, near: np.ndarray, aims: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Joints [aim, seed, joint] near others [seed, joint] with the tool at a place and pointing somewhere [aim, 3 + 3],
    and by how much they miss [aim, seed]."""
    one = jax.vmap(jax.vmap(partial(_solve, scene), (0, None)), (None, 0))
    found, missed = one(near, aims)
    return np.asarray(found), np.asarray(missed)


@partial(jax.jit, static_argnums=0)
def _solve(scene: Scene, near: jax.Array, aim: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Joints near others [joint] with the tool at a place and pointing somewhere [3 + 3], and by how much they miss."""
    chain = scene.robot.kinematics
    assert chain is not None
    low, high = (jnp.asarray(bound, jnp.float32) for bound in np.array(scene.robot.position).T)

    def told(joints: jax.Array) -> jax.Array:
        frames = chain.frames(joints)
        return jnp.concatenate([frames.position[0], ARM * frames.rotation[0, :, 2]])

    found = damped_least_squares(told, near, aim, low, high, 1e-4, 100)
    return found, jnp.linalg.norm(told(found) - aim)


def surfaces(scene: Scene, origin: str) -> dict[str, Surface]:
    """Surfaces of the robot's links by name: their meshes where its file has them, else capsules if they are known."""
    chain = scene.robot.kinematics
    assert chain is not None
    known = {link.name for link in chain.links}
    try:
        description = read(files.robot_file(Path(origin), scene.robot.name))
        shown = [link for link in description.links if link.solids and link.name in known]
        return {link.name: _surface([meshes.surface([s], description.path) for s in link.solids]) for link in shown}
    except (UserError, OSError):
        return arms.capsules(scene.robot)


def _surface(parts: Sequence[Any]) -> Surface:
    """Parts of a link as one surface, in few faces."""
    import trimesh

    joined: Any = trimesh.util.concatenate(list(parts))
    if len(joined.faces) > DETAILED:
        joined = trimesh.util.concatenate([part.convex_hull for part in parts])
    return Surface(np.array(joined.vertices), np.array(joined.faces))


def load_stage(scene: Scene, task: Task) -> arms.DraggedArm:
    """The robot of a scene among its objects."""
    robot, joints, layout = scene.robot, len(scene.robot.joints), Objects(scene)
    chain = robot.kinematics
    assert chain is not None
    start = home(scene)
    points = np.asarray(chain(jnp.asarray(start, jnp.float32)))
    rng = np.random.default_rng(0)
    around = np.array([mark.position for _ in range(5) for mark in layout.marks(layout.draw(rng))])
    gripper = [(0.0, 1.0)] if scene.gripper is not None else []
    return arms.DraggedArm(
        task,
        arms.view_of(points, around, flat=False),
        layout,
        [*robot.position, *gripper],
        [*robot.velocity, *(1.0 for _ in gripper)],
        np.append(start, [0.0 for _ in gripper]),
        (lambda poses: chain.frames(poses[..., :joints]).rotation[..., 0, :, :]) if oriented(scene) else None,
        arms.skin_of(robot, lambda poses: poses[..., :joints], surfaces(scene, task.origin)),
    )
