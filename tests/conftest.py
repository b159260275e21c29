"""Fixtures of all tests, and one cache of compiled programs for all workers and for the processes that tests start."""

import os
from pathlib import Path

import pytest

_CACHE = Path(__file__).parents[1] / ".pytest_cache" / "home"
os.environ["XDG_CACHE_HOME"] = str(_CACHE)  # Before anything is compiled, and for processes to come.

from vigor.basics.device import use_device  # noqa: E402

use_device("cpu")

from helpers import SHARED  # noqa: E402


@pytest.fixture(scope="session")
def published() -> Path:
    """The human demonstrations that the authors published."""
    folder = SHARED / "published"
    if not folder.exists():
        pytest.skip("the published demonstrations are not here (../shared/published)")
    return folder
