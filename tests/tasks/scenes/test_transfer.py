"""Movements that are carried to other contexts do there, to the objects, what they did in their own."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import scenery
from vigor.motion.inverse_kinematics import ARM
from vigor.tasks import load_task
from vigor.tasks.scenes import building, deciding, files, transfer
from vigor.tasks.task import Task

pytest.importorskip("yourdfpy")
CUP = np.array([0.42, 0.1, 0.1, 0.2], np.float32)


@pytest.fixture(scope="module")
def task(tmp_path_factory) -> Task:
    """A scene whose recordings all lead to a cup."""
    path = scenery.write(tmp_path_factory.mktemp("carried"))
    rng, arm = np.random.default_rng(0), scenery.robot(path.parent)
    shown = np.stack([scenery.recording(arm, CUP, rng) / [1, 1, 1, 100] for _ in range(3)])
    scene = files.read(path)
    decided = deciding.decide(scene, shown, CUP[None])
    made = building.task(type(scene)(**{**vars(scene), "decided": decided}), str(path))
    object.__setattr__(made, "shown", made.promp.fit(shown).astype(np.float32))
    return made


@pytest.fixture(scope="module")
def carried(task):
    """Joints and gripper [T, 4] of the first movement in another context, and in its own."""
    carry = jax.jit(task.transfer.carry)
    return lambda to: np.asarray(task.promp.rollout(carry(task.shown[0], CUP, np.asarray(to, np.float32))))


def test_in_its_own_context_a_movement_stays_as_it_is(task, carried):
    np.testing.assert_allclose(carried(CUP), task.promp.rollout(jnp.asarray(task.shown[0])), atol=1e-4)


def test_the_tool_ends_where_the_object_is_and_starts_where_it_did(task, carried):
    own = carried(CUP)
    for cup in ([0.35, -0.2, 0.1, 0.2], [0.5, 0.0, 0.2, 0.2], [0.3, 0.3, 0.05, 0.2]):
        moved = carried(cup)
        missed = task.kinematics(jnp.asarray(own[-1]))[-1] - CUP[:3]
        np.testing.assert_allclose(task.kinematics(jnp.asarray(moved[-1]))[-1] - missed, cup[:3], atol=5e-3)
        np.testing.assert_allclose(moved[0], own[0], atol=0.02)
        np.testing.assert_array_equal(moved[:, 3], own[:, 3])


def test_an_object_turned_about_the_base_turns_the_arm_there(carried):
    """The arm can follow exactly, by its first joint alone."""
    turn = 0.6
    cos, sin = np.cos(turn), np.sin(turn)
    at = [cos * CUP[0] - sin * CUP[1], sin * CUP[0] + cos * CUP[1], CUP[2], CUP[3] + turn]
    np.testing.assert_allclose((carried(at) - carried(CUP))[-1], [turn, 0.0, 0.0, 0.0], atol=0.02)


def test_joints_keep_to_their_limits(task, carried):
    """Also where the object is out of reach."""
    moved = carried([2.0, 2.0, 1.0, 0.2])
    assert np.all(np.isfinite(moved))
    assert np.all(np.abs(moved[:, :3]) < 3.5)


def test_the_nearer_object_counts_more(tmp_path):
    """A tool at one object follows it alone; where it starts nothing moves."""
    words = scenery.SCENE.replace("[gripper]", '[objects.tray]\npose = "position"\n\n[gripper]')
    scene = files.read(scenery.write(tmp_path, words))
    own = np.array([0.3, 0.0, 0.1, 0.0, 0.0, 0.4, 0.1])
    to = own + np.array([0.1, 0.0, 0.0, np.pi / 2, 0.0, 0.05, 0.0])
    axes = ARM * np.eye(3).reshape(-1)
    tool = np.array([[0.0, 0.0, 0.5, *axes], [*own[:3], *axes], [*own[4:], *axes]])
    moved = np.asarray(partial(transfer._moved, scene)(*map(jnp.asarray, (tool, own, to))))
    np.testing.assert_allclose(moved[0], tool[0], atol=1e-4)
    np.testing.assert_allclose(moved[1, :3], to[:3], atol=1e-4)
    np.testing.assert_allclose(moved[1, 3:6], [0.0, ARM, 0.0], atol=1e-4)
    np.testing.assert_allclose(moved[2], [*to[4:], *axes], atol=1e-4)
    assert load_task(str(tmp_path / "small.toml")).transfer.carry is not None
