"""Plans for new contexts: the planner of a run's folder."""

import json
import shutil
from dataclasses import replace
from functools import partial
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from helpers import ITERATIONS, assert_same
from planned import planar
from vigor.basics import files
from vigor.basics.errors import UserError
from vigor.basics.settings import with_values
from vigor.motion.shapes import Sphere
from vigor.planning import constraints, replay
from vigor.planning import planner as planning
from vigor.planning.constraints import Constraints
from vigor.planning.planner import Planner
from vigor.runs import run
from vigor.runs.methods import METHODS
from vigor.runs.setup import setup_to_json


@pytest.fixture(scope="module")
def planner(trained) -> Planner:
    return planning.load(trained)


@pytest.fixture(scope="module")
def context(planner) -> np.ndarray:
    """A context within the trained range."""
    return planner.trained.mean(axis=0)


def test_a_plan_does_not_depend_on_the_others_planned_with_it(planner, monkeypatch):
    contexts = planner.task.sample_contexts(np.random.default_rng(0), 2)
    planner = replace(planner, settings=with_values(planner.settings, invariants=False, scaled=False))
    together, rewards = planner.mixtures(contexts, Constraints())
    assert together.means.shape == (2, 2, planner.task.promp.weights)
    assert rewards.shape == (2, 2)
    monkeypatch.setattr(planning, "BLOCK", 1)
    one_by_one, _ = planner.mixtures(contexts, Constraints())
    # Rounding depends on the size of a batch, and decides the signs of a root of a covariance.
    np.testing.assert_allclose(np.exp(one_by_one.log_weights), np.exp(together.log_weights), atol=5e-2)
    np.testing.assert_allclose(one_by_one.means, together.means, atol=5e-2)
    covariances = [found.roots @ np.swapaxes(found.roots, -1, -2) for found in (one_by_one, together)]
    np.testing.assert_allclose(*covariances, atol=5e-2)


def test_another_context_and_another_obstacle_need_no_compilation(planner, context):
    def avoid(x: float) -> Constraints:
        return Constraints(keep_out=(Sphere((x, 0.4), 0.1),))

    programs = [replay.compiled(step, "cpu") for step in (replay.lead, replay.weigh)]
    planner.mixtures(context[None], avoid(0.8))
    compiled = [program._cache_size() for program in programs]
    first, _ = planner.mixtures(context[None], avoid(0.7))
    other, _ = planner.mixtures(context[None] + 0.03, avoid(0.7))
    assert [program._cache_size() for program in programs] == compiled
    assert not np.allclose(first.means, other.means)


def test_a_plan_has_solutions_and_says_how_far_out_its_context_is(planner, context):
    (near,) = planner.plan(context)
    assert near.context == tuple(context)
    assert len(near.solutions) == 2
    assert near.warning is None
    assert near.best.targets.keys() == {"gate", "obstacle", "goal"}
    assert sum(solution.weight for solution in near.solutions) == pytest.approx(1)
    assert near.best.situation.task is planner.task
    (out,) = planner.plan([[5.0, *context[1:]]])
    assert "gate x = 5" in out.warning


def test_few_updates_get_around_a_keep_out(planner, context, monkeypatch):
    """A disc on the path of the likeliest component: plans of few updates leave it with larger steps only."""
    free, _ = planner.mixtures(context[None], Constraints())
    path = planner.task.promp.rollout(free.means[0, jnp.argmax(free.log_weights[0])])
    middle = np.asarray(planner.task.kinematics(path))[len(path) // 2, -1]
    shape = constraints.of_task(planner.task, (Sphere(tuple(middle), 0.2),))
    inside = []
    for updates in (1, 50):
        monkeypatch.setattr(replay, "UPDATES", updates)
        means = planner.mixtures(context[None], shape)[0].means[0]
        bounds = constraints.bounds(planner.task, shape)
        inside.append(float(jnp.sum(jax.vmap(partial(constraints.cost, planner.task, bounds))(means))))
    assert inside[1] < 0.5 * inside[0]


def test_a_keep_out_that_cannot_be_avoided_is_named(planner, context):
    (plan,) = planner.plan(context, constraints.of_task(planner.task, (Sphere((0.0, 0.0), 0.3),)))
    assert "it violates keep-out 1" in plan.failure
    assert plan.warning == "every movement starts inside keep-out 1; none can avoid it"


@pytest.mark.parametrize("every", [5, ITERATIONS])
def test_every_nth_ensemble_is_used_the_last_one_among_them(planner, context, every):
    kept = jax.tree.map(lambda leaf: np.asarray(leaf)[::-every][::-1], planner.ensembles)
    found = [made.mixtures(context[None], Constraints()) for made in (replace(planner, every=every), planner)]
    alone = replace(planner, ensembles=kept).mixtures(context[None], Constraints())
    assert_same(found[0], alone, rtol=1e-4, atol=1e-4)
    assert not np.allclose(found[1][0].means, alone[0].means, atol=1e-3)
    with pytest.raises(UserError, match=f"every must be from 1 to the run's {ITERATIONS} iterations, not"):
        replace(planner, every=ITERATIONS + 1)


def test_the_run_itself_can_be_seen_as_plans(trained, planner):
    plans = planning.of_run(trained)
    assert len(plans) == 4
    assert plans[0].best.reward is None
    assert all(plan.outside == 0 for plan in plans.plans[:2])
    assert Path(plans.run) == trained
    assert plans.load_task() is planner.task


@pytest.mark.parametrize(
    ("contexts", "said"),
    [
        ([1.0, 2.0], "4 numbers"),
        ([[1.0, 2.0, 3.0, np.nan]], "finite"),
        (["a", "b", "c", "d"], "real numbers"),
        ([[1.0, 2.0, 3.0, 4.0], [1.0, 2.0, -1e30, 4.0]], "-1e\\+06 to 1e\\+06"),
        ([[1.0, 2.0, 3.0, 4.0], [1.0]], "rows of as many numbers"),
        (np.zeros((0, 4)), "empty"),
        (np.zeros((1, 1, 4)), "2 axes"),
    ],
)
def test_wrong_contexts_are_one_sentence(planner, contexts, said):
    with pytest.raises(UserError, match=said):
        planner.plan(contexts)


def test_networks_that_lead_nowhere_are_one_sentence(planner):
    wild = jax.tree.map(lambda leaf: jnp.full_like(leaf, 6e4), planner.ensembles)
    with pytest.raises(UserError, match=r"the plan for context 1 is not finite: .* with a lower --learning-rate"):
        replace(planner, ensembles=wild).plan([0.4, 0.0, 1.0, 0.0])


def test_plans_kept_at_the_same_moment_get_numbers_of_their_own(tmp_path, monkeypatch):
    made = planar()
    first = planning.free_path(tmp_path)
    assert planning.keep(made, tmp_path) == first == tmp_path / "plans" / "1.json"
    before = first.stat().st_mtime_ns
    # What another planner found free a moment ago.
    monkeypatch.setattr(planning, "free_path", lambda folder: first)
    assert planning.keep(made, tmp_path) == tmp_path / "plans" / "2.json"
    assert planning.keep(made, tmp_path) == tmp_path / "plans" / "3.json"
    assert first.stat().st_mtime_ns == before
    assert len(list((tmp_path / "plans").iterdir())) == 3


def test_a_file_in_the_place_of_the_plans_is_no_endless_search(tmp_path):
    (tmp_path / "plans").write_text("")
    with pytest.raises(FileExistsError):
        planning.keep(planar(), tmp_path)


# Runs that cannot plan


@pytest.fixture
def broken(trained, tmp_path) -> Path:
    return Path(shutil.copytree(trained, tmp_path / "run"))


def test_networks_that_are_damaged_or_missing_are_one_sentence(broken):
    stored = (broken / "ensembles.safetensors").read_bytes()
    (broken / "ensembles.safetensors").write_bytes(stored[:-100])
    with pytest.raises(UserError, match=r"ensembles\.safetensors is damaged"):
        planning.load(broken)
    (broken / "ensembles.safetensors").unlink()
    with pytest.raises(UserError, match="only a finished run"):
        planning.load(broken)


def test_networks_of_other_settings_are_one_sentence(broken):
    config = json.loads((broken / run.CONFIG).read_text())
    config["settings"]["density_ratio"]["training"]["architecture"]["width"] = 9
    (broken / run.CONFIG).write_text(json.dumps(config))
    with pytest.raises(UserError, match="is damaged or of another run"):
        planning.load(broken)


def test_a_run_that_has_not_finished_cannot_plan(broken):
    (broken / run.RESULT).unlink()
    with pytest.raises(UserError, match="has not finished"):
        planning.load(broken)


def test_runs_of_other_methods_cannot_plan(broken):
    other = replace(run.load_setup(broken), method="bc-t", settings=METHODS["bc-t"].settings())
    files.write_json(broken / run.CONFIG, setup_to_json(other))
    with pytest.raises(UserError, match="trained with bc-t; only runs of vigor"):
        planning.load(broken)


@pytest.mark.parametrize("every", [0, 13])
def test_ensembles_that_a_run_does_not_have_are_one_sentence(trained, every):
    with pytest.raises(UserError, match=f"every must be from 1 to the run's 12 iterations, not {every}"):
        planning.load(trained, every)
