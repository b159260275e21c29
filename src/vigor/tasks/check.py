"""Finds mistakes in a task before anything is trained on it, and names what is wrong."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

from vigor.descriptors import Descriptor
from vigor.errors import UserError
from vigor.tasks.task import Task

Array = jax.Array
_SAMPLES = 8


def check(task: Task) -> None:
    """Raise a UserError that names the part of the task that is wrong."""
    contexts = _contexts(task)
    weights = jax.random.normal(jax.random.key(0), (_SAMPLES, task.promp.weights))
    joints = task.promp.rollout(weights)
    points = _run("kinematics", lambda: jax.vmap(task.kinematics)(joints))
    steps = task.promp.steps
    if points.ndim != 4 or points.shape[1] != steps or points.shape[3] not in (2, 3):
        raise UserError(
            f"kinematics maps joints [T, {task.promp.dimensions}] to {_shape(points.shape[1:])}; "
            f"it must give points [T, points, 2 or 3]"
        )
    _finite("kinematics", points)
    if not task.descriptors:
        raise UserError("descriptors is empty; list at least one function from a motion to [T]")
    for number, descriptor in enumerate(task.descriptors, start=1):
        _descriptor(task, f"descriptor {number} ({_name(descriptor)})", descriptor, weights, contexts)
    motions = jax.vmap(task.motion)(joints, contexts)
    distances = _run("distance", lambda: jax.vmap(task.distance)(motions))
    if distances.shape != (_SAMPLES,):
        raise UserError(f"distance gives {_shape(distances.shape[1:])} for a motion; it must give a single number")
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


def _descriptor(task: Task, name: str, descriptor: Descriptor, weights: Array, contexts: Array) -> None:
    steps = task.promp.steps

    def values(weights: Array, context: Array) -> Array:
        return descriptor(task.motion(task.promp.rollout(weights), context))

    outputs = _run(name, lambda: jax.vmap(values)(weights, contexts))
    if outputs.shape[1:2] != (steps,) or outputs.ndim > 3:
        raise UserError(f"{name} gives {_shape(outputs.shape[1:])}; it must give [T] or [T, features] with T = {steps}")
    _finite(name, outputs)
    slopes = _run(name, lambda: jax.vmap(jax.jacrev(values))(weights, contexts))
    _finite(f"the gradient of {name}", slopes)
    # Only the weights change here, so a value that changes must have a slope.
    moved = _run(name, lambda: jax.vmap(values, (0, None))(weights, contexts[0]))
    if bool(jnp.any(moved != moved[0])) and not bool(jnp.any(slopes)):
        raise UserError(f"{name} is not differentiable: its value changes with the motion, its gradient is zero")


def _run(name: str, function: Callable[[], Array]) -> Array:
    try:
        result = function()
    except UserError:
        raise
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
    return result


def _finite(name: str, values: Array | np.ndarray) -> None:
    if not bool(np.all(np.isfinite(np.asarray(values)))):
        raise UserError(f"{name} is not finite for some motions; look for a division by zero or the root of zero")


def _name(descriptor: Descriptor) -> str:
    return getattr(descriptor, "__name__", type(descriptor).__name__)


def _shape(shape: tuple[int, ...]) -> str:
    return f"[{', '.join(map(str, shape))}]" if shape else "a single number"
