"""Plans for new contexts: the replay, the planner of a run's folder, and the commands."""

import json
import shutil
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from helpers import EXAMPLE, POINT, assert_same, refused
from vigor.basics import files
from vigor.basics.errors import UserError
from vigor.cli import main as cli
from vigor.evaluation.policies import Policies
from vigor.learning import density_ratio, mixture, policy_update
from vigor.learning.algorithm import Config
from vigor.learning.density_ratio import DensityRatio
from vigor.motion.shapes import Sphere
from vigor.planning import constraints
from vigor.planning import planner as plan
from vigor.planning import plans as solutions
from vigor.planning.constraints import Constraints
from vigor.runs import checkpoints, run
from vigor.tasks import load_task

TASK = f"{EXAMPLE}:TASK"
ITERATIONS, CONTEXT = 12, [0.42, 0.05, 1.02, 0.03]
CONFIG = Config(components=2, samples=8, density_ratio=DensityRatio(networks=2, width=4, layers=1, near=(0.3,)))


def some_ensembles(count: int, features: int):
    """Networks [iteration, network, ...] that nobody trained."""
    keys = jax.random.split(jax.random.key(0), (count, 2))
    shown = jax.random.uniform(jax.random.key(1), (4, 10, features))
    made = jax.vmap(jax.vmap(lambda key: density_ratio.initial(key, CONFIG.density_ratio, shown).parameters))(keys)
    return jax.tree.map(lambda leaf: leaf.astype(jnp.float16), made)


@pytest.mark.parametrize("limits", [None, Constraints(keep_out=(Sphere((0.3, 0.3), 0.2),))], ids=["free", "bound"])
def test_replay_is_one_update_with_each_ensemble_and_constraints_count_in_the_second_half(limits):
    ensembles, contexts = some_ensembles(5, POINT.features), jnp.array([[0.5, 0.5], [-1.0, 0.2]])
    learned = jax.random.normal(jax.random.key(4), (3, POINT.promp.weights))
    bounds = constraints.bounds(POINT, limits) if limits else None
    found, rewards = plan.replay(jax.random.key(3), POINT, CONFIG, learned, ensembles, contexts, bounds)
    key_start, key_updates = jax.random.split(jax.random.key(3))
    fresh = mixture.among(key_start, learned, 2)
    mixtures = jax.tree.map(lambda leaf: jnp.stack([leaf, leaf]), fresh)
    reward = partial(density_ratio.reward, CONFIG.density_ratio)
    cost = partial(constraints.cost, POINT, bounds)
    update = jax.jit(policy_update.update, static_argnums=(1, 2, 3, 7))
    for i in range(5):
        ensemble = jax.tree.map(lambda leaf, i=i: leaf[i].astype(jnp.float32), ensembles)
        key, limiting = jax.random.fold_in(key_updates, i), cost if limits and i >= 2 else None
        mixtures, expected = update(key, POINT, CONFIG, reward, ensemble, contexts, mixtures, limiting)
    assert_same(found, mixtures, rtol=2e-3, atol=2e-3)
    np.testing.assert_allclose(rewards, expected, rtol=5e-3, atol=5e-3)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """What a finished run leaves that has learned nothing; of its demonstrations there is nothing."""
    place = tmp_path_factory.mktemp("runs") / "run"
    task = load_task(TASK)
    contexts = task.sample_contexts(np.random.default_rng(1), 8)
    fresh = jax.vmap(lambda key: mixture.initial(key, 2, task.promp.weights))(jax.random.split(jax.random.key(0), 8))
    Policies(contexts, 6, fresh).save(place / run.POLICIES)
    setup = run.Setup(task=TASK, demos="demonstrations that are gone", config=CONFIG)
    files.write_json(place / run.CONFIG, asdict(setup))
    files.write_json(place / run.RESULT, {"task": task.name, "method": "vigor", "train": {}, "test": {}})
    checkpoints.keep_networks(place, ITERATIONS, [some_ensembles(ITERATIONS, task.features)])
    checkpoints.merge_networks(place)
    return place


@pytest.fixture(scope="module")
def planner(folder) -> plan.Planner:
    return plan.load(folder)


def test_a_plan_does_not_depend_on_the_others_planned_with_it(planner, monkeypatch):
    # Rounding depends on the size of a batch, and grows from update to update.
    planner = replace(planner, ensembles=jax.tree.map(lambda leaf: leaf[:1], planner.ensembles))
    contexts = planner.task.sample_contexts(np.random.default_rng(0), 5)
    together, rewards = planner.mixtures(contexts, Constraints())
    assert together.means.shape == (5, 2, planner.task.promp.weights)
    assert rewards.shape == (5, 2)
    alone, _ = planner.mixtures(contexts[3:4], Constraints())
    assert_same(alone, jax.tree.map(lambda leaf: leaf[3:4], together), rtol=1e-3, atol=1e-3)
    monkeypatch.setattr(plan, "BLOCK", 2)
    in_blocks, _ = planner.mixtures(contexts, Constraints())
    assert_same(in_blocks, together, rtol=1e-3, atol=1e-3)


def test_another_context_and_another_obstacle_need_no_compilation(planner):
    def avoid(x: float) -> Constraints:
        return Constraints(keep_out=(Sphere((x, 0.4), 0.1),))

    planner.mixtures(np.array([CONTEXT]), avoid(0.8))
    compiled = plan.replay._cache_size()
    first, _ = planner.mixtures(np.array([CONTEXT]), avoid(0.7))
    other, _ = planner.mixtures(np.array([CONTEXT]) + 0.03, avoid(0.7))
    assert plan.replay._cache_size() == compiled
    assert not np.allclose(first.means, other.means)


def test_a_plan_has_solutions_and_says_how_far_out_its_context_is(planner):
    far = [5.0, 0.05, 1.02, 0.03]
    made = planner.plan([CONTEXT, far], samples=3)
    near, out = made.plans
    assert near.context == tuple(CONTEXT)
    assert len(near.solutions) == 2
    assert len(near.samples) == 3
    assert near.warning is None
    assert "gate x = 5" in out.warning
    assert near.solutions[0].targets.keys() == {"gate", "obstacle", "goal"}
    assert sum(solution.weight for solution in near.solutions) == pytest.approx(1)


def test_a_keep_out_that_cannot_be_avoided_is_named(planner):
    limits = constraints.of_task(planner.task, (Sphere((0.0, 0.0), 0.3),))
    failure = planner.plan(CONTEXT, limits).plans[0].failure
    assert failure is not None
    assert "keep-out 1" in failure or "no solution" in failure


@pytest.mark.parametrize(("every", "kept"), [(1, [0, 1, 2, 3, 4]), (2, [0, 2, 4]), (3, [1, 4]), (5, [4])])
def test_thinning_keeps_the_last_ensemble(every, kept):
    assert plan.thin(np.arange(5), every).tolist() == kept


def test_the_run_itself_can_be_seen_as_plans(folder, planner):
    made = plan.of_run(folder)
    assert len(made.plans) == 8
    assert made.plans[0].solutions[0].reward is None
    assert all(one.outside == 0 for one in made.plans[:6])


@pytest.mark.parametrize(
    ("contexts", "said"),
    [
        ([1.0, 2.0], "4 numbers"),
        ([[1.0, 2.0, 3.0, np.nan]], "finite"),
        (["a", "b", "c", "d"], "real numbers"),
        ([[1.0, 2.0, 3.0, 4.0], [1.0, 2.0, -1e30, 4.0]], "-1e\\+06 to 1e\\+06"),
        (np.zeros((0, 4)), "empty"),
    ],
)
def test_wrong_contexts_are_one_sentence(planner, contexts, said):
    with pytest.raises(UserError, match=said):
        planner.plan(contexts)


def test_plans_saved_at_the_same_moment_get_numbers_of_their_own(planner, tmp_path, monkeypatch):
    made = planner.plan(CONTEXT)
    first = plan.free_path(tmp_path)
    assert plan.save(made, tmp_path) == first == tmp_path / "plans" / "1.json"
    before = first.stat().st_mtime_ns
    # What another planner found free a moment ago.
    monkeypatch.setattr(plan, "free_path", lambda folder: first)
    assert plan.save(made, tmp_path) == tmp_path / "plans" / "2.json"
    assert plan.save(made, tmp_path) == tmp_path / "plans" / "3.json"
    assert first.stat().st_mtime_ns == before
    assert len(list((tmp_path / "plans").iterdir())) == 3


def test_a_file_in_the_place_of_the_plans_is_no_endless_search(planner, tmp_path):
    (tmp_path / "plans").write_text("")
    with pytest.raises(FileExistsError):
        plan.save(planner.plan(CONTEXT), tmp_path)


def test_a_run_that_cannot_plan_is_one_sentence(folder, tmp_path):
    broken = tmp_path / "broken"
    shutil.copytree(folder, broken)
    stored = (broken / "ensembles.safetensors").read_bytes()
    (broken / "ensembles.safetensors").write_bytes(stored[:-100])
    with pytest.raises(UserError, match=r"ensembles\.safetensors is damaged"):
        plan.load(broken)
    (broken / "ensembles.safetensors").unlink()
    with pytest.raises(UserError, match="only a finished run"):
        plan.load(broken)
    (broken / "ensembles.safetensors").write_bytes(stored)
    config = json.loads((broken / "config.json").read_text())
    config["config"]["density_ratio"]["width"] = 9
    (broken / "config.json").write_text(json.dumps(config))
    with pytest.raises(UserError, match="does not fit this run's settings"):
        plan.load(broken)
    (broken / "result.json").unlink()
    with pytest.raises(UserError, match="has not finished"):
        plan.load(broken)


def test_runs_of_other_methods_cannot_plan(folder, planner, monkeypatch):
    other = replace(planner.setup, method="bc-t")
    monkeypatch.setattr("vigor.runs.run.load_policies", lambda folder: (other, planner.task, planner.known))
    with pytest.raises(UserError, match="trained with bc-t"):
        plan.load(folder)


# Commands


@pytest.fixture(scope="module")
def planned(folder, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("plans") / "mine.json"
    shape = "sphere:0.8,0.5,0.1"
    cli.main(["plan", str(folder), "--context", *map(str, CONTEXT), "--keep-out", shape, "--out", str(path)])
    return path


def test_plan_writes_a_file_and_a_figure(planned):
    made = solutions.load(planned)
    assert made.plans[0].context == tuple(CONTEXT)
    assert made.constraints.keep_out == (Sphere((0.8, 0.5), 0.1),)
    assert planned.with_suffix(".png").stat().st_size > 10_000


def test_plan_many_contexts(folder, tmp_path, capsys):
    contexts = np.random.default_rng(0).uniform((0.35, -0.2, 0.95, -0.1), (0.5, 0.2, 1.1, 0.1), (2, 4))
    np.save(tmp_path / "new.npy", np.concatenate([contexts, contexts + 9]))
    cli.main(["plan", str(folder), "--contexts-file", str(tmp_path / "new.npy"), "--samples", "2"])
    output = capsys.readouterr().out
    assert "of 4 contexts have a solution that holds" in output
    assert "beyond it" in output.replace("\n", " ")
    assert output.splitlines()[-2:] == [str(folder / "plans" / name) for name in ("1.json", "1.png")]
    heading = next(line for line in output.splitlines() if "kind" in line)
    assert heading.split()[:2] == ["context", "#"]
    assert len(solutions.load(folder / "plans" / "1.json").plans) == 4


def holding(planned: Path, tmp_path: Path) -> Path:
    """The same plan with nothing violated."""
    read = json.loads(planned.read_text())
    for solution in read["contexts"][0]["solutions"]:
        solution["violated"] = None
    (tmp_path / "held.json").write_text(json.dumps(read))
    return tmp_path / "held.json"


@pytest.mark.parametrize(("kind", "name"), [("csv", "held_1_2.csv"), ("ros2", "held_1_2.yaml"), ("mcap", "held_1_2")])
def test_export_writes_beside_the_plan(planned, tmp_path, capsys, kind, name):
    cli.main(["export", str(holding(planned, tmp_path)), "--format", kind, "--solution", "2", "--rate", "10"])
    assert (tmp_path / name).exists()
    assert "31 samples, 3.00 s; no limits are known" in capsys.readouterr().out
    again = refused(capsys, "export", tmp_path / "held.json", "--format", kind, "--solution", "2")
    assert f"{name} exists already; choose another --out" in again


def test_export_of_a_run_with_the_limits_of_a_urdf(folder, tmp_path, capsys):
    joint = '<joint name="{}" type="continuous"><limit velocity="0.1" effort="1"/></joint>'
    (tmp_path / "xy.urdf").write_text(f"<robot name='xy'>{joint.format('x')}{joint.format('y')}</robot>")
    robot = ["--urdf", str(tmp_path / "xy.urdf"), "--acceleration", "1.0"]
    cli.main(["export", str(folder), "--format", "csv", "--out", str(tmp_path / "moved.csv"), *robot])
    table = np.genfromtxt(tmp_path / "moved.csv", delimiter=",", names=True)
    assert f"; slowed from 3.00 s to {table['time'][-1]:.2f} s by the velocity limit of " in capsys.readouterr().out
    assert np.abs(table["x_velocity"]).max() <= 0.1
    assert table["time"][-1] > 3


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["plan", "RUN"], "say what to plan for"),
        (["plan", "RUN", "--context", "1", "2"], "4 numbers"),
        (["plan", "RUN", "--context", "1", "2", "3", "4", "--contexts-file", "x.npy"], "either"),
        (["plan", "RUN", "--contexts-file", "x.npy"], "x.npy does not exist"),
        (["plan", "RUN", "--context", "1", "2", "3", "4", "--keep-out", "ball:1"], "is no keep-out"),
        (["plan", "RUN", "--context", "1", "2", "3", "4", "--keep-out", "sphere:1,2,3,4"], "3 coordinates"),
        (["plan", "RUN", "--context", "1", "2", "3", "4", "--seconds", "0"], "seconds"),
        (["plan", "RUN", "--context", "1", "2", "3", "4", "--samples", "-1"], "--samples"),
        (["plan", "RUN", "--context", "1", "2", "3", "4", "--out", "x.txt"], ".json file"),
        (["plan", "RUN", "--context", "1", "2", "3", "4", "--every", "99"], "every must be from 1 to"),
        (["plan", "nowhere", "--context", "1", "2", "3", "4"], "holds no run"),
        (["export", "PLAN", "--format", "csv", "--context", "2"], "--context must be from 1 to 1"),
        (["export", "PLAN", "--format", "csv", "--solution", "0"], "--solution must be from 1 to 2"),
        (["export", "PLAN", "--format", "csv", "--joints", "a"], "--urdf"),
        (["export", "PLAN", "--format", "csv", "--urdf", "no.urdf"], "no.urdf does not exist"),
        (["export", "PLAN", "--format", "csv", "--start-pose", "9", "9"], "move the robot there first"),
        (["export", "nothing.json", "--format", "csv"], "nothing.json does not exist"),
        (["show", "PLAN", "--out", "x.gif"], ".png or .mp4"),
        (["show", "PLAN", "--out", "x.mp4"], "has no films"),
    ],
)
def test_bad_input_is_one_sentence_and_writes_nothing(folder, planned, tmp_path, monkeypatch, capsys, arguments, said):
    held = holding(planned, tmp_path)
    names = {"RUN": str(folder), "PLAN": str(held)}
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    before = sorted([*folder.rglob("*"), *tmp_path.rglob("*")])
    assert said in refused(capsys, *(names.get(word, word) for word in arguments))
    assert sorted([*folder.rglob("*"), *tmp_path.rglob("*")]) == before


def test_what_violates_a_constraint_is_not_exported(planned, tmp_path, capsys):
    read = json.loads(planned.read_text())
    read["contexts"][0]["solutions"][0]["violated"] = "keep-out 1: a link is 0.1 inside"
    (tmp_path / "bad.json").write_text(json.dumps(read))
    assert "violates keep-out 1" in refused(capsys, "export", tmp_path / "bad.json", "--format", "csv")
    assert [path.name for path in tmp_path.iterdir()] == ["bad.json"]


@pytest.mark.parametrize(("solves", "warned"), [(False, True), (True, False), (None, False)])
def test_what_is_predicted_to_fail_is_exported_with_a_warning(planned, tmp_path, capsys, solves, warned):
    path = holding(planned, tmp_path)
    read = json.loads(path.read_text())
    read["contexts"][0]["solutions"][0]["solves"] = solves
    path.write_text(json.dumps(read))
    cli.main(["export", str(path), "--format", "csv"])
    assert (tmp_path / "held_1_1.csv").exists()
    assert ("predicted to fail" in capsys.readouterr().err) == warned


@pytest.mark.parametrize("name", ["mine.json", "mine.png"])
def test_a_plan_is_not_written_over(folder, tmp_path, capsys, name):
    (tmp_path / name).write_text("mine")
    context = ["--context", *map(str, CONTEXT)]
    said = refused(capsys, "plan", folder, *context, "--out", tmp_path / "mine.json")
    assert f"{name} exists already; choose another --out" in said
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text() == "mine"


def test_show_draws_plans(planned, tmp_path, capsys):
    cli.main(["show", str(planned), "--out", str(tmp_path / "drawn.png")])
    assert (tmp_path / "drawn.png").stat().st_size > 10_000
