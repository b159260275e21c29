"""The part of a session that learns: starts runs, and shows what the latest has learned so far."""

from pathlib import Path

import numpy as np

from vigor.basics.errors import UserError
from vigor.evaluation import policies
from vigor.motion.promp import ProMP
from vigor.runs import run
from vigor.studio import incoming
from vigor.studio.recording import Recording
from vigor.studio.shared import Shared, Trace
from vigor.studio.trainer import Progress, Trainer

ITERATIONS = (10, 1000)
"""Least and most iterations of a run."""


class Learning:
    """Runs that learn from what the library holds, from imported demonstrations, or from the task's own."""

    def __init__(self, shared: Shared, trainer: Trainer, recording: Recording) -> None:
        self.trainer = trainer
        self._promp: tuple[Path, ProMP] | None = None
        self.progress: Progress | None = None
        self._shared, self._recording = shared, recording
        self._policies: policies.Learned | None = None

    @property
    def sources(self) -> set[str]:
        """Sources that a run can learn from now: what was `recorded`, what was `imported`, the task's `own`."""
        source = self._shared.task.source
        there = {
            "recorded": self._recording.library.current is not None,
            "imported": self._recording.imported is not None,
            "own": source.generate is not None or source.shipped is not None,
        }
        return {name for name, given in there.items() if given}

    def start(self, source: str, iterations: int) -> None:
        """Start a run on what was `recorded`, what was `imported`, or the task's `own` demonstrations."""
        recording = self._recording
        learned_from = {"recorded": recording.library.current, "imported": recording.imported}.get(source)
        if learned_from is None and source != "own":
            raise UserError("record a demonstration first, or learn from the task's own")
        bounded = incoming.whole(iterations, *ITERATIONS)
        if bounded is None:
            raise UserError(f"iterations must be a number from {ITERATIONS[0]} to {ITERATIONS[1]}")
        # The context on the screen is learned for too, demonstrated or not, so that there is something to see.
        self.trainer.start(learned_from, self._shared.context[None], bounded)
        self.progress, self._policies = self.trainer.progress(), None
        self._shared.changes += 1

    def stop(self) -> None:
        with self._shared.lock:
            self.trainer.stop()

    def resume(self) -> None:
        with self._shared.lock:
            self.trainer.resume()

    def watch(self) -> None:
        """Look at what the run has written."""
        progress = self.trainer.progress()
        with self._shared.lock:
            before, self.progress = self.progress, progress
            if progress is None or progress == before:
                return
            self._shared.changes += 1
            if before is None or (before.iteration, before.folder) != (progress.iteration, progress.folder):
                self._policies = None
                try:
                    self._policies = policies.load(progress.policies) if progress.policies.exists() else None
                except UserError as error:
                    self._shared.notice = str(error)

    def _run_promp(self) -> ProMP | None:
        """The movement primitive that the latest run has; None if it does not tell, or its policies have another."""
        if self.progress is None or not isinstance(self._policies, policies.Policies):
            return None
        folder = self.progress.folder
        if self._promp is None or self._promp[0] != folder:
            try:
                task = run.task_of(folder, run.load_setup(folder), self._shared.task)
            except UserError:
                return None
            if not self._policies.fits(task):
                return None
            self._promp = folder, task.promp
        return self._promp[1]

    def traces(self) -> tuple[Trace, ...]:
        """Traces of the mixture's components for the context, as the run has them now, if it learns for it."""
        with self._shared.lock:
            known, promp = self._policies, self._run_promp()
            if not isinstance(known, policies.Policies) or promp is None:
                return ()
            same = np.flatnonzero(np.all(np.abs(known.contexts - self._shared.context) < 1e-6, axis=1))
            if not len(same):
                return ()
            means = np.asarray(known.mixtures.means[same[0]])
            return tuple(self._shared.trace(promp, mean, colour=i, kind="way") for i, mean in enumerate(means))
