"""Every method through the same run: it trains, is stopped, goes on, is evaluated and reported."""

import signal
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from helpers import ITERATIONS, POINT, SPLIT
from vigor import api
from vigor.baselines import cloning, em_drex
from vigor.basics.errors import UserError
from vigor.basics.settings import with_values
from vigor.demonstrations.dataset import Demonstrations
from vigor.runs import run
from vigor.runs.methods import METHODS, method
from vigor.runs.setup import Setup

CLONING = {"layers": 1, "width": 4, "epochs": ITERATIONS * cloning.EPOCHS}
TINY = {
    "em-drex": {
        "iterations": 4,
        "epochs": (ITERATIONS - 4) * em_drex.EPOCHS,
        "components": 2,
        "samples": 4,
        "networks": 2,
        "network": "mlp",
        "layers": 1,
        "width": 4,
        "em_components": 1,
        "em_samples": 60,
        "batch": 32,
    },
    "bc-t": CLONING | {"components": 1},
    "bc-gmm-t": CLONING | {"components": 2, "validation": 0.2, "patience": 3},
    "bc-s": CLONING | {"components": 1, "frames": 2},
    "bc-gmm-s": CLONING | {"components": 2, "train_weights": True},
    "gail": {
        "timesteps": ITERATIONS * 50,
        "policy_steps": 50,
        "layers": 1,
        "width": 4,
        "policy_layers": 1,
        "policy_width": 4,
        "policy_batch": 25,
    },
}
"""Settings that take twelve steps. (VIGOR itself: see the tests of runs.)"""


@cache
def demonstrations() -> Demonstrations:
    return Demonstrations.generate(POINT, contexts=3, per_context=3)


def setup_of(name: str) -> Setup:
    return Setup("point", method=name, settings=with_values(METHODS[name].settings(), **TINY[name]), **SPLIT)


def comparable(folder) -> list[dict]:
    """Result and metrics of a run, but for when and how long it was."""
    rows = [run.read_result(folder), *run.read_metrics(folder)]
    return [{name: value for name, value in row.items() if name not in ("seconds", "date")} for row in rows]


def press_ctrl_c(iteration: int):
    """A display of progress that stops the run."""

    def show(progress: run.Progress) -> None:
        if progress.iteration == iteration:
            signal.raise_signal(signal.SIGINT)

    return show


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("name", TINY)
def test_a_method_trains_stops_resumes_evaluates_and_reports(tmp_path, name):
    alone, stopped, setup = tmp_path / "alone", tmp_path / "stopped", setup_of(name)
    result = run.train(setup, alone, lambda progress: None, POINT, demonstrations())
    assert method(name).steps(setup.settings) == result["iterations"] == ITERATIONS
    assert result["method"] == name

    with pytest.raises(run.Interrupted, match="stopped after 1 of 12"):
        run.train(setup, stopped, press_ctrl_c(1), POINT, demonstrations())
    for step in (9, 11):
        with pytest.raises(run.Interrupted, match=f"stopped after {step} of 12"):
            run.resume(stopped, press_ctrl_c(step), POINT)
    assert (stopped / "checkpoint.safetensors").exists()
    assert not (stopped / "result.json").exists()
    resumed = api.resume(stopped, POINT, progress=False)
    assert name in resumed.report().read_text()
    assert comparable(stopped) == comparable(alone)
    assert [row["iteration"] for row in run.read_metrics(alone)] == [10, ITERATIONS]
    assert resumed.setup == replace(setup, fingerprint=resumed.setup.fingerprint)

    # As many samples as before: another number would be compiled again.
    count = POINT.judge.samples
    samples = [each.policies.movements(POINT, slice(None), count, 1) for each in (resumed, api.load(alone, POINT))]
    for one, other in zip(*samples, strict=True):
        np.testing.assert_array_equal(one, other)
    components = TINY[name].get("components", 1)
    assert resumed.policies.components == components
    assert samples[0].samples.shape == (4, components, count, POINT.promp.steps, POINT.promp.dimensions)
    np.testing.assert_allclose(samples[0].weights.sum(axis=1), 1, rtol=1e-5)
    judged = resumed.evaluate(seed=1)
    assert len(judged.train["success_components"]) == len(judged.test["success_components"]) == components


def test_no_method_is_left_out():
    assert {"vigor", "copied", "carried", *TINY} == METHODS.keys()


def test_a_floor_is_a_run_of_one_step_that_leaves_demonstrations_as_they_are(tmp_path):
    shown = demonstrations()
    setup = Setup("point", method="copied", settings=METHODS["copied"].settings(), **SPLIT)
    result = run.train(setup, tmp_path / "run", task=POINT, demonstrations=shown)
    assert result["iterations"] == 1
    assert result["train"]["success_mixture"] == pytest.approx(1)  # In their own contexts demonstrations succeed.
    means = np.asarray(api.load(tmp_path / "run", POINT).policies.mixtures.means)
    apart = np.linalg.norm(means.reshape(-1, 1, means.shape[-1]) - shown.weights, axis=-1)
    np.testing.assert_allclose(apart.min(axis=1), 0, atol=1e-5)
    with pytest.raises(UserError, match="does not say how movements are carried"):
        run.train(replace(setup, method="carried"), tmp_path / "other", task=POINT, demonstrations=shown)


def test_a_method_that_does_not_exist_is_refused():
    with pytest.raises(UserError, match="there is no method 'nonsense'; choose from vigor, em-drex"):
        method("nonsense")


def test_settings_that_do_not_fit_leave_no_folder(tmp_path):
    setup = setup_of("em-drex")
    wrong = replace(setup, settings=with_values(setup.settings, surrogate="values", samples=10))
    with pytest.raises(UserError, match="needs at least 46 samples"):
        run.train(wrong, tmp_path / "run", task=POINT, demonstrations=demonstrations())
    assert not list(tmp_path.iterdir())
