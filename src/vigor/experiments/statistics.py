"""Means over a handful of seeds, with their intervals."""

from collections.abc import Callable, Sequence
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


def chance(sample: np.ndarray, other: np.ndarray) -> float:
    """Probability that means of two samples of the same differ as much as theirs, by permutation."""
    test = stats.permutation_test(
        (sample, other), lambda a, b, axis: np.mean(a, axis) - np.mean(b, axis), n_resamples=RESAMPLES - 1, rng=0
    )
    return float(test.pvalue)


def interval_words(ends: tuple[float, float] | None, digits: int) -> str:
    """An interval in words; a dash where there is none."""
    return "-" if ends is None else f"{ends[0]:.{digits}f} to {ends[1]:.{digits}f}"


# Over several tasks, as rliable defines them (Agarwal et al., Deep RL at the Edge of the Statistical Precipice, 2021)


def interquartile_mean(runs: Sequence[np.ndarray]) -> float:
    """Mean of the middle half of all runs of all tasks; runs: values [seed] of each task."""
    every = np.sort(np.concatenate(runs))
    cut = len(every) // 4
    return float(every[cut : len(every) - cut].mean())


def performance_profile(runs: Sequence[np.ndarray], thresholds: np.ndarray) -> np.ndarray:
    """Share [threshold] of runs that are above each threshold, mean over tasks; runs: values [seed] of each task."""
    above = [np.mean(np.asarray(own)[:, None] > thresholds, axis=0) for own in runs]
    return np.asarray(np.mean(above, axis=0))


def probability_of_improvement(runs: Sequence[np.ndarray], others: Sequence[np.ndarray]) -> float:
    """Probability that a run is better than one of another method on the same task, mean over tasks; a tie is half.

    runs, others: values [seed] of each task, in one order.
    """
    better = [np.mean(np.sign(np.subtract.outer(a, b)) + 1) / 2 for a, b in zip(runs, others, strict=True)]
    return float(np.mean(better))


def stratified_interval(
    figure: Callable[..., float], *methods: Sequence[np.ndarray], resamples: int = 1000
) -> tuple[float, float] | None:
    """95% percentile interval of a figure of methods, with the seeds of every task drawn anew; None for few seeds."""
    if min(len(own) for runs in methods for own in runs) < ENOUGH:
        return None
    rng = np.random.default_rng(0)

    def drawn(runs: Sequence[np.ndarray]) -> list[np.ndarray]:
        return [own[rng.integers(len(own), size=len(own))] for own in runs]

    found = [figure(*(drawn(runs) for runs in methods)) for _ in range(resamples)]
    low, high = np.quantile(found, (0.025, 0.975))
    return float(low), float(high)
