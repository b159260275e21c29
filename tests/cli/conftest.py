"""Folders and plans that tests of commands share."""

from pathlib import Path

import numpy as np
import pytest

from vigor.cli import main as cli
from vigor.evaluation import policies

KEEP_OUT = ("--keep-out", "sphere:0.8,0.9,0.1")
"""Plans of two contexts with one keep-out and two samples are compiled once for all tests."""


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="session")
def contexts(trained) -> np.ndarray:
    """Two contexts [2, 4] that the run can solve."""
    return policies.load(trained / "policies.npz").contexts[:2]


@pytest.fixture(scope="session")
def planned(trained, contexts, tmp_path_factory) -> Path:
    """A plan for two contexts, away from a sphere, with two samples of each."""
    folder = tmp_path_factory.mktemp("planned")
    np.savetxt(folder / "new.csv", contexts, delimiter=";", header="gate x;gate y;obstacle x;obstacle y", comments="")
    words = ["plan", trained, "--contexts-file", folder / "new.csv", *KEEP_OUT, "--samples", 2]
    cli.main([*map(str, words), "--out", str(folder / "plan.json")])
    return folder / "plan.json"
