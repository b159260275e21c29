"""A cell finds what `vigor train` finds with the same settings, alone or in a batch."""

from dataclasses import replace

import numpy as np
import pytest

import helpers
from helpers import POINT
from vigor.baselines import cloning
from vigor.basics.settings import with_values
from vigor.demonstrations import dataset as demonstrations
from vigor.demonstrations import preprocessing as recordings
from vigor.experiments.cell import Cell, measure
from vigor.runs import run
from vigor.runs.methods import method
from vigor.runs.setup import Setup

METHOD = "bc-gmm-t"
SETTINGS = with_values(method(METHOD).settings(), components=2, layers=1, width=4, epochs=12 * cloning.EPOCHS)


def test_a_cell_finds_what_a_run_finds(tmp_path):
    shown = recordings.generate(POINT, seed=0, contexts=4, per_context=3)
    demonstrations.save(shown, tmp_path / "data" / "own" / "point")
    counts = {"train_contexts": 2, "test_contexts": 3, "demos_per_context": 2}
    setup = Setup(f"{helpers.__file__}:POINT", "data/own/point", METHOD, **counts, settings=SETTINGS)
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
