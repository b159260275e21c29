"""Skills: the same plans as their run, from one file that is checked and runs nothing."""

import json
import re
from dataclasses import replace
from pathlib import Path

import jax
import numpy as np
import pytest
import safetensors.numpy
from safetensors import safe_open

import scenery
import vigor
from helpers import EXAMPLE, EXAMPLE_TASK, refused
from vigor.basics.errors import Notice, UserError
from vigor.cli import main as cli
from vigor.demonstrations.preprocessing import preprocess, settled
from vigor.planning import planner, skill_files
from vigor.planning.skills import Skill
from vigor.tasks import load_task
from vigor.tasks.scenes import building


@pytest.fixture(scope="module")
def skill(trained, tmp_path_factory) -> Skill:
    return vigor.load(trained).pack(tmp_path_factory.mktemp("skill") / "gates.vigor", "CC-BY-4.0", every=1)


@pytest.fixture
def parts(skill) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Arrays and metadata, read by the format's own library alone."""
    with safe_open(skill.path, "numpy") as file:
        return {name: file.get_tensor(name) for name in file.keys()}, file.metadata()  # noqa: SIM118


def written(folder: Path, arrays: dict[str, np.ndarray], card: str, **metadata: str) -> Path:
    """A file with a digest that fits what is in it, whatever that is."""
    path = folder / "other.vigor"
    told = {
        "format": skill_files.FORMAT,
        "version": skill_files.VERSION,
        "digest": skill_files.digest_of(card, arrays),
        "card": card,
    }
    path.write_bytes(safetensors.numpy.save(arrays, told | metadata))
    return path


def in_8_bits(leaf: np.ndarray) -> np.ndarray:
    """Parameters [iteration, network, ...] with the entries of every matrix as 127ths of its largest."""
    exact = np.asarray(leaf, np.float32)
    unit = np.abs(exact).max(axis=(2, 3), keepdims=True) / 127 if leaf.ndim == 4 else 0
    return np.asarray(np.round(exact / unit) * unit if leaf.ndim == 4 else exact, np.float16)


def test_a_skill_plans_exactly_as_its_run_in_8_bits(trained, skill):
    again, made = vigor.load(skill.path, EXAMPLE_TASK), planner.load(trained)
    context = made.trained[0]
    ours = again.plan(context)[0]
    theirs = replace(made, ensembles=jax.tree.map(in_8_bits, made.ensembles)).plan(context)[0]
    assert [item.movement for item in ours.solutions] == [item.movement for item in theirs.solutions]
    assert [item.predicted for item in ours.solutions] == [item.predicted for item in theirs.solutions]
    assert ours.outside == theirs.outside


def test_networks_take_turns_where_not_all_of_them_fit(trained, skill, tmp_path, monkeypatch):
    made = planner.load(trained)
    leaves = jax.tree.leaves(made.ensembles)
    count, networks = leaves[0].shape[:2]
    of_one = sum(leaf.size for leaf in leaves) / networks
    monkeypatch.setattr(skill_files, "SEVERAL", 1.5 * of_one)
    small = vigor.load(trained).pack(tmp_path / "small.vigor")
    meant = np.asarray(made.ensembles["output"]["bias"])[np.arange(count), np.arange(count) % networks]
    np.testing.assert_array_equal(small.ensembles["output"]["bias"], meant[:, None])
    assert small.plan(made.trained[0])[0].solutions
    monkeypatch.setattr(skill_files, "BYTES", of_one / 2)
    monkeypatch.setattr(skill_files, "SEVERAL", of_one / 2)
    smaller = vigor.load(trained).pack(tmp_path / "smaller.vigor")
    assert jax.tree.leaves(smaller.ensembles)[0].shape[:2] == (count // 2, 1)
    assert (skill.card.provenance.networks, smaller.card.provenance.networks) == (networks, 1)


def test_what_is_thinned_are_the_networks_alone(trained, skill, tmp_path):
    run = vigor.load(trained)
    thinned = run.pack(tmp_path / "thin.vigor", every=5)
    meant = np.asarray(planner.load(trained).ensembles["output"]["bias"])
    np.testing.assert_array_equal(thinned.ensembles["output"]["bias"], meant[[1, 6, 11]])
    np.testing.assert_array_equal(thinned.starts.weights, skill.starts.weights)
    np.testing.assert_array_equal(thinned.contexts, run.policies.contexts[: run.policies.training])
    assert thinned.path.stat().st_size < skill.path.stat().st_size


def test_a_skill_has_neither_recordings_nor_the_program(skill, parts):
    arrays, metadata = parts
    assert {name.partition(".")[0].partition("[")[0] for name in arrays} == {
        "contexts", "starts", "invariants", "networks"
    }  # fmt: skip
    assert all(array.dtype in (np.int8, np.float16, np.float32, np.float64) for array in arrays.values())
    content = skill.path.read_bytes()
    assert b"import" not in content
    assert str(EXAMPLE.parent).encode() not in content, "no path of whoever packed it"
    card = json.loads(metadata["card"])
    assert card["program"] == f"{EXAMPLE.name}:TASK"
    assert card["provenance"]["licence"] == "CC-BY-4.0"
    assert card["provenance"]["demonstrations"] == 6


def test_a_task_that_is_a_program_has_to_be_given(skill, capsys):
    sentence = refused(capsys, "plan", skill.path, "--context", 1, 1, 1, 1)
    assert f"give --task path/to/{EXAMPLE.name}:TASK" in sentence
    with pytest.raises(UserError, match=r"is a skill of .*, not of planar-reacher"):
        _ = vigor.load(skill.path, "planar-reacher").task


def test_a_skill_has_no_demonstrations_to_name(skill, capsys):
    words = ("plan", skill.path, "--context", 1, 1, 1, 1, "--task", EXAMPLE_TASK)
    for way in ("--like", "--unlike"):
        assert "is a skill, which has no demonstrations; plan with its run" in refused(capsys, *words, way, 1)


def test_another_program_is_used_as_asked_and_that_is_said(skill, tmp_path):
    other = tmp_path / "changed.py"
    other.write_text(EXAMPLE.read_text() + "\n# Changed.\n")
    with pytest.warns(Notice, match=r"changed\.py:TASK is not the task that .* was packed with"):
        assert vigor.load(skill.path, f"{other}:TASK").task.name == skill.card.task


def test_a_scene_comes_with_the_skill(tmp_path):
    file, rng = scenery.write(tmp_path), np.random.default_rng(0)
    contexts = np.stack([scenery.context(rng) for _ in range(3)])
    arm = scenery.robot(tmp_path)
    shown = [scenery.recording(arm, cup, rng) / np.array([1, 1, 1, 100]) for cup in contexts]
    opened = load_task(str(file))
    task = settled(opened, preprocess(opened, contexts, shown, np.arange(3), "generated"))
    again = building.of_values(json.loads(task.data), "small.vigor")
    assert (again.digest, again.promp, again.context_names) == (task.digest, task.promp, task.context_names)
    assert again.origin == "small.vigor"
    assert again is building.of_values(json.loads(task.data), "small.vigor"), "programs are compiled once"


def test_the_command_line_packs_and_inspects(trained, tmp_path, capsys):
    path = tmp_path / "gates.vigor"
    cli.main(["pack", str(trained), "--out", str(path), "--licence", "MIT"])
    packed = capsys.readouterr().out
    cli.main(["inspect", str(path)])
    assert capsys.readouterr().out == packed
    for said in ("6 demonstrations in 2 contexts", "MIT", "gate x", f"path/to/{EXAMPLE.name}:TASK", "12 iter"):
        assert said in packed
    assert re.search(r"training contexts +success [\d.]+ \(best\), [\d.]+ \(mixture\), [\d.]+ \(chosen\);", packed)
    assert all(len(line) <= 80 for line in packed.splitlines() if str(tmp_path) not in line)
    assert "exists already" in refused(capsys, "pack", trained, "--out", path)
    assert "a skill is a .vigor file" in refused(capsys, "pack", trained, "--out", tmp_path / "gates.zip")
    assert [item.name for item in tmp_path.iterdir()] == ["gates.vigor"]


# Files that are no skills


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is no skill, or is damaged"),
        (b"no skill at all", "is no skill, or is damaged"),
        (b"\xff" * 100, "is no skill, or is damaged"),
        (safetensors.numpy.save({"a": np.zeros(3)}), "holds no skill"),
        (safetensors.numpy.save({"a": np.zeros(3)}, {"format": "vigor-skill", "version": "99"}), "has version 99"),
    ],
)
def test_foreign_files_are_one_sentence(content, said, tmp_path, capsys):
    path = tmp_path / "foreign.vigor"
    path.write_bytes(content)
    assert said in refused(capsys, "inspect", path)


def test_truncated_changed_and_huge_files_are_one_sentence(skill, tmp_path, capsys):
    path, content = tmp_path / "bad.vigor", skill.path.read_bytes()
    path.write_bytes(content[:-10])
    assert "is no skill, or is damaged" in refused(capsys, "inspect", path)
    path.write_bytes(content[:-10] + bytes([content[-10] ^ 1]) + content[-9:])
    assert "something in it was changed" in refused(capsys, "inspect", path)
    with path.open("wb") as file:
        file.truncate(skill_files.LARGEST + 1)  # Takes no room on the disk.
    assert "at most 256 MiB can be read" in refused(capsys, "plan", path, "--context", 1)


def _without(name):
    return lambda arrays, card: arrays.pop(name)


def _set(*path, value):
    def change(arrays, card):
        for name in path[:-1]:
            card = card[name]
        card[path[-1]] = value

    return change


def _array(name, value):
    return lambda arrays, card: arrays.update({name: np.full_like(arrays[name], value)})


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_without("starts.room"), "it lacks starts.room"),
        (_array("contexts", np.nan), "contexts must be from"),
        (_array("invariants.missed", -1.0), "invariants.missed must be from"),
        (lambda arrays, card: arrays.update(more=np.zeros(2)), "unknown arrays: more"),
        (_set("features", value=10**6), "invariants."),
        (_set("context_names", value=["a"]), "contexts must be"),
        (_set("task", value="a\u001b[2J"), "characters that cannot be shown"),
        (_set("settings", "update", "components", value=10**9), "at most a million"),
        (_set("settings", "update", value={}), "is missing"),
        (_set("provenance", "demonstrations", value="many"), "must be a whole number"),
        (lambda arrays, card: card.pop("robot"), "robot is missing"),
        (_set("common", value=[{"value": 1.0}]), "common[0].quantity is missing"),
        (_array("starts.weights", 1e10), "starts.weights must be from"),
    ],
)
def test_hostile_contents_are_one_sentence(parts, change, said, tmp_path, capsys):
    arrays, metadata = parts
    card = json.loads(metadata["card"])
    change(arrays, card)
    sentence = refused(capsys, "inspect", written(tmp_path, arrays, json.dumps(card)))
    assert said in sentence
    assert "is damaged" in sentence


@pytest.mark.parametrize("card", ["", "[" * 10**5, "[]", "{}", '{"task": NaN}'])
def test_hostile_cards_are_one_sentence(parts, card, tmp_path, capsys):
    assert "is damaged" in refused(capsys, "inspect", written(tmp_path, parts[0], card))
