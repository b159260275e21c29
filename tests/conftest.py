"""Fixtures of all tests, and one cache of compiled programs for all workers and for the processes that tests start."""

import os
import signal
from pathlib import Path

import pytest
from hypothesis import settings
from matplotlib.figure import Figure

_CACHE = Path(__file__).parents[1] / ".pytest_cache" / "home"
_COMPILE_QUICKLY = (
    "--xla_cpu_parallel_codegen_split_count=1",
    "--xla_cpu_use_fusion_emitters=false",
    "--xla_backend_optimization_level=1",
    "--xla_llvm_disable_expensive_passes=true",
)
"""What tests compute is small: to compile it takes far longer than to run it."""
# Before anything is compiled, and for processes to come.
os.environ["XDG_CACHE_HOME"] = str(_CACHE)
os.environ["MENAGERIE_ROOT"] = str(_CACHE / "nothing")  # Robots are not downloaded.
os.environ["JAX_DISABLE_MOST_OPTIMIZATIONS"] = "1"  # Tests of the examples allow them again.
os.environ["JAX_TRACEBACK_IN_LOCATIONS_LIMIT"] = "0"  # No program carries the lines that it comes from.
os.environ["XLA_FLAGS"] = " ".join([*_COMPILE_QUICKLY, os.environ.get("XLA_FLAGS", "")])

from vigor.basics.device import use_device  # noqa: E402

use_device("cpu")

from helpers import EXAMPLE_TASK, SHARED, made_once, small  # noqa: E402

settings.register_profile("unhurried", deadline=None)  # A loaded machine is no mistake.
settings.load_profile("unhurried")


signal.signal(signal.SIGINT, signal.default_int_handler)  # What a shell starts in the background ignores Ctrl-C.


def pytest_collection_modifyitems(items) -> None:
    """Tests of a browser begin first: they take longest, and no worker shall wait for another at the end."""
    items.sort(key=lambda item: item.path.parts[-2:] != ("studio", "test_page.py"))


@pytest.fixture(scope="session", autouse=True)
def _state(tmp_path_factory) -> None:
    """What tests confirm is remembered for tests alone."""
    os.environ["XDG_STATE_HOME"] = str(tmp_path_factory.mktemp("state"))


@pytest.fixture(scope="session")
def trained(tmp_path_factory) -> Path:
    """A finished run of the example, small and poor; a test that changes something copies it first."""
    from vigor.cli import main as cli
    from vigor.tasks import load_task

    load_task(EXAMPLE_TASK)  # Every worker has confirmed it, whoever trains.
    return made_once(tmp_path_factory, "trained", lambda folder: cli.main(["train", EXAMPLE_TASK, *small(out=folder)]))


@pytest.fixture
def undrawn(monkeypatch) -> None:
    """Figures are made but not drawn, where a test looks at something else: to draw those of a run takes seconds."""
    from vigor.reports import figures

    save, empty = figures.save, Figure((0.1, 0.1))
    monkeypatch.setattr(figures, "save", lambda figure, path: save(empty, path))


@pytest.fixture(scope="session")
def published() -> Path:
    """The human demonstrations that the authors published."""
    folder = SHARED / "published"
    if not folder.exists():
        pytest.skip("the published demonstrations are not here (../shared/published)")
    return folder
