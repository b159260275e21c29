"""Batches in parts against batches as a whole."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from vigor.basics import batching


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 7, 9, 10, 11, 25, 0])
def test_chunks_together_are_the_function_of_the_whole(size):
    rng = np.random.default_rng(0)
    first, second = (jnp.asarray(rng.normal(size=(10, *shape)), jnp.float32) for shape in ((3,), (2, 2)))
    sizes = []

    def function(one, other):
        sizes.append(one.shape[0])
        return {"product": 2 * one, "pair": (other, one[:, 0] - other[:, 1, 1])}

    found = batching.by_chunks(size, function, first, second)
    assert max(sizes) <= (size or 64)
    jax.tree.map(np.testing.assert_array_equal, found, function(first, second))


def test_one_row_is_one_chunk():
    np.testing.assert_array_equal(batching.by_chunks(64, jnp.square, jnp.full((1, 2), 3.0)), np.full((1, 2), 9))


@pytest.mark.parametrize("backend", ["cpu", "gpu"])
def test_each_takes_the_elements_of_all_trees(monkeypatch, backend):
    """One after the other as on a CPU, or at once as on a GPU."""
    monkeypatch.setattr(jax, "default_backend", lambda: backend)
    rng = np.random.default_rng(0)
    tree, factors = {"a": rng.normal(size=(4, 3)), "b": rng.normal(size=4)}, rng.normal(size=(4, 3))
    found = batching.each(
        lambda tree, factor: (tree["a"] @ factor, tree["b"]),
        jax.tree.map(jnp.asarray, tree),
        jnp.asarray(factors),
    )
    np.testing.assert_allclose(found[0], np.sum(tree["a"] * factors, axis=1), rtol=1e-5)
    np.testing.assert_allclose(found[1], tree["b"], rtol=1e-6)


@pytest.mark.parametrize("count", [1, 3, 4, 5, 11])
def test_blocks_are_the_function_of_the_whole_and_one_program(count):
    rng, sizes = np.random.default_rng(0), []

    def function(one, other):
        sizes.append(len(one))
        return one + other[:, None]

    first, second = rng.normal(size=(count, 2)), rng.normal(size=count)
    found = batching.in_blocks(4, function, first, second)
    np.testing.assert_allclose(found, first + second[:, None], rtol=1e-6)
    assert sizes == [4] * -(-count // 4)


def test_no_rows_are_none():
    assert batching.in_blocks(4, jnp.square, np.zeros((0, 2))).shape == (0, 2)
