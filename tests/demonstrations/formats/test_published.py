"""The authors' demonstrations: read as published, and refused where the layout is another."""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from helpers import SHARED
from vigor.basics.errors import UserError
from vigor.demonstrations import dataset as demos
from vigor.demonstrations.formats import published as authors
from vigor.tasks.reachers.panda_reacher import TASK as PANDA
from vigor.tasks.reachers.planar_reacher import TASK as PLANAR
from vigor.tasks.task import Task

PUBLISHED = SHARED / "published" / "VIGOR" / "environments"
published = pytest.mark.skipif(not PUBLISHED.exists(), reason="the published demonstrations are not here")


@published
@pytest.mark.parametrize("task", [PLANAR, PANDA], ids=lambda task: task.name)
def test_published_demonstrations_succeed_and_look_as_published(task: Task):
    folder = PUBLISHED / task.name.replace("-", "_") / "promp_fits"
    set_ = authors.load(task, SHARED)
    descriptors = np.load(folder / "geometric.npz")["arr_0"]
    assert set_.recordings is None
    assert "human" in set_.source
    np.testing.assert_array_equal(np.bincount(set_.context_of), [10] * len(descriptors))
    np.testing.assert_array_equal(set_.contexts, np.load(folder / "contexts.npy").reshape(len(set_.contexts), -1))
    movements, contexts = demos.trajectories(task, set_), set_.contexts[set_.context_of]
    assert np.all(task.distances(movements, contexts) == 0)
    described = jax.vmap(task.describe)(jnp.asarray(movements), jnp.asarray(contexts))
    np.testing.assert_allclose(described, descriptors.reshape(described.shape), rtol=1e-4, atol=1e-5)


@published
def test_published_panda_end_effector():
    folder = PUBLISHED / "panda_reacher" / "promp_fits"
    set_ = authors.load(PANDA, PUBLISHED)
    movements = demos.trajectories(PANDA, set_)
    effector = np.asarray(PANDA.kinematics(jnp.asarray(movements)))[..., -1, :]
    np.testing.assert_allclose(effector, np.load(folder / "cartesian.npz")["arr_0"].reshape(effector.shape), atol=2e-6)
    np.testing.assert_allclose(movements, np.load(folder / "joint.npz")["arr_0"].reshape(movements.shape), atol=2e-6)
    np.testing.assert_allclose(PANDA.promp.start, np.load(folder / "start_position.npy"), atol=1e-8)


@published
def test_published_recordings():
    raw = authors.load(PLANAR, PUBLISHED.parent, raw=True)
    fitted = authors.load(PLANAR, PUBLISHED / "planar_reacher" / "promp_fits")
    assert len(raw.weights) == len(raw.recordings or ()) == 120
    samples = np.load(PUBLISHED / "planar_reacher" / "raw_demonstrations" / "samples.npz")["arr_0"]
    movements = demos.trajectories(PLANAR, raw, raw=True)
    np.testing.assert_array_equal(movements, samples.reshape(movements.shape))
    assert np.all(PLANAR.distances(movements, raw.contexts[raw.context_of]) == 0)
    # Where a recording was published with its fit, fitting it again gives the published weights.
    apart = np.abs(raw.weights[:, None] - fitted.weights[None]).max(axis=-1)
    apart[raw.context_of[:, None] != fitted.context_of] = np.inf
    assert np.sum(apart.min(axis=1) < 1e-12) == 47
    with pytest.raises(UserError, match="published no recordings of panda-reacher"):
        authors.load(PANDA, PUBLISHED, raw=True)


def test_refuses_what_is_not_the_published_layout(tmp_path: Path):
    with pytest.raises(UserError, match="holds no published demonstrations of planar-reacher"):
        authors.load(PLANAR, tmp_path)
    folder = tmp_path / "environments" / "planar_reacher" / "promp_fits"
    folder.mkdir(parents=True)
    np.savez(folder / "promp_weights.npz", np.zeros((2, 3, 25)))
    with pytest.raises(UserError, match=r"contexts\.npy does not exist"):
        authors.load(PLANAR, tmp_path)
    np.save(folder / "contexts.npy", np.zeros(()))
    with pytest.raises(UserError, match="the contexts must have 2 axes"):
        authors.load(PLANAR, tmp_path)
    np.save(folder / "contexts.npy", np.zeros((1, 4)))
    with pytest.raises(UserError, match=r"promp_weights.npz: .* published layout"):
        authors.load(PLANAR, tmp_path)
    np.save(folder / "contexts.npy", np.zeros((2, 3)))
    with pytest.raises(UserError, match="3 numbers where planar-reacher has 4"):
        authors.load(PLANAR, tmp_path)
    np.savez(folder / "promp_weights.npz", np.zeros((2, 75)))
    with pytest.raises(UserError, match="demonstrations must have 3 axes"):
        authors.load(PLANAR, tmp_path)
