"""From a scene to a task: what is learned, who moves, and how it is judged and shown."""

import json
from collections.abc import Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import jax
import numpy as np

from vigor.basics.errors import UserError
from vigor.tasks import trust
from vigor.tasks.scenes import deciding, files, relations, transfer
from vigor.tasks.scenes.scene import Scene, SceneObject, as_near
from vigor.tasks.stage import Stage
from vigor.tasks.task import Arm, Display, Judge, Region, Task, Transfer

Array = jax.Array
SIZE = 0.02
"""Radius in metres of the ball that stands for an object in pictures, unless success names another."""

SETTINGS = {("default", "vigor"): {"components": 10, "iterations": 10, "room": 0.05}}
"""Settings by preset and method: mixtures begin at demonstrations that are carried into their context, those of the
nearest contexts, so that few of these, very little room and few updates are enough."""


def load(path: Path) -> Task:
    """The task of a scene's file; open, if its demonstrations are yet to decide a part of it."""
    path = path.resolve()
    return _loaded(path, tuple(trust.digest(part) for part in (path, *files.beside(path)) if part.is_file()))


@lru_cache(maxsize=16)
def _loaded(path: Path, digests: tuple[str, ...]) -> Task:
    """`load`, done again only when the file, or that of its robot, has changed."""
    return task(files.read(path), str(path))


def of_values(values: dict[str, Any], origin: str) -> Task:
    """The task of a scene that a run has decided; values: see `files.as_json`."""
    return _of_text(json.dumps(values), origin)


@lru_cache(maxsize=16)
def _of_text(text: str, origin: str) -> Task:
    """`of_values`, done once, so that programs for it are compiled once."""
    return task(files.from_values(json.loads(text)), origin)


def task(scene: Scene, origin: str) -> Task:
    """The task of a scene that comes from a file; open until demonstrations have decided all of it."""
    joints, chain = len(scene.robot.joints), scene.robot.kinematics
    assert chain is not None
    kinematics = chain if scene.gripper is None else lambda moved: chain(moved[..., :joints])
    decided, promp = scene.decided, deciding.promp(scene)
    built = Task(
        name=scene.name,
        promp=promp,
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
        display=Display(
            unit="m",
            regions=partial(_regions, scene),
            film=partial(_film, scene, origin),
            stage=partial(_stage, scene),
        ),
        transfer=Transfer(partial(transfer.carry, scene, promp), as_near=partial(as_near, scene)),
        settings=SETTINGS,
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


def _film(
    scene: Scene, origin: str, path: Path, joints: np.ndarray, context: np.ndarray, keep_out: Sequence[Any]
) -> None:
    from vigor.tasks.scenes.film import write

    write(scene, origin, path, joints, context, keep_out)


def _stage(scene: Scene, task: Task) -> Stage:
    """The scene as the studio shows it."""
    from vigor.tasks.scenes.stage import load_stage

    return load_stage(scene, task)


def _size(scene: Scene, item: SceneObject) -> float:
    return max((wanted.within for wanted in scene.success if wanted.object == item.name), default=SIZE)
