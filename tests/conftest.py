"""Fixtures of all tests, and one cache of compiled programs for all workers and for the processes that tests start."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

_CACHE = Path(__file__).parents[1] / ".pytest_cache" / "home"
os.environ["XDG_CACHE_HOME"] = str(_CACHE)  # Before anything is compiled, and for processes to come.

from vigor.basics.device import use_device  # noqa: E402

use_device("cpu")

from helpers import EXAMPLE_TASK, SHARED, small  # noqa: E402

settings.register_profile("unhurried", deadline=None)  # A loaded machine is no mistake.
settings.load_profile("unhurried")


@pytest.fixture(scope="session", autouse=True)
def _state(tmp_path_factory) -> None:
    """What tests confirm is remembered for tests alone."""
    os.environ["XDG_STATE_HOME"] = str(tmp_path_factory.mktemp("state"))


@pytest.fixture(scope="session")
def trained(tmp_path_factory) -> Path:
    """A finished run of the example, small and poor; a test that changes something copies it first."""
    from vigor.cli import main as cli

    folder = tmp_path_factory.mktemp("trained") / "run"
    cli.main(["train", EXAMPLE_TASK, *small(out=folder)])
    return folder


@pytest.fixture(scope="session")
def published() -> Path:
    """The human demonstrations that the authors published."""
    folder = SHARED / "published"
    if not folder.exists():
        pytest.skip("the published demonstrations are not here (../shared/published)")
    return folder
