"""Foreign programs of `torture.py`: every way that we know to have one run by opening what somebody else has made.

Each way puts a program into a run, a plan, a skill (here), data (`torture_foreign_data`), a robot's description, a
scene, a page or the working folder (`torture_foreign_robots`), and names the command that opens it. It leaves a mark.
"""

import json
import os
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

from torture_fuzzing import fresh
from torture_kinds import seal_plan, seal_skill
from torture_processes import TASK, commands, fault_of, said
from vigor.basics import contents
from vigor.tasks import trust

MARK = "mark"
"""File that a program leaves in the working folder."""
PROGRAM = f"open({MARK!r}, 'w').close()\n"
EXAMPLE = Path(TASK.rpartition(":")[0])


Words = Iterable[str]
Way = Callable[[], Words]
WAYS: dict[str, Way] = {}
"""Ways by name: each changes the working folder, a copy of files of every kind, and returns the words of a command."""


def attempt(pristine: Path, way: str) -> tuple[str, str] | None:
    """Try one way, on a machine where nothing was ever confirmed."""
    work = fresh(pristine)
    before = os.environ["XDG_STATE_HOME"]
    os.environ["XDG_STATE_HOME"] = str(work / "state")
    try:
        words = [str(word) for word in WAYS[way]()]
        end = said(words)
    finally:
        os.environ["XDG_STATE_HOME"] = before
    if Path(MARK).exists() or _scripted(work):
        return "programs run", " ".join(words)
    fault = fault_of(end, False)
    return fault and (fault, f"{' '.join(words)}: {end.error[-500:]}")


def _scripted(work: Path) -> bool:
    """Whether a page has a script that a file has brought along."""
    return any("<script>mark" in path.read_text() for path in work.glob("*/report.html"))


def way(name: str) -> Callable[[Way], Way]:
    def add(way: Way) -> Way:
        WAYS[name] = way
        return way

    return add


def written(path: str, content: str | bytes) -> Path:
    place = Path(path)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(content.encode() if isinstance(content, str) else content)
    return place


def changed(path: str, **values: Any) -> None:
    read = json.loads(Path(path).read_text())
    Path(path).write_text(json.dumps(read | values))


# Tasks that runs, plans, skills and rows refer to


def _hostile(path: str = "run/task.py") -> Path:
    return written(path, PROGRAM + EXAMPLE.read_text())


def _compiled() -> str:
    """A task that looks harmless, with a compiled copy beside it that is not."""
    import importlib.util
    import marshal

    file = written("run/task.py", EXAMPLE.read_text())
    known, copy = file.stat(), Path(importlib.util.cache_from_source(str(file)))
    head = importlib.util.MAGIC_NUMBER + bytes(4) + int(known.st_mtime).to_bytes(4, "little")
    head += known.st_size.to_bytes(4, "little")
    written(str(copy), head + marshal.dumps(compile(PROGRAM, str(file), "exec")))
    return f"{file.resolve()}:TASK"


def _helped() -> str:
    written("run/helper_beside.py", PROGRAM)
    return f"{written('run/task.py', 'import helper_beside' + chr(10) + EXAMPLE.read_text()).resolve()}:TASK"


def _linked() -> str:
    _hostile("elsewhere.py")
    Path("link.py").symlink_to("elsewhere.py")
    return "link.py:TASK"


REFERENCES: dict[str, Callable[[], str]] = {
    "an absolute path": lambda: f"{_hostile().resolve()}:TASK",
    "a path": lambda: f"{_hostile()}:TASK",
    "a path through the working folder": lambda: f"/proc/self/cwd/{_hostile()}:TASK",
    "a file that is elsewhere": lambda: f"/home/somebody/{_hostile().name}:TASK",
    "a file with a compiled copy": _compiled,
    "a file with a helper": _helped,
    "a link": _linked,
    "a module": lambda: "os:system",
    "a file without a name": lambda: str(_hostile()),
    "an address": lambda: f"file://{_hostile().resolve()}:TASK",
    "two lines": lambda: f"planar-reacher\n{_hostile()}:TASK",
    "a scene that is a program": lambda: str(_hostile("run/task.toml")),
}


def _refer_run(reference: Callable[[], str], known: bool, *words: str) -> Words:
    """known: with the digest of a file that was confirmed, and not of the one that is there."""
    named = reference()
    trust.confirm(EXAMPLE)
    file = Path("run/task.py")
    changed(f"{words[-1]}/config.json", task=named, task_digest=trust.digest(EXAMPLE if known else file))
    return words


def _refer_plan(reference: Callable[[], str]) -> Words:
    changed("plan.json", task=reference(), task_digest=trust.digest(Path("run/task.py")), run="run")
    seal_plan(Path("plan.json"))
    return "export", "plan.json", "--format", "csv", "--out", "new.csv"


def _refer_skill(reference: Callable[[], str]) -> Words:
    named = reference()
    _card("skill.vigor", program=named, digest=trust.digest(Path("run/task.py")))
    return "plan", "skill.vigor", "--context", "0.4", "0", "1", "0", "--out", "new.json"


def _card(path: str, **values: Any) -> None:
    import safetensors.numpy

    arrays, metadata = contents.read_tensors(Path(path))
    metadata["card"] = json.dumps(json.loads(metadata["card"]) | values)
    Path(path).write_bytes(safetensors.numpy.save(arrays, metadata))
    seal_skill(Path(path))


for _name, _reference in REFERENCES.items():
    WAYS[f"run: {_name}"] = partial(_refer_run, _reference, False, "evaluate", "run")
    WAYS[f"plan: {_name}"] = partial(_refer_plan, _reference)
    WAYS[f"skill: {_name}"] = partial(_refer_skill, _reference)
for _words in commands("report run\ntrain --resume run\nshow run\nsuggest run\npack --out new.vigor run"):
    WAYS[f"run: {_words[0]}"] = partial(_refer_run, REFERENCES["a path"], False, *_words)
WAYS["run: the digest of another file"] = partial(_refer_run, REFERENCES["a path"], True, "evaluate", "run")


@way("run: a file with a built-in task's name")
def _shadowed() -> Words:
    _hostile("planar-reacher"), _hostile("planar-reacher.py"), _hostile("planar_reacher.py")
    changed("run/config.json", task="planar-reacher")
    return "evaluate", "run"


@way("skill: task and name")
def _named_skill() -> Words:
    _card("skill.vigor", task=f"{_hostile()}:TASK", program="")
    return "plan", "skill.vigor", "--context", "0.4", "0", "1", "0", "--out", "new.json"


@way("plan: of a skill that is elsewhere")
def _plan_of_skill() -> Words:
    list(_named_skill())
    changed("plan.json", task=str(Path("skill.vigor").resolve()), task_digest=trust.digest(Path("run/task.py")))
    seal_plan(Path("plan.json"))
    return "show", "plan.json", "--out", "new.png"


@way("benchmark: a row's task")
def _row() -> Words:
    file = next(Path("benchmark/cells").iterdir())
    setup = json.loads(file.read_text())["setup"] | {"task": f"{_hostile().resolve()}:TASK"}
    changed(str(file), setup=setup)
    return "report", "benchmark"
