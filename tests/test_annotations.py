"""Annotations of the core are enforced: wrong shapes and kinds of numbers are refused where they enter."""

import jax
import jax.numpy as jnp
import pytest
from jaxtyping import TypeCheckError

from vigor.learning import surrogate
from vigor.motion.promp import ProMP

PROMP = ProMP(bases=3, dimensions=2, steps=5)


@pytest.mark.parametrize("compiled", [False, True])
def test_shapes_that_do_not_fit_each_other_are_refused(compiled):
    estimate = jax.jit(surrogate.from_gradients) if compiled else surrogate.from_gradients
    points, values = jnp.ones((8, 4)), jnp.ones(8)
    estimate(points, values, points)
    with pytest.raises(TypeCheckError, match="values"):
        estimate(points, values[:7], points)


def test_shapes_are_those_of_one_element_under_vmap():
    assert jax.vmap(PROMP.rollout)(jnp.ones((2, 7, 6))).shape == (2, 7, 5, 2)


def test_whole_numbers_are_no_weights():
    with pytest.raises(TypeCheckError, match="weights"):
        PROMP.rollout(jnp.ones(6, int))
