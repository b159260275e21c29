"""The demonstrations of a benchmark's folder."""

import dataclasses
import shutil
from pathlib import Path

import numpy as np
import pytest

import scenery
from helpers import EXAMPLE_TASK
from vigor.basics.errors import UserError
from vigor.demonstrations import preprocessing as recordings
from vigor.demonstrations.formats import published
from vigor.experiments import suites
from vigor.experiments.data import Data
from vigor.tasks import load_task


@pytest.fixture(scope="module")
def generated():
    return recordings.generate(load_task("planar-reacher"), seed=0, contexts=2, per_context=2, spare=1)


def test_demonstrations_in_the_folder_count_where_another_machine_rounds_otherwise(monkeypatch, tmp_path, generated):
    read = [generated]
    monkeypatch.setattr(published, "load", lambda *_, **__: read[0])
    first = Data(tmp_path, Path("published"))
    first.of("planar-reacher")
    first.save()
    read[0] = dataclasses.replace(generated, weights=generated.weights * (1 + 1e-10))
    second = Data(tmp_path, Path("published"))
    placed = second.of("planar-reacher")
    second.save()
    np.testing.assert_array_equal(placed.shown.weights, generated.weights)
    read[0] = dataclasses.replace(generated, weights=generated.weights + 1)
    other = Data(tmp_path, Path("published"))
    other.of("planar-reacher")
    with pytest.raises(UserError, match="already holds other demonstrations"):
        other.save()


def test_tasks_of_two_files_with_one_name_have_demonstrations_of_their_own(tmp_path):
    text = f"""import dataclasses
from vigor.tasks import load_task
known = load_task({EXAMPLE_TASK!r})
TASK = dataclasses.replace(known, sample_contexts=lambda rng, count: known.sample_contexts(rng, count) + SHIFT)
"""
    for name, shift in (("one", "0.0"), ("other", "0.02")):
        (tmp_path / f"{name}.py").write_text(text.replace("SHIFT", shift))
    data = Data(tmp_path / "benchmark")
    one, other = (data.of(f"{tmp_path / name}.py:TASK") for name in ("one", "other"))
    assert one.place != other.place
    assert np.abs(one.shown.contexts - other.shown.contexts).max() > 0.01


def test_recordings_of_a_scene_are_read_once_and_then_kept(tmp_path):
    scene, folder = scenery.write(tmp_path / "scene"), tmp_path / "benchmark"
    data = Data(folder, recorded=scenery.record(tmp_path / "scene", contexts=2))
    data.of(str(scene))
    data.save()
    shutil.rmtree(data.recorded)
    placed = Data(folder, recorded=data.recorded).of(str(scene))
    assert placed.place.startswith("data/recorded/small-")
    assert len(placed.shown) == 4
    assert not placed.suffice(6, 5)
    choice = suites.Choice((str(scene),), ("carried", "vigor"), seeds=1)
    setups = [cell.setup for cell in suites.paper(choice, Data(folder, recorded=data.recorded))]
    assert [(setup.train_contexts, setup.demos_per_context) for setup in setups] == [(2, 2), (2, 2)]
