"""Folders and plans that tests of commands share."""

from pathlib import Path

import numpy as np
import pytest

from vigor.cli import main as cli
from vigor.evaluation import policies


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="session")
def contexts(trained) -> np.ndarray:
    """Two contexts [2, 4] that the run can solve."""
    return policies.load(trained / "policies.npz").contexts[:2]


@pytest.fixture(scope="session")
def planning(contexts, tmp_path_factory) -> list[str]:
    """Options of `vigor plan`; for two contexts, one keep-out and two samples everything is compiled once."""
    file = tmp_path_factory.mktemp("contexts") / "new.csv"
    np.savetxt(file, contexts, delimiter=";", fmt="%.17g", header="gate x;gate y;obstacle x;obstacle y", comments="")
    return ["--contexts-file", str(file), "--keep-out", "sphere:0.8,0.9,0.1", "--samples", "2"]


@pytest.fixture(scope="session")
def planned(trained, planning, tmp_path_factory) -> Path:
    """A plan for two contexts, away from a sphere, with two samples of each."""
    path = tmp_path_factory.mktemp("planned") / "plan.json"
    cli.main(["plan", str(trained), *planning, "--out", str(path)])
    return path
