"""Demonstrations from recordings in any format: read, matched with a task, resampled in time, and fitted."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from vigor.basics.errors import UserError
from vigor.demonstrations import contexts, dataset, matching, timing
from vigor.demonstrations.dataset import Demonstrations
from vigor.demonstrations.formats import published, recognition
from vigor.demonstrations.formats.episodes import Episodes, Reading
from vigor.demonstrations.preprocessing import preprocess, without_rest
from vigor.motion.trajectories import resample
from vigor.tasks.task import Task

START = 0.1
"""Most that a recording may begin away from where a task's movements start, before it is said."""


class Recordings(NamedTuple):
    """Recordings of a task."""

    path: Path
    contexts: np.ndarray
    """[m, C]"""
    context_of: np.ndarray
    """[n]: the context of each recording, as an index into `contexts`."""
    recordings: Sequence[np.ndarray]
    """[T, dimensions] each"""
    names: Sequence[str]
    """[n]"""
    notes: Sequence[str] = ()
    """Sentences about what was found, left out or mended."""


@dataclass(frozen=True)
class LeftOut:
    """A recording that was not imported, since its ProMP fails."""

    name: str
    """File, or number of the recording."""
    context: int
    """Index of its context."""
    missed: float
    """Distance that the ProMP is from success."""

    def __str__(self) -> str:
        return f"{self.name} is left out: its ProMP misses context {self.context + 1} by {self.missed:.3g}"


@dataclass(frozen=True)
class Remedy:
    """Basis functions with which more recordings would be kept."""

    bases: int
    kept: int
    """Recordings that would be kept."""
    count: int
    """All recordings."""


Report = Callable[[LeftOut], None]
Say = Callable[[str], None]


def _silent(left_out: LeftOut) -> None:
    """Report nothing."""


def _mute(sentence: str) -> None:
    """Say nothing."""


def load(task: Task, path: Path, reading: Reading | None = None, say: Say = _mute) -> Demonstrations:
    """A set from its folder, or imported from recordings in any format.

    say: called with sentences about what was found, and about each recording that is left out.
    """
    if recognition.is_own(path) or not path.exists():
        if reading not in (None, Reading()):
            raise UserError(f"{path} holds no recordings to be read in some way; leave out the options for these")
        return dataset.load(path, task)
    return import_demonstrations(task, path, reading or Reading(), say, lambda item: say(str(item)))


def import_demonstrations(
    task: Task,
    path: Path,
    reading: Reading,
    say: Say = _mute,
    report: Report = _silent,
) -> Demonstrations:
    """Demonstrations in any format that `recognition` knows; the authors' own are sets already.

    say: called with sentences about what was found; report: called for each recording that is left out.
    """
    kind = reading.format or recognition.recognise(task, path)
    if kind in ("published", "published-raw"):
        return published.load(task, path, raw=kind == "published-raw")
    found = recordings(task, path, reading)
    for sentence in found.notes:
        say(sentence)
    return fitted(task, found, report)


def recordings(task: Task, path: Path, reading: Reading) -> Recordings:
    """Recordings of a file or a folder as those of a task: its joints, in its unit, evenly in time, without pauses."""
    episodes = recognition.read(path, reading.format or recognition.recognise(task, path), reading)
    columns = matching.columns(task, episodes, reading)
    even, of_time = _evenly(episodes)
    joints, of_unit = matching.in_radians(task, [values[:, columns.joints] for values in even], reading.unit)
    grippers = [None if columns.gripper is None else values[:, columns.gripper] for values in even]
    joints, of_pauses = _without_pauses(matching.with_gripper(task, joints, grippers))
    known, context_of, of_contexts = contexts.find(task, episodes, joints, grippers, reading)
    count = f"{len(even)} recording{'s' if len(even) > 1 else ''}"
    notes = [f"{path} is {episodes.format} with {count} of {', '.join(episodes.columns)}"]
    notes += [*episodes.notes, *columns.notes, *of_unit, of_contexts, *of_time, *of_pauses, *_start(task, joints)]
    return Recordings(path, known, context_of, joints, [item.name for item in episodes.episodes], tuple(notes))


def _evenly(episodes: Episodes) -> tuple[list[np.ndarray], list[str]]:
    """Values [T, column] of every episode at even times, and sentences about stamps that are not."""
    even, mended, uneven = [], 0, 0
    for item in episodes.episodes:
        values = item.values
        if item.times is not None:
            times, wrong = timing.increasing(item.times)
            values = timing.evenly(times, values)
            mended, uneven = mended + wrong, uneven + (values is not item.values)
        even.append(values)
    said = [f"{mended} time stamps do not increase; these steps are taken to be as long as others"] if mended else []
    if uneven:
        said.append(f"{uneven} of {len(even)} recordings are resampled by their uneven time stamps")
    return even, said


def _without_pauses(joints: Sequence[np.ndarray]) -> tuple[list[np.ndarray], list[str]]:
    """Recordings [T, dimensions] without a pause at the end, and sentences about pauses at either end.

    Those at the begin are dropped when they are fitted.
    """
    moving = [item[: timing.begin_of_rest(item) + 1] for item in joints]
    begins = [1 - len(without_rest(item)) / len(item) for item in moving]
    ends = [1 - len(moved) / len(item) for item, moved in zip(joints, moving, strict=True)]
    return moving, [
        f"{sum(part > least for part in parts)} recordings {word} a pause of up to {max(parts):.0%} of their length, "
        "which is dropped"
        for word, parts, least in (("begin with", begins, timing.LONG), ("end in", ends, 0.0))
        if max(parts) > least
    ]


def _start(task: Task, joints: Sequence[np.ndarray]) -> list[str]:
    """A sentence about recordings [T, dimensions] that begin elsewhere than a task's movements start."""
    if task.promp.free_start:
        return []
    start = np.zeros(task.promp.dimensions) if task.promp.start is None else np.array(task.promp.start)
    away = [float(np.max(np.abs(item[0] - start))) for item in joints]
    if max(away) <= START:
        return []
    return [f"recordings begin up to {max(away):.2g} away from where {task.name} starts, and fits begin there"]


def fitted(task: Task, recordings: Recordings, report: Report = _silent) -> Demonstrations:
    """Demonstrations of recordings: see `preprocess`. report: called for each that is left out."""
    path, known, context_of, moving, names, _ = recordings

    def leave_out(number: int, missed: float) -> None:
        report(LeftOut(names[number], int(context_of[number]), missed))

    try:
        return preprocess(task, known, moving, context_of, f"imported from {path.name}", leave_out)
    except UserError as error:
        raise UserError(f"{path}: {error}") from None


def remedy(task: Task, recordings: Recordings) -> Remedy | None:
    """Fewest basis functions, up to twice the task's, that keep most recordings; None if these keep no more.

    A ProMP of few bases rounds off what a recording does quickly, and so may fail where the recording does not.
    """
    if task.settle is not None:  # It has as many as its recordings need.
        return None
    _, known, context_of, moving, *_ = recordings
    movements = np.stack([resample(without_rest(recording), task.promp.steps) for recording in moving])
    solving = int(np.sum(task.succeeds(task.distances(movements, known[context_of]))))
    best, bases = Remedy(task.promp.bases, _kept(task, recordings), len(moving)), task.promp.bases
    for more in range(bases + 1, 2 * bases + 1):
        if best.kept >= solving:  # Those that fail themselves are not to be kept.
            break
        kept = _kept(replace(task, promp=replace(task.promp, bases=more)), recordings)
        if kept > best.kept:
            best = Remedy(more, kept, len(moving))
    return best if best.bases > bases else None


def _kept(task: Task, recordings: Recordings) -> int:
    """Number of recordings that are kept."""
    left_out: list[LeftOut] = []
    try:
        fitted(task, recordings, left_out.append)
    except UserError:  # None is kept; they were read before, so nothing else is wrong with them.
        return 0
    return len(recordings.recordings) - len(left_out)
