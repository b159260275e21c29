"""Recorded demonstrations: a folder that is valid at every moment and holds each as soon as it is recorded.

`vigor train --demos` takes this folder. Names of files never come from a page.
"""

import threading
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from vigor.basics.errors import UserError
from vigor.demonstrations import dataset, preprocessing
from vigor.demonstrations.dataset import Demonstrations
from vigor.tasks.task import Task

SOURCE = "recorded in the studio"
MANY = 10_000
"""Most demonstrations of a folder."""


@dataclass(frozen=True, eq=False)
class Change:
    """A demonstration that was saved or deleted."""

    done: str
    """saved or deleted"""
    context: np.ndarray
    """[C], in which"""


class Library:
    """A folder with demonstrations of a task, and the sets that it held before, to go back to."""

    def __init__(self, task: Task, folder: Path) -> None:
        self.task, self.folder = task, folder
        self.current: Demonstrations | None = None
        self.settled = task
        """The task with all that the demonstrations decide, if it leaves them something."""
        if (folder / dataset.HEADER).exists():
            self.current = dataset.load(folder, task)
            self.settled = preprocessing.settled(task, self.current)
        self._before: list[tuple[Demonstrations | None, Change]] = []
        self._after: list[tuple[Demonstrations | None, Change]] = []
        self._lock = threading.Lock()

    @property
    def last(self) -> Change | None:
        """The change that can be undone."""
        return self._before[-1][1] if self._before else None

    @property
    def undone(self) -> Change | None:
        """The change that can be made again."""
        return self._after[-1][1] if self._after else None

    def find(self, context: np.ndarray) -> int | None:
        """Number of a context [C] in the set; None for a new one."""
        if self.current is None:
            return None
        same = np.flatnonzero(np.all(np.abs(self.current.contexts - context) < 1e-9, axis=1))
        return int(same[0]) if len(same) else None

    def count(self, context: np.ndarray) -> int:
        """Number of demonstrations of a context [C]."""
        index = self.find(context)
        return 0 if index is None or self.current is None else len(self.current.of(index))

    def add(self, context: np.ndarray, recording: np.ndarray) -> None:
        """Fit a movement primitive to a recording [T, dimensions] and save it, if it solves the context [C]."""
        moving = preprocessing.without_rest(recording)
        if self.task.settle is not None:
            self._add_and_settle(context, moving)
            return
        weights, away = preprocessing.repair(self.task, preprocessing.fit(self.task, [moving]), context[None])
        if not self.task.succeeds(away)[0]:
            short = f"{away[0]:.2g} {self.task.display.unit}".strip()
            raise UserError(
                "not saved: the movement primitive fitted to it, which is what is learned from, ends "
                f"{short} short of solving the context; move in wider arcs, without pauses"
            )
        with self._lock:
            self._set(self._with(context, moving, weights), Change("saved", context))

    def _add_and_settle(self, context: np.ndarray, moving: np.ndarray) -> None:
        """Save a recording of a task that is decided by its demonstrations: all are fitted anew."""
        shape = np.zeros((1, self.settled.promp.weights))
        with self._lock:
            wanted = self._with(context, moving, shape)
            assert wanted.recordings is not None
            given = (wanted.contexts, wanted.recordings, wanted.context_of, wanted.source)
            kept = preprocessing.preprocess(self.task, *given)
            if len(kept.weights) < len(wanted.weights):
                raise UserError(
                    "not saved: the movement primitive fitted to it, which is what is learned from, does not solve the "
                    "context; move in wider arcs, without pauses"
                )
            self._set(kept, Change("saved", context))

    def _with(self, context: np.ndarray, moving: np.ndarray, weights: np.ndarray) -> Demonstrations:
        old, index = self.current, self.find(context)
        if old is None:
            return Demonstrations(self.task.name, context[None], np.zeros(1, int), weights, (moving,), SOURCE)
        if len(old.weights) >= MANY:
            raise UserError(f"{self.folder} holds {MANY} demonstrations, which is as many as the studio keeps")
        return Demonstrations(
            self.task.name,
            old.contexts if index is not None else np.concatenate([old.contexts, context[None]]),
            np.append(old.context_of, len(old.contexts) if index is None else index),
            np.concatenate([old.weights, weights]),
            None if old.recordings is None else (*old.recordings, moving),
            old.source if old.source.endswith(SOURCE) else f"{old.source}, and {SOURCE}",
        )

    def delete(self, number: int) -> None:
        """Delete a demonstration; its context stays."""
        with self._lock:
            old = self.current
            if old is None or not 0 <= number < len(old.weights):
                raise UserError("there is no such demonstration")
            change = Change("deleted", old.contexts[old.context_of[number]])
            kept = np.delete(np.arange(len(old.weights)), number)
            if not len(kept):
                self._set(None, change)
                return
            movements = None if old.recordings is None else tuple(old.recordings[i] for i in kept)
            left = Demonstrations(
                old.task, old.contexts, old.context_of[kept], old.weights[kept], movements, old.source
            )
            self._set(left, change)

    def undo(self) -> Change:
        """Take back the last change, and return it."""
        return self._step(self._before, self._after, "there is nothing to undo")

    def redo(self) -> Change:
        """Make the change again that was taken back last, and return it."""
        return self._step(self._after, self._before, "there is nothing to make again")

    def _step(
        self,
        origin: list[tuple[Demonstrations | None, Change]],
        other: list[tuple[Demonstrations | None, Change]],
        problem: str,
    ) -> Change:
        """Go to the last set of one list, and put the current one on the other."""
        with self._lock:
            if not origin:
                raise UserError(problem)
            (new, change), now = origin[-1], self.current
            self._write(new)
            origin.pop()
            other.append((now, change))
            return change

    def _set(self, new: Demonstrations | None, change: Change) -> None:
        old = self.current
        self._write(new)
        self._before.append((old, change))
        self._after.clear()

    def _write(self, new: Demonstrations | None) -> None:
        if new is not None:
            dataset.replace(new, self.folder)
        else:  # Without a header there is no set; arrays that are left over go with the next one.
            (self.folder / dataset.HEADER).unlink(missing_ok=True)
        self.current = new
        self.settled = self.task if new is None else preprocessing.settled(self.task, new)
