"""Policies come back from their file, and what is not a policies file is refused by name."""

import jax
import numpy as np
import pytest

from vigor.basics import files
from vigor.basics.errors import UserError
from vigor.evaluation import policies
from vigor.evaluation.policies import Policies
from vigor.learning import mixture

CONTEXTS, COMPONENTS, DIMENSION = 3, 2, 4


def some_policies():
    keys = jax.random.split(jax.random.key(0), CONTEXTS)
    mixtures = jax.vmap(lambda key: mixture.normal(key, COMPONENTS, DIMENSION))(keys)
    return Policies(np.arange(6.0).reshape(CONTEXTS, 2), 2, mixtures)


def test_policies_come_back(tmp_path):
    saved = some_policies()
    saved.save(tmp_path / "policies.npz")
    loaded = policies.load(tmp_path / "policies.npz")
    np.testing.assert_array_equal(loaded.contexts, saved.contexts)
    assert loaded.training == 2
    for name, value in saved.mixtures._asdict().items():
        np.testing.assert_array_equal(getattr(loaded.mixtures, name), value)
    assert [path.name for path in tmp_path.iterdir()] == ["policies.npz"]


@pytest.mark.parametrize(
    ("contexts", "training"), [(np.zeros((2, 2)), 1), (np.zeros(CONTEXTS), 1), (np.zeros((CONTEXTS, 2)), 4)]
)
def test_every_context_needs_a_mixture(contexts, training):
    with pytest.raises(UserError, match=r"contexts?"):
        Policies(contexts, training, some_policies().mixtures)


def without(name):
    def change(arrays):
        del arrays[name]

    return change


def with_value(name, value):
    def change(arrays):
        arrays[name] = value

    return change


MISSING = {f"no {name}": without(name) for name in ("contexts", "training", "log_weights", "means", "roots")}
WRONG = {
    "other contexts": with_value("contexts", np.zeros((5, 2))),
    "many trainings": with_value("training", np.zeros(3)),
    "trainings as text": with_value("training", np.array("two")),
    "flat means": with_value("means", np.zeros(4)),
    "other components": with_value("log_weights", np.zeros((CONTEXTS, COMPONENTS + 1))),
    "other roots": with_value("roots", np.zeros((CONTEXTS, COMPONENTS, DIMENSION, DIMENSION + 1))),
    "no number": with_value("means", np.full((CONTEXTS, COMPONENTS, DIMENSION), np.nan)),
    "complex means": with_value("means", np.zeros((CONTEXTS, COMPONENTS, DIMENSION), complex)),
    "huge means": with_value("means", np.full((CONTEXTS, COMPONENTS, DIMENSION), 1e18)),
    "far contexts": with_value("contexts", np.full((CONTEXTS, 2), 1e30)),
    "weights of 3": with_value("log_weights", np.zeros((CONTEXTS, COMPONENTS))),
    "no weights": with_value("log_weights", np.full((CONTEXTS, COMPONENTS), np.nan)),
    "another array": with_value("more", np.zeros(3)),
    "negative trainings": with_value("training", np.array(-1)),
    "means as text": with_value("means", np.full((CONTEXTS, COMPONENTS, DIMENSION), "x")),
}


def refuses(tmp_path, change):
    path = tmp_path / "policies.npz"
    some_policies().save(path)
    arrays = files.read_arrays(path)
    change(arrays)
    files.write_arrays(path, arrays)
    with pytest.raises(UserError, match=r"policies\.npz"):
        policies.load(path)


@pytest.mark.parametrize("change", MISSING.values(), ids=MISSING.keys())
def test_a_file_that_lacks_an_array_is_refused_by_name(tmp_path, change):
    refuses(tmp_path, change)


@pytest.mark.parametrize("change", WRONG.values(), ids=WRONG.keys())
def test_a_file_whose_arrays_do_not_fit_is_refused_by_name(tmp_path, change):
    refuses(tmp_path, change)


def test_a_missing_file_is_refused_by_name(tmp_path):
    with pytest.raises(UserError, match=r"policies\.npz does not exist"):
        policies.load(tmp_path / "policies.npz")
