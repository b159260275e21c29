"""Figures of a handful of seeds, and how sure they are."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

RESAMPLES = 10_000


@dataclass(frozen=True)
class Summary:
    """Of one figure of merit over seeds."""

    seeds: int
    mean: float
    low: float
    """Lower end of the mean's 95% bootstrap interval; as its upper end, the mean itself for a single seed."""
    high: float
    median: float
    q1: float
    q3: float
    interquartile_mean: float
    """Mean without the lowest and highest quarter: robust as the median, and less noisy."""


def summary(values: Sequence[float] | np.ndarray) -> Summary:
    """values: [seed], at least one."""
    sample = np.asarray(values, float)
    low, high = interval(sample)
    q1, median, q3 = np.quantile(sample, (0.25, 0.5, 0.75))
    numbers: list[Any] = [sample.mean(), low, high, median, q1, q3, stats.trim_mean(sample, 0.25)]
    return Summary(len(sample), *map(float, numbers))


def interval(sample: np.ndarray) -> tuple[float, float]:
    """95% percentile bootstrap interval of the mean of a sample [n]; always the same for the same sample."""
    drawn = np.random.default_rng(0).choice(sample, (RESAMPLES, len(sample)))
    low, high = np.quantile(drawn.mean(axis=1), (0.025, 0.975))
    return float(low), float(high)
