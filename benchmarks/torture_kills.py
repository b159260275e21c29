"""Kills of `torture.py`, at every operation on files; what is left alone then must come out as if nothing had been."""

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

import standins
from torture_disks import Fault, same
from torture_fuzzing import fresh
from torture_kinds import EXPORT, IMPORT, PACK, PLAN, PRACTISE, train
from torture_processes import POINT, ROOT, Findings, Said, commands, forked, said
from vigor.basics.files import is_leftover
from vigor.demonstrations.dataset import HEADER

WRITERS = tuple(
    zip(
        PLAN
        + EXPORT[:1]
        + IMPORT
        + PACK
        + commands("""
            export plan.json --format lerobot --out new
            export plan.json --format mcap --out new
            demos generate TASK --out new --contexts 2 --per-context 3
            report run
            report benchmark
        """),
        (
            *("new.json", "new.csv", f"new/{HEADER}", "new.vigor", "new", "new", f"new/{HEADER}"),
            *("run/report.html", "benchmark/report.html"),
        ),
        strict=True,
    )
)
"""Commands that write, and what they write; of demonstrations the header, without which there are none."""
ALONE = 10**9
"""More operations than any command has."""


def die(event: str, path: str) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def killed_writer(words: tuple[str, ...], made: str, pristine: Path, seed: int, findings: Findings, due: float) -> None:
    """Kill a command at each of its operations, until it ends: what it writes is there whole or not at all."""
    work, whole = fresh(pristine), Path(made)
    before = _content(whole)

    def attempt(at: int) -> None:
        Fault(work, at, die)
        Path("told").write_text(json.dumps(said(list(words))))

    forked(partial(attempt, ALONE))
    alone, at = _content(whole), 0
    while True:
        _remove(Path("told"))
        if whole.exists():  # What is finished is not written over.
            for path in work.glob("new*"):
                _remove(path)
        at = at + 1 if time.monotonic() < due else ALONE
        killed = os.WIFSIGNALED(forked(partial(attempt, at)))
        findings.counts["kills"] += killed
        if _content(whole) not in (before, alone):
            findings.fault("files damaged", f"{' '.join(words[:2])}, killed at operation {at}: {made}")
        if not killed:
            break
    end = Said(*json.loads(Path("told").read_text()))
    if end.code not in (0, 3) or _content(whole) != alone:
        findings.fault("files damaged", f"{' '.join(words[:2])}, after {at} kills: {end.error[-400:]}")
    findings.counts["commands compared"] += 1


def _content(path: Path) -> dict[str, bytes]:
    """Content of a file or of a folder's files by name, but for dates, and digests that have one in them."""
    if not path.exists():
        return {}
    whole = path.parent if path.name == HEADER else path
    found = whole.rglob("*") if whole.is_dir() else [whole]
    kept = [item for item in found if item.is_file() and not is_leftover(item)]
    return {item.name: _DATED.sub(b"", item.read_bytes()) for item in kept}


_DATED = re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d|[0-9a-f]{64}")


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def killed_run(pristine: Path, seed: int, findings: Findings, due: float) -> None:
    """Kill a run again and again, a little later each time, until it ends."""
    folder = pristine.parent / "killed"

    def words() -> list[str]:
        return ["train", "--resume", str(folder)] if (folder / "config.json").exists() else train(folder)

    _killed(folder, words, pristine / "run", "result.json", 4, seed, findings, due)


def killed_practice(pristine: Path, seed: int, findings: Findings, due: float) -> None:
    """Kill practice likewise, until the run that comes of it is there."""
    fresh(pristine)
    folder = pristine.parent / "killed"
    words = [*PRACTISE[0][:-1], str(folder)]
    _killed(folder, lambda: words, pristine / "practised", "config.json", 12, seed, findings, due)


def _killed(
    folder: Path,
    words: Callable[[], list[str]],
    alone: Path,
    last: str,
    stride: int,
    seed: int,
    findings: Findings,
    due: float,
) -> None:
    """Kill what fills a folder until a file is there; then compare it with one that was left alone.

    stride: most operations by which a kill comes later than the one before.
    """
    rng, at = random.Random(seed), 0
    shutil.rmtree(folder, ignore_errors=True)
    killed = True
    while killed and not (folder / last).exists():
        at = at + rng.randint(1, stride) if time.monotonic() < due else ALONE

        def work(words: list[str] = words(), at: int = at) -> None:  # noqa: B008
            Fault(folder, at, die)
            said(words)

        killed = os.WIFSIGNALED(forked(work))
        findings.counts["kills"] += killed
    if not (folder / last).exists() or not same(folder, alone):
        findings.fault("changed results", f"{words()[0]}, killed, seed {seed}")
    # What was killed after the end, as it drew pictures, stays for an hour, should somebody still be writing it.
    if left := [path.name for path in folder.rglob("*.vigor-part*") if not killed]:
        findings.fault("leftovers", f"{words()[0]}, seed {seed}: {left}")
    findings.counts["runs compared"] += 1


STUDIO = 20
"""Kills of a studio's folder."""


def killed_studio(pristine: Path, seed: int, findings: Findings, due: float) -> None:
    """Kill what the studio does while it saves and deletes: its folder has all that was saved before, or one more."""
    rng, folder = random.Random(seed), pristine.parent / "studio"
    shutil.rmtree(folder, ignore_errors=True)
    saved = pristine.parent / "saved"
    for _ in range(STUDIO):
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
            break
    findings.counts["studios compared"] += 1


def _told(folder: Path, *words: str) -> Said:
    """End of a command in a process of its own: had this one computed, those that it forks would wait for ever."""
    told = folder / "told"
    forked(lambda: _tell(told, words))
    return Said(*json.loads(told.read_text()))


def _tell(told: Path, words: tuple[str, ...]) -> None:
    told.write_text(json.dumps(said(list(words))))


def _count(folder: Path) -> int:
    header = folder / HEADER
    if not header.exists():
        return 0
    with np.load(folder / json.loads(header.read_text())["arrays"]) as arrays:
        return len(arrays["weights"])


CELLS, KILLS = 12, 6
"""Cells of a benchmark that is killed, and how often at most."""


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


CASES = (
    *(partial(killed_writer, words, made) for words, made in WRITERS),
    killed_studio,
    killed_run,
    killed_practice,
    killed_benchmark,
)


def kill(pristine: Path, seed: int, findings: Findings, due: float) -> None:
    """Kill one command after the other, by the seed, until a moment at the latest."""
    CASES[seed % len(CASES)](pristine, seed, findings, due)
