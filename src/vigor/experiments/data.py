"""The demonstrations that a benchmark's cells learn from, kept in its folder, where all workers find them."""

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from vigor.demonstrations import dataset as demonstrations
from vigor.demonstrations import importers
from vigor.demonstrations.dataset import Demonstrations
from vigor.demonstrations.formats import published
from vigor.runs.setup import own_demonstrations
from vigor.tasks import TASKS, Task, absolute, load_task

PUBLISHED = {"planar-reacher": ("published", "published-raw"), "panda-reacher": ("published",)}
"""Kinds of demonstrations that the authors published of a task."""
FITTED = {"published-raw": "published"}
"""Kinds of recordings, with the kind of what was fitted to them."""


def origin(place: str | None) -> str:
    """Kind of the demonstrations at a place in the folder; of recordings, the kind of what was fitted to them."""
    kind = Path(place).parts[1] if place else "own"
    return FITTED.get(kind, kind)


@dataclass(frozen=True, eq=False)
class Placed:
    """Demonstrations and their place."""

    place: str
    """Folder of the demonstrations, in the benchmark's: data/KIND/TASK."""
    shown: Demonstrations

    def suffice(self, contexts: int, per_context: int) -> bool:
        """Whether so many contexts have so many demonstrations."""
        return bool(np.sum(np.unique(self.shown.context_of, return_counts=True)[1] >= per_context) >= contexts)


@dataclass(frozen=True)
class Data:
    """Demonstrations by task. They are read or generated when asked for, and written by `save`."""

    folder: Path
    """Folder of the benchmark."""
    published: Path | None = None
    """Folder with the authors' human demonstrations. Tasks that they did not publish, and all without it, have
    demonstrations of their own: shipped with them, or generated."""
    recorded: Path | None = None
    """Recordings of the tasks that do not come with the package, in any format."""
    known: dict[str, Placed] = field(default_factory=dict, init=False)
    """Demonstrations that were asked for, by place."""

    def of(self, task: str, raw: bool = False) -> Placed | None:
        """A task's demonstrations; those that are learned from raw must have recordings, or there are none."""
        kind = "own" if self.recorded is None or task in TASKS else "recorded"
        if self.published and task in PUBLISHED:
            kind = "published-raw" if raw else "published"
            if kind not in PUBLISHED[task]:
                return None
        loaded = load_task(task)
        # Tasks of two files may have the same name.
        apart = "" if task in TASKS else f"-{hashlib.sha256(absolute(task).encode()).hexdigest()[:8]}"
        place = f"data/{kind}/{loaded.name}{apart}"
        if place not in self.known:
            self.known[place] = Placed(place, self._shown(loaded, kind, self.folder / place))
        placed = self.known[place]
        return None if raw and placed.shown.recordings is None else placed

    def _shown(self, task: Task, kind: str, folder: Path) -> Demonstrations:
        kept = demonstrations.load(folder, task) if (folder / demonstrations.HEADER).exists() else None
        if self.recorded and kind == "recorded":
            return importers.load(task, self.recorded) if kept is None else kept
        if self.published and kind != "own":
            read = published.load(task, self.published, raw=kind == "published-raw")
            # Another machine's fits differ by rounding, and cells are known by their demonstrations: those kept count.
            return kept if kept is not None and demonstrations.alike(kept, read) else read
        return own_demonstrations(task) if kept is None else kept

    def save(self) -> None:
        """Write all demonstrations that were asked for into the folder."""
        for place, placed in self.known.items():
            demonstrations.save(placed.shown, self.folder / place)
