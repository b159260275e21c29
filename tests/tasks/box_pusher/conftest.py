"""Arms, pushes and demonstrations that tests of the box pusher share."""

import numpy as np
import pytest

from helpers import SHARED
from vigor.demonstrations import dataset as demos
from vigor.tasks.box_pusher import (
    TASK,
    pushes,
    simulation,
)

MENAGERIE = SHARED / "models" / "mujoco_menagerie"


@pytest.fixture(params=["capsules", "menagerie"])
def arm(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both Pandas; Menagerie's only where it lies beside the project."""
    if request.param == "menagerie":
        pytest.importorskip("mujoco_menagerie")
        if not MENAGERIE.exists():
            pytest.skip("MuJoCo Menagerie is not here (../shared/models/mujoco_menagerie)")
        monkeypatch.setenv("MENAGERIE_ROOT", str(MENAGERIE))
    return request.param


@pytest.fixture(scope="session")
def shipped() -> demos.Demonstrations:
    assert TASK.source.shipped is not None
    return demos.load(TASK.source.shipped, TASK)


@pytest.fixture(scope="session")
def some_pushes() -> tuple[np.ndarray, simulation.Rollouts]:
    """Two random pushes of each way, and what became of them."""
    plans = pushes.paths(pushes.draw(np.random.default_rng(0), np.arange(16) % 8))
    return plans, simulation.roll_out(plans)
