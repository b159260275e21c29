"""The part of a session that records: movements by hand, and the demonstrations of the context."""

import threading
from collections.abc import Callable

import numpy as np

from vigor.basics.errors import UserError
from vigor.demonstrations import preprocessing
from vigor.demonstrations.dataset import Demonstrations
from vigor.studio.library import Change, Library
from vigor.studio.shared import Shared, Trace, movement


class Recording:
    """Records demonstrations into a library, and plays and deletes those of the context on the screen.

    imported: demonstrations from elsewhere, which can be looked at and kept.
    """

    def __init__(self, shared: Shared, library: Library, imported: Demonstrations | None = None) -> None:
        self.library, self.imported = library, imported
        task = library.task
        self.imported_task = task if imported is None else preprocessing.settled(task, imported)
        self._shared = shared
        self._saving = threading.Lock()

    def save(self) -> None:
        """Save the recording if it solves the context; else it stays, and an error says what it lacks.

        Once, if several pages ask for it at the same moment.
        """
        with self._saving:
            self._save()

    def _save(self) -> None:
        shared = self._shared
        with shared.lock:
            if not shared.robot.recorder.active:
                return
            shared.let_go()
            context, missing, recording = shared.context, shared.missing, shared.robot.recorder.recording
        if missing is not None:
            raise UserError(f"not saved: the movement stays {missing.words}")
        self.library.add(context, recording())
        with shared.lock:
            shared.robot.discard()
            shared.tell(f"Saved: {self.library.count(context)} in this context.")

    def drop(self) -> None:
        """Forget the recording; the robot goes back to where a movement starts."""
        shared = self._shared
        with shared.lock:
            shared.let_go()
            shared.robot.discard()
            shared.tell("")

    def undo(self) -> None:
        """Take back the last demonstration that was saved or deleted, and go to its context."""
        self._go_back("Undone: demonstration {} here.", self.library.undo)

    def redo(self) -> None:
        """Save or delete again what was taken back last, and go to its context."""
        self._go_back("Again: demonstration {} here.", self.library.redo)

    def _go_back(self, said: str, change: Callable[[], Change]) -> None:
        shared = self._shared
        with shared.lock:
            shared.refuse_while_recording()
            changed = change()
            shared.go_to(changed.context)
            shared.tell(said.format(changed.done))

    def words(self, change: Change | None) -> str:
        """A change and where it was made, for a button; empty if there is none."""
        if change is None:
            return ""
        number = self.library.find(change.context)
        here = np.array_equal(change.context, self._shared.context)
        where = "here" if here else "in another context" if number is None else f"in context {number + 1}"
        return f": demonstration {change.done} {where}"

    # Imported demonstrations

    def look(self, number: int) -> None:
        """Go to the context of an imported demonstration, and play it."""
        given, shared = self._imported(number), self._shared
        with shared.lock:
            shared.refuse_while_recording()
            shared.go_to(given.contexts[given.context_of[number]])
            shared.tell(f"Demonstration {number + 1} of those imported.")
        shared.play(self.imported_task.promp, given.weights[number], self.imported_task.arm.seconds)

    def keep(self, number: int) -> None:
        """Add an imported demonstration to the library."""
        given, promp = self._imported(number), self.imported_task.promp
        context = given.contexts[given.context_of[number]]
        recording = movement(promp, given.weights[number], promp.steps)
        self.library.add(context, recording if given.recordings is None else given.recordings[number])
        with self._shared.lock:
            self._shared.tell(f"Kept: {self.library.count(context)} in its context.")

    def _imported(self, number: int) -> Demonstrations:
        """All that were imported, if there is one of that number."""
        if self.imported is None or not 0 <= number < len(self.imported.weights):
            raise UserError("no such demonstration was imported")
        return self.imported

    # Demonstrations of the context

    @property
    def numbers(self) -> list[int]:
        """Numbers of this context's demonstrations in the library."""
        index, demonstrations = self.library.find(self._shared.context), self.library.current
        return [] if index is None or demonstrations is None else demonstrations.of(index).tolist()

    def traces(self) -> tuple[Trace, ...]:
        """Traces of this context's demonstrations."""
        with self._shared.lock:
            promp = self.library.settled.promp
            return tuple(self._shared.trace(promp, self._weights(number)) for number in self.numbers)

    def _weights(self, number: int) -> np.ndarray:
        assert self.library.current is not None
        return self.library.current.weights[number]

    def play(self, rank: int) -> None:
        """Play one of this context's demonstrations."""
        with self._shared.lock:
            weights = self._weights(self._number(rank))
        settled = self.library.settled
        self._shared.play(settled.promp, weights, settled.arm.seconds)

    def delete(self, rank: int) -> None:
        """Delete one of this context's demonstrations; the last with -1."""
        with self._shared.lock:
            self._shared.refuse_while_recording()
            self.library.delete(self._number(rank))
            self._shared.robot.stop_playing()  # It may be the one.
            self._shared.tell("Deleted; undo brings it back.")

    def _number(self, rank: int) -> int:
        """Number in the library of one of this context's demonstrations."""
        numbers = self.numbers
        if not -1 <= rank < len(numbers) or not numbers:
            raise UserError("this context has no such demonstration")
        return numbers[rank]
