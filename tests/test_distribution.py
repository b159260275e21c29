"""The wheel built from a clean checkout: what is in it, and that it works where nothing else of the project is."""

import email
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

from vigor import __version__
from vigor.basics.install import DISTRIBUTION

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def tracked() -> list[str]:
    """The files that git knows and that are there."""
    try:
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("which files belong to a checkout is known to git alone, and git or its folder is missing")
    return [name for name in listed.split("\0") if name and (ROOT / name).exists()]


@pytest.fixture(scope="module")
def wheel(tracked: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("distribution")
    for name in tracked:
        (folder / "checkout" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, folder / "checkout" / name)
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(build, cwd=folder / "checkout", capture_output=True, check=True)
    (found,) = folder.glob("*.whl")
    return found


def test_the_wheel_has_the_package_and_nothing_else(tracked: list[str], wheel: Path):
    with zipfile.ZipFile(wheel) as archive:
        package = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert package == {name.removeprefix("src/") for name in tracked if name.startswith("src/")}
    assert {"vigor/py.typed", "vigor/tasks/box_pusher/demonstrations/demonstrations.npz"} <= package
    assert any("/templates/" in name for name in package)


def test_the_wheel_says_what_it_is(wheel: Path):
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = email.message_from_bytes(archive.read(name))
        assert any(name.endswith(".dist-info/licenses/LICENSE") for name in archive.namelist())
    assert (metadata["Name"], metadata["Version"]) == (DISTRIBUTION, __version__)
    assert {"all", "baselines", "benchmark", "ros", "sim", "studio"} <= set(metadata.get_all("Provides-Extra"))


def test_the_version_is_the_same_wherever_it_is_written():
    assert f"\nversion: {__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\n## {__version__} - " in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


USE = """
from pathlib import Path
import vigor
shipped = Path(vigor.__file__).parent / "tasks" / "box_pusher" / "demonstrations"
print(vigor.__file__)
print(len(vigor.Demonstrations.load(shipped, vigor.load_task("box-pusher"))))
"""


def test_the_wheel_works_in_an_environment_of_its_own(wheel: Path, tmp_path: Path):
    venv.create(tmp_path / "env", with_pip=False)
    python = tmp_path / "env" / "bin" / "python"
    install = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*install, "--disable-pip-version-check", str(wheel)], check=True, capture_output=True)
    # The libraries are those of this environment. (What its own .pth files add, as this checkout, is not read there.)
    (packages,) = (tmp_path / "env" / "lib").glob("python*/site-packages")
    (packages / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")

    def output(*command: str | Path) -> str:
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    file, demonstrations = output(python, "-c", USE).splitlines()
    assert Path(file).is_relative_to(packages)
    assert int(demonstrations) > 100
    assert output(python.with_name("vigor"), "--version") == f"vigor {__version__}\n"
