"""A movement that is played: it can be paused, gone through by hand, and slowed down."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from vigor.tasks.stage import Picture

SPEEDS = {"1/4": 0.25, "1/2": 0.5, "1": 1.0, "2": 2.0}
"""Speeds of playing by name."""


class Film:
    """Pictures of a movement, so many a second, and where in it we are.

    others: movements at the same rate that go on beside it, each with what it is of.
    """

    def __init__(
        self,
        pictures: list[Picture],
        rate: float,
        speed: float = 1.0,
        others: Sequence[tuple[Any, list[Picture]]] = (),
    ) -> None:
        self._pictures, self.rate, self._others = pictures, rate, others
        self.time, self.speed, self.paused = 0.0, speed, False

    @property
    def poses(self) -> np.ndarray:
        """[T, dimensions]"""
        return np.array([picture.pose for picture in self._pictures])

    @property
    def seconds(self) -> float:
        """Length of the movement."""
        return (len(self._pictures) - 1) / self.rate

    @property
    def words(self) -> str:
        """State in a word."""
        return "played to its end" if self.time >= self.seconds else "paused" if self.paused else "playing"

    @property
    def seen(self) -> list[Picture]:
        """Pictures up to now."""
        return self._pictures[: min(int(self.time * self.rate), len(self._pictures) - 1) + 1]

    @property
    def beside(self) -> list[tuple[Any, Picture]]:
        """Pictures of the other movements now, each with what it is of."""
        step = int(self.time * self.rate)
        return [(key, pictures[min(step, len(pictures) - 1)]) for key, pictures in self._others]

    def advance(self, seconds: float) -> None:
        """Let time pass; at its end a film stands still."""
        if not self.paused:
            self.time = min(self.time + self.speed * seconds, self.seconds)
            self.paused = self.time >= self.seconds

    def go_to(self, time: float) -> None:
        """Stand still at a time in seconds."""
        self.time, self.paused = min(max(time, 0.0), self.seconds), True

    def toggle(self) -> None:
        """Pause, or go on; at the end from the beginning."""
        if self.paused and self.time >= self.seconds:
            self.time = 0.0
        self.paused = not self.paused
