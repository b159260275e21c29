"""Kills and full disks of `torture.py`, at every operation on files; what is left alone then must come out the same."""

import errno
import json
import os
import random
import shutil
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from torture_fuzzing import EXPORT, IMPORT, PLAN, fresh
from torture_processes import SMALL, TASK, Findings, Said, commands, fault_of, forked, said


class Fault:
    """A hook that does something at one of the operations on files in a folder, or at all from there on."""

    def __init__(self, folder: Path, at: int, strike: Callable[[str], None]) -> None:
        self._folder, self._left, self._strike = str(folder), at, strike
        sys.addaudithook(self._look)

    def _look(self, event: str, arguments: tuple[Any, ...]) -> None:
        changes = event in ("os.rename", "os.link", "os.mkdir", "os.remove") or (
            event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR)
        )
        if changes and isinstance(arguments[0], str | Path) and os.path.abspath(arguments[0]).startswith(self._folder):
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
        words = ["train", "--resume", str(folder)] if (folder / "config.json").exists() else train(folder)
        at = rng.randint(1, 30) if attempt < 12 else 10**9  # At last it is left alone.
        told = pristine.parent / "told"

        def work(words: list[str] = words, at: int = at, told: Path = told) -> None:
            Fault(folder, at, full if disk else die)
            told.write_text(json.dumps(said(words)))

        told.unlink(missing_ok=True)
        status = forked(work)
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


def train(folder: Path) -> list[str]:
    return ["train", TASK, *SMALL.split(), "--out", str(folder)]


def _same(one: Path, other: Path) -> bool:
    """Whether two runs have learned the same."""
    results = [json.loads((folder / "result.json").read_text()) for folder in (one, other)]
    arrays = [dict(np.load(folder / "policies.npz")) for folder in (one, other)]
    same = all(np.array_equal(arrays[0][name], arrays[1][name]) for name in arrays[1])
    networks = [(folder / "ensembles.safetensors").read_bytes() for folder in (one, other)]
    return same and networks[0] == networks[1] and all(results[0][p] == results[1][p] for p in ("train", "test"))


WRITERS = tuple(
    zip(
        PLAN + EXPORT[:1] + IMPORT + commands("report run"),
        ("new.json", "new.csv", "new/demonstrations.json", "run/report.html"),
        strict=True,
    )
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
    status = forked(attempt(rng.randint(1, 12)))
    findings.counts["kills"] += os.WIFSIGNALED(status)
    whole = (work / last).exists()
    if whole and last.endswith(".json"):
        json.loads((work / last).read_text())
    if whole and last.startswith("new."):
        (work / last).unlink()
    (work / "new.png").unlink(missing_ok=True)
    forked(attempt(10**9))
    end = Said(*json.loads(Path("told").read_text()))
    if end.code not in (0, 3):
        findings.fault("files damaged", f"{words[0]}, seed {seed}: {end.error[-400:]}")
