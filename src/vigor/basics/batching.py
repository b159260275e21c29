"""Batches, worked on as suits the device: all elements at once, or one after the other."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

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


def in_blocks(size: int, program: Callable[..., Array], *arrays: np.ndarray | Array) -> np.ndarray:
    """A compiled program of the arrays' leading axis in blocks that are all of one size, so that it is compiled but
    once, however many rows there are; the last block has some rows again."""
    given, total = [np.asarray(array) for array in arrays], len(arrays[0])
    rows = [np.arange(first, first + size) % max(1, total) for first in range(0, total, size)]
    if not rows:
        return np.asarray(program(*jax.device_put(given)))
    parts = [program(*jax.device_put([array[own] for array in given])) for own in rows]
    return np.concatenate([np.asarray(part) for part in parts])[:total]
