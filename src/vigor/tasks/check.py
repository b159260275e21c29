"""Finds mistakes in a task before anything is trained on it, and names what is wrong."""

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from vigor.basics.errors import UserError
from vigor.motion.descriptors import Descriptor, Motion
from vigor.motion.promp import ProMP
from vigor.motion.robots import Robot
from vigor.tasks.task import Arm, Display, Judge, Region, Source, Task, Transfer

Array = jax.Array
_SAMPLES = 8


def check(task: Task) -> None:
    """Raise a UserError that names the part of the task that is wrong."""
    _check_kinds(task)
    contexts = _contexts(task)
    weights = jax.random.normal(jax.random.key(0), (_SAMPLES, task.promp.weights))
    steps = task.promp.steps
    joints = jax.ShapeDtypeStruct((steps, task.promp.dimensions), jnp.float32)
    points = _trace("kinematics", task.kinematics, joints)
    if len(points) != 3 or points[0] != steps or points[2] not in (2, 3):
        raise UserError(
            f"kinematics maps joints {_shape(joints.shape)} to {_shape(points)}; "
            f"it must give points [T, points, 2 or 3] with T = {steps}"
        )
    moved = _trace("arm.joints", task.arm.joints, joints)
    if len(moved) != 2 or moved[0] != steps or (task.arm.robot is not None and moved[1] != len(task.arm.robot.joints)):
        raise UserError(
            f"arm.joints maps joints {_shape(joints.shape)} to {_shape(moved)}; it must give [T, joint] with as many "
            "joints as the robot has"
        )
    shapes = (joints.shape, points, contexts.shape[1:])
    motion = jax.eval_shape(lambda: Motion(*(jnp.zeros(shape) for shape in shapes)))
    names = [f"descriptor {i} ({_name(part)})" for i, part in enumerate(task.descriptors, start=1)]
    others = [
        (f"{name} descriptor {i} ({_name(part)})", part)
        for name, parts in task.other_descriptors.items()
        for i, part in enumerate(parts, start=1)
    ]
    others += [("reached", task.reached)] if task.reached is not None else []
    for name, descriptor in (*zip(names, task.descriptors, strict=True), *others):
        shape = _trace(name, descriptor, motion)
        if shape[:1] != (steps,) or len(shape) > 2:
            raise UserError(f"{name} gives {_shape(shape)}; it must give [T] or [T, features] with T = {steps}")
    if task.judge.distance is not None and (shape := _trace("distance", task.judge.distance, motion)) != ():
        raise UserError(f"distance gives {_shape(shape)} for a motion; it must give a single number")
    _check_transfer(task, weights[0], contexts[0])
    _check_values(task, names, weights, contexts)
    if task.judge.simulate is not None:
        _check_simulation(task, np.asarray(task.promp.rollout(weights)), np.asarray(contexts))
    _check_regions(task, np.asarray(contexts[0]))


def _check_kinds(task: Task) -> None:
    """The fields that are not functions."""
    if not isinstance(task.name, str) or not task.name:
        raise UserError("name must be a word")
    if not isinstance(task.promp, ProMP):
        raise UserError(f"promp is a {type(task.promp).__name__}; it must be a vigor.promp.ProMP")
    if not isinstance(task.context_names, tuple | list) or not task.context_names:
        raise UserError("context_names must list a name for every number of a context")
    for name, kind in {"judge": Judge, "arm": Arm, "display": Display, "source": Source, "transfer": Transfer}.items():
        if not isinstance(part := getattr(task, name), kind):
            raise UserError(f"{name} is a {type(part).__name__}; it must be a vigor.tasks.{kind.__name__}")
    if not isinstance(task.descriptors, tuple | list):
        raise UserError("descriptors must be a tuple or list of functions")
    if not task.descriptors:
        raise UserError("descriptors is empty; list at least one function from a motion to [T]")
    if task.judge.distance is not None and task.judge.simulate is not None:
        raise UserError("a task is judged either by its distance or by simulate; give it one of them")
    if not isinstance(task.judge.samples, int) or task.judge.samples < 1:
        raise UserError(f"samples must be a whole number of at least 1, not {task.judge.samples!r}")
    if task.arm.robot is not None and not isinstance(task.arm.robot, Robot):
        raise UserError(f"robot is a {type(task.arm.robot).__name__}; it must be a vigor.robots.Robot")
    if not isinstance(task.arm.seconds, int | float) or not 0 < task.arm.seconds < np.inf:
        raise UserError(f"seconds must be a positive number, not {task.arm.seconds!r}")
    for name in ("success_distance", "distinct"):
        value = getattr(task.judge, name)
        if name == "distinct" and value is None:
            continue
        if not isinstance(value, int | float) or not 0 <= value < np.inf:
            raise UserError(f"{name} must be a number of at least 0, not {value!r}")


def _check_transfer(task: Task, weights: Array, context: Array) -> None:
    """Carried movements are weights, and images are weights and a context."""
    carry = task.transfer.carry
    if (
        carry is not None
        and (shape := _trace("carry", lambda one: carry(one, context, context), weights)) != weights.shape
    ):
        raise UserError(f"carry gives {_shape(shape)}; it must give weights {_shape(weights.shape)}")
    for number, image in enumerate(task.transfer.images, start=1):
        for part, like in enumerate((weights, context)):
            shape = _trace(f"image {number}", lambda one, image=image, part=part: image(one, context)[part], weights)
            if shape != like.shape:
                raise UserError(f"image {number} gives {_shape(shape)} where it must give {_shape(like.shape)}")


def _check_simulation(task: Task, joints: np.ndarray, contexts: np.ndarray) -> None:
    try:
        distances = task.distances(joints, contexts)
    except Exception as error:
        raise UserError(f"simulate fails: {type(error).__name__}: {error}") from None
    if distances.shape != (len(joints),) or distances.dtype.kind != "f":
        raise UserError(f"simulate gives {_shape(distances.shape)}; it must give a real number for each movement")
    _finite("simulate", distances)


def _check_regions(task: Task, context: np.ndarray) -> None:
    try:
        regions = list(task.display.regions(context))
    except Exception as error:
        raise UserError(f"regions fails: {type(error).__name__}: {error}") from None
    for region in regions:
        if not isinstance(region, Region):
            raise UserError(f"regions gives a {type(region).__name__}; it must give vigor.tasks.Region objects")
        if len(region.centre) not in (2, 3) or not np.all(np.isfinite([*region.centre, region.radius])):
            raise UserError("regions must have a finite centre of 2 or 3 numbers and a finite radius")


def _check_values(task: Task, names: list[str], weights: Array, contexts: Array) -> None:
    """Values and gradients on random motions are finite, and what changes has a gradient."""

    def motion(weights: Array, context: Array) -> Motion:
        return task.motion(task.promp.rollout(weights), context)

    @jax.jit
    @partial(jax.vmap, in_axes=(0, 0, None))
    def values_and_slopes(weights: Array, context: Array, fixed: Array) -> Any:
        moved = motion(weights, context)
        parts = []
        for descriptor in task.descriptors:
            value, pull = jax.vjp(lambda w, descriptor=descriptor: descriptor(motion(w, context)), weights)
            pattern = jax.random.normal(jax.random.key(1), value.shape)
            parts.append((value, pull(pattern)[0], descriptor(motion(weights, fixed))))
        return moved.points, jnp.zeros(()) if task.judge.distance is None else task.judge.distance(moved), parts

    points, distances, parts = jax.device_get(values_and_slopes(weights, contexts, contexts[0]))
    _finite("kinematics", points)
    for name, (values, slopes, in_one_context) in zip(names, parts, strict=True):
        _finite(name, values)
        _finite(f"the gradient of {name}", slopes)
        if np.any(in_one_context != in_one_context[0]) and not np.any(slopes):
            raise UserError(f"{name} is not differentiable: its value changes with the motion, its gradient is zero")
    _finite("distance", distances)


def _contexts(task: Task) -> Array:
    try:
        contexts = np.asarray(task.sample_contexts(np.random.default_rng(0), _SAMPLES), float)
    except Exception as error:
        raise UserError(f"sample_contexts fails: {type(error).__name__}: {error}") from None
    if contexts.shape != (_SAMPLES, task.context_dimension):
        raise UserError(
            f"sample_contexts gives {_shape(contexts.shape)} for {_SAMPLES} contexts with {task.context_dimension} "
            f"context_names; it must give {_shape((_SAMPLES, task.context_dimension))}"
        )
    _finite("sample_contexts", contexts)
    return jnp.asarray(contexts, jnp.float32)


def _trace(name: str, function: Callable[..., Array], *arguments: Any) -> tuple[int, ...]:
    """Shape of what a function gives, found as a compiler would: without running it."""
    try:
        result = jax.eval_shape(function, *arguments)
    except jax.errors.TracerArrayConversionError:
        raise UserError(f"{name} is not differentiable: it leaves JAX; use jax.numpy where it uses numpy") from None
    except jax.errors.ConcretizationTypeError:
        raise UserError(
            f"{name} is not differentiable: it decides or loops on values; use jax.numpy.where instead of if"
        ) from None
    except Exception as error:
        sentence = str(error).strip().split("\n")[0]
        raise UserError(f"{name} fails: {type(error).__name__}: {sentence}") from None
    if not hasattr(result, "shape"):
        raise UserError(f"{name} gives a {type(result).__name__}; it must give an array")
    if not jnp.issubdtype(result.dtype, jnp.floating):
        raise UserError(f"{name} gives values of type {result.dtype}; it must give real numbers")
    return result.shape


def _finite(name: str, values: Array | np.ndarray) -> None:
    if not bool(np.all(np.isfinite(np.asarray(values)))):
        raise UserError(f"{name} is not finite for some motions; look for a division by zero or the root of zero")


def _name(descriptor: Descriptor) -> str:
    return getattr(descriptor, "__name__", type(descriptor).__name__)


def _shape(shape: tuple[int, ...]) -> str:
    return f"[{', '.join(map(str, shape))}]" if shape else "a single number"
