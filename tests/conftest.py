"""What several tests share: a small task with small settings, and where the published data lies."""

from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[1] / "examples" / "01_own_task.py"
SHARED = Path(__file__).parents[2] / "shared"

SMALL = {
    "--train-contexts": "2",
    "--test-contexts": "2",
    "--demos-per-context": "3",
    "--components": "2",
    "--samples": "20",
    "--networks": "2",
    "--width": "8",
    "--layers": "1",
    "--epochs": "12",
}
"""Options that make `vigor train` fast and poor."""


def small(**changes: str) -> list[str]:
    """The small options as words; a change to None leaves one out."""
    options = SMALL | {f"--{name.replace('_', '-')}": value for name, value in changes.items()}
    return [word for option, value in options.items() if value is not None for word in (option, value)]


@pytest.fixture(autouse=True, scope="session")
def _compilation_cache(tmp_path_factory: pytest.TempPathFactory):
    """The command line keeps compiled programs; here in a folder of the test's own."""
    patch = pytest.MonkeyPatch()
    patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "cache"))
    yield
    patch.undo()


@pytest.fixture(scope="session")
def published() -> Path:
    """The human demonstrations that the authors published."""
    folder = SHARED / "published"
    if not folder.exists():
        pytest.skip("the published demonstrations are not here (../shared/published)")
    return folder
