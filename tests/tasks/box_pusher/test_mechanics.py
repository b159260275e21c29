"""Mechanics of pushing, by closed forms and symmetry; tests of the box pusher compare them with MuJoCo."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from vigor.tasks.box_pusher import geometry, mechanics
from vigor.tasks.box_pusher.control import PROMP

CONSTANTS = mechanics.Constants(0.01, 0.1, 0.2)


def line(start: tuple[float, float], end: tuple[float, float]) -> jnp.ndarray:
    """A straight path [200, 2] between places relative to where the box starts."""
    return jnp.linspace(jnp.array(start), jnp.array(end), 200) + jnp.array(geometry.START)


@pytest.mark.parametrize(
    ("start", "end", "moved"),
    [  # Half the box, then a wall and the radius of the rod; it gives way by 1 cm.
        ((-0.12, 0.0), (0.0, 0.0), [0.08, 0.0]),
        ((0.0, 0.0), (0.1, 0.0), [0.1 - (0.08 - 0.008 - 0.01) - 0.01, 0.0]),
        ((0.0, 0.2), (0.0, 0.1), [0.0, -0.02]),
        ((0.0, 0.0), (0.0, 0.09), [0.0, 0.0]),  # Not touched.
        ((0.0, 0.0), (0.0, 0.105), [0.0, 0.0]),  # Touched, and not hard enough.
        ((-0.12, 0.2), (0.1, 0.2), [0.0, 0.0]),  # Past it.
    ],
)
def test_a_push_through_the_middle_moves_the_box_as_far_as_the_rod_less_what_it_gives_way(start, end, moved):
    found = mechanics.poses(line(start, end), CONSTANTS)[-1]
    np.testing.assert_allclose(found, [*moved, 0.0], atol=1e-3)


def test_a_box_that_is_pushed_beside_its_middle_turns_as_the_ellipsoid_says():
    """By hand, for the first moments and without friction of the rod: force f along x at height y has torque -y f, and
    the movement (f, 0, -y f / arm²) takes the wall at the rod along by f + y² f / arm²."""
    y, beyond = 0.05, 0.004
    held = CONSTANTS.give / np.sqrt(1 + (y / CONSTANTS.arm) ** 2)
    path = line((-0.12, y), (-0.08 - geometry.ROD + held + beyond, y))
    x, side, angle = mechanics.poses(path, CONSTANTS._replace(friction=0.0))[-1]
    force = beyond / (1 + (y / CONSTANTS.arm) ** 2)
    np.testing.assert_allclose(x, force, rtol=0.05)
    np.testing.assert_allclose(angle, -y * force / CONSTANTS.arm**2, rtol=0.05)
    assert abs(side) < 0.1 * x


@pytest.mark.parametrize("signs", [(1, -1), (-1, 1), (-1, -1)])
def test_mirrored_pushes_move_the_box_to_the_mirror_image(signs):
    weights = np.random.default_rng(0).normal(size=(20, 7, 2)) * 0.9
    weights[:, :, 1] += 0.01  # None begins in the middle, where neither side is the nearer.
    run = jax.jit(jax.vmap(lambda w: mechanics.poses(PROMP.rollout(w.reshape(-1)))))
    moved, mirrored = run(jnp.asarray(weights)), run(jnp.asarray(weights * np.array(signs)))
    np.testing.assert_allclose(mirrored, moved * np.array([*signs, signs[0] * signs[1]]), atol=2e-4)
    assert np.abs(moved).max() > 0.05


def test_slopes_are_finite_everywhere_and_those_of_differences():
    rng = np.random.default_rng(1)
    weights = jnp.asarray(rng.normal(size=(100, 14)) * 0.9, jnp.float32)  # Some begin in a wall.
    end = jax.jit(jax.vmap(lambda w: mechanics.poses(PROMP.rollout(w))[-1]))
    slopes = jax.jit(jax.vmap(jax.jacrev(lambda w: mechanics.poses(PROMP.rollout(w))[-1])))(weights)
    assert np.all(np.isfinite(slopes))
    direction = rng.normal(size=14).astype(np.float32)
    change = (end(weights + 1e-3 * direction) - end(weights - 1e-3 * direction)) / 2e-3
    away = np.linalg.norm(change - slopes @ direction, axis=1)
    assert np.median(np.linalg.norm(change, axis=1)) > 0.05
    assert np.median(away) < 1e-3
