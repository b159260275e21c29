"""A cell finds what `vigor train` finds with the same settings, alone or in a batch."""

from dataclasses import replace

import jax
import numpy as np
import pytest

from helpers import POINT
from vigor.baselines import bc_trajectory, cloning
from vigor.demonstrations import dataset as demonstrations
from vigor.demonstrations import preprocessing as recordings
from vigor.experiments.cell import Cell, measure
from vigor.runs import run

CONFIG = bc_trajectory.Config(components=2, layers=1, width=4, epochs=12 * cloning.EPOCHS)


@pytest.fixture(autouse=True, scope="module")
def _quick():
    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", False)


def test_a_cell_finds_what_a_run_finds(tmp_path, monkeypatch):
    monkeypatch.setattr(run, "load_task", lambda name: POINT)
    shown = recordings.generate(POINT, seed=0, contexts=4, per_context=3)
    demonstrations.save(shown, tmp_path / "data" / "own" / "point")
    setup = run.Setup(
        "point", "data/own/point", "bc-gmm-t", train_contexts=2, test_contexts=3, demos_per_context=2, config=CONFIG
    )
    cells = [Cell(replace(setup, seed=seed)) for seed in (0, 3)]
    together = measure(cells, tmp_path)
    alone = [measure([cell], tmp_path)[0] for cell in cells]
    here = replace(cells[1].setup, demos=str(tmp_path / "data" / "own" / "point"))
    trained = run.train(here, tmp_path / "run")
    for part in ("train", "test"):
        assert alone[1][part] == trained[part]
        for one, other in zip(together, alone, strict=True):
            assert one[part]["distance_best"] == pytest.approx(other[part]["distance_best"], rel=1e-3)
            assert np.shape(one[part]["contexts"]) == np.shape(other[part]["contexts"])
    assert alone[0]["test"] != alone[1]["test"]
    assert alone[0]["demonstrations"] == shown.source
