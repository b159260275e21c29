"""Frames of a recording: each hangs on another, for good or anew from message to message, as ROS has them in /tf."""

from bisect import bisect_right
from dataclasses import dataclass, field

import numpy as np
import scipy  # Its parts are loaded when they are used.

from vigor.basics.errors import UserError, near_misses

Pose = np.ndarray
"""[7]: a place, then a quaternion x, y, z, w."""
HERE: Pose = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
"""Pose of a frame as seen from itself."""


@dataclass
class _Course:
    """A frame over time."""

    times: list[float] = field(default_factory=list)
    hung: list[tuple[str, Pose]] = field(default_factory=list)
    """The frame that it hangs on, and its pose as seen from there."""

    def at(self, time: float) -> tuple[str, Pose]:
        """The last word up to a moment, or the first one after it."""
        return self.hung[max(bisect_right(self.times, time) - 1, 0)]


@dataclass
class Frames:
    """Frames by name. Those that hang on nothing are roots, and have no entry of their own."""

    courses: dict[str, _Course] = field(default_factory=dict)
    dropped: int = 0
    """Poses that are none: not finite, or without an orientation."""

    def add(self, name: str, on: str, time: float, pose: Pose) -> None:
        """Hang a frame on another from a moment on; moments do not decrease."""
        length = np.linalg.norm(pose[3:])
        if not np.all(np.isfinite(pose)) or not 0.5 < length < 2.0:
            self.dropped += 1
            return
        course = self.courses.setdefault(name, _Course())
        course.times.append(time)
        course.hung.append((on, np.append(pose[:3], pose[3:] / length)))

    def check(self, name: str) -> None:
        """Refuse a name that no frame has."""
        known = {*self.courses, *(on for course in self.courses.values() for on, _ in course.hung)}
        if name not in known:
            listed = ", ".join(sorted(filter(None, known))[:20]) or "none"
            raise UserError(f"there is no frame {name!r}{near_misses(name, known)}; there are {listed}")

    def seen(self, name: str, time: float, reference: str = "") -> Pose | None:
        """Pose of a frame at a moment as seen from another, by default from its root; None if nothing joins the two."""
        chain = self._chain(name, time)
        if not reference:
            return list(chain.values())[-1]
        for common, inverse in self._chain(reference, time).items():
            if common in chain:
                return compose(_inverse(inverse), chain[common])
        return None

    def root(self, name: str, time: float) -> str:
        """The frame that a frame hangs on at last."""
        return list(self._chain(name, time))[-1]

    def _chain(self, name: str, time: float) -> dict[str, Pose]:
        """A frame, what it hangs on, and so on to the root, with the pose of the frame as seen from each."""
        chain, at = {name: HERE}, name
        while at in self.courses:
            on, pose = self.courses[at].at(time)
            if on in chain:
                raise UserError(f"its frames go round in a circle, from {on!r:.80} to itself")
            chain[on] = compose(pose, chain[at])
            at = on
        return chain


def compose(outer: Pose, inner: Pose) -> Pose:
    """A pose as seen from where another is seen from; inner: as seen from that other."""
    turn = scipy.spatial.transform.Rotation.from_quat(outer[3:])
    together = turn * scipy.spatial.transform.Rotation.from_quat(inner[3:])
    return np.append(outer[:3] + turn.apply(inner[:3]), together.as_quat(canonical=True))


def _inverse(pose: Pose) -> Pose:
    """The other frame as seen from this one."""
    back = scipy.spatial.transform.Rotation.from_quat(pose[3:]).inv()
    return np.append(-back.apply(pose[:3]), back.as_quat())
