"""Training in a process of its own, which the studio starts, stops, resumes and watches through the files it writes."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from vigor import demonstrations, files, run
from vigor.demonstrations import Demonstrations
from vigor.errors import UserError

NICE = 10
"""How far training gives way to the studio, so that the page stays responsive."""
PATIENCE = 20.0
"""Seconds that a stopped run has to write its checkpoint when the studio ends."""


@dataclass(frozen=True)
class Progress:
    """Where the latest run stands."""

    folder: Path
    running: bool
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


def choice(shown: Demonstrations) -> tuple[int, int]:
    """How many contexts, and how many demonstrations of each, to learn from: as many demonstrations as can be had."""
    counts = np.unique(shown.context_of, return_counts=True)[1]
    return max(
        ((int(np.sum(counts >= per)), int(per)) for per in np.unique(counts)), key=lambda pair: pair[0] * pair[1]
    )


class Learner:
    """The runs in a folder, numbered; at most one of them is trained at a time."""

    def __init__(self, task: str, folder: Path) -> None:
        self._task, self._folder = task, folder
        self._process: subprocess.Popen[bytes] | None = None
        numbers = [int(path.name) for path in folder.glob("*") if path.name.isdigit() and path.is_dir()]
        self._number = max(numbers, default=0)

    @property
    def running(self) -> bool:
        """A process trains; one that only draws its report has finished."""
        alive = self._process is not None and self._process.poll() is None
        return alive and not (self._run / run.RESULT).exists()

    @property
    def _run(self) -> Path:
        return self._folder / str(self._number)

    def start(self, shown: Demonstrations | None, contexts: np.ndarray, iterations: int) -> None:
        """Learn from a set, or from the task's own; further contexts [n, C] are learned for as well.

        The set is copied beside the run, so that recording can go on.
        """
        if self.running:
            raise UserError("a run is under way; stop it first")
        self._number += 1
        test = self._folder / f"{self._number}-contexts.npz"
        files.write_arrays(test, {"contexts": contexts})
        options = ["--iterations", str(iterations), "--test-contexts-file", str(test), "--out", str(self._run)]
        if shown is not None:
            copy = self._folder / f"{self._number}-demonstrations"
            demonstrations.replace(shown, copy)
            train, per = choice(shown)
            options += ["--demos", str(copy), "--train-contexts", str(train), "--demos-per-context", str(per)]
        self._launch(["train", self._task, *options])

    def resume(self) -> None:
        if self.running:
            raise UserError("the run is under way already")
        if not (self._run / run.CONFIG).exists() or (self._run / run.RESULT).exists():
            raise UserError("there is no run to resume; start one")
        self._launch(["train", "--resume", str(self._run)])

    def _launch(self, arguments: list[str]) -> None:
        with self._log.open("wb") as log:
            # Its own group: Ctrl-C in the terminal ends the studio, which then stops the run by itself.
            self._process = subprocess.Popen(
                [sys.executable, "-m", "vigor", *arguments], stdout=log, stderr=log, process_group=0
            )
        priority = min(19, os.getpriority(os.PRIO_PROCESS, 0) + NICE)
        os.setpriority(os.PRIO_PROCESS, self._process.pid, priority)

    @property
    def _log(self) -> Path:
        return self._folder / f"{self._number}.log"

    def stop(self) -> None:
        """Ask the run to write a checkpoint and end."""
        if self._process is not None and self.running:
            self._process.send_signal(signal.SIGINT)

    def close(self) -> None:
        """Stop, and wait until the run has ended."""
        self.stop()
        if self._process is not None:
            try:
                self._process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()

    def progress(self) -> Progress | None:
        """Where the latest run stands; None if there is none."""
        if not self._number:
            return None
        running = self.running
        metrics, iterations = [], 0
        try:
            if (self._run / run.METRICS).exists():
                metrics = [json.loads(line) for line in (self._run / run.METRICS).read_text().splitlines()]
            if (self._run / run.CONFIG).exists():
                iterations = int(json.loads((self._run / run.CONFIG).read_text())["config"]["iterations"])
        except (OSError, ValueError, KeyError, TypeError):
            metrics = []
        finished = (self._run / run.RESULT).exists()
        return Progress(self._run, running, finished, iterations, tuple(metrics), self._problem(running, finished))

    def _problem(self, running: bool, finished: bool) -> str | None:
        if running or finished or self._process is None or self._process.returncode in (0, 130, -signal.SIGINT):
            return None
        said = self._log.read_text(errors="replace").strip().splitlines()
        return said[-1].removeprefix("vigor: ") if said else f"it ended with code {self._process.returncode}"
