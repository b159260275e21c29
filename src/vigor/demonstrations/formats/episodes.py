"""Episodes: recordings as a file has them, the same for every format; and what a user adds to what a file says."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from vigor.basics import files
from vigor.basics.errors import UserError, near_misses
from vigor.motion.units import Unit

LATEST = 1e19
"""No time stamp may be beyond: nanoseconds since 1970 have 19 digits."""
Format = Literal["lerobot", "rosbag", "robomimic", "csv", "npz", "published", "published-raw"]
Place = Literal["end", "gripper"]


@dataclass(frozen=True)
class Reading:
    """A user's additions to what a file says, or choices among it; by default it is found out, or asked for."""

    format: Format | None = None
    """Format of the recordings; by default it is found out."""
    unit: Unit | None = None
    """Unit of the joints; `percent`: from -100 to 100 between the robot's limits. By default as a robot has them, and
    checked against its limits."""
    joints: tuple[str, ...] = ()
    """The file's joints that the task moves, in the order of the task; columns without names are counted from 1."""
    gripper: str = ""
    """The file's name of the gripper; by default the one that is called so."""
    key: str = ""
    """Source of the joints: observation.state or action (LeRobot), or a name among the observations (robomimic)."""
    mask: str = ""
    """The mask whose episodes are read (robomimic)."""
    topics: tuple[str, ...] = ()
    """Topics of joint states (rosbag); by default all."""
    pause: float | None = None
    """Seconds of rest at which a bag is cut into episodes, 0 for never; by default 1 for one bag, and never for several
    bags."""
    episodes: tuple[str, ...] = ()
    """Episodes that are read, by name or number; by default all."""
    contexts_file: Path | None = None
    """Contexts [episode, C] in a .csv or .npy file, a row for every episode that is read."""
    context_keys: tuple[str, ...] = ()
    """Source of the context at the first frame: an observation, topics of poses, or frames of /tf."""
    frame: str = ""
    """Frame from which poses are seen (rosbag); by default the root of /tf."""
    context_from: tuple[Place, ...] = ()
    """Contexts read off the movement: the place where it ends, the place where the gripper closes, or one after the
    other."""

    def __post_init__(self) -> None:
        # In Python a single name, and numbers of episodes, serve as well.
        for name in ("joints", "topics", "episodes", "context_keys", "context_from"):
            value = getattr(self, name)
            words = (value,) if isinstance(value, str | int) else value
            object.__setattr__(self, name, tuple(map(str, words)))
        if self.contexts_file is not None:
            object.__setattr__(self, "contexts_file", Path(self.contexts_file))
        choices = {"format": get_args(Format), "unit": get_args(Unit), "context_from": get_args(Place)}
        for name, known in choices.items():
            value = getattr(self, name)
            for word in value if isinstance(value, tuple) else (value,):
                if word is not None and word not in known:
                    raise UserError(f"{name} must be one of {', '.join(known)}, not {word!r}")
        if sum(map(bool, (self.contexts_file, self.context_keys, self.context_from))) > 1:
            raise UserError("contexts come from a file, from keys, or from the movement; give one of these")
        if self.pause is not None and not self.pause >= 0:
            raise UserError(f"a pause takes 0 seconds or more, not {self.pause}")


@dataclass(frozen=True, eq=False)
class Episode:
    """One recording."""

    name: str
    values: np.ndarray
    """[T, column]"""
    times: np.ndarray | None = None
    """[T], in seconds; None if the file has none, and steps are taken to be even."""
    surroundings: Mapping[str, np.ndarray] = field(default_factory=dict)
    """Observations of everything but the robot when the episode begins, by name: numbers, or a pose (place, then
    quaternion x, y, z, w)."""


@dataclass(frozen=True, eq=False)
class Episodes:
    """All recordings of a file or a folder."""

    path: Path
    format: str
    """Format in words, with its version."""
    columns: tuple[str, ...]
    """Name of every column."""
    episodes: tuple[Episode, ...]
    named: bool = True
    """Whether the file has these names; otherwise they are numbers, counted from 1."""
    ordered: bool = True
    """Whether the order of the columns says something."""
    contexts: np.ndarray | None = None
    """[m, C]: contexts that the file lists, also without recordings; None if it does not."""
    context_of: np.ndarray | None = None
    """[n]: the context of each episode, as an index into these."""
    notes: tuple[str, ...] = ()
    """Sentences about what was found, left out or mended."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(map(_printable, self.columns)))
        if not self.episodes:
            raise UserError(f"{self.path} holds no recordings")
        for item in self.episodes:
            if item.values.ndim != 2 or item.values.shape[1] != len(self.columns):
                shape = item.values.shape
                raise UserError(f"{item.name} of {self.path} must have {len(self.columns)} columns; it has {shape}")
            if len(item.values) < 2:
                raise UserError(f"{item.name} of {self.path} must have at least 2 steps")
            if not np.all(np.isfinite(item.values)):
                row, column = np.argwhere(~np.isfinite(item.values))[0]
                where = f"step {row + 1} of {self.columns[column]}"
                raise UserError(f"{item.name} of {self.path}: {where} is no finite number; leave the episode out")
            # A comparison with NaN is false.
            if item.times is not None and not np.all(np.abs(item.times) < LATEST):
                raise UserError(f"{item.name} of {self.path} has time stamps that are none; leave the episode out")

    def only(self, chosen: Sequence[str]) -> "Episodes":
        """The chosen episodes, by name or number; all if none are named."""
        if not chosen:
            return self
        known = {name: i for i, item in enumerate(self.episodes) for name in (_number(item.name), item.name)}
        unknown = [name for name in chosen if name not in known]
        if unknown:
            names = [item.name for item in self.episodes]
            listed = ", ".join(names[:5]) + (f" to {names[-1]}" if len(names) > 5 else "")
            raise UserError(
                f"{self.path} has no episode {unknown[0]!r}{near_misses(unknown[0], names)}; it has {listed}"
            )
        of = sorted({known[name] for name in chosen})
        left = f"{len(of)} of {len(self.episodes)} episodes are taken, as asked for"
        return replace(
            self,
            episodes=tuple(self.episodes[i] for i in of),
            context_of=None if self.context_of is None else self.context_of[of],
            notes=(*self.notes, left),
        )


def _printable(name: str) -> str:
    """A name without codes that terminals obey."""
    return "".join(letter if letter.isprintable() else "?" for letter in name)[:80]


def _number(name: str) -> str:
    """The number in a name, without leading zeros, or the name."""
    found = re.search(r"\d+", name)
    return str(int(found.group())) if found else name


def numbered(count: int) -> tuple[str, ...]:
    """Names of columns that have none."""
    return tuple(str(number + 1) for number in range(count))


def check_count(path: Path, count: int) -> None:
    """Refuse a file that holds more numbers than can be read."""
    if count > files.MOST:
        raise UserError(f"{path} holds {count:,} numbers; at most {files.MOST:,} can be read")


def damaged(path: Path, what: str, error: Exception) -> UserError:
    """The sentence about a file that some package could not read: damaged files cause nearly any error."""
    reason = (str(error).splitlines() or [""])[0] or type(error).__name__
    return UserError(f"{path} is damaged or not {what}: {reason:.120}")
