"""Kills of `torture.py`, at every operation on files; what is left alone then must come out as if nothing had been."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import standins
from torture_disks import Fault, same
from torture_fuzzing import fresh
from torture_kinds import EXPORT, IMPORT, PACK, PLAN, PRACTISE, train
from torture_processes import POINT, ROOT, Findings, Said, commands, forked, said

FOLDERS = commands("""
    export plan.json --format lerobot --out new
    export plan.json --format mcap --out new
""")
WRITERS = tuple(
    zip(
        PLAN
        + EXPORT[:1]
        + IMPORT
        + PACK
        + FOLDERS
        + commands("report run\nevaluate run --samples 2\nreport benchmark"),
        (
            *("new.json", "new.csv", "new", "new.vigor", "new", "new"),
            *("run/report.html", "run/result.json", "benchmark/report.html"),
        ),
        strict=True,
    )
)
"""Commands that write, and what they write."""
KILLS = 6
"""Most kills of a command, until it is left alone."""


def die(event: str, path: str) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def killed_writer(pristine: Path, seed: int, findings: Findings, due: float) -> None:
    """Kill a command that writes a few times, then let it be: nothing is in its way, and nothing is half."""
    rng = random.Random(seed)
    work = fresh(pristine)
    words, made = rng.choice(WRITERS)

    def attempt(at: int) -> Callable[[], None]:
        def run() -> None:
            Fault(work, at, die)
            Path("told").write_text(json.dumps(said(list(words))))

        return run

    for at in sorted(rng.sample(range(1, 13), KILLS)):
        status = forked(attempt(at))
        findings.counts["kills"] += os.WIFSIGNALED(status)
        if not os.WIFSIGNALED(status) or time.monotonic() > due:
            break
        whole = work / made
        if whole.suffix == ".json" and whole.exists():
            json.loads(whole.read_text())
        if made.startswith("new") and whole.exists():  # A finished file is not written over.
            _remove(whole)
        _remove(work / "new.png")
    for name in ("told", "new.png", *([made] if made.startswith("new") else [])):
        _remove(work / name)
    forked(attempt(10**9))
    end = Said(*json.loads(Path("told").read_text()))
    if end.code not in (0, 3) or not (work / made).exists():
        findings.fault("files damaged", f"{words[0]}, seed {seed}: {end.error[-400:]}")


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def killed_run(pristine: Path, seed: int, findings: Findings, due: float) -> None:
    """Kill a run again and again, until it ends."""
    folder = pristine.parent / "killed"

    def words() -> list[str]:
        return ["train", "--resume", str(folder)] if (folder / "config.json").exists() else train(folder)

    _killed(folder, words, pristine / "run", "result.json", seed, findings, due)


def killed_practice(pristine: Path, seed: int, findings: Findings, due: float) -> None:
    """Kill practice again and again, until the run that comes of it is there."""
    fresh(pristine)
    folder = pristine.parent / "killed"
    words = [*PRACTISE[0][:-1], str(folder)]
    _killed(folder, lambda: words, pristine / "practised", "config.json", seed, findings, due)


def _killed(
    folder: Path, words: Callable[[], list[str]], alone: Path, last: str, seed: int, findings: Findings, due: float
) -> None:
    """Kill what fills a folder until a file is there; then compare it with one that was left alone."""
    rng = random.Random(seed)
    shutil.rmtree(folder, ignore_errors=True)
    for attempt in range(2 * KILLS + 1):
        at = rng.randint(1, 30) if attempt < 2 * KILLS else 10**9  # At last it is left alone.

        def work(words: list[str] = words(), at: int = at) -> None:  # noqa: B008
            Fault(folder, at, die)
            said(words)

        findings.counts["kills"] += os.WIFSIGNALED(forked(work))
        if (folder / last).exists():
            break
        if time.monotonic() > due:
            return
    if not (folder / last).exists() or not same(folder, alone):
        findings.fault("changed results", f"{words()[0]}, killed, seed {seed}")
    # What other commands leave stays for an hour, should somebody still be writing it.
    if left := [path.name for path in folder.rglob("*.vigor-part*")]:
        findings.fault("leftovers", f"{words()[0]}, seed {seed}: {left}")
    findings.counts["runs compared"] += 1


def killed_studio(pristine: Path, seed: int, findings: Findings, due: float) -> None:
    """Kill what the studio does while it saves and deletes: its folder has all that was saved before, or one more."""
    rng, folder = random.Random(seed), pristine.parent / "studio"
    shutil.rmtree(folder, ignore_errors=True)
    saved = pristine.parent / "saved"
    for _ in range(KILLS):
        saved.write_text("0")

        def work(at: int = rng.randint(1, 25)) -> None:
            import recorded
            from vigor.studio.library import Library

            library = Library(recorded.POINTED, folder)
            saved.write_text(str(0 if library.current is None else len(library.current.weights)))
            Fault(folder, at, die)
            for goal in recorded.goals(40, seed):
                library.add(goal.astype(float), recorded.gripped(goal, 40)[:, :2])
                saved.write_text(str(int(saved.read_text()) + 1))

        findings.counts["kills"] += os.WIFSIGNALED(forked(work))
        before = int(saved.read_text())
        end = _told(folder.parent, "demos", "check", str(folder), "--task", POINT) if before else Said(0, "")
        count = _count(folder)
        if end.code != 0 or count not in (before, before + 1):
            findings.fault("files damaged", f"studio, seed {seed}: {count} of {before} recordings; {end.error[-300:]}")
            return
        if time.monotonic() > due:
            return


def _told(folder: Path, *words: str) -> Said:
    """End of a command in a process of its own: had this one computed, those that it forks would wait for ever."""
    told = folder / "told"
    forked(lambda: _tell(told, words))
    return Said(*json.loads(told.read_text()))


def _tell(told: Path, words: tuple[str, ...]) -> None:
    told.write_text(json.dumps(said(list(words))))


def _count(folder: Path) -> int:
    header = folder / "demonstrations.json"
    if not header.exists():
        return 0
    with np.load(folder / json.loads(header.read_text())["arrays"]) as arrays:
        return len(arrays["weights"])


CELLS = 12
"""Cells of a benchmark that is killed."""


def killed_benchmark(pristine: Path, seed: int, findings: Findings, due: float) -> None:
    """Kill a benchmark with its workers, of cells that pretend to train; then it has every row, once."""
    rng, folder = random.Random(seed), pristine.parent / "benchmark"
    shutil.rmtree(folder, ignore_errors=True)
    paths = os.pathsep.join(str(ROOT / name) for name in ("src", "tests"))
    command = [sys.executable, "-c", "import standins; standins.main()", str(folder), str(CELLS), "0.1", "1"]
    for attempt in range(KILLS + 1):
        process = subprocess.Popen(command, env=os.environ | {"PYTHONPATH": paths}, start_new_session=True)
        try:
            process.wait(None if attempt == KILLS else rng.uniform(1.0, 6.0))
            break
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            findings.counts["kills"] += 1
    rows = [row["setup"]["seed"] for row in standins.lines(folder)]
    if process.returncode or sorted(rows) != list(range(CELLS)):
        findings.fault("changed results", f"benchmark, seed {seed}: rows {rows}")
    findings.counts["benchmarks compared"] += 1


TURNS = (killed_writer, killed_studio, killed_run, killed_writer, killed_practice, killed_writer, killed_writer)


def kill(pristine: Path, seed: int, findings: Findings, due: float) -> None:
    """Kill one command, until a moment at the latest; every twentieth is a benchmark, which takes longest."""
    case = killed_benchmark if seed % 20 == 19 else TURNS[seed % len(TURNS)]
    case(pristine, seed, findings, due)
