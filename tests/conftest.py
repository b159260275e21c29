"""Fixtures of all tests, and one cache of compiled programs for all workers and for the processes that tests start."""

import ctypes
import gc
import os
import resource
import signal
import sys
from collections.abc import Iterator
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
"""Options for small programs, which take far longer to compile than to run."""
# Before anything is compiled, and for processes to come.
os.environ["XDG_CACHE_HOME"] = str(_CACHE)
os.environ["MENAGERIE_ROOT"] = str(_CACHE / "nothing")  # Robots are not downloaded.
os.environ["JAX_DISABLE_MOST_OPTIMIZATIONS"] = "1"
os.environ["JAX_TRACEBACK_IN_LOCATIONS_LIMIT"] = "0"  # No program carries the lines that it comes from.
# Each once, though workers inherit them: a program that was compiled with other words is compiled again.
os.environ["XLA_FLAGS"] = " ".join(dict.fromkeys([*_COMPILE_QUICKLY, *os.environ.get("XLA_FLAGS", "").split()]))

from vigor.basics.device import use_device  # noqa: E402

use_device("cpu")

import jax  # noqa: E402

from helpers import EXAMPLE_TASK, SHARED, made_once, small  # noqa: E402

_MEMORY = 2 << 30
"""Bytes that a process may have before it forgets compiled programs."""

settings.register_profile("unhurried", deadline=None)  # A loaded machine is no mistake.
settings.load_profile("unhurried")


signal.signal(signal.SIGINT, signal.default_int_handler)  # What a shell starts in the background ignores Ctrl-C.


def pytest_xdist_auto_num_workers() -> int:
    """Workers of `-n auto`: one more than there are cores, since tests of pages wait most of their time."""
    return (os.cpu_count() or 1) + 1


def pytest_collection_modifyitems(items) -> None:
    """The longest begin first, so that no worker waits for another at the end; those that import torch are together."""
    first = [
        ("studio", "test_page.py"),
        ("studio", "test_strangers.py"),
        ("tests", "test_examples.py"),
        ("runs", "test_methods.py"),
    ]
    items.sort(key=lambda item: first.index(place) if (place := item.path.parts[-2:]) in first else len(first))


def pytest_collection_finish() -> None:
    """Modules that are imported by now stay: it is not looked through for garbage again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


@pytest.fixture(scope="session", autouse=True)
def _state(tmp_path_factory) -> None:
    """Files that tests confirm are remembered for tests alone."""
    os.environ["XDG_STATE_HOME"] = str(tmp_path_factory.mktemp("state"))


@pytest.fixture(scope="module", autouse=True)
def _forgetting() -> Iterator[None]:
    """A process that has grown forgets its compiled programs, which take gigabytes in the end, and gives them back."""
    yield
    if sys.platform == "linux" and _resident() > _MEMORY:
        jax.clear_caches()
        ctypes.CDLL("libc.so.6").malloc_trim(0)


def _resident() -> int:
    """Memory of this process, in bytes."""
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * resource.getpagesize()


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
