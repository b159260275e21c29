"""Training in a process of its own, which the studio starts, stops, resumes and watches through the files it writes."""

import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from vigor.basics import files
from vigor.basics.errors import UserError
from vigor.demonstrations import dataset as demonstrations
from vigor.demonstrations.dataset import Demonstrations
from vigor.runs import run

NICE = 10
"""How far training gives way to the studio, so that the page stays responsive."""
PATIENCE = 20.0
"""Seconds that a stopped run has to write its checkpoint when the studio ends."""


@dataclass(frozen=True)
class Progress:
    """Where the latest run stands."""

    folder: Path
    running: bool
    stopping: bool
    """It runs, and was asked to stop."""
    finished: bool
    iterations: int
    """That it is to make."""
    metrics: tuple[dict[str, Any], ...]
    """Its evaluations so far, see `run`."""
    problem: str | None
    """Why it ended early, if nobody stopped it."""

    @property
    def iteration(self) -> int:
        return self.metrics[-1]["iteration"] if self.metrics else 0


class Learner:
    """The runs in a folder, numbered; at most one of them is trained at a time.

    A run's process writes its own log and outlives a studio that is killed. It holds a lock on `N.pid`, inherited from
    the studio that started it; by this lock the next studio knows that the run is under way.
    """

    def __init__(self, task: str, folder: Path) -> None:
        self._task, self._folder = task, folder
        self._process: subprocess.Popen[bytes] | None = None
        """None for a run that another studio has started."""
        self._stopping = False
        self._lines = 0
        """Of the log, before this process."""
        numbers = [
            int(path.stem) for path in folder.glob("*") if path.stem.isdecimal() and (path.is_dir() or _held(path))
        ]
        self._number = max(numbers, default=0)
        found = task
        with suppress(UserError):  # A run that has just begun, or is damaged, does not tell.
            found = run.load_setup(self._run).task
        if found != task:
            raise UserError(f"{folder} holds runs of {found}, not of {task}; choose that task or another --out")

    @property
    def running(self) -> bool:
        """A process trains; one that only draws its report has finished."""
        return _held(self._pid) and not (self._run / run.RESULT).exists()

    @property
    def _run(self) -> Path:
        return self._folder / str(self._number)

    def start(self, shown: Demonstrations | None, contexts: np.ndarray, iterations: int) -> None:
        """Learn from a set, or from the task's own; further contexts [n, C] are learned for as well.

        The set is copied beside the run, so that recording can go on.
        """
        if self.running:
            raise UserError("a run is under way; stop it first")
        number = self._number + 1
        test = self._folder / f"{number}-contexts.npz"
        files.write_arrays(test, {"contexts": contexts})
        out = self._folder / str(number)
        options = ["--iterations", str(iterations), "--test-contexts-file", str(test), "--out", str(out)]
        if shown is not None:
            copy = self._folder / f"{number}-demonstrations"
            demonstrations.replace(shown, copy)
            train, per = demonstrations.choice(shown)
            options += ["--demos", str(copy), "--train-contexts", str(train), "--demos-per-context", str(per)]
        self._number = number
        self._launch(["train", self._task, *options])

    def resume(self) -> None:
        if self.running:
            raise UserError("the run is under way already")
        if not (self._run / run.CONFIG).exists() or (self._run / run.RESULT).exists():
            raise UserError("there is no run to resume; start one")
        self._launch(["train", "--resume", str(self._run)])

    def _launch(self, arguments: list[str]) -> None:
        self._stopping, self._lines = False, len(_read(self._log).splitlines())
        with self._log.open("ab") as log, self._pid.open("w") as pid:
            fcntl.flock(pid, fcntl.LOCK_EX)  # For as long as the run, too, has the file open.
            command = [sys.executable, "-m", "vigor", *arguments]
            # Its own group: Ctrl-C in the terminal ends the studio, which then stops the run by itself.
            self._process = subprocess.Popen(command, stdout=log, stderr=log, process_group=0, pass_fds=(pid.fileno(),))
            pid.write(str(self._process.pid))
        priority = min(19, os.getpriority(os.PRIO_PROCESS, 0) + NICE)
        os.setpriority(os.PRIO_PROCESS, self._process.pid, priority)

    @property
    def _log(self) -> Path:
        return self._folder / f"{self._number}.log"

    @property
    def _pid(self) -> Path:
        return self._folder / f"{self._number}.pid"

    def stop(self) -> None:
        """Ask the run to write a checkpoint and end."""
        if self.running and not self._stopping:  # A second interrupt would end it without a checkpoint.
            self._stopping = True
            self._signal(signal.SIGINT)

    def _signal(self, number: int) -> None:
        """Send a signal to the run's process, if it lives."""
        pid = _read(self._pid)
        if pid.isdecimal() and _held(self._pid):
            with suppress(ProcessLookupError):
                os.kill(int(pid), number)

    def close(self) -> None:
        """Stop, and wait until the run has ended."""
        self.stop()
        end = time.monotonic() + PATIENCE
        while _held(self._pid) and time.monotonic() < end:
            time.sleep(0.05)
        self._signal(signal.SIGKILL)
        if self._process is not None:
            self._process.wait()

    def progress(self) -> Progress | None:
        """Where the latest run stands; None if there is none."""
        if not self._number:
            return None
        running = self.running
        rows = (_row(line) for line in _read(self._run / run.METRICS).splitlines())
        metrics = tuple(row for row in rows if row is not None)
        try:
            iterations = int(json.loads(_read(self._run / run.CONFIG))["config"]["iterations"])
        except (ValueError, KeyError, TypeError):
            iterations = 0
        finished = (self._run / run.RESULT).exists()
        problem = None if running or finished else self._problem()
        return Progress(self._run, running, running and self._stopping, finished, iterations, metrics, problem)

    def _problem(self) -> str | None:
        code = None if self._process is None else self._process.poll()
        if code in (None, 0, 130, -signal.SIGINT):
            return None
        said = [line for line in _read(self._log).splitlines()[self._lines :] if line.strip()]
        return said[-1].removeprefix("vigor: ") if said else f"it ended with code {code}"


def _held(path: Path) -> bool:
    """Whether a process holds the lock of a file."""
    try:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False


def _read(path: Path) -> str:
    """The text of a file; empty if there is none."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _row(line: str) -> dict[str, Any] | None:
    """An evaluation, with all that the page shows of it; None if it is damaged."""
    try:
        row: dict[str, Any] = json.loads(line)
        shown = [row["train"]["success_mixture"], (row["test"] or row["train"])["success_mixture"]]
        fine = isinstance(row["iteration"], int) and all(isinstance(value, int | float) for value in shown)
        return row if fine else None
    except (ValueError, KeyError, TypeError):
        return None
