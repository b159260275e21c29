"""Figures over seeds are those that others compute."""

import statistics as oracle
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from vigor.experiments.statistics import (
    chance,
    interquartile_mean,
    interval,
    performance_profile,
    probability_of_improvement,
    stratified_interval,
    summary,
)

SAMPLE = [0.936667, 1.0, 0.998333, 0.99, 1.0, 0.993333, 0.996667, 1.0, 1.0, 0.996667]


@given(st.lists(st.floats(0, 10), min_size=2, max_size=12))
def test_quartiles_mean_and_median_are_those_of_the_standard_library(values):
    found = summary(values)
    assert found.seeds == len(values)
    expected = [*oracle.quantiles(values, n=4, method="inclusive"), oracle.fmean(values)]
    assert [found.q1, found.median, found.q3, found.mean] == pytest.approx(expected)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=13))
def test_the_interquartile_mean_leaves_out_a_quarter_at_each_end(values):
    cut = len(values) // 4
    kept = sorted(values)[cut : len(values) - cut]
    assert summary(values).interquartile_mean == pytest.approx(sum(kept) / len(kept))


def test_chance_counts_the_divisions_that_differ_as_much():
    values = np.array([0.1, 0.4, 0.35, 0.9, 1.0, 0.7, 0.8])
    differences = []
    for first in combinations(range(7), 3):
        others = [i for i in range(7) if i not in first]
        differences.append(values[list(first)].mean() - values[others].mean())
    low = np.mean(np.array(differences) <= differences[0] + 1e-12)
    high = np.mean(np.array(differences) >= differences[0] - 1e-12)
    assert chance(values[:3], values[3:]) == pytest.approx(2 * min(low, high))


def test_the_interval_of_a_large_sample_is_that_of_scipy():
    """Both draw at random: ends differ by a small share of the interval."""
    sample = np.random.default_rng(0).normal(size=500)
    expected = stats.bootstrap((sample,), np.mean, method="percentile", n_resamples=20_000).confidence_interval
    low, high = interval(sample)
    assert (low, high) == pytest.approx(tuple(expected), abs=0.05 * (expected.high - expected.low))
    assert low < np.mean(sample) < high


@pytest.mark.parametrize("seeds", [5, 10, 20])
def test_the_interval_covers_the_truth_about_as_often_as_it_says(seeds):
    """Plain percentiles of five seeds would in .83."""
    rng = np.random.default_rng(1)
    covered = [low <= 0 <= high for low, high in (interval(rng.normal(size=seeds)) for _ in range(400))]
    assert 0.91 < np.mean(covered) < 0.98


def test_a_single_seed_is_its_own_summary_without_an_interval():
    found = summary([0.5])
    assert (found.seeds, found.interval) == (1, None)
    assert {found.mean, found.median, found.q1, found.q3, found.interquartile_mean} == {0.5}


# Over several tasks

TWO = [np.array([0.1, 0.4, 0.7, 1.0]), np.array([0.0, 0.5, 0.5, 0.9])]
OTHER = [np.array([0.2, 0.3]), np.array([0.5, 0.9])]


def test_the_interquartile_mean_is_over_all_runs_of_all_tasks():
    assert interquartile_mean(TWO) == pytest.approx(np.mean([0.4, 0.5, 0.5, 0.7]))


def test_a_profile_is_the_share_of_runs_above_a_threshold():
    thresholds = np.array([0.0, 0.45, 0.5, 1.0])
    expected = [[sum(value > t for value in own) / len(own) for t in thresholds] for own in TWO]
    assert performance_profile(TWO, thresholds) == pytest.approx(np.mean(expected, axis=0))


def test_the_probability_of_improvement_is_mann_whitneys():
    """U counts pairs in which the first is larger, and ties as half."""
    found = [stats.mannwhitneyu(a, b).statistic / (len(a) * len(b)) for a, b in zip(TWO, OTHER, strict=True)]
    assert probability_of_improvement(TWO, OTHER) == pytest.approx(np.mean(found))
    assert probability_of_improvement(TWO, TWO) == pytest.approx(0.5)
    assert probability_of_improvement(TWO, OTHER) + probability_of_improvement(OTHER, TWO) == pytest.approx(1.0)


def test_seeds_of_every_task_are_drawn_anew():
    rng = np.random.default_rng(0)
    runs = [rng.normal(0.0, 1.0, 400), rng.normal(1.0, 1.0, 100)]
    low, high = stratified_interval(lambda own: float(np.mean([part.mean() for part in own])), runs)
    error = np.sqrt(np.var(runs[0]) / 400 + np.var(runs[1]) / 100) / 2
    assert (high - low) / 2 == pytest.approx(1.96 * error, rel=0.08)
    assert stratified_interval(interquartile_mean, TWO) is None, "four seeds are too few"
