"""Full disks of `torture.py`: no room from some operation on files of a run on, at each of the first two hundred."""

import errno
import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from torture_kinds import train
from torture_processes import fault_of, said

FIRST = 200
"""Operations on files at which the disk is full."""
ITERATIONS = 64
"""Iterations of a run with so many."""


class Fault:
    """A hook that does something at one of the operations on files in a folder, and at all from there on."""

    def __init__(self, folder: Path, at: int, strike: Callable[[str, str], None]) -> None:
        self._folder, self._left, self._strike = str(folder), at, strike
        self.armed = True
        sys.addaudithook(self._look)

    @property
    def struck(self) -> bool:
        """Whether there were so many operations."""
        return self._left <= 0

    def _look(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.armed:
            return
        changes = event in ("os.rename", "os.link", "os.mkdir", "os.remove") or (
            event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR)
        )
        if changes and isinstance(arguments[0], str | Path) and os.path.abspath(arguments[0]).startswith(self._folder):
            self._left -= 1
            if self._left <= 0:
                self._strike(event, str(arguments[0]))


def full(event: str, path: str) -> None:
    if event == "os.remove":  # What is full can still be tidied up.
        return
    raise OSError(errno.ENOSPC, "No space left on device", path)


def full_disk(pristine: Path, at: int) -> tuple[str, str] | None:
    """A run whose disk is full from an operation on says so; with room again it ends as one left alone."""
    alone, folder = pristine.parent / "alone", pristine.parent / "full"
    if not alone.exists():
        assert said(_train(alone)).code == 0
    shutil.rmtree(folder, ignore_errors=True)
    fault = Fault(folder, at, full)
    end = said(_train(folder))
    fault.armed = False
    assert fault.struck, f"a run has fewer operations than {at}"
    if end.code != 2 or fault_of(end, False) or "No space left" not in end.error:
        return "tracebacks", f"full disk from operation {at} on: {end.code}, {end.error[-400:]}"
    if not (folder / "result.json").exists():
        words = ["train", "--resume", str(folder)] if (folder / "config.json").exists() else _train(folder)
        end = said(words)
        if end.code:
            return "changed results", f"after a disk full from operation {at} on: {end.error[-400:]}"
    if not same(folder, alone):
        return "changed results", f"after a disk full from operation {at} on"
    return ("leftovers", f"operation {at}") if list(folder.rglob("*.vigor-part*")) else None


def _train(folder: Path) -> list[str]:
    return [*train(folder), "--iterations", str(ITERATIONS), "--stall", "0"]


def same(one: Path, other: Path) -> bool:
    """Whether two runs have learned the same, to the last bit."""
    results = [json.loads((folder / "result.json").read_text()) for folder in (one, other)]
    arrays = [dict(np.load(folder / "policies.npz")) for folder in (one, other)]
    equal = all(np.array_equal(arrays[0][name], arrays[1][name]) for name in arrays[1])
    networks = [(folder / "ensembles.safetensors").read_bytes() for folder in (one, other)]
    return equal and networks[0] == networks[1] and all(results[0][p] == results[1][p] for p in ("train", "test"))
