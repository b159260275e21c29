"""Batches, worked on as suits the device: all elements at once, or one after the other."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

Array = jax.Array


def each(function: Callable[..., Any], *trees: Any) -> Any:
    """`function` of every element along the leading axis: at once on a GPU, one after the other on a CPU.

    A CPU then works on what fits its cache, and training stops early for each network on its own.
    """
    if jax.default_backend() == "cpu":
        return jax.lax.map(lambda parts: function(*parts), trees)
    return jax.vmap(function)(*trees)


def by_chunks(size: int, function: Callable[..., Any], *arrays: Array) -> Any:
    """`function` of chunks of the arrays' leading axis, one after the other; size 0 is what is fast."""
    size = size or (64 if jax.default_backend() == "cpu" else 8192)
    total = arrays[0].shape[0]
    chunks = -(-total // size)
    padding = -total % chunks

    def dealt(array: Array) -> Array:
        return jnp.concatenate([array, array[:padding]]).reshape(chunks, -1, *array.shape[1:])

    parts = jax.lax.map(lambda part: function(*part), [dealt(array) for array in arrays])
    return jax.tree.map(lambda part: part.reshape(total + padding, *part.shape[2:])[:total], parts)
