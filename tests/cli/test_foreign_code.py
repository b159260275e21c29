"""Opening somebody's folder or plan runs none of their code; what the user has run before opens anywhere."""

import importlib.util
import json
import marshal
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from helpers import EXAMPLE, refused
from planned import planar
from vigor.cli import main as cli
from vigor.planning import plan_files
from vigor.runs import run
from vigor.tasks import load_task, trust

pytestmark = pytest.mark.usefixtures("undrawn")
COMMANDS = {
    "plan": ("plan", "RUN", "--context", "0.4", "0", "1", "0"),
    "evaluate": ("evaluate", "RUN"),
    "report": ("report", "RUN"),
    "export": ("export", "RUN", "--format", "csv"),
    "show": ("show", "RUN"),
    "resume": ("train", "--resume", "RUN"),
    "resume unfinished": ("train", "--resume", "UNFINISHED"),
    "export plan": ("export", "PLAN", "--format", "csv"),
    "show plan": ("show", "PLAN"),
}
"""Every way to open what somebody else has made."""


class Foreign:
    """Somebody's run, finished and unfinished, and a plan: of a task that leaves a mark when it is run."""

    def __init__(self, folder: Path, trained: Path) -> None:
        self.folder, self.mark = folder, folder / "mark"
        self.hostile = f"open({str(self.mark)!r}, 'w').close()\n"
        self.file = self.write(folder / "run" / "task.py", self.hostile + EXAMPLE.read_text())
        for name in (
            run.CONFIG,
            run.POLICIES,
            run.RESULT,
            "ensembles.safetensors",
            "invariants.safetensors",
            "starts.safetensors",
        ):
            shutil.copy(trained / name, folder / "run")
        shutil.copytree(trained / run.DEMONSTRATIONS, folder / "run" / run.DEMONSTRATIONS)
        planar().save(folder / "run" / "plans" / "1.json")

    def write(self, path: Path, text: str) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def refer(self, reference: str) -> None:
        """Let run and plan refer to the task in this place, with the digest of the file as it is."""
        known = {"task": reference, "task_digest": trust.digest(self.file)}
        config, plan = self.folder / "run" / run.CONFIG, self.folder / "run" / "plans" / "1.json"
        config.write_text(json.dumps(json.loads(config.read_text()) | known))
        content = json.loads(plan.read_text()) | known
        bare = {name: part for name, part in content.items() if name not in ("format", "version", "digest")}
        plan.write_text(json.dumps(plan_files.sealed(bare)))
        unfinished = self.folder / "unfinished"
        shutil.copytree(self.folder / "run", unfinished)
        (unfinished / run.RESULT).unlink()

    def words(self, command: str) -> list[str]:
        run_, plan = self.folder / "run", self.folder / "run" / "plans" / "1.json"
        places = {"RUN": run_, "UNFINISHED": self.folder / "unfinished", "PLAN": plan}
        return [str(places.get(word, word)) for word in COMMANDS[command]]


@pytest.fixture
def foreign(trained, tmp_path, monkeypatch) -> Foreign:
    """On a machine where nothing was ever confirmed, in the run's folder."""
    made = Foreign(tmp_path, trained)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path / "run")
    return made


def absolute(foreign: Foreign) -> str:
    return str(foreign.file)


def relative(foreign: Foreign) -> str:
    return "task.py"


def from_the_working_folder(foreign: Foreign) -> str:
    return "/proc/self/cwd/task.py"


def elsewhere(foreign: Foreign) -> str:
    """Only the copy in the run is left."""
    return "/home/somebody/task.py"


def with_compiled_copy(foreign: Foreign) -> str:
    """The file looks harmless; beside it lies a compiled copy that is not, and that is as old."""
    foreign.write(foreign.file, EXAMPLE.read_text())
    compiled = Path(importlib.util.cache_from_source(str(foreign.file)))
    compiled.parent.mkdir(exist_ok=True)
    known = foreign.file.stat()
    head = importlib.util.MAGIC_NUMBER + (0).to_bytes(4, "little")
    head += (int(known.st_mtime) & 0xFFFFFFFF).to_bytes(4, "little") + known.st_size.to_bytes(4, "little")
    compiled.write_bytes(head + marshal.dumps(compile(foreign.hostile, str(foreign.file), "exec")))
    return str(foreign.file)


def with_helper(foreign: Foreign) -> str:
    """The file looks harmless; what it imports is not."""
    foreign.write(foreign.file, "import helper_beside\n" + EXAMPLE.read_text())
    foreign.write(foreign.file.parent / "helper_beside.py", foreign.hostile)
    return str(foreign.file)


PLACES = (absolute, relative, from_the_working_folder, elsewhere, with_compiled_copy, with_helper)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.__name__)
def test_nothing_is_run_that_was_never_run_before(foreign, capsys, place, command):
    foreign.refer(f"{place(foreign)}:TASK")
    said = refused(capsys, *foreign.words(command))
    assert not foreign.mark.exists()
    assert "task.py, a program that you have not run before; read it, and if you trust it give --task " in said
    assert said.endswith("task.py:TASK")
    assert not list((foreign.folder / "run").glob("report.html"))


@pytest.mark.parametrize("command", COMMANDS)
def test_a_file_that_is_not_the_one_it_was_is_not_run(foreign, capsys, command):
    foreign.refer(f"{foreign.file}:TASK")
    for folder in ("run", "unfinished"):
        foreign.write(foreign.folder / folder / "task.py", foreign.file.read_text() + "# changed\n")
    trust.confirm(foreign.file)
    said = refused(capsys, *foreign.words(command))
    assert not foreign.mark.exists()
    assert said.endswith(f"needs its task {foreign.file}, which has changed since; give --task FILE:NAME")


def test_a_known_file_is_run_from_its_source_and_alone(foreign, capsys):
    """Its content was confirmed: what lies beside it was not."""
    foreign.refer(f"{with_helper(foreign)}:TASK")
    trust.confirm(foreign.file)
    for command in ("evaluate", "export plan"):
        said = refused(capsys, *foreign.words(command))
        assert "task.py cannot be run: ModuleNotFoundError: No module named 'helper_beside'; give --task" in said
    assert not foreign.mark.exists()


def test_a_compiled_copy_is_not_used(foreign, capsys):
    reference = f"{with_compiled_copy(foreign)}:TASK"
    foreign.refer(reference)
    trust.confirm(EXAMPLE)
    cli.main(foreign.words("evaluate"))
    assert "success, mixture" in capsys.readouterr().out
    load_task(reference)
    assert not foreign.mark.exists()
    spec = importlib.util.spec_from_file_location("task", foreign.file)
    spec.loader.exec_module(importlib.util.module_from_spec(spec))
    assert foreign.mark.exists(), "Python itself would have used it"


# What was run before, or is named ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def moved(trained, tmp_path_factory) -> Path:
    """A run whose folder was moved, and whose task file is gone; its content was confirmed when it was trained."""
    folder = shutil.copytree(trained, tmp_path_factory.mktemp("moved") / "run")
    refer(folder, folder.parent / "gone" / "task.py")
    return folder


def refer(folder: Path, file: Path) -> None:
    config = json.loads((folder / run.CONFIG).read_text())
    (folder / run.CONFIG).write_text(json.dumps(config | {"task": f"{file}:TASK"}))


def test_a_run_that_was_moved_opens_without_its_task_file(moved, planning, tmp_path, capsys):
    for words in (
        ["evaluate", moved],
        ["report", moved],
        ["plan", moved, *planning],
        ["train", "--resume", moved],
        ["export", moved, "--format", "csv", "--out", "moved.csv"],
        ["show", moved, "--out", "moved.png"],
    ):
        cli.main(list(map(str, words)))
    shutil.copytree(moved / "plans", tmp_path / "again" / "plans")
    shutil.copy(moved / "task.py", tmp_path / "again")
    cli.main(["show", "again/plans/1.json"])
    assert capsys.readouterr().err == ""


def test_a_task_file_that_has_changed_is_said_and_the_runs_copy_used(moved, tmp_path, capsys):
    changed = tmp_path / "task.py"
    changed.write_text("raise SystemExit('the new one is run')")
    before = (moved / run.CONFIG).read_text()
    refer(moved, changed)
    for command in ("evaluate", "report"):
        cli.main([command, str(moved)])
        said = (
            f"vigor: {changed} has changed since {moved / run.CONFIG} was written; the copy {moved / 'task.py'} is used"
        )
        assert capsys.readouterr().err == f"{said}\n"
    (moved / run.CONFIG).write_text(before)


def test_naming_the_file_is_asking_for_it(foreign, capsys):
    foreign.refer(f"{elsewhere(foreign)}:TASK")
    reference = f"{foreign.file}:TASK"
    cli.main([*foreign.words("evaluate"), "--task", reference])
    assert foreign.mark.exists()
    for command in ("export", "show", "evaluate"):
        cli.main(foreign.words(command))
    assert capsys.readouterr().err == ""


def test_resume_takes_the_task_too(foreign, trained, capsys):
    foreign.refer(f"{elsewhere(foreign)}:TASK")
    shutil.copy(trained / "checkpoint.safetensors", foreign.folder / "unfinished")
    cli.main([*foreign.words("resume unfinished"), "--task", f"{foreign.file}:TASK"])
    assert capsys.readouterr().err == ""
    assert run.read_result(foreign.folder / "unfinished")["test"] == run.read_result(trained)["test"]


def test_another_file_than_the_runs_is_used_as_asked_and_that_is_said(moved, tmp_path, capsys):
    other = tmp_path / "other.py"
    other.write_text(EXAMPLE.read_text() + "# another\n")
    cli.main(["report", str(moved), "--task", f"{other}:TASK"])
    said = f"vigor: {other}:TASK is not the task that the run in {moved} was begun with; it is used as you asked\n"
    assert capsys.readouterr().err == said
    assert "does not fit planar-reacher" in refused(capsys, "evaluate", moved, "--task", "planar-reacher")


def test_python_m_vigor_takes_no_packages_from_the_working_folder(tmp_path):
    for name in ("tyro", "numpy", "jax"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('the folder has run it')")
    command, source = [sys.executable, "-m", "vigor", "--version"], str(Path(cli.__file__).parents[2])
    environment = os.environ | {"PYTHONPATH": source}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("vigor ")
