"""Means over a handful of seeds, with their intervals."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

RESAMPLES = 10_000
ENOUGH = 5
"""Seeds below which there is no interval."""


@dataclass(frozen=True)
class Summary:
    """Summary of one figure of merit over seeds."""

    seeds: int
    mean: float
    interval: tuple[float, float] | None
    """95% interval of the mean; none for fewer seeds than ENOUGH."""
    median: float
    q1: float
    q3: float
    interquartile_mean: float
    """Mean without the lowest and highest quarter: robust as the median, and less noisy."""


def summary(values: Sequence[float] | np.ndarray) -> Summary:
    """Summary of values [seed], at least one."""
    sample = np.asarray(values, float)
    q1, median, q3 = np.quantile(sample, (0.25, 0.5, 0.75))
    numbers: list[Any] = [median, q1, q3, stats.trim_mean(sample, 0.25)]
    return Summary(len(sample), float(sample.mean()), interval(sample), *map(float, numbers))


def interval(sample: np.ndarray) -> tuple[float, float] | None:
    """95% bootstrap interval of the mean of a sample [n]; always the same for the same sample.

    Means of few draws vary too little, so percentiles lie further out than 2.5 and 97.5: where Student's interval would
    have them if the means were normal (Hesterberg's expanded percentile interval).
    """
    n = len(sample)
    if n < ENOUGH:
        return None
    drawn = np.random.default_rng(0).choice(sample, (RESAMPLES, n))
    beyond = stats.norm.cdf(-np.sqrt(n / (n - 1)) * stats.t.ppf(0.975, n - 1))
    low, high = np.quantile(drawn.mean(axis=1), (beyond, 1 - beyond))
    return float(low), float(high)


def interval_words(ends: tuple[float, float] | None, digits: int) -> str:
    """An interval in words; a dash where there is none."""
    return "-" if ends is None else f"{ends[0]:.{digits}f} to {ends[1]:.{digits}f}"
