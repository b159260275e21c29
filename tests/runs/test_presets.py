"""Presets: the paper's are its tables, a task's own settings come last, and every method has some for every task."""

from dataclasses import replace

import pytest

from helpers import POINT
from vigor.basics.errors import UserError
from vigor.basics.settings import value_of, with_values
from vigor.learning.algorithm import VigorSettings
from vigor.runs.methods import METHODS
from vigor.runs.presets import preset
from vigor.tasks import TASKS

PRESETS = pytest.mark.parametrize("kind", ["default", "paper"])
TASK = pytest.mark.parametrize("task", ["planar-reacher", "panda-reacher", "box-pusher"])


def values(settings, names) -> dict:
    return {name: value_of(settings, name) for name in names}


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("task", [*TASKS, POINT], ids=[*TASKS, "own"])
@PRESETS
def test_every_method_has_presets_for_every_task(name, task, kind):
    settings = preset(task, kind, name)
    assert type(settings) is METHODS[name].settings
    assert METHODS[name].steps(settings) >= 1
    if name not in ("gail", "copied", "carried"):
        most = (12 if task == "box-pusher" else 30) if (name, kind) == ("vigor", "default") else 5
        assert value_of(settings, "components") == (1 if name in ("bc-t", "bc-s") else most)


def test_presets_that_do_not_exist_are_refused():
    with pytest.raises(UserError, match="no preset 'fast'; choose from default, paper"):
        preset("planar-reacher", "fast")
    with pytest.raises(UserError, match="no method 'nonsense'"):
        preset("planar-reacher", "default", "nonsense")
    with pytest.raises(UserError, match="there is no task 'planar'"):
        preset("planar")


def test_a_task_of_a_users_own_has_the_settings_of_the_method_or_its_own():
    assert preset(POINT) == VigorSettings()
    assert values(preset(POINT, "default", "bc-t"), ("components", "width")) == {"components": 1, "width": 256}
    assert values(preset(POINT, "paper"), ("iterations", "weights")) == {"iterations": 301, "weights": "fixed"}
    own = replace(POINT, settings={("default", "vigor"): {"samples": 40}, ("paper", "vigor"): {"iterations": 7}})
    assert preset(own) == with_values(VigorSettings(), samples=40)
    assert values(preset(own, "paper"), ("iterations", "samples")) == {"iterations": 7, "samples": 512}


def test_a_setting_that_a_method_does_not_have_is_refused():
    with pytest.raises(UserError, match="VigorSettings has no setting 'speed'"):
        preset(replace(POINT, settings={("default", "vigor"): {"speed": 1}}))


# The paper's tables --------------------------------------------------------------------------------------------------


def column(rows, task):
    """The numbers of a task in rows (setting, planar reacher, Panda reacher, box pusher)."""
    number = 1 + ("planar-reacher", "panda-reacher", "box-pusher").index(task)
    return {row[0]: row[number] for row in rows}


VIGOR = (("layers", 2, 3, 4), ("width", 32, 64, 128), ("kernel", 5, 7, 7), ("batch", 64, 64, 64))
"""The paper's table "Hyperparameters for VIGOR"."""
EM_DREX = (
    ("layers", 2, 2, 4),
    ("width", 64, 64, 64),
    ("kernel", 5, 7, 7),
    ("batch", 128, 128, 128),
    ("em_components", 3, 1, 1),
    ("em_samples", 8192, 16384, 16384),
    ("base_noise", 0.3, 0.3, 0.3),
    ("noise_levels", 5, 10, 5),
    ("noise_multiplier", 5, 10, 2),
    ("reward_scale", 100, 1000, 1000),
)
"""The paper's table "Hyperparameters for EM+D-REX"."""
BC_S = (
    ("layers", 2, 2, 3),
    ("width", 64, 32, 64),
    ("batch", 128, 64, 64),
    ("target_encoding", False, True, False),
    ("frames", 1, 1, 1),
)
"""The paper's table "Hyperparameters for state-action-based Behavioral Cloning (BC(S))"."""
BC_GMM_S = (
    ("layers", 2, 2, 3),
    ("width", 64, 64, 64),
    ("batch", 64, 64, 64),
    ("target_encoding", False, True, False),
    ("frames", 5, 1, 1),
    ("train_weights", True, True, False),
)
"""The paper's table "... with a Gaussian Mixture Model policy (BC-GMM(S))"."""
BC_T = (("layers", 4, 4, 3), ("width", 256, 64, 128), ("batch", 4, 4, 4))
"""The paper's table "Hyperparameters for trajectory-based Behavioral Cloning (BC(T))"."""
BC_GMM_T = (("layers", 4, 3, 3), ("width", 64, 64, 128), ("batch", 4, 4, 4), ("train_weights", False, False, False))
"""The paper's table "... with a Gaussian Mixture Model policy (BC-GMM(T))"."""

GAIL = (
    ("layers", 2, 2, 3),
    ("width", 32, 64, 64),
    ("policy_layers", 2, 2, 2),
    ("policy_width", 32, 32, 32),
    ("batch", 128, 64, 64),
    ("policy_batch", 128, 64, 256),
    ("timesteps", 1_000_000, 3_000_000, 1_000_000),
    ("target_encoding", True, False, False),
    ("frames", 5, 5, 1),
    ("policy_steps", 2048, 2048, 2048),
    ("learning_rate", 3e-4, 3e-4, 3e-4),
)
"""The paper's table "Hyperparameters for GAIL", and the learning rate of the text."""


@TASK
def test_the_presets_of_the_paper_are_its_tables(task):
    """And the text beside them (appendix E.2)."""
    ensemble = {"networks": 5, "dropout": 0.2, "validation": 0.1}
    update = {"kl_bound": 0.2, "surrogate": "values", "weights": "fixed"}
    cloning = {"learning_rate": 3e-4, "entropy": 1e-3}
    expected = {
        "vigor": column(VIGOR, task) | ensemble | update | {"learning_rate": 3e-4, "batch_norm": False},
        "em-drex": column(EM_DREX, task) | ensemble | update | {"learning_rate": 3e-5, "batch_norm": True},
        "bc-s": column(BC_S, task) | cloning | {"epochs": 3000},
        "bc-gmm-s": column(BC_GMM_S, task) | cloning | {"epochs": 3000},
        "bc-t": column(BC_T, task) | cloning | {"epochs": 30_000},
        "bc-gmm-t": column(BC_GMM_T, task) | cloning | {"epochs": 30_000},
        "gail": column(GAIL, task),
    }
    assert {name: values(preset(task, "paper", name), table) for name, table in expected.items()} == expected
    assert expected.keys() == METHODS.keys() - {"copied", "carried"}  # They have nothing to set.


@TASK
@pytest.mark.parametrize("name", ["vigor", "em-drex"])
def test_the_presets_of_the_paper_draw_enough_samples_for_a_quadratic_model(task, name):
    bases, dimensions = {"planar-reacher": (5, 5), "panda-reacher": (8, 6), "box-pusher": (7, 2)}[task]
    weights = bases * dimensions
    assert value_of(preset(task, "paper", name), "samples") > 1 + weights + weights * (weights + 1) / 2
