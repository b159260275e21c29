"""Training in a process of its own, which the studio starts, stops, resumes and watches through the files it writes."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from vigor.basics import files, locks
from vigor.basics.errors import UserError
from vigor.demonstrations import dataset, splits
from vigor.demonstrations.dataset import Demonstrations
from vigor.evaluation.evaluation import mixture_of
from vigor.runs import checkpoints, run
from vigor.runs.presets import preset
from vigor.runs.training import EVERY
from vigor.tasks.task import Task

NICE = 10
"""Difference in priority by which training gives way to the studio, so that the page stays responsive."""
PATIENCE = 20.0
"""Seconds that a stopped run has to write its checkpoint when the studio ends."""
PROGRAM = (sys.executable, "-m", "vigor.studio.locked")
"""Program that trains, given the file of a lock to hold and then arguments of `vigor`."""


@dataclass(frozen=True)
class Progress:
    """State of the latest run."""

    folder: Path
    running: bool
    stopping: bool
    """It runs, and was asked to stop."""
    finished: bool
    iterations: int
    """Iterations that it is to make."""
    metrics: tuple[dict[str, Any], ...]
    """Its evaluations so far, see `run`."""
    problem: str | None
    """Reason why it ended early, if nobody stopped it."""
    seconds: int = 0
    """Whole seconds since it was started, as long as nothing else tells that it goes on."""
    prepared: bool = True
    """Its demonstrations have been prepared: it compiles, or learns."""
    usual: int | None = None
    """Whole seconds that the run before it took for its first evaluation; None if there was none."""

    @property
    def iteration(self) -> int:
        return self.metrics[-1]["iteration"] if self.metrics else 0

    @property
    def policies(self) -> Path:
        """File of the policies that it has learned so far."""
        return self.folder / run.POLICIES

    @property
    def can_plan(self) -> bool:
        """It has ended, and has learned something."""
        return not self.running and self.iteration > 0

    @property
    def words(self) -> str:
        """State, iteration, and the time that it took and will take, in words."""
        if self.running and not self.metrics:
            if self.stopping:
                return "stopping"
            expected = "usually a minute or two" if self.usual is None else f"{duration(self.usual)} the last time"
            state = f"compiling, and the first {EVERY} iterations" if self.prepared else "preparing demonstrations"
            return f"{state}: {duration(self.seconds)} so far, {expected}"
        running = "stopping" if self.stopping else "learning"
        state = running if self.running else "finished" if self.finished else self.problem or "stopped"
        if not self.metrics:
            return state
        spent, left = self.metrics[-1].get("seconds"), self._left()
        times = [] if spent is None else [duration(spent)]
        times += [f"about {duration(left)} to go"] if self.running and not self.stopping and left is not None else []
        return ", ".join([state, f"iteration {self.iteration} of {self.iterations}", *times])

    def _left(self) -> float | None:
        """Seconds that are left, by the speed since the first evaluation; None as long as that is not known."""
        if len(self.metrics) < 2 or "seconds" not in self.metrics[0]:
            return None
        first, last = self.metrics[0], self.metrics[-1]
        each = (last["seconds"] - first["seconds"]) / max(1, last["iteration"] - first["iteration"])
        return float(each * (self.iterations - self.iteration))


def duration(seconds: float) -> str:
    """A duration in words: seconds below two minutes."""
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


class Trainer:
    """The runs of a task in a folder, numbered; at most one of them is trained at a time.

    A run's process writes its own log and outlives a studio that is killed. It holds `N.lock` as long as it lives; by
    this the next studio knows that the run is under way, and that the number in `N.pid` is that of its process.
    """

    def __init__(self, task: Task, folder: Path, program: Sequence[str] = PROGRAM) -> None:
        self._task, self._folder, self._program = task, folder, program
        self._reference = task.origin or task.name
        self._process: subprocess.Popen[bytes] | None = None
        """Process of the run; None for one that another studio has started."""
        self._stopping = False
        self._old_lines = 0
        """Lines of the log from before this process."""
        runs = [path for path in folder.glob("*") if path.is_dir() or (path.suffix == ".lock" and locks.held(path))]
        self._number = max((int(path.stem) for path in runs if path.stem.isdecimal()), default=0)
        trained = self._reference
        with suppress(UserError):  # A run that has just begun, or is damaged, does not tell.
            trained = run.load_setup(self._run).task
        if trained != self._reference:
            raise UserError(
                f"{folder} holds runs of {trained}, not of {self._reference}; choose that task or another --out"
            )

    @property
    def default_iterations(self) -> int:
        """Iterations that a run makes unless told otherwise."""
        return preset(self._task).update.iterations

    @property
    def running(self) -> bool:
        """A process trains; one that only draws its report has finished."""
        return self._alive and not (self._run / run.RESULT).exists()

    @property
    def _alive(self) -> bool:
        started = self._process is not None and self._process.poll() is None
        return started or locks.held(self._lock)

    @property
    def _run(self) -> Path:
        return self._folder / str(self._number)

    def start(self, learned_from: Demonstrations | None, contexts: np.ndarray, iterations: int) -> None:
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
        if learned_from is not None:
            copy = self._folder / f"{number}-demonstrations"
            dataset.replace(learned_from, copy)
            train, per_context = splits.largest(learned_from)
            options += ["--demos", str(copy), "--train-contexts", str(train), "--demos-per-context", str(per_context)]
        self._number = number
        self._launch(["train", self._reference, *options])

    def resume(self) -> None:
        if self.running:
            raise UserError("the run is under way already")
        if not (self._run / run.CONFIG).exists() or (self._run / run.RESULT).exists():
            raise UserError("there is no run to resume; start one")
        self._launch(["train", "--resume", str(self._run)])

    def _launch(self, arguments: list[str]) -> None:
        self._stopping, self._old_lines = False, len(_read(self._log).splitlines())
        command = [*self._program, str(self._lock), *arguments]
        if self._log.is_symlink() or not self._log.is_file():
            self._log.unlink(missing_ok=True)  # What else a folder has there is not written to.
        with self._log.open("ab") as log:
            # Its own group: Ctrl-C in the terminal ends the studio, which then stops the run by itself.
            self._process = subprocess.Popen(command, stdout=log, stderr=log, process_group=0)
        files.write_text(self._pid, str(self._process.pid))
        priority = min(19, os.getpriority(os.PRIO_PROCESS, 0) + NICE)
        with suppress(ProcessLookupError):  # It has ended already.
            os.setpriority(os.PRIO_PROCESS, self._process.pid, priority)

    @property
    def _log(self) -> Path:
        return self._folder / f"{self._number}.log"

    @property
    def _lock(self) -> Path:
        return self._folder / f"{self._number}.lock"

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
        if self._process is not None:
            self._process.send_signal(number)
        elif locks.held(self._lock) and (pid := _read(self._pid)).isdecimal():
            with suppress(ProcessLookupError):
                os.kill(int(pid), number)

    def close(self) -> None:
        """Stop, and wait until the run has ended."""
        self.stop()
        end = time.monotonic() + PATIENCE
        while self._alive and time.monotonic() < end:
            time.sleep(0.05)
        self._signal(signal.SIGKILL)
        if self._process is not None:
            self._process.wait()

    def progress(self) -> Progress | None:
        """State of the latest run; None if there is none."""
        if not self._number:
            return None
        running = self.running
        rows = (_row(line) for line in _read(self._run / run.METRICS).splitlines())
        metrics = tuple(row for row in rows if row is not None)
        iterations = 0
        with suppress(UserError):
            iterations = run.load_setup(self._run).settings.update.iterations
        finished = (self._run / run.RESULT).exists()
        problem = None if running or finished else self._problem()
        seconds = 0
        if running and not metrics:
            with suppress(OSError):  # Written when the process was started.
                seconds = max(0, int(time.time() - self._pid.stat().st_mtime))
        stopping = running and self._stopping
        prepared = (self._run / checkpoints.STARTS).exists()
        usual = None if metrics else self._usual()
        return Progress(
            self._run, running, stopping, finished, iterations, metrics, problem, seconds, prepared, usual
        )  # fmt: skip

    def _usual(self) -> int | None:
        """Seconds that the last run before this one took for its first evaluation."""
        for number in range(self._number - 1, 0, -1):
            first = _row(next(iter(_read(self._folder / str(number) / run.METRICS).splitlines()), ""))
            if first is not None and isinstance(first.get("seconds"), int | float):
                return round(first["seconds"])
        return None

    def _problem(self) -> str | None:
        code = None if self._process is None else self._process.poll()
        if code in (None, 0, 130, -signal.SIGINT):
            return None
        lines = [line for line in _read(self._log).splitlines()[self._old_lines :] if line.strip()]
        return lines[-1].removeprefix("vigor: ") if lines else f"it ended with code {code}"


def _read(path: Path) -> str:
    """The text of a file; empty if there is none, or a pipe in its place."""
    try:
        files.check_plain(path)
        return path.read_text(encoding="utf-8", errors="replace")
    except (OSError, UserError):
        return ""


def _row(line: str) -> dict[str, Any] | None:
    """An evaluation, with all that the page shows of it; None if it is damaged."""
    try:
        row: dict[str, Any] = json.loads(line)
        success = [mixture_of(row["train"]), mixture_of(row["test"] or row["train"])]
        complete = isinstance(row["iteration"], int) and all(isinstance(value, int | float) for value in success)
        return row if complete else None
    except (ValueError, KeyError, TypeError):
        return None
