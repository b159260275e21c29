"""From a scene to a task: what is learned, who moves, and how it is judged and shown."""

import json
from functools import lru_cache, partial
from pathlib import Path

import jax
import numpy as np

from vigor.basics.errors import UserError
from vigor.tasks import trust
from vigor.tasks.scenes import deciding, files, relations
from vigor.tasks.scenes.scene import Scene, SceneObject
from vigor.tasks.task import Arm, Display, Judge, Region, Task

Array = jax.Array
SIZE = 0.02
"""Radius in metres of the ball that stands for an object in pictures, unless success names another."""


def load(path: Path) -> Task:
    """The task of a scene's file; open, if its demonstrations are yet to decide a part of it."""
    path = path.resolve()
    return _loaded(path, trust.digest(path) if path.is_file() else "")


@lru_cache(maxsize=16)
def _loaded(path: Path, digest: str) -> Task:
    """`load`, done again only when the file has changed."""
    return task(files.read(path), str(path))


def task(scene: Scene, origin: str) -> Task:
    """The task of a scene that comes from a file; open until demonstrations have decided all of it."""
    joints, chain = len(scene.robot.joints), scene.robot.kinematics
    assert chain is not None
    kinematics = chain if scene.gripper is None else lambda moved: chain(moved[..., :joints])
    decided = scene.decided
    built = Task(
        name=scene.name,
        promp=deciding.promp(scene),
        context_names=scene.context_names,
        sample_contexts=partial(_unknown if decided is None else deciding.sample_contexts, scene),
        kinematics=kinematics,
        descriptors=relations.descriptors(scene),
        judge=Judge(distance=relations.missed(scene)) if scene.success else Judge(),
        arm=Arm(
            robot=scene.robot,
            joints=lambda moved: moved[..., :joints],
            seconds=3.0 if decided is None else decided.seconds,
            gripper=scene.gripper,
        ),
        display=Display(regions=partial(_regions, scene)),
        settle=partial(_settled, scene, origin) if decided is None else None,
        data="" if decided is None else json.dumps(files.as_json(scene), indent=2, allow_nan=False) + "\n",
    )
    return built.with_origin(origin, trust.digest_of(built.data.encode()) if built.data else "")


def _settled(scene: Scene, origin: str, movements: np.ndarray, contexts: np.ndarray) -> Task:
    """The task once its demonstrations are known: movements [n, T, dimensions] and their contexts [m, C]."""
    decided = deciding.decide(scene, movements, contexts)
    return task(Scene(**{**vars(scene), "decided": decided}), origin)


def _unknown(scene: Scene, rng: np.random.Generator, count: int) -> np.ndarray:
    raise UserError(f"where the objects of {scene.name} can be is known from its demonstrations alone; give some")


def _regions(scene: Scene, context: np.ndarray) -> tuple[Region, ...]:
    return tuple(
        Region(tuple(map(float, context[scene.part(item.name)][:3])), _size(scene, item), item.name)
        for item in scene.objects
    )


def _size(scene: Scene, item: SceneObject) -> float:
    return max((wanted.within for wanted in scene.success if wanted.object == item.name), default=SIZE)
