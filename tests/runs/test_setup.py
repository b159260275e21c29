"""Setups come back from JSON whatever the method, and what they stand for is loaded, or taken as given, and checked."""

import json
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from helpers import EXAMPLE, POINT, SPLIT
from vigor.basics.errors import UserError
from vigor.demonstrations.dataset import Demonstrations
from vigor.runs.methods import METHODS
from vigor.runs.presets import preset
from vigor.runs.setup import (
    Setup,
    fingerprint,
    own_demonstrations,
    prepare,
    problems,
    setup_from_json,
    setup_to_json,
)
from vigor.tasks import TASKS
from vigor.tasks.task import Source

SETUP = Setup("point", settings=preset("planar-reacher"), **SPLIT)


@cache
def demonstrations() -> Demonstrations:
    return Demonstrations.generate(POINT, contexts=3, per_context=3)


# JSON ----------------------------------------------------------------------------------------------------------------


def stored(setup: Setup) -> dict:
    """A setup as it is read from a file."""
    return json.loads(json.dumps(setup_to_json(setup)))


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("kind", ["default", "paper"])
@pytest.mark.parametrize("task", TASKS)
def test_setups_of_every_method_and_preset_come_back(task, kind, name):
    setup = Setup(task, method=name, settings=preset(task, kind, name))
    back = setup_from_json(stored(setup))
    assert back == setup
    assert type(back.settings) is METHODS[name].settings
    assert hash(back.settings) == hash(setup.settings), "programs are compiled for settings"


def test_everything_else_of_a_setup_comes_back():
    values = ((0.5, 1.0), (-2.0, 3e-7))
    setup = Setup(
        "own.py:TASK", "demos", "bc-t", 7, 3, values, 4, "angles", True, preset("planar-reacher", "paper", "bc-t")
    )
    setup = replace(setup, command="vigor train", date="2026-01-02", fingerprint="f", task_digest="d")
    assert setup_from_json(stored(setup)) == setup


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda read: read.pop("task"), "task is missing"),
        (lambda read: read.pop("seed"), "seed is missing"),
        (lambda read: read.pop("method"), "it names no method"),
        (lambda read: read.pop("settings"), "settings: it must be an object"),
        (lambda read: read["settings"].pop("update"), r"settings\.update is missing"),
        (lambda read: read["settings"]["update"].pop("kl_bound"), r"settings\.update\.kl_bound is missing"),
        (lambda read: read.update(config={}), "unknown fields: config"),
        (lambda read: read["settings"]["update"].update(speed=1, haste=2), "update has unknown fields: haste, speed"),
        (lambda read: read.update(method="vigour"), "there is no method 'vigour'"),
        (lambda read: read.update(method="bc-t"), "unknown fields: density_ratio, misplaced, stall, update"),
        (lambda read: read.update(settings=[1]), "settings: it must be an object"),
        (lambda read: read.update(seed=None), "seed must be a whole number"),
        (lambda read: read.update(raw=1), "raw must be true or false"),
        (lambda read: read.update(demos=3), "demos must be a text"),
        (lambda read: read.update(test_contexts=2.5), "test_contexts must be a whole number"),
        (lambda read: read.update(test_contexts=[[1.0, "x"]]), r"test_contexts\[0\]\[1\] must be a number"),
        (lambda read: read["settings"]["update"].update(iterations=10.5), "iterations must be a whole number"),
        (lambda read: read["settings"]["update"].update(iterations=True), "iterations must be a whole number"),
        (lambda read: read["settings"]["update"].update(iterations=0), "iterations, components and samples must be"),
        (
            lambda read: read["settings"]["update"].update(begin="late"),
            "begin must be one of demonstrations, likeliest, normal",
        ),
        (lambda read: read["settings"]["density_ratio"].update(invariants="no"), "invariants must be true or false"),
    ],
)
def test_what_is_wrong_or_missing_is_one_sentence(change, said):
    read = stored(SETUP)
    change(read)
    with pytest.raises(UserError, match=said) as caught:
        setup_from_json(read)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("read", [None, [], "vigor", {}, {"method": 3}])
def test_what_is_no_setup_at_all_is_one_sentence(read):
    with pytest.raises(UserError, match="it names no method"):
        setup_from_json(read)


# What a setup stands for ---------------------------------------------------------------------------------------------


def test_task_and_demonstrations_are_taken_as_given():
    _, task, data, split = prepare(SETUP, POINT, demonstrations())
    assert task is POINT
    assert data is demonstrations()
    assert split.train_contexts.shape == split.test_contexts.shape == (2, 2)
    values = ((0.5, 1.0), (0.0, 0.25), (1.0, 1.0))
    np.testing.assert_array_equal(
        prepare(replace(SETUP, test_contexts=values), POINT, data).split.test_contexts, values
    )


def test_otherwise_they_are_those_that_the_setup_names(tmp_path):
    demonstrations().save(tmp_path / "demos")
    loaded = prepare(replace(SETUP, demos=str(tmp_path / "demos")), POINT).demonstrations
    np.testing.assert_array_equal(loaded.weights, demonstrations().weights)
    still = Demonstrations("planar-reacher", np.eye(4), np.repeat([0, 1], 3), np.zeros((6, 25)), None, "nobody")
    assert prepare(replace(SETUP, task="planar-reacher", descriptors="angles"), None, still).task.features == 9
    with pytest.raises(UserError, match="there is no task 'point'"):
        prepare(SETUP)


def test_demonstrations_of_a_tasks_own_are_shipped_or_generated(tmp_path):
    demonstrations().save(tmp_path / "shipped")
    shipping = replace(POINT, source=Source(shipped=tmp_path / "shipped"))
    np.testing.assert_array_equal(own_demonstrations(shipping).weights, demonstrations().weights)
    assert own_demonstrations(POINT).source == "generated with seed 0"
    with pytest.raises(UserError, match="point has no demonstrations of its own; give some with --demos DIR"):
        own_demonstrations(replace(POINT, source=Source()))


def test_demonstrations_of_another_task_are_refused():
    other = replace(demonstrations(), task="plane")
    with pytest.raises(UserError, match="these are demonstrations of plane, not of point"):
        prepare(SETUP, POINT, other)


def test_problems_of_a_batch_differ_in_their_seeds():
    pair = problems([prepare(replace(SETUP, seed=seed), POINT, demonstrations()) for seed in (0, 1)])
    assert pair.train_contexts.shape == (2, 2, 2)
    assert not np.array_equal(pair.starts.weights[0], pair.starts.weights[1])


def test_a_fingerprint_changes_with_what_is_learned_from(tmp_path):
    data = demonstrations()
    file = tmp_path / "own.py"
    file.write_bytes(EXAMPLE.read_bytes())
    of_file = replace(SETUP, task=f"{file}:TASK")
    moved = replace(data, weights=data.weights + 1e-9)
    found = [
        fingerprint(SETUP, data),
        fingerprint(replace(SETUP, raw=True), data),
        fingerprint(SETUP, moved),
        fingerprint(of_file, data),
    ]
    file.write_bytes(EXAMPLE.read_bytes() + b"\n")
    found.append(fingerprint(of_file, data))
    assert len(set(found)) == len(found)
    assert fingerprint(replace(SETUP, seed=3, demos="elsewhere"), data) == found[0]
