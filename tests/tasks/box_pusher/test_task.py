"""The box pusher as a task: its descriptors and what it needs."""

import subprocess
import sys
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from vigor.basics.errors import UserError
from vigor.tasks import load_task
from vigor.tasks.box_pusher import (
    TASK,
    mechanics,
)
from vigor.tasks.check import check


def test_descriptors_against_numpy():
    rng = np.random.default_rng(0)
    weights, context = rng.normal(size=14), np.array([0.05, -0.03, 0.4])
    plan = np.asarray(TASK.promp.rollout(jnp.asarray(weights)), float)
    seen = np.asarray(TASK.describe(jnp.asarray(plan), jnp.asarray(context)))
    assert seen.shape == (50, TASK.features)
    # And the time step, which networks are given as the phase: 19.
    assert TASK.with_descriptors("paper").features == 18
    turn = np.exp(-1j * context[2])
    corners = [(0.08, 0.12), (-0.08, 0.12), (-0.08, -0.12), (0.08, -0.12)]
    for t in (0, 17, 49):
        tip = complex(*plan[t])
        expected = []
        for x, y in corners:
            offset = (tip - (0.55 + x + 1j * y)) * turn
            expected += [offset.real, offset.imag]
        for x, y in corners:
            goal = 0.55 + context[0] + 1j * context[1] + (x + 1j * y) * np.conj(turn)
            offset = (tip - goal) * turn
            expected += [offset.real, offset.imag]
        np.testing.assert_allclose(seen[t, :16], np.array(expected) / 0.1, atol=1e-5)
    for t, (x, y, angle) in enumerate(np.asarray(mechanics.poses(jnp.asarray(plan)), float)):
        missing = (x + 1j * y - (context[0] + 1j * context[1])) * turn
        expected = [missing.real, missing.imag, 0.12 * (angle - context[2])]
        np.testing.assert_allclose(seen[t, 18:], np.array(expected) / 0.1, atol=1e-4)
    velocity, acceleration = np.diff(plan, axis=0), np.diff(plan, n=2, axis=0)
    np.testing.assert_allclose(seen[1:, 16], (velocity**2).sum(1) / 0.02**2, rtol=2e-3, atol=1e-4)
    np.testing.assert_allclose(seen[2:, 17], (acceleration**2).sum(1) / 0.005**2, rtol=2e-2, atol=1e-3)


def test_descriptors_are_differentiable_and_the_task_has_no_mistakes():
    context = jnp.array([0.05, -0.03, 0.4])
    slopes = jax.jit(jax.grad(lambda w: jnp.sum(TASK.describe(TASK.promp.rollout(w), context))))(jnp.ones(14))
    assert np.all(np.isfinite(slopes))
    few = replace(TASK, sample_contexts=lambda rng, count: rng.uniform(-0.1, 0.1, (count, 3)))
    check(few)
    with pytest.raises(UserError, match="either by its distance or by simulate"):
        check(replace(few, judge=replace(few.judge, distance=lambda motion: jnp.sum(motion.joints))))
    check(replace(few, judge=replace(few.judge, simulate=None)))  # Not judged: success is predicted.
    with pytest.raises(UserError, match=r"simulate gives \[8, 2\]"):
        check(replace(few, judge=replace(few.judge, simulate=lambda paths, contexts: np.zeros((len(paths), 2)))))


def test_mujoco_is_imported_only_when_needed_and_missed_in_one_sentence():
    program = """
import sys
from vigor.tasks import load_task
task = load_task("box-pusher")
assert not any(name.startswith("mujoco") for name in sys.modules)
sys.modules["mujoco"] = None
import numpy as np
from vigor.basics.errors import UserError
try:
    task.distances(np.zeros((1, 50, 2)), np.zeros((1, 3)))
except UserError as error:
    print(error)
"""
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert 'pip install "vigor-skills[sim]"' in said
    assert load_task("box-pusher") is TASK
