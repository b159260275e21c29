"""Torture: kills, fuzzed files and words, tampered plans, a full disk; `python benchmarks/torture.py --minutes 30`.

Everything happens in a folder of its own and in processes that are forked from this one before it has begun to compute.
Whatever is drawn comes from the seed. `--out FILE` keeps the figures; the exit code is 1 if anything was found.
"""

import argparse
import contextlib
import csv
import errno
import io
import json
import os
import random
import resource
import select
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "tests")]
os.environ |= {"OPENBLAS_NUM_THREADS": "1", "JAX_DISABLE_MOST_OPTIMIZATIONS": "1"}  # To compile takes longest.

import numpy as np  # noqa: E402

from mutations import Mutation, mutate  # noqa: E402
from vigor.basics.contents import Contents  # noqa: E402
from vigor.cli import main as cli  # noqa: E402
from vigor.demonstrations import dataset  # noqa: E402
from vigor.evaluation import policies  # noqa: E402
from vigor.experiments import store  # noqa: E402
from vigor.learning import invariants  # noqa: E402
from vigor.planning import plan_files  # noqa: E402
from vigor.planning.plans import Plans  # noqa: E402
from vigor.runs.run import Metric, Result  # noqa: E402
from vigor.runs.setup import Setup  # noqa: E402

TASK = f"{ROOT / 'examples' / '01_own_task.py'}:TASK"
SMALL = [
    "--train-contexts",
    "2",
    "--test-contexts",
    "2",
    "--demos-per-context",
    "3",
    "--iterations",
    "12",
    "--components",
    "2",
    "--samples",
    "20",
    "--networks",
    "2",
    "--width",
    "8",
    "--layers",
    "1",
    "--epochs",
    "12",
]
CONTEXT = ["--context", "0.4", "0", "1", "0"]
SECONDS, MEGABYTES = 60.0, 512
"""Most time of one input, and most memory that it may take beyond what the process has already."""
WORDS = (
    *(
        "nan",
        "inf",
        "-1",
        "0",
        "1",
        "3",
        "1e400",
        "1e-400",
        "1_0",
        "\uff11",
        "x",
        "",
        "9" * 18,
        "9" * 5000,
        "-0.0",
        "1e9",
    ),
    *(
        "\x1b[2J",
        "a\nb",
        "..",
        "/dev/zero",
        "/proc/self/mem",
        "/nowhere/x",
        "sphere:nan,0,1",
        "sphere:1_0,0,1",
        "box:0,0,0,0",
    ),
)
"""Words in place of an option's."""


class Kind(NamedTuple):
    """A kind of file, and the commands that read it."""

    file: str
    commands: tuple[tuple[str, ...], ...]
    read_as: Any = None
    """Type of its JSON."""
    contents: Contents | None = None
    """Description of its arrays."""


RUN_COMMANDS = (("evaluate", "run", "--samples", "2"), ("export", "run", "--format", "csv"))
KINDS = (
    Kind("run/config.json", RUN_COMMANDS, Setup),
    Kind("run/result.json", (("plan", "run", *CONTEXT, "--out", "new.json"), ("suggest", "run")), Result),
    Kind("run/metrics.jsonl", (("report", "run"),), Metric),
    Kind("run/policies.npz", RUN_COMMANDS, None, dict(policies.CONTENTS)),
    Kind("run/ensembles.safetensors", (("plan", "run", *CONTEXT, "--out", "new.json"),)),
    Kind("run/invariants.safetensors", RUN_COMMANDS, None, dict(invariants.CONTENTS)),
    Kind("begun/checkpoint.safetensors", (("train", "--resume", "begun"),)),
    Kind("begun/config.json", (("train", "--resume", "begun"),), Setup),
    Kind("demos/demonstrations.json", (("demos", "check", "demos", "--task", TASK),), dataset.Header),
    Kind(
        "demos/demonstrations.npz",
        (("demos", "check", "demos", "--task", TASK),),
        None,
        dataset.CONTENTS | dataset.RECORDED,
    ),
    Kind(
        "plan.json",
        (("export", "plan.json", "--format", "csv", "--out", "new.csv"), ("show", "plan.json", "--out", "new.png")),
    ),
    Kind("benchmark/cells/ROW.json", (("report", "benchmark"),), store.Finished),
    Kind(
        "arm.urdf",
        (("robot", "arm.urdf"), ("export", "plan.json", "--format", "csv", "--urdf", "arm.urdf", "--out", "new.csv")),
    ),
    Kind("contexts.csv", (("plan", "run", "--contexts-file", "contexts.csv", "--out", "new.json"),)),
    Kind("recorded/contexts.csv", (("demos", "import", TASK, "recorded", "--out", "new"),)),
    Kind("recorded/demonstrations/0_a.csv", (("demos", "import", TASK, "recorded", "--out", "new"),)),
    Kind("recorded.npz", (("demos", "import", TASK, "recorded.npz", "--out", "new"),), None, {}),
)
COMMANDS = tuple(dict.fromkeys(command for kind in KINDS for command in kind.commands))
OPTIONS = (
    ("evaluate", "run", "--samples", "?"),
    ("evaluate", "run", "--seed", "?"),
    ("plan", "run", "--out", "new.json", "--context", "?", "?", "1", "0"),
    *(("plan", "run", *CONTEXT, "--out", "new.json", option, "?") for option in ("--keep-out", "--every", "--seconds")),
    ("plan", "run", *CONTEXT, "--out", "?"),
    ("plan", "run", "--contexts-file", "?", "--out", "new.json"),
    *(
        ("export", "plan.json", "--format", "csv", "--out", "new.csv", option, "?")
        for option in ("--rate", "--seconds", "--context", "--solution", "--start-pose", "--urdf", "--pacing")
    ),
    ("export", "plan.json", "--format", "?"),
    ("show", "plan.json", "--context", "?", "--out", "new.png"),
    ("show", "?"),
    ("robot", "?"),
    ("suggest", "run", "--count", "?"),
    ("report", "?"),
    ("demos", "generate", TASK, "--out", "new", "--contexts", "?"),
    ("demos", "import", TASK, "?", "--out", "new"),
    ("train", TASK, *SMALL, "--out", "new", "--test-contexts", "?"),
    ("train", TASK, *SMALL, "--out", "new", "--learning-rate", "?"),
    ("train", TASK, *SMALL, "--out", "new", "--demos", "?"),
    ("train", "?"),
    ("benchmark", "paper", "--workers", "?", "--scheduler", "?"),
    ("?",),
    ("?", "?"),
)
"""Commands with places for words."""


@dataclass
class Findings:
    """Figures of what was tried, and everything that was found."""

    counts: Counter[str] = field(default_factory=Counter)
    found: list[str] = field(default_factory=list)

    def fault(self, kind: str, words: str) -> None:
        self.counts[kind] += 1
        self.found.append(f"{kind}: {words}")
        print(self.found[-1], file=sys.stderr, flush=True)


# One command in this process


class Said(NamedTuple):
    """End of a command."""

    code: Any
    error: str
    """Everything on stderr, or the traceback of an error that is no sentence."""


def said(words: list[str]) -> Said:
    """What a command says. It ends with a code, or with a traceback that the user would see."""
    out, err = io.StringIO(), io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            cli.main(words)
        code: Any = 0
    except SystemExit as stop:
        code = stop.code
    except BaseException:
        return Said("traceback", traceback.format_exc())
    if "\x1b" in out.getvalue() + err.getvalue():
        return Said("traceback", "a terminal would obey what it prints")
    return Said(code, err.getvalue())


def fault_of(end: Said, wrong: bool) -> str | None:
    """Fault of how a command ended; wrong: what it read must not be accepted."""
    if end.code == "traceback" or end.code not in (0, 1, 2, 3):
        return "tracebacks"
    if end.code == 2 and not all(line.startswith("vigor: ") for line in end.error.strip().splitlines() or [""]):
        return "tracebacks"
    return "wrong acceptances" if wrong and end.code in (0, 3) else None


# Processes


def forked(work: Callable[[], None], seconds: float) -> int:
    """Wait status of a process that does some work, and is killed should it take too long."""
    sys.stdout.flush()
    child = os.fork()
    if not child:
        _begin()
        try:
            work()
        except BaseException:
            traceback.print_exc()
            os._exit(70)
        os._exit(0)
    due = time.monotonic() + seconds
    while not (found := os.waitpid(child, os.WNOHANG))[0]:
        if time.monotonic() > due:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return -1
        time.sleep(0.01)
    return found[1]


def _begin() -> None:
    """Limits of a process, which may harm nothing but itself."""
    resource.setrlimit(resource.RLIMIT_AS, (16 * 2**30,) * 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def many(cases: Iterator[tuple[str, Callable[[], str | None]]], due: float, findings: Findings) -> int:
    """Number of cases done until a moment, one after the other in a process, a new one after one that hangs."""
    done, listed = 0, list(cases)
    while done < len(listed) and time.monotonic() < due:
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            _begin()
            _work_through(listed[done:], writing, due)
        os.close(writing)
        for fault in _answers(reading):
            if fault is not None:
                findings.fault(fault[0], f"{listed[done][0]}: {fault[1]}")
            done += 1
        os.close(reading)
        time.sleep(0.2)  # It may be about to end.
        ended, status = os.waitpid(child, os.WNOHANG)
        if not ended and done < len(listed) and time.monotonic() < due:
            findings.fault("hangs", listed[done][0])
            done += 1
        elif ended and status and done < len(listed):
            findings.fault("tracebacks", f"{listed[done][0]}: the process died with status {status}")
            done += 1
        if not ended:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
    return done


def _answers(reading: int) -> Iterator[Any]:
    """Lines of JSON from a process, until it ends or is silent for too long."""
    rest = b""
    while select.select([reading], [], [], SECONDS)[0] and (read := os.read(reading, 65536)):
        *lines, rest = (rest + read).split(b"\n")
        yield from map(json.loads, lines)


def _work_through(cases: list[tuple[str, Callable[[], str | None]]], writing: int, due: float) -> None:
    with os.fdopen(writing, "w") as answers:
        for _, case in cases:
            if time.monotonic() > due:
                break
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            try:
                fault = case()
            except BaseException:
                fault = ("tracebacks", traceback.format_exc()[-600:])
            grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024
            if fault is None and grown > MEGABYTES:
                fault = ("memory", f"{grown} MB")
            answers.write(json.dumps(fault) + "\n")
            answers.flush()
    os._exit(0)


# Fuzzing


def fresh(pristine: Path) -> Path:
    """A copy of everything, as the working folder."""
    work = pristine.parent / "work"
    os.chdir(pristine.parent)
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(pristine, work)
    os.chdir(work)
    return work


def as_it_is(pristine: Path, number: int) -> tuple[str, str] | None:
    """One of the commands with files that nobody has changed: were it refused, fuzzing would show nothing."""
    fresh(pristine)
    words = list(COMMANDS[number])
    end = said(words)
    return None if end.code in (0, 3) else ("right refusals", f"{words}: {end.error[-400:]}")


def fuzz_file(pristine: Path, seed: int) -> tuple[str, str] | None:
    """Change one file, and let a command read it."""
    rng = random.Random(seed)
    kind = rng.choice(KINDS)
    work = fresh(pristine)
    path = work / kind.file
    content = path.read_bytes()
    sealed = kind.file == "plan.json" and rng.random() < 0.7
    mutation = mutate(path, rng, Plans if sealed else kind.read_as, kind.contents)
    if sealed and path.is_file() and not path.is_symlink():
        _reseal(path)
    elif kind.file == "plan.json":
        mutation = mutation._replace(wrong=True)
    if path.is_file() and not path.is_symlink() and path.read_bytes() == content:
        mutation = Mutation(mutation.words, False)
    words = list(rng.choice(kind.commands))
    # Some files are not read by every command.
    read = mutation.wrong and not (kind.file == "plan.json" and "--urdf" in words)
    end = said(words)
    fault = fault_of(end, read and mutation.words != "gone")
    return fault and (fault, f"{kind.file}, {mutation.words}, {words[0]}: {end.error[-500:]}")


def _reseal(path: Path) -> None:
    """Let a changed plan carry the digest that belongs to it, as somebody would who knows how."""
    with contextlib.suppress(ValueError, AttributeError, RecursionError):
        read = json.loads(path.read_text())
        bare = {name: part for name, part in read.items() if name not in ("format", "version", "digest")}
        path.write_text(json.dumps(plan_files.sealed(bare)))


def fuzz_words(pristine: Path, seed: int) -> tuple[str, str] | None:
    """A command with words that nobody means."""
    rng = random.Random(seed)
    fresh(pristine)
    words = [rng.choice(WORDS) if word == "?" else word for word in rng.choice(OPTIONS)]
    end = said(words)
    fault = fault_of(end, False)
    return fault and (fault, f"{' '.join(words)[:200]!r}: {end.error[-500:]}")


def tamper(pristine: Path, seed: int) -> tuple[str, str] | None:
    """Export a plan that somebody has changed; whatever is written must hold every limit."""
    rng = random.Random(seed)
    work = pristine.parent / "tampered"
    work.mkdir(exist_ok=True)
    os.chdir(work)
    read = json.loads((pristine / "plan.json").read_text())
    solution = read["contexts"][0]["solutions"][0]
    for _ in range(rng.randint(1, 3)):
        way = rng.randrange(6)
        keep_out = read["constraints"]["keep_out"]
        if way == 0:
            at = rng.randrange(len(solution["movement"]))
            solution["movement"][at] = solution["movement"][at] * 10 ** rng.uniform(-1, 4) + rng.choice((0.0, 1.0))
        elif way == 1:
            keep_out[0] = {"centre": [rng.uniform(-3, 3), rng.uniform(-3, 3)], "radius": 10 ** rng.uniform(-2, 1)}
        elif way == 2:
            x, y = rng.uniform(-5, 5), rng.uniform(-5, 5)
            keep_out[1] = {"low": [x, y], "high": [x + 10 ** rng.uniform(-2, 1), y + 10 ** rng.uniform(-2, 1)]}
        elif way == 3:
            read["constraints"]["seconds"] = 10 ** rng.uniform(-3, 3)
        elif way == 4:
            solution["margins"], solution["violated"] = {}, None
        else:
            limit = rng.choice(("velocity", "acceleration"))
            read["constraints"]["robot"][limit] = [10 ** rng.uniform(-2, 2)] * 5
    Path("plan.json").write_text(json.dumps(read))
    _reseal(Path("plan.json"))
    Path("new.csv").unlink(missing_ok=True)
    end = said(["export", "plan.json", "--format", "csv", "--rate", "50", "--out", "new.csv"])
    fault = fault_of(end, False)
    if fault is None and end.code == 0 and (broken := _breaks(Path("new.csv"), read["constraints"])):
        fault, end = "tampered exports", Said(0, broken)
    return fault and (fault, f"seed {seed}: {end.error[-500:]}")


def _breaks(path: Path, limits: dict[str, Any]) -> str | None:
    """What an exported movement does that it must not, worked out with numpy alone."""
    rows = list(csv.DictReader(path.read_text().splitlines()))
    joints = limits["robot"]["joints"]
    columns = {
        part: np.array([[float(row[f"{joint}{part}"]) for joint in joints] for row in rows])
        for part in _parts(rows[0], joints)
    }
    if not all(np.all(np.isfinite(values)) for values in columns.values()):
        return "not finite"
    place, *others = columns.values()
    bounds = np.array(
        [
            [-np.inf if low is None else low, np.inf if high is None else high]
            for low, high in limits["robot"]["position"]
        ]
    )
    if np.any(place < bounds[:, 0] - 1e-6) or np.any(place > bounds[:, 1] + 1e-6):
        return "beyond a joint's limits"
    for name, values in zip(("velocity", "acceleration"), others, strict=False):
        if np.any(
            np.abs(values) > np.array([np.inf if most is None else most for most in limits["robot"][name]]) * 1.001
        ):
            return f"beyond the largest {name}"
    angles = np.cumsum(place, axis=1)
    ends = np.cumsum(np.stack([np.cos(angles), np.sin(angles)], axis=-1), axis=1)
    points = np.concatenate([np.zeros_like(ends[:, :1]), ends], axis=1)
    way = np.linspace(0.0, 1.0, 50)[:, None]
    along = points[:, :-1, None] + way * (points[:, 1:] - points[:, :-1])[:, :, None]
    for shape in limits["keep_out"]:
        if "radius" in shape:
            depth = shape["radius"] - np.linalg.norm(along - np.array(shape["centre"]), axis=-1)
        else:
            depth = np.min(np.minimum(along - np.array(shape["low"]), np.array(shape["high"]) - along), axis=-1)
        if np.max(depth) > 1e-6:
            return f"{np.max(depth):.3g} m inside a keep-out"
    return None


def _parts(row: dict[str, str], joints: list[str]) -> list[str]:
    """Endings of a joint's columns: place, then velocity, then acceleration."""
    return [name.removeprefix(joints[0]) for name in row if name.startswith(joints[0]) and name != "time"]


# Kills and faults of the disk


class Fault:
    """A hook that does something at one of the operations on files in a folder, or at all from there on."""

    def __init__(self, folder: Path, at: int, strike: Callable[[str], None]) -> None:
        self._folder, self._left, self._strike = str(folder), at, strike
        sys.addaudithook(self._look)

    def _look(self, event: str, arguments: tuple[Any, ...]) -> None:
        changes = event in ("os.rename", "os.link", "os.mkdir", "os.remove") or (
            event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR)
        )
        if changes and str(arguments[0]).startswith(self._folder):
            self._left -= 1
            if self._left <= 0:
                self._strike(str(arguments[0]))


def die(path: str) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def full(path: str) -> None:
    raise OSError(errno.ENOSPC, "No space left on device", path)


def interrupted(pristine: Path, seed: int, findings: Findings, due: float, disk: bool) -> None:
    """Let a run be killed, or its disk be full, again and again, until it ends; then compare it with one left alone."""
    rng, folder = random.Random(seed), pristine.parent / "killed"
    shutil.rmtree(folder, ignore_errors=True)
    name = "full disks" if disk else "kills"
    for attempt in range(100):
        words = ["train", "--resume", str(folder)] if (folder / "config.json").exists() else _train(folder)
        at = rng.randint(1, 30) if attempt < 12 else 10**9  # At last it is left alone.
        told = pristine.parent / "told"

        def work(words: list[str] = words, at: int = at, told: Path = told) -> None:
            Fault(folder, at, full if disk else die)
            told.write_text(json.dumps(said(words)))

        told.unlink(missing_ok=True)
        status = forked(work, 300)
        findings.counts[name] += at < 10**9 and (disk or os.WIFSIGNALED(status))
        if disk and told.exists():
            end = Said(*json.loads(told.read_text()))
            if fault_of(end, False) or (end.code == 2 and "No space left" not in end.error):
                findings.fault("tracebacks", f"full disk: {end}")
        if (folder / "result.json").exists():
            break
        if time.monotonic() > due:
            return
    if not _same(folder, pristine / "run"):
        findings.fault("changed results", f"{name}, seed {seed}")
    if left := [str(path) for path in folder.rglob("*.vigor-part*")]:
        findings.fault("leftovers", f"{left}")
    findings.counts["runs compared"] += 1


def _train(folder: Path) -> list[str]:
    return ["train", TASK, *SMALL, "--out", str(folder)]


def _same(one: Path, other: Path) -> bool:
    """Whether two runs have learned the same."""
    results = [json.loads((folder / "result.json").read_text()) for folder in (one, other)]
    arrays = [dict(np.load(folder / "policies.npz")) for folder in (one, other)]
    same = all(np.array_equal(arrays[0][name], arrays[1][name]) for name in arrays[1])
    networks = [(folder / "ensembles.safetensors").read_bytes() for folder in (one, other)]
    return same and networks[0] == networks[1] and all(results[0][p] == results[1][p] for p in ("train", "test"))


WRITERS = (
    (("plan", "run", *CONTEXT, "--out", "new.json"), "new.json"),
    (("export", "plan.json", "--format", "csv", "--out", "new.csv"), "new.csv"),
    (("demos", "import", TASK, "recorded", "--out", "new"), "new/demonstrations.json"),
    (("report", "run"), "run/report.html"),
)
"""Commands that write, and what they write last."""


def killed_writer(pristine: Path, seed: int, findings: Findings) -> None:
    """Kill a command that writes, then let it be: nothing of the first time is in the way, and nothing is half."""
    rng = random.Random(seed)
    work = fresh(pristine)
    words, last = rng.choice(WRITERS)

    def attempt(at: int) -> Callable[[], None]:
        def run() -> None:
            Fault(work, at, die)
            Path("told").write_text(json.dumps(said(list(words))))

        return run

    Path("told").unlink(missing_ok=True)
    status = forked(attempt(rng.randint(1, 12)), SECONDS)
    findings.counts["kills"] += os.WIFSIGNALED(status)
    whole = (work / last).exists()
    if whole and last.endswith(".json"):
        json.loads((work / last).read_text())
    if whole and last.startswith("new."):
        (work / last).unlink()
    (work / "new.png").unlink(missing_ok=True)
    forked(attempt(10**9), SECONDS)
    end = Said(*json.loads(Path("told").read_text()))
    if end.code not in (0, 3):
        findings.fault("files damaged", f"{words[0]}, seed {seed}: {end.error[-400:]}")


# All of it


def prepare(folder: Path, run: Path | None) -> Path:
    """Files of every kind, as they should be."""
    pristine = folder / "pristine"
    pristine.mkdir()
    os.chdir(pristine)

    def make() -> None:
        from planned import planar

        if run is None:
            assert said(_train(Path("run"))).code == 0
        else:
            assert said(["evaluate", str(run), "--task", TASK, "--samples", "2"]).code == 0
            shutil.copytree(run, "run", dirs_exist_ok=True)
        shutil.copytree("run", "begun", ignore=shutil.ignore_patterns("result.json", "plans", "figures"))
        planar().save("plan.json")
        assert said(["demos", "generate", TASK, "--out", "demos", "--contexts", "2", "--per-context", "3"]).code == 0
        _recorded()
        _benchmark()

    status = forked(make, 600)
    assert status == 0, status
    return pristine


def _recorded() -> None:
    """Recordings and contexts in files of other kinds."""
    shown = dataset.load(Path("demos"))
    assert shown.recordings is not None
    Path("recorded/demonstrations").mkdir(parents=True)
    np.savetxt("recorded/contexts.csv", shown.contexts[:2], delimiter=",")
    for number, recording in enumerate(shown.recordings[:2]):
        np.savetxt(f"recorded/demonstrations/{shown.context_of[number]}_{'ab'[number]}.csv", recording, delimiter=",")
    np.savetxt("contexts.csv", shown.contexts[:2], delimiter=",")
    np.savez(
        "recorded.npz",
        contexts=shown.contexts,
        context_of=shown.context_of[:2],
        samples=np.concatenate(shown.recordings[:2]),
        lengths=np.array([len(item) for item in shown.recordings[:2]]),
    )
    joint = '<joint name="j{0}" type="revolute"><parent link="l{0}"/><child link="l{1}"/><axis xyz="0 0 1"/>'
    joint += '<origin xyz="0.5 0 0"/><limit lower="-3.1" upper="3.1" velocity="2.5" effort="1"/></joint>'
    links = "".join(f'<link name="l{i}"/>' for i in range(6))
    Path("arm.urdf").write_text(f'<robot name="arm">{links}{"".join(joint.format(i, i + 1) for i in range(5))}</robot>')


def _benchmark() -> None:
    """A benchmark with the run as its only row."""
    from vigor.experiments.cell import Cell, row
    from vigor.runs.run import load_setup

    result = json.loads(Path("run/result.json").read_text())
    facts = {"demonstrations": "generated", "device": "cpu", "seconds": 1.0, "together": 1}
    made = row(Cell(load_setup(Path("run"))), facts | {part: result[part] for part in ("train", "test")})
    Path("benchmark/cells").mkdir(parents=True)
    Path(f"benchmark/cells/{made['id']}.json").write_text(json.dumps(made))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=2.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--run", type=Path, help="a finished run of examples/01_own_task.py, instead of a new one")
    parser.add_argument("--out", type=Path, help="file for the figures")
    options = parser.parse_args()
    options.run = options.run and options.run.resolve()
    options.out = options.out and options.out.resolve()
    warnings.simplefilter("ignore")  # That a program of threads is forked: it has none that count.
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_STATE_HOME"] = f"{folder}/state"
        findings = torture(Path(folder), options.minutes * 60, options.seed, options.run)
        os.chdir("/")
    figures = {"minutes": options.minutes, "seed": options.seed, **findings.counts, "found": findings.found}
    print(table(figures))
    if options.out:
        options.out.write_text(json.dumps(figures, indent=2) + "\n")
    sys.exit(1 if findings.found else 0)


def torture(folder: Path, seconds: float, seed: int, run: Path | None) -> Findings:
    """Everything, for so many seconds after what is needed has been made."""
    findings, pristine = Findings(), prepare(folder, run)
    row = next((pristine / "benchmark" / "cells").iterdir()).name
    global KINDS
    KINDS = tuple(kind._replace(file=kind.file.replace("ROW.json", row)) for kind in KINDS)
    begun = time.monotonic()

    def cases(kind: Callable[[Path, int], Any], numbers: range) -> Iterator[tuple[str, Callable[[], Any]]]:
        return ((f"case {number}", lambda number=number: kind(pristine, number)) for number in numbers)

    if seconds >= 120:
        many(cases(as_it_is, range(len(COMMANDS))), begun + 0.2 * seconds, findings)
    for kind, name, share in (
        (tamper, "tampered plans", 0.15),
        (fuzz_file, "fuzzed files", 0.45),
        (fuzz_words, "fuzzed words", 0.55),
    ):
        findings.counts[name] += many(
            cases(kind, range(seed * 10**6, seed * 10**6 + 20_000)), begun + share * seconds, findings
        )
    number = seed * 10**6
    while time.monotonic() < begun + seconds:
        number += 1
        if number % 4 == 1:
            interrupted(pristine, number, findings, begun + seconds, disk=number % 8 == 1)
        else:
            killed_writer(pristine, number, findings)
    return findings


FAULTS = (
    "right refusals",
    "tracebacks",
    "hangs",
    "memory",
    "wrong acceptances",
    "tampered exports",
    "changed results",
    "files damaged",
    "leftovers",
)
TRIED = ("tampered plans", "fuzzed files", "fuzzed words", "kills", "full disks", "runs compared")


def table(figures: dict[str, Any]) -> str:
    """Figures as a table in Markdown."""
    tried = ", ".join(f"{figures.get(name, 0):,} {name}" for name in TRIED)
    rows = [f"| {name} | {figures.get(name, 0)} |" for name in FAULTS]
    return "\n".join([f"| {tried} | found |", "| --- | --- |", *rows])


if __name__ == "__main__":
    main()
